"""Formulas of Table 1 against independent counts: PyTorch's, by hand, and by derivative."""

from __future__ import annotations

import pytest
import torch

from annotated_book.why.table_1.complexity import (
    LAYERS,
    counted,
    hops_needed,
    longest_chain,
    operations,
    path_length,
    spread,
    waiting_products,
)


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize(("n", "d", "k", "r"), [(5, 8, 3, 3), (12, 16, 2, 4), (20, 8, 5, 33)])
def test_operations_are_what_pytorch_counts(layer, n: int, d: int, k: int, r: int) -> None:
    assert sum(operations(layer, n, d, k, r).values()) == counted(layer, n, d, k, r)


def test_operations_by_hand() -> None:
    # n = 2, d = 3: four 3x3 matrices at 2 positions are 72; 4 scores and 4 mixtures of 3 each are 24.
    assert list(operations("self-attention", 2, 3).values()) == [24, 72]
    assert list(operations("recurrent", 2, 3).values()) == [54, 54]
    assert list(operations("contiguous", 2, 3, k=5).values()) == [90]
    assert list(operations("separable", 2, 3, k=5).values()) == [18, 30]


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("n", [2, 9, 10, 28])
def test_hops_are_the_formulas(layer, n: int) -> None:
    assert hops_needed(layer, n, k=3, r=5) == path_length(layer, n, k=3, r=5)


def test_hops_by_hand() -> None:
    assert path_length("recurrent", 10) == 9
    assert path_length("contiguous", 10, k=4) == 3  # three positions a layer
    assert path_length("dilated", 27, k=3) == 3 and path_length("dilated", 28, k=3) == 4
    assert path_length("restricted", 11, r=6) == 2
    assert path_length("restricted", 11, r=5, centred=True) == 5  # two positions a layer


@pytest.mark.parametrize(("layer", "n"), [("contiguous", 12), ("restricted", 12)])
def test_centred_neighbourhoods_reach_half_as_far(layer, n: int) -> None:
    assert hops_needed(layer, n, 3, 5, centred=True) == path_length(layer, n, 3, 5, centred=True)


def test_a_centred_dilated_stack_is_refused() -> None:
    for call in (path_length, spread):
        with pytest.raises(ValueError, match="no path"):
            call("dilated", 9, centred=True)


def test_spread_grows_by_one_position_a_step_in_a_recurrent_layer() -> None:
    assert spread("recurrent", 4) == [[i <= hop for i in range(4)] for hop in range(4)]
    assert spread("self-attention", 4) == [[True, False, False, False], [True] * 4]


def test_waiting() -> None:
    for layer in LAYERS:
        chain = [waiting_products(layer, n) for n in (3, 9)]
        assert chain == ([3, 9] if layer == "recurrent" else [chain[0]] * 2)


def test_the_longest_chain_is_not_the_number_of_products() -> None:
    a, b = (torch.randn(3, 3, requires_grad=True) for _ in range(2))
    assert longest_chain((a @ b) + (b @ a)) == 1  # two products side by side
    assert longest_chain((a @ b) @ (b @ a) @ a) == 3
    assert longest_chain(a + b) == 0
    fused = torch.nn.functional.scaled_dot_product_attention(a[None, None], b[None, None], b[None, None])
    assert longest_chain(fused) == 2, "one kernel, but scores and the weighted mean are two products"
    assert longest_chain(torch.randn(2, 3, 3, requires_grad=True) @ (a @ b)[0]) == 2  # a matrix times a vector
