"""Chapter 35, its charts: what is computed in them, by hand, and what a menu names."""

from __future__ import annotations

import math
from typing import Any

import pytest

from annotated_book import recorded
from annotated_book.results.plans.banded import band_mask, block_mask
from annotated_book.results.plans.charts import RADII, drafts_chart, local_chart, operations_chart
from book.tests.drawing import moved, texts


def formulas(chart: dict[str, Any]) -> dict[str, str]:
    """The expression of each line, by its name."""
    return {step["as"]: step["calculate"] for step in chart["layer"][0]["transform"] if "calculate" in step}


def value(expression: str, n: int, place: int) -> float:
    """A Vega expression without strings, read as Python."""
    if "?" in expression:
        asked, rest = expression.split("?")
        yes, no = rest.split(":")
        expression = f"({yes}) if ({asked}) else ({no})"
    return float(eval(expression.replace("datum.n", "n").strip(), {"n": n, "radius": place, "pow": pow}))


@pytest.mark.parametrize("place", [0, 1, 2])
def test_the_scores_are_those_of_the_masks(place: int) -> None:
    """Blocks of whole length compute what the block mask has places for; the band is counted in its mask."""
    found, radius = formulas(operations_chart().to_dict()), RADII[place]
    for n in (5, radius, 4 * radius, 6 * radius):
        assert value(found["all keys: n"], n, place) == n * n
        assert value(found["band: 2w + 1"], n, place) == int(band_mask(n, radius).sum())
        if n % radius == 0:
            assert value(found["blocks: 3w"], n, place) == math.prod(block_mask(n, radius).shape)


def test_the_slider_starts_at_a_radius_of_the_list() -> None:
    assert list(RADII) == [2 ** (k + 3) for k in range(len(RADII))]
    parameter = operations_chart().to_dict()["params"][0]
    assert RADII[parameter["value"]] == 32 and parameter["bind"]["max"] == len(RADII) - 1


def test_a_menu_names_the_measure_and_leaves_the_axis_its_width() -> None:
    rows, local = recorded("plans/drafts").results["rows"], recorded("plans/local").results
    for chart, name in ((drafts_chart(rows), "gained"), (local_chart(local["rows"], local["radius"]), "what")):
        made = chart.to_dict()
        assert made["layer"][-1]["mark"]["text"] == {"expr": name}
        (y,) = [layer["encoding"]["y"] for layer in made["layer"] if layer["mark"]["type"] == "line"]
        assert y["title"] is None and y["axis"]["minExtent"] == y["axis"]["maxExtent"]


def test_the_blocks_begin_with_one_whole_block() -> None:
    """In a shorter text a block computes more than 3w scores for each query, and the line would not hold."""
    steps = operations_chart().to_dict()["layer"][0]["transform"]
    assert {"filter": "datum.name != 'blocks: 3w' || datum.n >= pow(2, radius + 3)"} in steps
    assert math.prod(block_mask(8, 16).shape) == 3 * 16 * 16 > 3 * 16 * 8


@pytest.mark.parametrize("measure", ["tokens per pass of the model", "speed, the loop without guesses = 1"])
def test_each_draft_has_its_name_and_last_value_beside_its_line(measure: str) -> None:
    rows = recorded("plans/drafts").results["rows"]
    shown = texts(moved(drafts_chart(rows).to_dict(), gained=measure))
    last = {row["draft"]: row for row in rows if row["block"] == 8}
    (none,) = [row for row in rows if row["draft"] == "none"]
    gained = {
        name: row["steps"] / row["passes"] if measure.startswith("tokens") else none["ms"] / row["ms"]
        for name, row in last.items()
    }
    assert {f"{name} {value:.2f}" for name, value in gained.items()} <= set(shown)
