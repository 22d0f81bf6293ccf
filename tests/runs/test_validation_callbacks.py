"""What watches a training: kept whole, read back, and without any trace in what is learned."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from annotated.config import BOS, EOS
from annotated.data.tokenizer import Tokenizer
from annotated.decoding import greedy_decode
from annotated.runs import read_records, train
from annotated.runs.hardware import matmul_benchmark
from annotated.runs.own_folder import ORIGIN
from annotated.runs.validation_callbacks import (
    EXTRA_TOKENS,
    HEADS,
    MOST_TOKENS,
    SentenceHeads,
    as_bytes,
    read_heads,
    sample_heads,
    sample_translations,
    validation_bleu,
    write_heads,
)
from annotated.saving import load_model
from annotated.training import CheckpointError

SENTENCES = ["the red cat sleeps", "two dogs", "the " * (MOST_TOKENS + 1)]


def test_a_watched_run_is_the_same_run_bit_for_bit(small):
    small.trained("plain")
    watched = train(small.model.replace(dropout=0.1), small.training, small.data, small.folder / "watched", quiet=True,
                    bleu=validation_bleu, samples=sample_translations(SENTENCES[:2]),
                    heads=sample_heads(SENTENCES))  # fmt: skip
    plain = load_file(small.folder / "plain" / "model" / "model.safetensors")
    other = load_file(watched.folder / "model" / "model.safetensors")
    assert small.model.dropout == 0.1, "without dropout no random number would be drawn"
    assert all(torch.equal(plain[name], other[name]) for name in plain)
    states = [small.folder / run / "checkpoints" / "update-000000024" for run in ("plain", "watched")]
    optimizers = [load_file(next(state.glob("optimizer*.safetensors"))) for state in states]
    assert all(torch.equal(optimizers[0][name], optimizers[1][name]) for name in optimizers[0])
    kept = [r for r in read_records(watched.folder) if r["kind"] == "heads"]
    assert [(r["update"], r["sentences"]) for r in kept] == [(12, 2), (24, 2)]

    model, tokenizer = load_model(states[1])
    heads = read_heads(watched.folder / kept[-1]["path"])
    source = torch.tensor([[*tokenizer.encode(SENTENCES[0]), EOS]])
    model.eval()
    written = greedy_decode(model, source, extra_tokens=EXTRA_TOKENS)[0]
    read = torch.tensor([[BOS, *written.tokens][: written.steps]])
    with torch.no_grad():
        _, maps = model(source, read, return_attention=True)
    assert heads[0].source_tokens == tokenizer.tokens(source[0].tolist())
    for use in ("encoder", "decoder", "cross"):
        exact = torch.stack(getattr(maps, use))[:, 0].numpy()
        assert np.allclose(getattr(heads[0], use) / 255, exact, atol=0.5 / 255 + 1e-5)


def some_heads(sources: int = 3, targets: int = 2) -> SentenceHeads:
    def maps(rows: int, columns: int) -> np.ndarray:
        return as_bytes(np.full((1, 2, rows, columns), 1 / columns))

    source, target = ["a", "b", "</s>"][:sources], ["ä", "</s>"][:targets]
    return SentenceHeads(source, target, maps(sources, sources), maps(targets, targets), maps(targets, sources))


def test_heads_come_back_as_they_were_written(tmp_path):
    one, other = some_heads(), some_heads(sources=2)
    path = write_heads(tmp_path, 7, [one, other])
    assert path == tmp_path / HEADS / "update-000000007.npz"
    back = read_heads(path)
    assert [(h.source_tokens, h.target_tokens) for h in back] == [
        (["a", "b", "</s>"], ["ä", "</s>"]),
        (["a", "b"], ["ä", "</s>"]),
    ]
    assert (back[0].cross == 85).all() and back[0].cross.shape == (1, 2, 2, 3)  # 255 / 3
    assert (back[1].encoder == 128).all()  # 127.5, to even
    write_heads(tmp_path, 7, [other])
    assert len(read_heads(path)) == 1 and [p.name for p in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 cut", json.dumps({}).encode()])
def test_a_damaged_file_of_heads_is_named(tmp_path, content):
    path = write_heads(tmp_path, 1, [some_heads()])
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match="update-000000001.npz: damaged"):
        read_heads(path)
    with pytest.raises(CheckpointError, match="no such file"):
        read_heads(tmp_path / "none.npz")


def test_what_cannot_be_kept_does_not_end_a_run(small):
    folder = small.folder / "run"
    folder.mkdir()
    (folder / ORIGIN).write_text('{"corpus": "1"}')  # of a run that was stopped
    (folder / HEADS).write_text("in the way")
    result = train(small.model, small.training, small.data, folder, quiet=True, heads=sample_heads(SENTENCES[:1]))
    assert result.finished and not [r for r in read_records(folder) if r["kind"] == "heads"]


def test_the_peak_is_a_rate_that_a_product_reaches_and_draws_no_random_number():
    before = torch.random.get_rng_state()
    peak = matmul_benchmark("cpu", "fp32")
    assert torch.equal(before, torch.random.get_rng_state())
    left = torch.full((512, 512), 0.5)
    began = time.process_time()  # whatever else the machine does
    for _ in range(10):
        left @ left
    sustained = 10 * 2 * 512**3 / (time.process_time() - began)
    assert peak is not None and 0.05 * sustained < peak < 50 * sustained
    assert matmul_benchmark("cpu", "fp32") == peak, "measured once a process"


def test_references_are_read_in_the_form_that_a_model_writes(monkeypatch):
    """In NFD they would differ from every right translation."""
    monkeypatch.setattr("annotated.runs.validation_callbacks._translate", lambda *_: ["K\u00e4lte ist da."])
    pairs = [("It is cold.", "Ka\u0308lte  ist da.")]
    plain, formed = (Tokenizer.train(["ab ab"], 270, normal_form=form) for form in (False, True))
    assert validation_bleu(None, formed, pairs) == pytest.approx(100) and validation_bleu(None, plain, pairs) < 90
