"""End labels: names beside lines stand apart, and a menu's choice above the axis."""

from __future__ import annotations

import altair as alt
import pandas as pd
import pytest

from annotated_book.viz.end_labels import axis_title_from, label_line_ends, spread_labels
from annotated_book.viz.parameters import menu
from book.tests.drawing import texts


def test_names_stand_apart_and_in_order() -> None:
    assert spread_labels({"a": 0.0, "b": 5.0}, 1) == {"a": 0, "b": 5}
    near = spread_labels({"c": 1.04, "b": 1.0, "a": 1.02}, 0.5)
    assert list(near) == ["b", "a", "c"]
    assert near["a"] == pytest.approx(1.02, abs=0.05)
    assert near["a"] - near["b"] == pytest.approx(0.5) and near["c"] - near["a"] == pytest.approx(0.5)


def test_a_name_stands_to_the_right_of_its_line_unless_told() -> None:
    ends = alt.Chart(pd.DataFrame({"n": [9], "loss": [2.5], "run": ["pre-norm"]})).encode(x="n:Q", y="loss:Q")
    spec = label_line_ends(ends, "run:N", fontSize=12).to_dict()
    assert spec["mark"] == {"type": "text", "align": "left", "dx": 6, "fontSize": 12}
    assert spec["encoding"]["text"] == {"field": "run", "type": "nominal"} and {"x", "y"} < set(spec["encoding"])
    assert label_line_ends(ends, "run:N", align="right", dx=-8).to_dict()["mark"] == {
        "type": "text", "align": "right", "dx": -8
    }  # fmt: skip


def test_the_title_of_the_axis_is_what_the_menu_says() -> None:
    line = alt.Chart(pd.DataFrame({"n": [1, 2], "v": [3, 4]})).mark_line().encode(x="n:Q", y=alt.Y("v:Q").title(None))
    chart = alt.layer(line, axis_title_from("shown")).add_params(menu("shown", ["milliseconds", "MiB"], "MiB"))
    assert "MiB" in texts(chart) and "milliseconds" not in texts(chart)
