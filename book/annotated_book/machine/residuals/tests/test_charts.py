"""Charts of residuals and normalisation: what they draw, and what they refuse."""

from __future__ import annotations

from typing import Any

import pytest

from annotated_book.machine.residuals.charts import gradient_chart, layer_norm_chart, stream_chart
from annotated_book.machine.residuals.curve_charts import placement_curves_chart
from annotated_book.viz.renderers import book_renderer

RUNS = [
    {"placement": p, "warmup": w, "seed": s, "loss": [7.0, 6.0, 5.0]}
    for p in ("post-norm", "pre-norm")
    for w in (0, 100)
    for s in (0, 1)
]


def picture(chart: Any) -> str:
    return str(book_renderer(chart.to_dict())["text/html"])


def test_the_input_is_described_by_its_own_mean_and_variance() -> None:
    # Mean 2; deviations -1, 0, 1: variance 2/3, not 1.
    assert "mean 2.00, variance 0.67" in picture(layer_norm_chart([1.0, 2.0, 3.0]))
    with pytest.raises(ValueError, match="no variance"):
        layer_norm_chart([1.0])


def test_a_stream_of_one_measure_has_no_menu_and_of_two_has_one() -> None:
    one = stream_chart({"a": {"post-norm": [1.0, 2.0]}}, "length")
    two = stream_chart({"a": {"post-norm": [1.0, 2.0]}, "b": {"post-norm": [3.0, 4.0]}}, "length")
    assert "params" not in one.to_dict()
    assert two.to_dict()["params"][0]["bind"]["options"] == ["a", "b"]
    assert "post-norm from 1 to 2" in two.to_dict()["description"]


def test_the_title_of_a_stream_follows_its_menu() -> None:
    curves = {"word": {"post-norm": [1.0, 2.0]}, "position": {"post-norm": [3.0, 4.0]}}
    heading = {"word": "Words are lost", "position": "Positions are lost"}
    for measure, other in (("word", "Positions"), ("position", "Words")):
        drawn = picture(stream_chart(curves, "accuracy", heading=heading, first=measure))
        assert heading[measure] in drawn and f">{other} are lost<" not in drawn


def test_gradients_survive_zero_and_infinity_on_a_logarithmic_axis() -> None:
    norms = {"post-norm": {2: {"decoder": [0.0, float("inf")], "encoder": [1.0, 2.0], "all": [3.0]}}}
    assert "NaN" not in picture(gradient_chart(norms, depth=2))


def test_depths_must_suit_a_slider() -> None:
    line = {"decoder": [1.0], "encoder": [1.0]}
    with pytest.raises(ValueError, match="evenly spaced"):
        gradient_chart({"post-norm": {2: line, 4: line, 8: line}}, depth=4)
    with pytest.raises(ValueError, match="hold 6"):
        gradient_chart({"post-norm": {2: line, 4: line}}, depth=6)


def test_a_curve_for_each_run_and_three_menus() -> None:
    chart = placement_curves_chart(RUNS, block=10)
    assert [p["bind"]["options"][0] for p in chart.to_dict()["params"]] == ["all"] * 3
    assert picture(chart).count('aria-roledescription="line mark"') == len(RUNS) / 2, "one of two seeds"
