"""Charts of attention show what they are given: queries on rows, keys on columns, rows that sum to one."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from annotated import scaled_dot_product_attention
from annotated_book.viz.attention_map import attention_chart, check_weights
from book.tests.drawing import texts


@given(st.integers(1, 5), st.integers(1, 5), st.integers(0, 100))
def test_real_attention_passes_with_an_empty_row(queries: int, keys: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    q, k = torch.randn(queries, 4, generator=generator), torch.randn(keys, 4, generator=generator)
    mask = torch.rand(queries, keys, generator=generator) > 0.3
    mask[0] = False
    _, weights = scaled_dot_product_attention(q, k, k, mask)
    assert np.allclose(check_weights(weights, ["q"] * queries, ["k"] * keys), weights.numpy())


@pytest.mark.parametrize(
    ("weights", "queries", "message"),
    [
        ([[0.5, 0.5, 0.0]], ["a", "b", "c"], "transposed"),
        ([[0.5, 0.5]], ["a"], "do not fit"),
        ([[2.0, 1.0, -2.0]], ["a"], "before the softmax"),
        ([[0.2, 0.2, 0.2]], ["a"], r"row 0 \('a'\).*sums to 0.600"),
        ([[float("nan"), 0.5, 0.5]], ["a"], "between 0 and 1"),
    ],
)
def test_what_is_not_attention_is_refused(weights: list, queries: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_weights(weights, queries, ["x", "y", "z"] if len(queries) == 1 else ["x"])


def test_a_square_map_with_swapped_axes_is_refused_by_its_sums() -> None:
    weights = torch.tensor([[1.0, 0.0], [0.5, 0.5]])
    check_weights(weights, ["a", "b"], ["a", "b"])
    with pytest.raises(ValueError, match="keys, the last axis"):
        check_weights(weights.T, ["a", "b"], ["a", "b"])


def test_each_cell_carries_its_own_weight_and_tokens() -> None:
    weights = [[0.7, 0.2, 0.1], [0.0, 0.0, 0.0]]
    spec = attention_chart(weights, ["Die", "Katze"], ["the", "the", "cat"]).to_dict()
    cells = spec["layer"][0].get("data", spec.get("data"))["values"]
    assert [(c["query"], c["key"], c["weight"]) for c in cells] == [
        ("Die", "the", 0.7), ("Die", "the", 0.2), ("Die", "cat", 0.1),
        ("Katze", "the", 0.0), ("Katze", "the", 0.0), ("Katze", "cat", 0.0),
    ]  # fmt: skip
    encoding = spec["layer"][0]["encoding"]
    assert encoding["y"]["field"] == "q" and encoding["y"]["title"] == "queries"
    assert encoding["x"]["field"] == "k" and encoding["x"]["title"] == "keys"
    assert "Die to the 70%" in spec["description"] and "Katze to nothing" in spec["description"]


def test_repeated_tokens_keep_their_own_columns_in_the_picture() -> None:
    shown = texts(attention_chart([[0.5, 0.3, 0.2]], ["Hund"], ["the", "dog", "the"]))
    assert shown.count("the") == 2 and shown.count("dog") == 1 and shown.count("Hund") == 1
    assert [t for t in shown if re.fullmatch(r"0\.\d\d", t)] == ["0.50", "0.30", "0.20"]


def test_tokens_with_quotes_do_not_break_the_axis() -> None:
    assert {'"', "it's", "\\"} <= set(texts(attention_chart([[0.5, 0.3, 0.2]], ["q"], ['"', "it's", "\\"])))


def test_a_stack_of_maps_is_not_one_map() -> None:
    with pytest.raises(ValueError, match="choose a sentence and a head"):
        attention_chart(np.ones((2, 1, 1)), ["a"], ["b"])
