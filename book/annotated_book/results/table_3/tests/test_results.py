"""Tables and charts of the small Table 3, from a summary made by hand."""

from __future__ import annotations

from typing import Any

import pytest

from annotated.config import table_3
from annotated_book.results.table_3.result_charts import cost_chart, paper_chart, rows_chart
from annotated_book.results.table_3.results import (
    cost_table,
    curve_table,
    difference_table,
    seed_table,
    shown_table,
)
from annotated_book.results.table_3.row_card import card_chart, card_lines
from book.tests.drawing import texts


def row(name: str, losses: list[float], parameters: int = 100, updates: tuple[int, ...] = (5, 10)) -> dict[str, Any]:
    return {
        "row": name, "parameters": parameters, "gflop": 3, "seeds": list(range(len(losses))), "valid_losses": losses,
        "bleus": [1.0 + seed for seed in range(len(losses))], "updates": list(updates),
        "curves": [[loss + 1, loss] for loss in losses],
    }  # fmt: skip


@pytest.fixture
def rows() -> list[dict[str, Any]]:
    """Base at 4.00, two layers at 4.20, 32 heads at 4.00, the big model at 3.80 with three times the updates.

    Seed 1 is above seed 0 by 0.02, 0.04 and 0.02, which is 0.08/3 on average. The squares of what is left are 0.0004/3
    in all, with 7 - 4 - 1 = 2 degrees of freedom, whose t is 4.3027: a difference of two means of two runs has a
    deviation of 0.00816 and an interval of 0.0351 to each side. The mean of A4 is expected to be higher by half of
    0.08/3 with both seeds.
    """
    return [
        row("base", [3.99, 4.01]),
        row("A4", [4.00]),
        row("C1", [4.18, 4.22], 60),
        {**row("big", [3.79, 3.81], 900, (15, 30)), "curves": [[5.0, 3.79], [5.0, 3.81]]},
        {**row("E1", []), "gflop": None},
    ]


def test_differences_have_the_cost_of_their_row(rows: list[dict[str, Any]]) -> None:
    table = difference_table(rows)
    assert list(table.index) == ["A4", "C1", "big"] and table.loc["C1", "parameters"] == 60
    assert table.loc["C1", "difference"] == pytest.approx(0.2) and table.loc["big", "verdict"] == "too few runs"
    assert table.loc["A4", "difference"] == pytest.approx(0.04 / 3)
    shown = shown_table(rows).set_index("row")
    assert shown.loc["C1  N = 2", "interval"] == "+0.165 to +0.235"


def test_seeds_and_curves_are_compared_with_base(rows: list[dict[str, Any]]) -> None:
    seeds = seed_table(rows).set_index(["row", "seed"])["difference"]
    assert len(seeds) == 5 and seeds["C1", 1] == pytest.approx(0.21)
    curves = curve_table(rows).set_index(["row", "seed", "share"])["difference"]
    assert curves["C1", 0, 50.0] == pytest.approx(0.19) and curves["big", 1, 100.0] == pytest.approx(-0.2)
    assert curves["big", 0, 50.0] == pytest.approx(5.0 - 4.99), "at the same share of the training"
    assert len(curves) == 10


def test_the_interval_of_a_loss_shrinks_with_its_seeds(rows: list[dict[str, Any]]) -> None:
    """A4 has one run, whose seed three pairs of runs correct: its variance is 1 and a quarter of 2/3, C1's is 1/2."""
    table = cost_table(rows).set_index("row")
    assert table["loss"].to_dict() == pytest.approx({"base": 4.0, "A4": 4.0 + 0.04 / 3, "C1": 4.2, "big": 3.8})
    assert table.loc["C1", "reach"] == pytest.approx(4.3027 * (0.0004 / 3 / 2 / 2) ** 0.5, rel=1e-4)
    assert table.loc["A4", "reach"] == pytest.approx(table.loc["C1", "reach"] * (7 / 3) ** 0.5)
    assert table.loc["base", "BLEU"] == 1.5 and table.loc["big", "operations"] == 3e9
    with pytest.raises(ValueError, match="two seeds"):
        cost_table([row("base", [4.0])])


def test_charts_hold_what_they_are_given(rows: list[dict[str, Any]]) -> None:
    charts = rows_chart(rows, "big"), card_chart(rows, table_3), paper_chart(rows), cost_chart(rows, "operations")
    for chart in charts:
        spec = chart.to_dict()
        assert spec["width"] == "container" and spec["title"] and spec["description"]
    assert rows_chart(rows, "big").to_dict()["height"] == 63
    assert card_chart(rows, table_3, "big").to_dict()["params"][0]["value"] == "big"
    names = [layer for layer in paper_chart(rows).to_dict()["layer"] if layer["mark"].get("type") == "text"]
    assert sum(len(layer["data"]["values"]) for layer in names) == 3, "each name stands in one place"


def test_a_card_says_what_a_row_changes_costs_and_reaches(rows: list[dict[str, Any]]) -> None:
    table, by_row = difference_table(rows), {one["row"]: one for one in rows}
    cards = {row: card_lines(by_row[row], by_row["base"], found, table_3) for row, found in table.iterrows()}
    assert cards["C1"] == [
        "C1: N=2",
        "+0.200 nats (+0.165 to +0.235)",  # as in the table above
        "the paper +0.217 nats: chose the size",  # the logarithm of 6.11 / 4.92
        "60 parameters, 60\u00a0% of base's",
        "0.0 TFLOP of training, 100\u00a0% of base's",
        "2 seeds: BLEU 1.5, base 1.5",
    ]
    assert cards["A4"][0] == "A4: h=32, d_k=16, d_v=16" and cards["A4"][-1] == "1 seed: BLEU 1.0, base 1.5"
    assert cards["big"][1].startswith("−0.200 nats (−0.235 to −0.165")
    shown = texts(card_chart(rows, table_3, "big"))
    assert "1 seed: BLEU 1.0, base 1.5" not in shown and "900 parameters, 900\u00a0% of base's" in shown


def test_verdicts_that_no_row_has_are_not_in_the_legend(rows: list[dict[str, Any]]) -> None:
    shown = texts(rows_chart([row("base", [3.99, 4.0, 4.01]), rows[1], row("C1", [4.19, 4.2, 4.21], 60)]))
    assert "chose the size" in shown and "too few runs" in shown and not {"confirmed", "contradicted"} & set(shown)


def test_the_title_of_the_costs_is_about_rows_with_as_many_parameters_as_base(rows: list[dict[str, Any]]) -> None:
    more = [*rows, row("D2", [4.3])]  # as large as base, and A4 at 4.0; C1 and big are not
    assert cost_chart(more).to_dict()["title"]["text"].endswith("lie up to 0.3 nats apart")


def test_names_of_rows_as_large_as_base_are_those_of_the_farthest_two(rows: list[dict[str, Any]]) -> None:
    spec = cost_chart([*rows, row("D1", [3.6]), row("D2", [4.3])]).to_dict()
    shown = [layer for layer in spec["layer"] if layer.get("encoding", {}).get("text", {}).get("field") == "row"]
    named = {one["row"] for layer in shown for one in layer["data"]["values"]}
    assert named == {"base", "C1", "big", "D1", "D2"}, "and not A4, which lies between"
