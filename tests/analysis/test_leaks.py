"""The instruments for leaks find what is there, and zero is zero."""

from __future__ import annotations

import math

import pytest
import torch

import annotated
from annotated import causal_mask, scaled_dot_product_attention
from annotated.analysis.leaks import decoder_reach, leaked_weight, masked_by, reach
from annotated.data.batching import collate_ids
from annotated.model import fused_attention
from annotated.speed.steps import layout_loss


@pytest.fixture(scope="module")
def model() -> annotated.Transformer:
    torch.manual_seed(0)
    return annotated.Transformer(annotated.tiny(vocab_size=30, num_encoder_layers=1, num_decoder_layers=2)).eval()


def test_leaked_weight_by_hand() -> None:
    weights = torch.tensor([[0.25, 0.75], [0.5, 0.5]])
    assert leaked_weight(weights, causal_mask(2)[0, 0]) == 0.75 / 2
    assert leaked_weight(weights, torch.ones(2, 2, dtype=torch.bool)) == 0
    assert leaked_weight(weights, torch.tensor([[True, False]])) == 1.25 / 2
    assert math.isnan(leaked_weight(torch.zeros(2, 2), causal_mask(2)[0, 0]))


def test_reach_of_a_known_matrix() -> None:
    mix = torch.tensor([[2.0, 0.0, 0.0], [1.0, -3.0, 0.0]])  # output i = sum of mix[i, j] * input j
    found = reach(lambda x: mix @ x, torch.randn(1, 3, 5))
    torch.testing.assert_close(found / found.amax(1, keepdim=True), torch.tensor([[1, 0, 0], [1 / 3, 1, 0]]))


def test_entries_of_an_output_cannot_cancel() -> None:
    assert reach(lambda x: torch.cat([x, -x], dim=-1), torch.randn(1, 1, 1)).item() > 0


def test_a_leak_through_two_layers_is_found() -> None:
    def layer(x: torch.Tensor, ahead: int) -> torch.Tensor:
        return x + torch.roll(x, -ahead, dims=1) * 1e-4

    found = reach(lambda x: layer(layer(x, 1), 1), torch.randn(1, 5, 3))
    assert found[0, 2] > 0 and found[0, 3] == 0


def test_the_mask_holds_exactly_and_its_absence_shows(model: annotated.Transformer) -> None:
    source, target_in = torch.tensor([[5, 6, 7, 2]]), torch.tensor([[1, 8, 9, 10, 11]])
    later = torch.ones(5, 5).triu(1).bool()
    held = decoder_reach(model, source, target_in)
    assert (held[later] == 0).all() and (held[~later] > 0).all()
    assert (decoder_reach(model, source, target_in, masked=False) > 0).all()


def test_masked_by_minus_infinity_is_the_library(model: annotated.Transformer) -> None:
    ids = torch.tensor([[5, 6, 2]]), torch.tensor([[1, 8, 9, 10]])
    with torch.no_grad():
        before = model(*ids)
        with masked_by(-math.inf):
            torch.testing.assert_close(model(*ids), before, atol=1e-5, rtol=1e-5)
        with masked_by(None):
            assert (model(*ids) - before).abs().max() > 0.01
        with masked_by(-1e-12), pytest.raises(ZeroDivisionError):
            assert (model(*ids) - before).abs().max() > 0.01
            raise ZeroDivisionError  # the library's own functions come back all the same
        torch.testing.assert_close(model(*ids), before)


@pytest.mark.parametrize("layout", ["padded", "packed", "static"])
def test_masked_by_reaches_every_layout(model: annotated.Transformer, layout: str) -> None:
    batch = collate_ids([([5, 6, 7], [8, 9, 10]), ([11], [12])])

    def loss() -> float:
        with torch.no_grad():
            return float(layout_loss(model, batch, 0.1, layout)[0])

    before = loss()
    with masked_by(-math.inf):
        assert loss() == pytest.approx(before, rel=1e-5)
    with masked_by(None):
        assert abs(loss() - before) > 0.01
    assert loss() == before


def test_masked_by_writes_its_number_over_the_scores() -> None:
    q = torch.zeros(1, 1, 2, 4)
    v = torch.tensor([[1.0], [3.0]])[None, None]
    from annotated.model import attention

    for fill, first in ((None, 2.0), (-math.inf, 1.0), (0.0, 2.0), (math.log(3), (1 + 9) / 4)):
        with masked_by(fill):
            output, weights = attention.scaled_dot_product_attention(q, q, v, causal_mask(2))
            fused = attention.fused_attention(q, q, v, causal=True)
        assert output[0, 0, :, 0].tolist() == pytest.approx([first, 2.0])
        torch.testing.assert_close(weights.sum(-1), torch.ones(1, 1, 2))
        torch.testing.assert_close(fused, output)
    assert attention.scaled_dot_product_attention is scaled_dot_product_attention
    assert attention.fused_attention is fused_attention
