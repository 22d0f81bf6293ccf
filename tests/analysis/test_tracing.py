"""What the hooks record is what the model computes, box by box; nothing is left behind in the model."""

from __future__ import annotations

import pytest
import torch

import annotated
from annotated.analysis.tracing import Trace, trace
from annotated.config import BOS, EOS

ENGLISH, GERMAN = "The grandmother gets up.", "Die Großmutter steht auf."


@pytest.fixture(scope="module")
def translator() -> annotated.Translator:
    return annotated.load("classroom")


@pytest.fixture(scope="module")
def traced(translator: annotated.Translator) -> Trace:
    return trace(translator, ENGLISH)


def ids(traced: Trace) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.tensor([traced.source_ids]), torch.tensor([traced.target_ids])


def test_the_tokens_are_those_of_both_sentences(translator: annotated.Translator, traced: Trace) -> None:
    decode = translator.tokenizer.decode
    assert traced.source_ids[-1] == EOS and decode(traced.source_ids[:-1]) == ENGLISH
    assert traced.target_ids[0] == BOS and traced.next_ids[-1] == EOS
    assert traced.target_ids[1:] == traced.next_ids[:-1]
    assert decode(traced.next_ids[:-1]) == translator(ENGLISH) == GERMAN
    assert len(traced.source_tokens) == len(traced.source_ids) and traced.next_tokens[-1] == "</s>"


def test_every_box_has_the_shape_that_the_figure_says(translator: annotated.Translator, traced: Trace) -> None:
    config, s, t = translator.model.config, len(traced.source_ids), len(traced.target_ids)
    assert len(traced.boxes) == 6 + 4 * config.num_encoder_layers + 1 + 6 * config.num_decoder_layers + 2
    for name, values in traced.boxes.items():
        rows = s if name.startswith(("source", "encoder", "memory")) else t
        columns = config.vocab_size if name in ("linear", "softmax") else config.d_model
        assert values.shape == (rows, columns), name
    shapes = {"encoder": (s, s), "decoder": (t, t)}
    for name, maps in traced.maps.items():
        expected = (t, s) if "cross" in name else shapes[name.split(".")[0]]
        assert maps.shape == (config.num_heads, *expected), name
    assert len(traced.maps) == config.num_encoder_layers + 2 * config.num_decoder_layers


def test_the_values_are_the_models_own(translator: annotated.Translator, traced: Trace) -> None:
    model, (source, target) = translator.model, ids(traced)
    with torch.no_grad():
        logits, maps = model(source, target, return_attention=True)
        torch.testing.assert_close(traced.boxes["memory"], model.encode(source)[0])
    torch.testing.assert_close(traced.boxes["linear"], logits[0])
    torch.testing.assert_close(traced.boxes["softmax"].sum(-1), torch.ones(len(traced.target_ids)))
    for layer in range(3):
        name = f"encoder.{layer + 1}.self_attention"
        torch.testing.assert_close(traced.maps[name], maps.encoder[layer][0])
        torch.testing.assert_close(traced.maps[name.replace("encoder", "decoder")], maps.decoder[layer][0])
        torch.testing.assert_close(traced.maps[f"decoder.{layer + 1}.cross_attention"], maps.cross[layer][0])


def test_the_boxes_follow_from_one_another(translator: annotated.Translator, traced: Trace) -> None:
    """Equation by equation from the paper, with the model's weights and none of its modules' forward passes."""
    model, b = translator.model, traced.boxes
    for side, tokens in (("source", traced.source_ids), ("target", traced.target_ids)):
        rows = model.embedding.weight[tokens] * 128**0.5
        torch.testing.assert_close(b[f"{side}.embedding"], rows.detach())
        torch.testing.assert_close(b[f"{side}.sum"], b[f"{side}.embedding"] + b[f"{side}.positions"])
    stack = {"encoder": ("source.sum", 3), "decoder": ("target.sum", 3)}
    for name, (x, layers) in stack.items():
        boxes = ["self_attention", *(["cross_attention"] if name == "decoder" else []), "feed_forward"]
        for number in range(1, layers + 1):
            module = getattr(model, name).layers[number - 1]
            for i, box in enumerate(boxes, 1):
                norm = getattr(module, f"{box}_residual").norm
                total = b[x] + b[f"{name}.{number}.{box}"]
                x = f"{name}.{number}.add_norm_{i}"
                expected = (total - total.mean(-1, keepdim=True)) / (
                    total.var(-1, keepdim=True, correction=0) + norm.eps
                ).sqrt()
                torch.testing.assert_close(b[x], (expected * norm.weight + norm.bias).detach(), atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(b["memory"], b["encoder.3.add_norm_2"])
    torch.testing.assert_close(b["linear"], (b["decoder.3.add_norm_3"] @ model.embedding.weight.T).detach())


def test_a_given_target_is_read_instead_of_the_models_own(translator: annotated.Translator) -> None:
    given = trace(translator, ENGLISH, "Der Hund steht auf.")
    assert translator.tokenizer.decode(given.next_ids[:-1]) == "Der Hund steht auf."


def test_the_model_is_left_as_it_was(translator: annotated.Translator) -> None:
    model = translator.model
    model.train()
    try:
        first = trace(translator, ENGLISH).boxes["linear"]
        assert model.training, "the mode is put back"
        torch.testing.assert_close(first, trace(translator, ENGLISH).boxes["linear"])  # no dropout
    finally:
        model.eval()
    assert not any(module._forward_hooks for module in model.modules())


def test_what_the_figure_does_not_draw_is_refused(translator: annotated.Translator) -> None:
    with pytest.raises(ValueError, match="empty"):
        trace(translator, "  ")
    pre = annotated.Transformer(translator.model.config.replace(norm="pre"))
    with pytest.raises(ValueError, match="pre-norm"):
        trace(annotated.Translator(pre, translator.tokenizer), ENGLISH)


def test_without_tied_embeddings_the_two_tables_are_told_apart(translator: annotated.Translator) -> None:
    torch.manual_seed(0)
    model = annotated.Transformer(translator.model.config.replace(tie_embeddings=False)).eval()
    traced = trace(annotated.Translator(model, translator.tokenizer), "The dog", "The dog")
    assert torch.equal(traced.boxes["source.embedding"][0], model.embedding.weight[traced.source_ids[0]] * 128**0.5)
    second = model.target_embedding.weight[traced.target_ids[0]] * 128**0.5
    assert torch.equal(traced.boxes["target.embedding"][0], second)
