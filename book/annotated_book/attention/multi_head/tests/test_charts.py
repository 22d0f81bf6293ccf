"""Charts of chapter 8: the data they carry, and what they refuse."""

from __future__ import annotations

import pytest

from annotated_book.attention.multi_head.charts import (
    head_count_chart,
    one_head_chart,
    projection_chart,
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


def test_retrieval_has_a_row_for_each_offset_and_their_mean() -> None:
    chart = retrieval_chart({"a": {"by_offset": [1.0, 0.5]}, "b": {"by_offset": [0.2, 0.4]}}, chance=0.1)
    rows = {(r["heads"], r["offset"]): r["accuracy"] for r in data(chart) if "heads" in r}
    assert rows == {
        ("a", "1"): 1,
        ("a", "2"): 0.5,
        ("a", "all"): 0.75,
        ("b", "1"): 0.2,
        ("b", "2"): 0.4,
        ("b", "all"): 0.3,
    }
    assert "a 75%" in chart.to_dict()["description"]
    with pytest.raises(ValueError, match="between 0 and 1"):
        retrieval_chart({"a": {"by_offset": [1.2]}}, chance=0.1)


def test_head_counts_stand_on_one_axis() -> None:
    chart = head_count_chart({1: [0.3, 0.4], 2: [0.9]}, {1: 24.9, 8: 25.8})
    text = str(chart.to_dict())
    assert text.count("[1, 2, 8]") >= 2, "both pictures have the same domain"
    with pytest.raises(ValueError):
        head_count_chart({}, {1: 24.9})


def test_reads_are_scaled_to_the_largest() -> None:
    rows = data(reads_chart({"dense": [[2, 4], [4, 2]], "block": [[3, 0], [0, 3]]}))
    shown = {(r["network"], r["head"], r["slice"]): r["strength"] for r in rows}
    assert shown["dense", "head 1", "1"] == 0.5 and shown["block", "head 2", "1"] == 0
    assert shown["block", "head 1", "1"] == 1, "each is scaled to its own largest"
    with pytest.raises(ValueError):
        reads_chart({"flat": [[1, 2]]})


def test_the_projection_chart_has_a_panel_for_each_read_out_and_a_dot_for_each_seed() -> None:
    results = {
        "trained": {"with": {"accuracy": [1.0, 0.9]}, "without": {"accuracy": [0.8, 1.0]}},
        "fixed": {"with": {"accuracy": [1.0, 1.0]}, "without": {"accuracy": [0.5, 0.7]}},
    }
    chart = projection_chart(results)
    assert "trained, without: 90%" in chart.to_dict()["description"]
    assert "fixed, without: 60%" in chart.to_dict()["description"]
    rows = {(r["read"], r["arm"], r["accuracy"]) for r in data(chart) if "arm" in r}
    assert ("fixed", "without", 0.7) in rows and ("trained", "with", 0.9) in rows and len(rows) == 7


def test_the_hill_of_one_head_is_the_mean_over_seeds() -> None:
    chart = one_head_chart([[0.1, 0.5], [0.3, 0.7]])
    assert "0 back 20%, 1 back 60%" in chart.to_dict()["description"]
