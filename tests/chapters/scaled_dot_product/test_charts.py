"""The steps of one query are those of equation 1, and the arrows end in its output."""

from __future__ import annotations

import pytest
import torch

from annotated import scaled_dot_product_attention
from annotated.chapters.scaled_dot_product.charts import _steps, one_query_chart
from tests.drawing import texts

K = torch.tensor([[0.0, 0, 1, 0], [1, 1, 1, 1], [0, 1, 0, 0]])
Q = torch.stack([K[0], K[1], torch.tensor([1.0, 2, 0, 1])])
V = torch.tensor([[0.0, 0], [1, 0], [0, 1]])
NAMES = ["the", "cat", "sat"]


def test_the_numbers_of_the_last_query_by_hand() -> None:
    shown = texts(one_query_chart(Q, K, V, NAMES))
    for number in ("4", "2", "1", "1.00", "7.39", "2.72", "Σ 11.11", "0.09", "0.67", "0.24", "(0.67, 0.24)"):
        assert number in shown, number


def test_steps_hide_what_comes_later() -> None:
    shown = texts(one_query_chart(Q, K, V, NAMES, step=2))
    assert any(text.startswith("2. Scale") for text in shown)
    assert "7.39" not in shown and "output" not in shown and "4" in shown


def test_arrows_end_in_the_output_of_every_query() -> None:
    _, arrows = _steps(Q.numpy(), K.numpy(), V.numpy(), NAMES)
    output, _ = scaled_dot_product_attention(Q, K, V)
    ends = arrows.loc[arrows["last"], ["x2", "y2"]].to_numpy()
    assert torch.allclose(torch.tensor(ends, dtype=output.dtype), output, atol=1e-4)


def test_values_that_cannot_be_drawn_are_refused() -> None:
    with pytest.raises(ValueError, match=r"values \[3, 2\]"):
        one_query_chart(Q, K, K, NAMES)
