"""Forms of charts: title and controls, lines through points, intervals, rules at a value, cells with their numbers."""

from __future__ import annotations

import altair as alt
import pandas as pd
import pytest

from annotated_book.viz.channels import colour_by, dash_by, shape_by, x_axis, y_axis
from annotated_book.viz.forms import interval_rules, labelled_cells, line_layers, rule_at, titled
from annotated_book.viz.parameters import menu
from book.tests.drawing import draw

TABLE = pd.DataFrame({"n": [1, 2], "loss": [3.0, 2.5], "low": [2.8, 2.4], "high": [3.1, 2.7], "run": ["a", "b"]})


def test_a_chart_has_its_title_its_controls_and_the_width_of_the_page() -> None:
    base = alt.Chart(TABLE).mark_point().encode(x="n:Q", y="loss:Q")
    long = "Half of a network's units can be missing at little cost; all of them cannot"
    spec = titled(base, menu("run", ["a", "b"]), height=90, title=long, description="Points.", caption="Two.").to_dict()
    assert spec["title"] == {"text": long}, "cut into lines where its width is known"
    assert (spec["width"], spec["height"], spec["description"]) == ("container", 90, "Points.")
    assert [one["name"] for one in spec["params"]] == ["run"] and spec["usermeta"] == {"caption": "Two."}


@pytest.mark.parametrize(
    "title, written",
    [
        (["kept as", "it is"], ["kept as", "it is"]),
        (alt.expr("run"), {"text": {"expr": "run"}}),
        (alt.Title("one", subtitle="two"), {"text": "one", "subtitle": "two"}),
    ],
)
def test_a_title_may_be_lines_an_expression_or_more_than_a_text(title: object, written: object) -> None:
    base = alt.Chart(TABLE).mark_point().encode(x="n:Q")
    assert titled(base, title=title, description="Points.").to_dict()["title"] == written


def test_several_views_keep_their_widths_and_need_no_common_title() -> None:
    one = alt.Chart(TABLE).mark_point().encode(x="n:Q").properties(width=70)
    spec = titled(alt.vconcat(one, one), description="Two views.").to_dict()
    assert "width" not in spec and "title" not in spec and [view["width"] for view in spec["vconcat"]] == [70, 70]
    assert titled(one, width=50, description="One.").to_dict()["width"] == 50


def test_lines_go_through_points_and_each_has_what_is_its_alone() -> None:
    base = alt.Chart(TABLE).encode(x="n:Q", y="loss:Q")
    dash, shape = dash_by("run:N", ["a", "b"]), shape_by("run:N", ["a", "b"])
    line, points = (
        one.to_dict() for one in line_layers(base, dash=dash, shape=shape, detail="n:O", tooltip="n:Q", size=9)
    )
    assert line["mark"] == {"type": "line", "strokeWidth": 2}
    assert points["mark"] == {"type": "point", "filled": True, "size": 9, "opacity": 1}
    assert set(line["encoding"]) == {"x", "y", "strokeDash", "detail"}
    assert set(points["encoding"]) == {"x", "y", "shape", "tooltip"}
    plain = [one.to_dict()["mark"] for one in line_layers(base, line={"strokeWidth": None}, opacity=None)]
    assert plain == [{"type": "line"}, {"type": "point", "filled": True, "size": 60}]


@pytest.mark.parametrize("channel, along, end", [(x_axis, "x", "x2"), (y_axis, "y", "y2")])
def test_an_interval_goes_from_low_to_high_on_the_axis_of_its_measure(channel: type, along: str, end: str) -> None:
    axis = channel("loss:Q", "loss (nats)", zero=False)
    spec = interval_rules(alt.Chart(TABLE), axis, strokeWidth=3).to_dict()
    told = {"field": "low", "type": "quantitative", "title": "loss (nats)", "scale": {"zero": False}}
    assert spec["encoding"] == {along: told, end: {"field": "high"}}
    assert axis.to_dict()["field"] == "loss", "the axis itself stays that of the measure"


def test_a_rule_stands_at_a_value_of_its_axis() -> None:
    spec = rule_at(y_axis("loss:Q", "loss (nats)"), 0.0, color="red").to_dict()
    assert spec["data"]["values"] == [{"loss": 0.0}] and spec["mark"] == {"type": "rule", "color": "red"}
    assert list(spec["encoding"]) == ["y"]


def test_a_rule_may_stand_where_a_slider_does() -> None:
    spec = rule_at(x_axis("n:Q"), "2 * place").to_dict()
    assert spec["transform"] == [{"calculate": "2 * place", "as": "n"}] and list(spec["encoding"]) == ["x"]


def test_cells_have_their_shade_and_numbers_theirs() -> None:
    base = alt.Chart(TABLE).encode(x="n:O", y="run:N")
    shade = colour_by("run:N", ["a", "b"], ["#123456", "#654321"])
    cells, numbers = labelled_cells(
        base, "loss:Q", cell={"color": shade}, label={"color": alt.value("red")}, stroke="blue", fontSize=14
    )
    assert cells.to_dict()["mark"] == {"type": "rect", "stroke": "blue"}
    assert numbers.to_dict()["mark"] == {"type": "text", "fontSize": 14}
    assert numbers.to_dict()["encoding"]["color"] == {"value": "red"}
    svg = draw(alt.layer(cells, numbers))
    assert "#123456" in svg and ">2.5<" in svg
