"""The charts of averages hold what they are given, and their moving parts can be drawn."""

from __future__ import annotations

import pytest

from annotated_book.decoding.averaging.charts import (
    averaged_noise_chart,
    last_k_chart,
    translated_line_chart,
    valley_and_mountain_chart,
    weight_line_chart,
)
from book.tests.drawing import draw


def test_the_last_k_are_counted_from_the_end() -> None:
    runs = {"a": [{"loss": 2.0, "bleu": 30.0}, {"loss": 1.5, "bleu": 31.0}, {"loss": 1.4, "bleu": 32.5}]}
    chart = last_k_chart(runs, {"a": [2.2, 2.1, 2.0]}, k=3)
    dots = chart.to_dict()["layer"][0]["data"]["values"]
    assert [(d["k"], d["loss"]) for d in dots] == [(1, 2.0), (2, 2.1), (3, 2.2)]
    assert "average of 3: loss 1.400, BLEU 32.5" in draw(chart)
    assert "all there are: average of 3" in draw(
        last_k_chart(runs | {"b": runs["a"] * 2}, {"a": [3.0] * 3, "b": [3.0] * 6})
    )
    with pytest.raises(ValueError, match="a: 2 checkpoints and 3 averages"):
        last_k_chart(runs, {"a": [1.0, 2.0]})


@pytest.mark.parametrize(
    ("averages", "told"),
    [([2.0, 1.5, 1.4], "has a lower loss than each"), ([2.0, 2.1, 2.2], "No average"), ([2.0, 1.9, 2.3], "Not every")],
)
def test_the_title_says_what_holds_for_the_run_in_the_menu(averages: list[float], told: str) -> None:
    chart = last_k_chart({"a": [{"loss": loss} for loss in averages]}, {"a": [2.2, 2.1, 2.0]})
    assert told in draw(chart).replace("</tspan><tspan", " ")


def test_the_walk_shows_the_nearest_measured_place() -> None:
    lines = {"within": [(0.0, 1.0), (0.4, 0.8), (1.0, 1.2)], "between": [(0.0, 1.0), (1.0, 1.0)]}
    picture = draw(weight_line_chart(lines, ends={"within": ("old", "new"), "between": ("first seed", "second seed")}))
    assert "t = 0.4: 0.800" in picture and "old" in picture and "second seed" not in picture


@pytest.mark.parametrize(
    ("t", "told", "written"), [(0.5, "t = 0.5, loss 3.25:", "brau brau"), (1, "t = 1.0, loss 0.25:", "Ja.")]
)
def test_the_place_on_the_line_says_what_its_model_writes(t: float, told: str, written: str) -> None:
    walk = [
        {"t": 0.0, "loss": 0.25, "writes": "Ja."},
        {"t": 0.5, "loss": 3.25, "writes": "brau brau"},
        {"t": 1.0, "loss": 0.25, "writes": "Ja."},
    ]
    chart = translated_line_chart(walk, title="What to see", ends=("one", "other"), t=t)
    picture = draw(chart)
    assert f">{told}<" in picture and f">{written}<" in picture and (">brau brau<" in picture) == (t == 0.5)
    assert "What to see" in picture and "one  ←  place t  →  other" in picture


def test_the_law_beside_the_noise() -> None:
    chart = averaged_noise_chart([{"k": 1, "excess": 0.4}, {"k": 4, "excess": 0.12}])
    rows = chart.to_dict()["data"]["values"]
    assert [(r["k"], r["excess"]) for r in rows if r["what"] != "measured"] == [(1, 0.4), (4, 0.1)]


def test_valley_and_mountain_share_one_scale() -> None:
    chart = valley_and_mountain_chart([(0.0, 0.5), (0.5, 0.4), (1.0, 0.4)], [(0.0, 0.5), (0.5, 6.8), (1.0, 0.4)])
    picture = draw(chart)
    assert "0.40 at t = 0.5" in picture and "6.80 at t = 0.5" in picture
    assert "two checkpoints of one run" in picture and "two seeds" in picture
