"""Convolutions are PyTorch's; restricted attention is full attention under the mask of its window."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from annotated.model import MultiHeadAttention, Recorded
from annotated_book.why.table_1.convolutional import Convolution, SeparableConvolution, dilations
from annotated_book.why.table_1.restricted import RestrictedSelfAttention


@pytest.mark.parametrize(("kernel", "dilation", "causal"), [(3, 1, False), (5, 2, False), (2, 1, True), (3, 3, True)])
def test_convolution_is_conv1d(kernel: int, dilation: int, causal: bool) -> None:
    torch.manual_seed(0)
    layer, x = Convolution(4, kernel, dilation=dilation, causal=causal), torch.randn(2, 9, 4)
    # [out, k * in] with the neighbours side by side -> [out, in, k]
    weight = layer.weight.unflatten(1, (kernel, 4)).transpose(1, 2)
    span = (kernel - 1) * dilation
    padded = F.pad(x.transpose(1, 2), (span, 0) if causal else (span // 2, span // 2))
    torch.testing.assert_close(layer(x), F.conv1d(padded, weight, dilation=dilation).transpose(1, 2))


@pytest.mark.parametrize("causal", [False, True])
def test_separable_is_a_full_convolution_of_rank_one(causal: bool) -> None:
    torch.manual_seed(1)
    layer, x = SeparableConvolution(4, 3, causal=causal), torch.randn(2, 7, 4)
    with torch.no_grad():
        layer.depthwise.bias = None
        weight = layer.pointwise.weight[:, :, None] * layer.depthwise.weight[:, 0]  # [out, in, k]
        padded = F.pad(x.transpose(1, 2), (2, 0) if causal else (1, 1))
        torch.testing.assert_close(layer(x), F.conv1d(padded, weight).transpose(1, 2))


def test_an_even_kernel_has_no_middle() -> None:
    for make in (
        lambda: Convolution(4, 2),
        lambda: SeparableConvolution(4, 4),
        lambda: RestrictedSelfAttention(4, 2, 6),
    ):
        with pytest.raises(ValueError, match="middle"):
            make()


def test_dilations() -> None:
    assert dilations(3, 4) == [1, 3, 9, 27]


@pytest.mark.parametrize(("size", "causal"), [(3, False), (5, False), (4, True), (25, False)])
def test_restricted_attention_is_masked_attention(size: int, causal: bool) -> None:
    torch.manual_seed(2)
    n, d = 9, 8
    local, full = RestrictedSelfAttention(d, 2, size, causal=causal), MultiHeadAttention(d, 2)
    distance = torch.arange(n)[:, None] - torch.arange(n)
    window = ((distance >= 0) & (distance < size)) if causal else distance.abs() <= size // 2
    with torch.no_grad():
        full.in_projection.copy_(local.in_projection.weight)
        full.out_projection.weight.copy_(local.out_projection.weight)
        x = torch.randn(2, n, d)
        recorded = Recorded(window)
        expected, (everything,) = full(x, x, x, recorded), recorded.weights
        output, weights = local(x, return_weights=True)
    torch.testing.assert_close(output, expected)
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 2, n))
    ahead = 0 if causal else size // 2
    for t in range(n):
        for i in range(size):
            place = t + i - (size - 1 - ahead)
            inside = everything[:, :, t, place] if 0 <= place < n else torch.zeros(2, 2)
            torch.testing.assert_close(weights[:, :, t, i], inside)


def test_heads_must_divide_the_width() -> None:
    with pytest.raises(ValueError, match="do not divide"):
        RestrictedSelfAttention(9, 2, 3)
