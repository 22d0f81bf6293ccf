"""Attention over parameters: against loops over heads and rows, and its number of parameters."""

from __future__ import annotations

import math

import pytest
import torch

from annotated import tiny
from annotated_book.machine.feed_forward_as_attention.experiment import PAPER, VARIANTS, layer
from annotated_book.machine.feed_forward_as_attention.parameter_attention import (
    ParameterAttention,
    with_parameter_attention,
)


def test_the_layer_is_the_sum_over_heads_and_rows() -> None:
    torch.manual_seed(0)
    module, x = ParameterAttention(6, num_heads=2, d_k=3, d_v=4, rows=5), torch.randn(6)
    result = torch.zeros(6)
    for h in range(2):
        q = module.query.weight[3 * h : 3 * h + 3] @ x
        scores = [(q @ (module.keys[h, n] * math.sqrt(6))).item() / math.sqrt(3) for n in range(5)]
        exponentials = [math.exp(s) for s in scores]
        head = sum(e / sum(exponentials) * module.values[h, n] * math.sqrt(6) for n, e in enumerate(exponentials))
        result = result + module.output.weight[:, 4 * h : 4 * h + 4] @ head  # type: ignore[operator]
    torch.testing.assert_close(module(x), result, atol=1e-5, rtol=1e-4)


def test_positions_do_not_mix_and_any_shape_goes() -> None:
    module, x = ParameterAttention(8, 2, 4, 4, 7), torch.randn(2, 5, 8)
    y = module(x)
    torch.testing.assert_close(module(x[1, 3]), y[1, 3])
    torch.testing.assert_close(module(x.flatten(0, 1)), y.flatten(0, 1))


@pytest.mark.parametrize("variant", ["attention 1", "attention 2"])
def test_parameters_match_the_network_that_is_replaced(variant: str) -> None:
    for sizes, d_model, d_ff in ((PAPER, 512, 2048), (VARIANTS, 64, 256)):
        assert sum(p.numel() for p in layer(variant, sizes, d_model, d_ff).parameters()) == 2 * d_model * d_ff


def test_every_network_of_the_model_is_replaced() -> None:
    config = tiny(vocab_size=20, num_encoder_layers=2, num_decoder_layers=2)
    model = with_parameter_attention(config, 2, 8, 8, 3)
    kinds = {type(layer_.feed_forward) for layer_ in (*model.encoder.layers, *model.decoder.layers)}
    assert kinds == {ParameterAttention}
    assert model(torch.tensor([[4, 5, 2]]), torch.tensor([[1, 6]])).shape == (1, 2, 20)
