"""Charts of what models do with places show the numbers they were given."""

from __future__ import annotations

import numpy as np
import pytest

from annotated_book.machine.positions.comparison_charts import (
    comparison_chart,
    extrapolation_chart,
    position_scores_chart,
    start_chart,
)
from book.tests.drawing import rows, texts


def test_a_comparison_draws_every_seed_and_describes_the_means() -> None:
    spec = comparison_chart({"sort": {"waves": [1.0, 0.5], "nothing": [0.25, 0.25]}}).to_dict()
    assert "waves 75%; nothing 25%" in spec["description"]
    assert len(spec["data"]["values"] if "data" in spec else rows(spec, "accuracy")) == 4


def test_extrapolation_averages_over_seeds_and_needs_equally_many() -> None:
    spec = extrapolation_chart(
        {"a": [[1, 1, 0, 0], [1, 0, 0, 1]], "b": [[0, 0, 0, 0]] * 2}, trained=2, chance=0.25
    ).to_dict()
    lines = {(r["kind"], r["run"]): r["share"] for r in rows(spec, "share")}
    assert lines["a", "mean of all"] == [1, 0.5, 0, 0.5] and lines["a", "seed 1"] == [1, 0, 0, 1]
    assert "a: 75% before, 25% after" in spec["description"]
    with pytest.raises(ValueError, match="same number"):
        extrapolation_chart({"a": [[1.0]], "b": [[1.0], [1.0]]}, trained=1, chance=0.5)


def test_the_start_chart_writes_the_chosen_loss() -> None:
    shown = texts(start_chart([0, 1, 2, 5, 10], [0.1, 0.1, 0.2, 1.5, 2.25], without=2.0, seen=25).to_dict())
    assert "2.25" in shown and "no positions at all" in shown
    shown = texts(start_chart([0, 5, 10], [0.1, 1.52, 2.25], without=2.0, seen=25, start=5).to_dict())
    assert "1.52" in shown and "2.25" not in shown
    with pytest.raises(ValueError, match="start 7"):
        start_chart([0, 5], [0.1, 1.5], without=2.0, seen=25, start=7)


def test_scores_from_places_name_the_usual_offset_inside_the_seen_positions() -> None:
    n = 12
    scores = np.zeros((2, n, n))
    for q in range(n):
        scores[0, q, min(q + 1, n - 1)] = 3  # looks one ahead
        scores[1, q, max(q - 2, 0)] = 3
    chart = position_scores_chart(scores, seen=8, names=["next", "two back"])
    assert "next +1; two back -2" in chart.to_dict()["description"]
    values = {row["head"]: row["v"] for row in rows(chart.to_dict(), "v")}
    assert np.array(values["next"]).reshape(n, n)[3].tolist() == [0] * 4 + [100] + [0] * 7
    with pytest.raises(ValueError, match="H, n, n"):
        position_scores_chart(np.zeros((2, 3, 4)), seen=2)
