"""Tables for charts: long forms, labels that come twice, and what Altair makes of them."""

from __future__ import annotations

import altair as alt
import numpy as np
import pytest

from annotated_book.viz.tables import ONE_ROW, array_table, curves_table, named_table


def test_an_array_has_a_row_for_each_entry_in_its_own_order() -> None:
    table = array_table([[1, 2], [3, 4], [5, 6]], "weight", query=["a", "b", "a"], key=range(2))
    assert list(table.columns) == ["query", "key", "weight"]
    assert table.to_numpy().tolist() == [["a", 0, 1], ["a", 1, 2], ["b", 0, 3], ["b", 1, 4], ["a", 0, 5], ["a", 1, 6]]


def test_axes_may_be_many_and_must_fit() -> None:
    assert len(array_table(np.zeros((2, 3, 4)), "v", head=range(2), q=range(3), k=range(4))) == 24
    with pytest.raises(ValueError, match=r"\[2, 2\] does not fit labels for \[2, 3\]: query, key"):
        array_table(np.eye(2), "weight", query="ab", key="abc")


def test_values_by_several_names_and_lists_that_stay_whole() -> None:
    table = named_table({"x": {"one": [1, 2]}, "y": {"one": [3], "two": []}}, "measure", "model", "line")
    assert table.to_dict("records") == [
        {"measure": "x", "model": "one", "line": [1, 2]},
        {"measure": "y", "model": "one", "line": [3]},
        {"measure": "y", "model": "two", "line": []},
    ]


def test_curves_of_different_lengths_are_counted_from_the_start() -> None:
    table = curves_table({"long": {"a": [0.5, 0.25, 0.125]}, "short": {"a": [1], "b": []}}, "l", "n", "t", "y", start=1)
    assert table.to_numpy().tolist() == [
        ["long", "a", 1, 0.5], ["long", "a", 2, 0.25], ["long", "a", 3, 0.125], ["short", "a", 1, 1.0]
    ]  # fmt: skip


def test_a_number_that_is_missing_is_null_in_the_chart() -> None:
    table = curves_table({"a": [1.0, float("nan")]}, "name", "t", "y")
    values = alt.Chart(table).mark_line().encode(y="y:Q").to_dict()["data"]["values"]
    assert values == [{"name": "a", "t": 0, "y": 1.0}, {"name": "a", "t": 1, "y": None}]


def test_a_mark_of_parameters_alone_has_one_row() -> None:
    assert alt.Chart(ONE_ROW).mark_rule().to_dict()["data"]["values"] == [{}]
