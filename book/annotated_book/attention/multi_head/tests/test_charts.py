"""Charts of chapter 8: the data they carry, and what they refuse."""

from __future__ import annotations

import pytest

from annotated_book.attention.multi_head.charts import (
    head_count_chart,
    one_head_chart,
    reads_chart,
    retrieval_chart,
)


def data(chart: object) -> list[dict]:
    """All rows of all data sets of a chart."""
    found: list[dict] = []

    def walk(node: object) -> None:
        if isinstance(node, dict):
            if isinstance(node.get("values"), list) and node["values"] and isinstance(node["values"][0], dict):
                found.extend(node["values"])
            for value in node.values():
                walk(value)
        elif isinstance(node, list):
            for value in node:
                walk(value)

    walk(chart.to_dict())  # type: ignore[attr-defined]
    return found


def test_retrieval_has_a_row_for_each_read_out_and_offset_and_their_mean() -> None:
    arms = {"a": {"by_offset": [1.0, 0.5]}, "b": {"by_offset": [0.2, 0.4]}}
    chart = retrieval_chart({"linear": arms, "hidden": {name: {"by_offset": [1.0, 1.0]} for name in arms}}, chance=0.1)
    rows = {(r["read"], r["heads"], r["offset"]): r["accuracy"] for r in data(chart) if "heads" in r}
    assert {key[1:]: value for key, value in rows.items() if key[0] == "linear"} == {
        ("a", "1"): 1,
        ("a", "2"): 0.5,
        ("a", "all"): 0.75,
        ("b", "1"): 0.2,
        ("b", "2"): 0.4,
        ("b", "all"): 0.3,
    }
    assert {value for key, value in rows.items() if key[0] == "hidden"} == {1}
    assert "read by one matrix, a 75%" in chart.to_dict()["description"]
    with pytest.raises(ValueError, match="between 0 and 1"):
        retrieval_chart({"linear": {"a": {"by_offset": [1.2]}}}, chance=0.1)


def test_head_counts_have_one_axis_and_a_curve_for_each_read_out() -> None:
    chart = head_count_chart({"linear": {1: [0.3, 0.4], 2: [0.9]}, "hidden": {1: [0.95], 2: [1.0]}}, {1: 24.9, 8: 25.8})
    text = str(chart.to_dict())
    assert text.count("[1, 2, 8]") >= 2, "both pictures have the same domain"
    assert {r["name"] for r in data(chart) if "name" in r} == {"one matrix", "a hidden layer"}
    with pytest.raises(ValueError):
        head_count_chart({}, {1: 24.9})


def test_reads_are_scaled_to_the_largest() -> None:
    rows = data(reads_chart({"dense": [[2, 4], [4, 2]], "block": [[3, 0], [0, 3]]}))
    shown = {(r["network"], r["head"], r["slice"]): r["strength"] for r in rows}
    assert shown["dense", "head 1", "1"] == 0.5 and shown["block", "head 2", "1"] == 0
    assert shown["block", "head 1", "1"] == 1, "each is scaled to its own largest"
    with pytest.raises(ValueError):
        reads_chart({"flat": [[1, 2]]})


def test_the_weights_of_one_head_are_means_over_seeds_for_each_read_out() -> None:
    chart = one_head_chart({"linear": [[0.1, 0.5], [0.3, 0.7]], "hidden": [[0.0, 0.2]]})
    assert "read by one matrix: 0 back 20%, 1 back 60%" in chart.to_dict()["description"]
    assert "read by a hidden layer: 0 back 0%, 1 back 20%" in chart.to_dict()["description"]
