"""Names of series: in their colours, beside what they name, none over another, wherever a menu moves the lines."""

from __future__ import annotations

import re
from itertools import pairwise

import altair as alt
import pandas as pd
import pytest

from annotated_book.viz.channels import colour_by, x_axis, y_axis
from annotated_book.viz.end_labels import LINE, axis_title_from, in_lines, name_bars, name_lines, name_points
from annotated_book.viz.parameters import menu
from annotated_book.viz.theme import BLUE, GREEN, ORANGE
from book.tests.drawing import draw, moved, texts

NAMES = {"post-norm": BLUE, "pre-norm": ORANGE, "none": GREEN}


def line_chart(ends: dict[str, float], **options: object) -> alt.LayerChart:
    rows = [{"n": n, "loss": loss * n / 8, "run": run} for run, loss in ends.items() for n in (1, 4, 8)]
    base = alt.Chart(pd.DataFrame(rows)).encode(
        x=x_axis("n:Q", domain=[0, 8]), y=y_axis("loss:Q", domain=[0, 10]), color=colour_by("run:N", NAMES)
    )
    return alt.layer(base.mark_line(), name_lines(base, "run", **options)).properties(width=300, height=200)


def names_in(svg: str) -> dict[str, tuple[float, float, str]]:
    """The place and the colour of each name; a name of several lines goes on in elements within its own."""
    found = re.findall(
        r'<text[^>]*transform="translate\(([\d.-]+),\s*([\d.-]+)\)[^>]*font-weight="bold"[^>]*fill="(#[^"]{6})"[^>]*>'
        r"(?:<tspan[^>]*>)?([^<]+)<",
        svg,
    )
    return {text: (float(x), float(y), fill) for x, y, fill, text in found}


def test_a_name_is_beside_its_line_in_its_colour() -> None:
    found = names_in(draw(line_chart({"post-norm": 9, "pre-norm": 5, "none": 1})))
    assert {name: fill for name, (_, _, fill) in found.items()} == NAMES
    at = {name: y for name, (_, y, _) in found.items()}
    assert at["pre-norm"] - at["post-norm"] == pytest.approx(80) and at["none"] - at["pre-norm"] == pytest.approx(80)
    assert all(x == pytest.approx(306) for x, _, _ in found.values())


@pytest.mark.parametrize("ends", [(5.0, 5.1, 4.9), (10, 10, 9.9), (0, 0.1, 0.0), (9.9, 5.0, 5.2)])
def test_names_stay_apart_within_the_plot_and_in_the_order_of_the_ends(ends: tuple[float, ...]) -> None:
    found = names_in(draw(line_chart(dict(zip(NAMES, ends, strict=True)))))
    below = sorted(y for _, y, _ in found.values())
    assert len(found) == 3 and all(b - a > LINE - 0.1 for a, b in pairwise(below))
    assert below[0] > 0 and below[-1] < 200 + LINE / 2
    order = sorted(NAMES, key=lambda name: found[name][1])
    values = dict(zip(NAMES, ends, strict=True))
    assert all(values[a] >= values[b] for a, b in pairwise(order))


def test_names_of_several_lines_keep_the_room_of_all_their_lines() -> None:
    words = {"post-norm": "post-norm,\nas printed"}
    found = names_in(draw(line_chart({"post-norm": 5, "pre-norm": 5.05, "none": 1}, words=words)))
    assert found["post-norm,"][1] - found["pre-norm"][1] > LINE - 0.1
    assert in_lines(["the first, divided by k"], 10) == {"the first, divided by k": "the first,\ndivided by\nk"}


def test_names_follow_the_menu() -> None:
    rows = [
        {"n": n, "v": v * n, "run": run, "shown": shown}
        for shown, values in {"a": (1, 9), "b": (9, 1)}.items()
        for run, v in zip(NAMES, values, strict=False)
        for n in (0, 1)
    ]
    base = alt.Chart(pd.DataFrame(rows)).transform_filter("datum.shown == shown")
    base = base.encode(x="n:Q", y=y_axis("v:Q", domain=[0, 10]), color=colour_by("run:N", NAMES))
    chart = alt.layer(base.mark_line(), name_lines(base, "run")).add_params(menu("shown", ["a", "b"], "a"))
    spec = chart.properties(height=200, width=200).to_dict()
    first, second = names_in(draw(spec)), names_in(draw(moved(spec, shown="b")))
    assert first["post-norm"][1] > first["pre-norm"][1] and second["post-norm"][1] < second["pre-norm"][1]


def test_names_of_points_are_above_the_first_row_and_apart() -> None:
    rows = [{"row": row, "x": x, "kind": kind} for row in "ab" for kind, x in zip(NAMES, (0.5, 0.51, 1), strict=True)]
    base = alt.Chart(pd.DataFrame(rows)).encode(
        x=x_axis("x:Q", domain=[0, 1]), y="row:N", color=colour_by("kind:N", NAMES)
    )
    chart = alt.layer(base.mark_point(), name_points(base, "kind")).properties(width=300, height=100)
    found = names_in(draw(chart))
    assert {round(y) for _, y, _ in found.values()} == {13}
    assert found["pre-norm"][0] - found["post-norm"][0] > 50 and found["none"][0] < 300


def test_names_of_bars_in_pairs_are_at_the_longest() -> None:
    rows = [
        {"key": k, "w": w, "kind": kind} for kind, ws in {"a": (1, 4), "b": (3, 2)}.items() for k, w in enumerate(ws)
    ]
    base = alt.Chart(pd.DataFrame(rows)).encode(x="key:O", y="w:Q", color=colour_by("kind:N", {"a": BLUE, "b": GREEN}))
    found = names_in(draw(alt.layer(base.mark_bar(), *name_bars(base, "kind", ["a", "b"])).properties(width=200)))
    assert found["a"][0] > 100 > found["b"][0] and found["a"][1] < found["b"][1]


def test_the_title_of_the_axis_is_what_the_menu_says() -> None:
    line = alt.Chart(pd.DataFrame({"n": [1, 2], "v": [3, 4]})).mark_line().encode(x="n:Q", y=alt.Y("v:Q").title(None))
    chart = alt.layer(line, axis_title_from("shown")).add_params(menu("shown", ["milliseconds", "MiB"], "MiB"))
    assert "MiB" in texts(chart) and "milliseconds" not in texts(chart)
