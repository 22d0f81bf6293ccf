"""The charts of chapter 2 hold the numbers they are given, in the order of the sentence, and refuse what cannot be."""

from __future__ import annotations

import math

import pytest

from annotated_book.why.transduction.charts import (
    end_chart,
    factors_chart,
    running_sum_chart,
    unroll_chart,
)
from book.tests.drawing import texts

RIGHT = (["Die", "Katze", "</s>"], [math.log(0.5), math.log(0.8), math.log(0.5)])
WRONG = (["Der", "Katze", "</s>"], [math.log(0.01), math.log(0.8), math.log(0.5)])


def values(chart) -> list[dict]:
    """The rows of the chart's inline data."""
    spec = chart.to_dict()
    datasets = spec.get("datasets") or {}
    return next(iter(datasets.values())) if datasets else spec["data"]["values"]


def find(spec, key: str) -> list:
    """Every value under a key, anywhere in a specification."""
    if isinstance(spec, list):
        return [found for item in spec for found in find(item, key)]
    if not isinstance(spec, dict):
        return []
    return [found for k, v in spec.items() for found in ([v] if k == key else []) + find(v, key)]


def test_the_title_multiplies_the_factors_of_each_sentence() -> None:
    spec = factors_chart({"right": RIGHT, "wrong": WRONG}, step=2).to_dict()
    expression = spec["title"]["text"]["expr"]
    product = [0.0, math.log(0.5), math.log(0.4), math.log(0.2)]
    assert "".join(str([round(x, 4) for x in product]).split()) in "".join(expression.split())
    rows = next(v for v in find(spec, "values") if isinstance(v[0], dict))
    assert [row["piece"] for row in rows] == [RIGHT[0], WRONG[0]]
    assert rows[1]["log"][0] == round(math.log(0.01), 4)
    assert {p["name"]: p["value"] for p in spec["params"]} == {"version": "right", "step": 2}


def test_the_running_sum_starts_at_nothing_and_ends_at_the_sentence() -> None:
    spec = running_sum_chart({"right": RIGHT, "wrong": WRONG}).to_dict()
    rows = next(v for v in find(spec, "values") if isinstance(v[0], dict))
    right = [row["log p"] for row in rows if row["sentence"] == "right"]
    assert right == [0.0, *(round(math.log(p), 3) for p in (0.5, 0.4, 0.2))]


def test_the_unrolled_chain_has_a_node_for_each_step() -> None:
    spec = unroll_chart([1.0, 0.5, 0.25]).to_dict()
    rows = next(v for v in find(spec, "values") if isinstance(v[0], dict) and "size" in v[0])
    assert rows == [{"t": 1, "size": 1.0}, {"t": 2, "size": 0.5}, {"t": 3, "size": 0.25}]
    slider = next(p for p in spec["params"] if p["name"] == "t0")
    assert slider["bind"]["max"] == 3


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: factors_chart({}), "at least one"),
        (lambda: factors_chart({"a": RIGHT}, start="b"), "named 'b'"),
        (lambda: factors_chart({"a": (["x"], [0.5])}), "never above 0"),
        (lambda: factors_chart({"a": (["x"], [-1.0, -2.0])}), "as many"),
        (lambda: running_sum_chart({}), "at least one"),
        (lambda: unroll_chart([1.0, 0.0]), "positive"),
        (lambda: unroll_chart([1.0]), "two or more"),
    ],
)
def test_what_cannot_be_is_refused(make, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    "make",
    [
        lambda: factors_chart({"right": RIGHT}),
        lambda: running_sum_chart({"right": RIGHT}),
        lambda: unroll_chart([1.0, 0.5]),
    ],
    ids=["factors", "running sum", "unrolled"],
)
def test_every_chart_speaks(make) -> None:
    """They are made here: every process of the tests imports this module."""
    assert len(make().to_dict()["description"]) > 80


def test_the_end_token_has_a_row_for_each_step() -> None:
    chart = end_chart(["a", "b", "</s>"], [2e-7, 0.013, 0.9])
    spec = chart.to_dict()
    assert "a 0.00002 %; b 1 %; </s> 90 %" in spec["description"]
    assert {"0.00002 %", "1 %", "90 %"} <= set(texts(chart))
