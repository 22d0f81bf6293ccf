"""Charts of greedy search show the sums and counts that they are given; the tiles are those of a decoder layer."""

from __future__ import annotations

from typing import Any

import altair as alt
import pytest

from annotated_book.decoding.greedy.charts import cache_chart, cache_cost_chart, lost_chart, two_ways_chart
from annotated_book.decoding.greedy.widget import step_player
from annotated_book.pages import page_folder
from book.tests.drawing import draw
from book.tests.javascript import evaluate


def names(ids: list[int]) -> list[str]:
    return [f"▁{n}" for n in ids]


def walk(text: str = "Hi", leaves: int | None = 1) -> dict[str, Any]:
    """Greedy writes 5 6 2, the best translation 5 7 2."""
    step = {"tokens": [5, 6, 7], "probabilities": [0.5, 0.25, 0.125], "entropy": 2.0, "attention": [0.75, 0.25]}
    return {
        "text": text,
        "source": [9, 2],
        "steps": [step] * 3,
        "greedy": {"tokens": [5, 6, 2], "log_probability": [-1.0, -2.0, -3.0]},
        "best": {"tokens": [5, 7, 2], "log_probability": [-1.0, -2.5, -0.5]},
        "leaves": leaves,
    }


def test_two_ways_add_up() -> None:
    rows = two_ways_chart([walk()], names).to_dict()["data"]["values"]
    sums = {search: [r["sum"] for r in rows if r["search"] == search] for search in ("greedy search", "most probable")}
    assert sums == {"greedy search": [0, -1, -3, -6], "most probable": [0, -1, -3.5, -4]}
    # What both have written is named once; apart, the higher point's name is on its right.
    labels = {(r["search"], r["t"]): (r["label"], r["above"]) for r in rows}
    assert labels["most probable", 1] == ("", False) and labels["greedy search", 1] == ("5", False)
    assert labels["greedy search", 2] == ("6", True) and labels["most probable", 2] == ("7", False)
    assert labels["greedy search", 3] == ("2", False) and labels["most probable", 3] == ("2", True)
    with pytest.raises(ValueError, match="each text once"):
        two_ways_chart([walk(), walk()], names)


def computed(chart: alt.LayerChart, step: int, cached: str) -> int:
    """Tiles that the chart's own expression calls computed, by Vega."""
    spec = chart.to_dict()
    for param in spec["params"]:
        param["value"] = step if param["name"] == "step" else cached
    words = draw(spec)
    return int(words.split(f"step {step}: ")[1].split(" tiles")[0])


def test_tiles_with_and_without_a_cache() -> None:
    chart = cache_chart(length=4, source_length=3, step=2)
    # Source keys and values once (2 * 3); then a key, a value and a row of scores for each step.
    assert [computed(chart, t, "with") for t in (1, 2, 4)] == [6 + 2 + 1, 2 + 2, 2 + 4]
    # Without: source, all keys and values, and the triangle of scores up to here.
    assert [computed(chart, t, "without") for t in (1, 2, 4)] == [6 + 2 + 1, 6 + 4 + 3, 6 + 8 + 10]
    with pytest.raises(ValueError, match="between 1 and 4"):
        cache_chart(length=4, step=5)


def test_shares_and_costs() -> None:
    stages = [{"updates": 10, "proven": 4, "greedy_lost": 3, "beam_lost": 1}]
    assert [r["share"] for r in lost_chart(stages).to_dict()["data"]["values"]] == [0.75, 0.25]
    assert len(cache_cost_chart({"a": {8: 1.0}, "b": {8: 3.0}}, "s").to_dict()["data"]["values"]) == 2
    with pytest.raises(ValueError, match="positive"):
        cache_cost_chart({"a": {8: 0.0}}, "s")


def test_the_player_gets_names_and_the_rest_of_the_probability() -> None:
    player = step_player([walk(), walk("Ho", None)], names)
    assert (player.sentence, player.step) == (0, 1)  # where it leaves
    first, second = player.walks
    assert first["greedy"] == ["▁5", "▁6", "▁2"] and first["source"] == ["▁9", "▁2"]
    assert first["steps"][0]["rest"] == 0.125 and first["steps"][0]["equal"] == 4.0
    assert (first["leaves"], second["leaves"]) == (1, -1)
    assert step_player([walk(leaves=None)], names).step == 0
    for wrong, message in (
        ({"sentence": 2}, "one of the 2 searches"),
        ({"step": 3}, "step must be below 3"),
    ):
        with pytest.raises(ValueError, match=message):
            step_player([walk(), walk("Ho")], names, **wrong)
    with pytest.raises(ValueError, match="a weight for each source token"):
        step_player([{**walk(), "source": [9, 8, 2]}], names)


def test_what_is_said_of_each_step() -> None:
    code = "({ verdictOn }, walks) => walks.map(one => one.steps.map((_, t) => verdictOn(one, t)))"
    walks = step_player([walk(), walk(leaves=None)], names).walks
    leaving, faithful = evaluate(page_folder("greedy") / "widget.js", code, walks)
    assert leaving[0] == faithful[0] == faithful[1] == "The most probable translation begins the same way."
    assert (
        leaving[1].startswith("Greedy search leaves the most probable translation here. It takes “6” (log-")
        and "“7” (−2.50)" in leaving[1]
    )
    assert leaving[2].startswith("Greedy search has written") and "−6.00. The most probable translation:" in leaving[2]
    assert "−4.00" in leaving[2] and faithful[2].endswith("−6.00. No translation is more probable.")
