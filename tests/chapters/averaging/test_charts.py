"""The charts of averages hold what they are given, and their moving parts can be drawn."""

from __future__ import annotations

import pytest

from annotated.chapters.averaging.charts import averaged_noise_chart, last_k_chart, weight_line_chart
from tests.drawing import draw


def test_the_last_k_are_counted_from_the_end() -> None:
    runs = {"a": [{"loss": 2.0, "bleu": 30.0}, {"loss": 1.5, "bleu": 31.0}, {"loss": 1.4, "bleu": 32.5}]}
    chart = last_k_chart(runs, {"a": [2.2, 2.1, 2.0]}, k=3)
    dots = chart.to_dict()["layer"][0]["data"]["values"]
    assert [(d["k"], d["loss"]) for d in dots] == [(1, 2.0), (2, 2.1), (3, 2.2)]
    assert "average of 3: loss 1.400, BLEU 32.5" in draw(chart)
    with pytest.raises(ValueError, match="a: 2 checkpoints and 3 averages"):
        last_k_chart(runs, {"a": [1.0, 2.0]})


def test_the_walk_shows_the_nearest_measured_place() -> None:
    lines = {"within": [(0.0, 1.0), (0.4, 0.8), (1.0, 1.2)], "between": [(0.0, 1.0), (1.0, 1.0)]}
    picture = draw(weight_line_chart(lines, ends={"within": ("old", "new"), "between": ("one", "two")}))
    assert "t = 0.4: 0.800" in picture and "old" in picture and "two" not in picture


def test_the_law_beside_the_noise() -> None:
    chart = averaged_noise_chart([{"k": 1, "excess": 0.4}, {"k": 4, "excess": 0.12}])
    rows = chart.to_dict()["data"]["values"]
    assert [(r["k"], r["excess"]) for r in rows if r["what"] != "measured"] == [(1, 0.4), (4, 0.1)]
