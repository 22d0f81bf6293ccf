"""The exported graphs, run by onnxruntime, give the model's own logits and translations."""

import contextlib
import io
import json

import numpy as np
import pytest
import torch

import annotated
from annotated.cli import main
from annotated.config import ModelConfig
from annotated.data import Tokenizer
from annotated.interop import export_onnx

runtime = pytest.importorskip("onnxruntime", reason="ONNX needs the extra `export`")
pytest.importorskip("onnxscript", reason="ONNX needs the extra `export`")

SENTENCE = "The cat sleeps."
TOKENIZER = Tokenizer.train([SENTENCE] * 3, 275)
PRINTED = ModelConfig(
    vocab_size=TOKENIZER.vocab_size, d_model=32, d_ff=48, num_heads=2, d_k=16, d_v=16, num_encoder_layers=1,
    num_decoder_layers=2, max_positions=80,
)  # fmt: skip
OTHER = PRINTED.replace(
    norm="pre", positions="learned", tie_embeddings=False, attention_bias=True, d_k=12, d_v=20, num_decoder_layers=1
)
SHORT = 24  # positions of the export of the other choices


def drawn_model(config):
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(3)
    model = annotated.Transformer(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator) / 5)
    return model


@pytest.fixture(scope="module")
def by_command(tmp_path_factory):
    """A model's folder, the folder that the command wrote, and what it printed. The exporter takes seconds: once."""
    model, folder = (tmp_path_factory.mktemp("command") / name for name in ("model", "out"))
    annotated.Translator(drawn_model(PRINTED), TOKENIZER).save_pretrained(model)
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        assert main(["export", "onnx", str(model), str(folder)]) == 0
    return model, folder, out.getvalue(), err.getvalue()


def test_the_lines_that_are_printed_translate(by_command, capsys):
    """End tokens included: a model that reads a sentence without its end translates it otherwise."""
    model, folder, out, err = by_command
    assert out == f"{folder}\n"
    code = err.partition("To load it in Python:")[2]
    assert code.count(SENTENCE) == 1
    exec(compile(code, "onnx", "exec"), {})
    assert capsys.readouterr().out == annotated.load(str(model), beam_size=1)(SENTENCE) + "\n"


class Exported:
    """A model, its two graphs, and the loop that a program without torch would write."""

    def __init__(self, model, folder, longest):
        self.model, self.config, self.folder, self.longest = model, model.config, folder, longest
        self.encoder, self.step = (
            runtime.InferenceSession(self.folder / name, providers=["CPUExecutionProvider"])
            for name in ("encoder.onnx", "decoder_step.onnx")
        )

    def start(self, source):
        c = self.config
        keys, values = self.encoder.run(None, {"source": source})
        sizes = [(c.num_decoder_layers, len(source), c.num_heads, 0, width) for width in (c.d_k, c.d_v)]
        pasts = [np.zeros(size, np.float32) for size in sizes]
        return {"source": source, "cross_keys": keys, "cross_values": values} | dict(
            zip(("past_keys", "past_values"), pasts, strict=True)
        )

    def advance(self, token, state):
        logits, keys, values = self.step.run(None, state | {"token": token})
        return logits, state | {"past_keys": keys, "past_values": values}


@pytest.fixture(scope="module", params=["as printed", pytest.param("every other choice", marks=pytest.mark.slow)])
def exported(request, tmp_path_factory):
    if request.param == "as printed":
        return Exported(drawn_model(PRINTED), request.getfixturevalue("by_command")[1], PRINTED.max_positions)
    model = drawn_model(OTHER)
    return Exported(model, export_onnx(model, tmp_path_factory.mktemp("onnx"), max_positions=SHORT), SHORT)


@pytest.mark.parametrize("lengths, steps", [([1], 1), ([2, 9, 5, 9], 7), ([20, None], None)])
def test_step_by_step_logits(exported, lengths, steps):
    """Other batch sizes and lengths than at export, padding, and lengths 1 and the longest."""
    lengths, steps = [length or exported.longest for length in lengths], steps or exported.longest
    generator = torch.Generator().manual_seed(sum(lengths))
    source = torch.randint(4, 23, (len(lengths), max(lengths)), generator=generator)
    source.masked_fill_(torch.arange(max(lengths)) >= torch.tensor(lengths)[:, None], 0)
    target = torch.randint(4, 23, (len(lengths), steps), generator=generator)
    expected = exported.model(source, target).detach().numpy()
    state = exported.start(source.numpy())
    for t in range(steps):
        logits, state = exported.advance(target[:, t].numpy(), state)
        np.testing.assert_allclose(logits, expected[:, t], rtol=0, atol=1e-4)
    assert state["past_keys"].shape[3] == steps


def test_greedy_translations(exported):
    source = torch.tensor([[5, 9, 11, 2], [7, 2, 0, 0], [20, 21, 2, 0]])
    state, token = exported.start(source.numpy()), np.full(3, 1)
    rows = [[], [], []]
    for _ in range(10):
        logits, state = exported.advance(token, state)
        logits[:, [0, 1]] = -np.inf  # pad and bos are never written
        token = logits.argmax(-1)
        for row, new in zip(rows, token.tolist(), strict=True):
            row.append(new)
    expected = [h.tokens for h in annotated.greedy_decode(exported.model, source, max_new_tokens=10)]
    assert [row[: row.index(2)] if 2 in row else row for row in rows] == expected


def test_beams_reorder_by_indexing(exported):
    """Row 1 continues what row 0 has decoded: the cache is a value, so indexing it is all."""
    source = torch.tensor([[5, 9, 2], [5, 9, 2]])
    state = exported.start(source.numpy())
    _, state = exported.advance(np.array([1, 1]), state)
    _, state = exported.advance(np.array([6, 8]), state)
    state = {k: v[:, [0, 0]] if k.startswith("past") else v for k, v in state.items()}
    logits, _ = exported.advance(np.array([10, 11]), state)
    target = torch.tensor([[1, 6, 10], [1, 6, 11]])
    expected = exported.model(source, target)[:, -1].detach().numpy()
    np.testing.assert_allclose(logits, expected, rtol=0, atol=1e-4)


def test_the_folder_says_what_it_is(exported):
    facts = json.loads((exported.folder / "onnx.json").read_text())
    assert ModelConfig.from_dict(facts["config"]) == exported.config
    assert (facts["pad"], facts["bos"], facts["eos"], facts["max_positions"]) == (0, 1, 2, exported.longest)


def test_too_long_is_an_error(exported):
    """Not a wrong translation: the table of positions ends where the export said."""
    with pytest.raises(Exception, match=r"(?i)add|broadcast|dimension|shape"):
        exported.start(np.full((1, exported.longest + 1), 5))
