"""Tables and charts of the small Table 3, from a summary made by hand."""

from __future__ import annotations

from typing import Any

import pytest

from annotated.chapters.table_3.result_charts import cost_chart, curves_chart, paper_chart, rows_chart
from annotated.chapters.table_3.results import (
    cost_table,
    curve_table,
    difference_table,
    seed_table,
    shown_table,
    verdict_counts,
)


def row(name: str, losses: list[float], parameters: int = 100, updates: tuple[int, ...] = (5, 10)) -> dict[str, Any]:
    return {
        "row": name, "parameters": parameters, "gflop": 3, "seeds": list(range(len(losses))), "valid_losses": losses,
        "bleus": [1.0 + seed for seed in range(len(losses))], "updates": list(updates),
        "curves": [[loss + 1, loss] for loss in losses],
    }  # fmt: skip


@pytest.fixture
def rows() -> list[dict[str, Any]]:
    """Base at 4.00, two layers at 4.20, 32 heads at 4.00, the big model at 3.80 with three times the updates."""
    return [
        row("base", [3.99, 4.01]),
        row("A4", [4.00]),
        row("C1", [4.19, 4.21], 60),
        {**row("big", [3.79, 3.81], 900, (15, 30)), "curves": [[5.0, 3.79], [5.0, 3.81]]},
        {**row("E1", []), "gflop": None},
    ]


def test_differences_have_the_cost_of_their_row(rows: list[dict[str, Any]]) -> None:
    table = difference_table(rows)
    assert list(table.index) == ["A4", "C1", "big"] and table.loc["C1", "parameters"] == 60
    assert table.loc["C1", "difference"] == pytest.approx(0.2) and table.loc["big", "verdict"] == "confirmed"
    assert verdict_counts(rows) == {
        "confirmed": 2,
        "contradicted": 0,
        "not told apart": 1,
        "no sign to confirm": 0,
    }
    shown = shown_table(rows).set_index("row")
    # The pooled deviation is the root of 0.0002, from three rows with a degree of freedom each, whose t is 3.182.
    assert shown.loc["C1  N = 2", "interval"] == "+0.155 to +0.245"


def test_seeds_and_curves_are_compared_with_base(rows: list[dict[str, Any]]) -> None:
    seeds = seed_table(rows).set_index(["row", "seed"])["difference"]
    assert len(seeds) == 5 and seeds["C1", 1] == pytest.approx(0.21)
    curves = curve_table(rows).set_index(["row", "seed", "share"])["difference"]
    assert curves["C1", 0, 50.0] == pytest.approx(0.2) and curves["big", 1, 100.0] == pytest.approx(-0.2)
    assert curves["big", 0, 50.0] == pytest.approx(5.0 - 4.99), "at the same share of the training"
    assert len(curves) == 10


def test_the_interval_of_a_mean_shrinks_with_its_seeds(rows: list[dict[str, Any]]) -> None:
    table = cost_table(rows).set_index("row")
    assert table.loc["A4", "reach"] == pytest.approx(table.loc["C1", "reach"] * 2**0.5)
    assert table.loc["C1", "reach"] == pytest.approx(3.18245 * 0.0002**0.5 / 2**0.5, rel=1e-4)
    assert table.loc["base", "BLEU"] == 1.5 and table.loc["big", "operations"] == 3e9
    with pytest.raises(ValueError, match="two seeds"):
        cost_table([row("base", [4.0])])


def test_charts_hold_what_they_are_given(rows: list[dict[str, Any]]) -> None:
    for chart in (rows_chart(rows, "big"), curves_chart(rows), paper_chart(rows), cost_chart(rows, "operations")):
        spec = chart.to_dict()
        assert spec["width"] == "container" and spec["title"] and spec["description"]
    assert rows_chart(rows, "big").to_dict()["height"] == 63
    assert curves_chart(rows, "big").to_dict()["params"][0]["value"] == "big"
    names = [layer for layer in paper_chart(rows).to_dict()["layer"] if layer["mark"].get("type") == "text"]
    assert sum(len(layer["data"]["values"]) for layer in names) == 3, "each name stands in one place"
