"""Scores are those that the model's own weights come from, and calls hold the very tensors that were passed."""

from __future__ import annotations

import pytest
import torch

import annotated
from annotated.analysis.scores import attention_calls, attention_scores, call_scores

SOURCE, TARGET = torch.tensor([[5, 6, 7, 2], [8, 2, 0, 0]]), torch.tensor([[1, 9, 10], [1, 11, 0]])


def small(**changes) -> annotated.Transformer:
    torch.manual_seed(0)
    return annotated.Transformer(annotated.tiny(vocab_size=30, num_encoder_layers=2, **changes)).eval()


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_masked_and_softened_the_scores_are_the_maps(norm: str) -> None:
    model = small(norm=norm)
    with torch.no_grad():
        _, maps = model(SOURCE, TARGET, return_attention=True)
    scores = attention_scores(model, SOURCE, TARGET)
    for kind in ("encoder", "decoder", "cross"):
        for s, weights in zip(getattr(scores, kind), getattr(maps, kind), strict=True):
            assert s.shape == weights.shape
            hidden = weights == 0
            torch.testing.assert_close(s.masked_fill(hidden, -torch.inf).softmax(-1), weights)
    assert [len(kind) for kind in scores] == [2, 3, 3]


def test_calls_come_in_order_with_the_tensors_themselves() -> None:
    calls = attention_calls(small(), SOURCE, TARGET)
    decoder = [f"decoder.layers.{i}.{kind}_attention" for i in range(3) for kind in ("self", "cross")]
    assert [call.name for call in calls] == [f"encoder.layers.{i}.self_attention" for i in range(2)] + decoder
    memory = {call.key.data_ptr() for call in calls if call.name.endswith("cross_attention")}
    assert len(memory) == 1
    for call in calls:
        assert call.key is call.value
        assert (call.query is call.key) == call.name.endswith("self_attention")
    assert calls[0].mask is not None and calls[0].mask.shape == (2, 1, 1, 4)


def test_no_hook_stays_behind() -> None:
    model = small()
    attention_calls(model, SOURCE, TARGET)
    with pytest.raises(ValueError):
        attention_calls(model, SOURCE[0], TARGET)  # also when the pass fails
    assert not any(module._forward_pre_hooks for module in model.modules())


def test_biases_are_refused() -> None:
    call = attention_calls(small(attention_bias=True), SOURCE, TARGET)[0]
    with pytest.raises(ValueError, match="biases"):
        call_scores(call)
