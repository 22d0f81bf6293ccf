"""Losses, attention and positions: what the tests of Joey NMT, torch and transformers publish or compare.

Where each of their cases is held:

- Joey NMT (`test/unit/test_loss.py`): here, but for its convention.
- torch, cross-entropy with `ignore_index`, NaN at padding: here. Its label smoothing: `tests/training/test_loss.py`.
- torch, `scaled_dot_product_attention` with masked rows, gradients: here. Zeros alone: `tests/model/test_attention.py`.
- torch, `MultiheadAttention` of random shapes, with biases and masks, by three ways: 80 here, and 20, with padding, in
  `tests/model/test_parity.py`.
- transformers (`test_modeling_fsmt.py`), Marian's sinusoids: here. Its model: `tests/interop/test_marian.py`.
- Rates at updates 1, 4,000 and 16,000, and none at 0: `tests/training/test_schedule.py`.
"""

from __future__ import annotations

from math import log, nan

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from annotated import MultiHeadAttention, scaled_dot_product_attention, sinusoidal_encoding
from annotated.model import Masked, Recorded, fused_attention
from annotated.training.loss import label_smoothed_cross_entropy

SYMBOLS = torch.tensor([0.1, 0.1, 0.6, 0.1, 0.1]).log().expand(3, 2, 5)
TARGETS = torch.tensor([[2, 1], [2, 0], [1, 0]])


def test_joeynmt_cross_entropy() -> None:
    """Four real tokens."""
    loss, tokens = label_smoothed_cross_entropy(SYMBOLS, TARGETS, 0.0)
    assert float(loss) == pytest.approx(5.6268, abs=1e-4) and tokens == 4


def test_joeynmt_label_smoothing_but_for_its_convention() -> None:
    """Its rest goes to the V - 2 tokens that are neither right nor padding, ours to V - 1, as the paper's code has it.

    Its value is a divergence: the entropy of the smoothed target is taken off.
    """

    def divergence(others: int) -> float:
        share = 0.4 / others
        entropy = -(0.6 * log(0.6) + 0.4 * log(share))
        wrong = [(others - 1) * share * log(0.1) + share * log(0.6), others * share * log(0.1)]
        return 2 * (-0.6 * log(0.1) - wrong[0]) + 2 * (-0.6 * log(0.6) - wrong[1]) - 4 * entropy

    assert divergence(3) == pytest.approx(2.1326, abs=1e-4)
    loss, tokens = label_smoothed_cross_entropy(SYMBOLS, TARGETS, 0.4)
    entropy = -(0.6 * log(0.6) + 0.4 * log(0.1))
    assert float(loss) - tokens * entropy == pytest.approx(divergence(4), abs=1e-5)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("value", [nan, float("inf"), 1e38])
def test_torch_ignores_what_stands_at_padding(smoothing: float, value: float) -> None:
    logits = torch.randn(2, 3, 7, generator=torch.Generator().manual_seed(1))
    targets = torch.tensor([[4, 5, 0], [6, 0, 0]])
    logits[targets == 0] = value
    ours, theirs = logits.clone().requires_grad_(), logits.requires_grad_()
    loss, tokens = label_smoothed_cross_entropy(ours, targets, smoothing)
    expected = F.cross_entropy(
        theirs.flatten(0, 1), targets.flatten(), ignore_index=0, reduction="sum", label_smoothing=smoothing * 7 / 6
    )
    assert tokens == 3 and loss.isfinite()
    torch.testing.assert_close(loss, expected)
    loss.backward()
    expected.backward()
    assert ours.grad is not None and ours.grad[targets != 0].isfinite().all()
    torch.testing.assert_close(ours.grad, theirs.grad, equal_nan=True)  # NaN where the logits themselves are no numbers


@pytest.mark.parametrize("attend", [lambda *x: scaled_dot_product_attention(*x)[0], fused_attention])
def test_torch_attention_and_gradients_where_rows_are_masked(attend) -> None:  # type: ignore[no-untyped-def]
    """Rows with keys as torch has them; a row without a key adds nothing to any gradient."""
    generator = torch.Generator().manual_seed(2)
    inputs = [torch.randn(2, 3, length, 8, generator=generator) for length in (4, 5, 5)]
    mask = torch.rand(2, 1, 4, 5, generator=generator) < 0.5
    mask[..., 0] = True
    mask[0, :, 2] = False
    some = mask.any(-1).expand(2, 3, 4)
    results = []
    for function in (attend, lambda *x: F.scaled_dot_product_attention(*x[:3], attn_mask=mask | ~mask.any(-1, True))):
        own = [x.clone().requires_grad_() for x in inputs]
        output = function(*own, mask)
        output[some].square().sum().backward()
        results.append((output, [x.grad for x in own]))
    (output, gradients), (expected, wanted) = results
    torch.testing.assert_close(output[some], expected[some], rtol=0, atol=1e-5)
    assert not some.all() and (output[~some] == 0).all()
    for mine, theirs in zip(gradients, wanted, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=0, atol=1e-5)


@pytest.mark.parametrize("seed", range(80))
def test_torch_multihead_attention(seed: int) -> None:
    """Fused, recorded, and the weights alone: a module of torch with the same parameters."""
    generator = torch.Generator().manual_seed(seed)
    sizes = [int(torch.randint(1, top, (), generator=generator)) for top in (5, 9, 4, 8, 8)]
    heads, width, batch, queries, keys = sizes
    theirs = nn.MultiheadAttention(heads * width, heads, bias=bool(seed % 2), batch_first=True).eval()
    ours = MultiHeadAttention(heads * width, heads, bias=bool(seed % 2))
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) / 2)
        pairs = [(ours.in_projection, theirs.in_proj_weight), (ours.in_bias, theirs.in_proj_bias)]
        for mine, other in [*pairs, *zip(ours.out_projection.parameters(), theirs.out_proj.parameters(), strict=True)]:
            if mine is not None:
                mine.copy_(other)
    x, memory = (torch.randn(batch, length, heads * width, generator=generator) for length in (queries, keys))
    allowed = torch.rand(batch, 1, queries, keys, generator=generator) < 0.6
    allowed[..., 0] = True  # torch gives NaN for a query without any key; ours gives zeros
    hidden = ~allowed.expand(-1, heads, -1, -1).flatten(0, 1)
    with torch.no_grad():
        expected, weights = theirs(x, memory, memory, attn_mask=hidden, average_attn_weights=False)
        recorded = Recorded(allowed)
        assert torch.allclose(ours(x, memory, memory, Masked(allowed)), expected, rtol=0, atol=1e-5)
        assert torch.allclose(ours(x, memory, memory, recorded), expected, rtol=0, atol=1e-5)
    assert torch.allclose(recorded.weights[0], weights, rtol=0, atol=1e-5)


def test_marian_sinusoids() -> None:
    """Its sines stand in the first half of the row; with us in the even places."""
    expected = [
        [0.0, 0.0, 0.0, 0.0, 0.0],
        [0.84147096, 0.82177866, 0.80180490, 0.78165019, 0.76140374],
        [0.90929741, 0.93651021, 0.95829457, 0.97505713, 0.98720258],
    ]
    found = sinusoidal_encoding(512, 512)
    torch.testing.assert_close(found[:3, 0:10:2], torch.tensor(expected), rtol=0, atol=5e-4)
    torch.testing.assert_close(found[0, 1::2], torch.ones(256))
    four = torch.tensor([[0, 1, 0, 1], [0.84147096, 0.54030231, 0.00999983, 0.99995]])
    torch.testing.assert_close(sinusoidal_encoding(2, 4), four, rtol=0, atol=1e-6)
    assert sinusoidal_encoding(100_000, 8).isfinite().all()
