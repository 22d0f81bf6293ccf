"""Names of series in a chart itself, in place of a legend: beside the ends of lines and above points, each apart."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from annotated_book.viz.theme import INK, TEXT_SIZE

EXTENT = 42
"""Pixels for the labels of a y axis whose measure a menu chooses: with room for the longest, nothing moves."""
LINE = 14
"""Pixels from one line of a name to the next."""
_LETTER = 6.6  # pixels of a bold letter, on average


def axis_title_from(parameter: str) -> alt.Chart:
    """The menu's choice as the title of the y axis, above it."""
    return (
        alt.Chart(pd.DataFrame({"none": [0]}))
        .mark_text(
            align="left", baseline="bottom", x=-EXTENT, y=-8, color=INK, fontSize=12, text=alt.ExprRef(parameter)
        )
        .encode()
    )


def in_lines(names: Iterable[str], most: int = 14) -> dict[str, str]:
    """Long names in lines of at most so many letters, for `words`: beside lines they leave a phone its chart."""
    return {name: "\n".join(textwrap.wrap(name, most, break_on_hyphens=False)) for name in names}


def name_lines(
    lines: alt.Chart,
    field: str,
    *,
    words: Mapping[str, str] | str | None = None,
    at: Any = None,
    scale: str | None = "y",
    **mark: Any,
) -> alt.Chart:
    """The names of lines in their colours, to the right of their ends, none over another at any size of the chart.

    The places are found where the chart is drawn, so that they follow its axes, menus and sliders.

    Parameters
    ----------
    lines
        The chart of the lines: its data and transforms, places along both axes, and colour.
    field
        The name of the field that tells the lines apart.
    words
        What is written for a line, where that is not its name, or an expression of Vega; a line break begins a new
        line.
    at
        The place along the x axis where the names are; the end of each line unless told. A number, or an expression.
    scale
        Vega's name of the scale of the y axis: another one where layers have scales of their own. None in one of
        several views, whose scales nothing can read that is counted before: names there are at the ends as they are.
    mark
        Options of the text: `dx`, 6 pixels from the end unless told, `align`, and any other.
    """
    spec = _encoding(lines)
    x, y = spec["x"]["field"], spec["y"]["field"]
    found = lines.transform_filter(f"isValid(datum['{y}']) && datum['{y}'] === datum['{y}']")
    if at is None:
        found = found.transform_joinaggregate(name_end=f"max({x})", groupby=[field])
        found = found.transform_filter(f"datum['{x}'] === datum.name_end")
    else:
        found = found.transform_filter(f"datum['{x}'] == {at}")
    found = _written(
        found.transform_aggregate(groupby=[field, x], **{"name_value": f"{spec['y'].get('aggregate', 'mean')}({y})"}),
        field,
        words,
    )
    options = {"align": "left", "dx": 6, "baseline": "middle", **mark}
    if scale is None:
        shift = options.get("dy", 0)
        shift = shift.expr if isinstance(shift, alt.ExprRef) else shift
        options["dy"] = alt.ExprRef(f"({shift}) - (datum.name_lines - 1) * {LINE / 2:g}")
        end = lines.encoding.y.copy(deep=False)
        end.shorthand = "name_value:Q"
        return _named(found, lines, field, options).encode(x=lines.encoding.x, y=end)
    found = found.transform_calculate(name_place=f"scale('{scale}', datum.name_value)")
    found = _apart(found, f"datum.name_lines * {LINE}", "height")
    options["y"] = alt.ExprRef(f"datum.name_place - (datum.name_lines - 1) * {LINE / 2:g}")
    return _named(found, lines, field, options).encode(x=lines.encoding.x)


def name_points(
    points: alt.Chart,
    field: str,
    *,
    words: Mapping[str, str] | str | None = None,
    below: bool = False,
    scales: Sequence[str] = ("x", "y"),
    **mark: Any,
) -> alt.Chart:
    """The names of kinds of points, or bars, in their colours: each at the highest of its kind, none over another.

    Parameters
    ----------
    points
        The chart of the points: its data and transforms, places along both axes, and colour.
    field
        The name of the field that tells the kinds apart.
    words
        As for `name_lines`.
    below
        Whether the names are below the lowest of their kinds, and not above the highest.
    scales
        Vega's names of the scales of the axes.
    mark
        Options of the text: `dy`, 9 pixels from the point unless told, and any other.
    """
    spec = _encoding(points)
    along, down = (
        f"scale('{scale}', datum['{spec[axis]['field']}']) + bandwidth('{scale}') / 2"
        if spec[axis]["type"] in ("nominal", "ordinal")
        else f"scale('{scale}', datum['{spec[axis]['field']}'])"
        for scale, axis in zip(scales, "xy", strict=True)
    )
    found = (
        points.transform_calculate(name_place=along, name_down=down)
        .transform_joinaggregate(name_top=f"{'max' if below else 'min'}(name_down)", groupby=[field])
        .transform_filter("datum.name_down === datum.name_top")
        .transform_aggregate(name_place="mean(name_place)", name_down="min(name_down)", groupby=[field])
    )
    size = f"{_LETTER} * datum.name_letters + 8"
    found = _apart(_written(found, field, words), size, "width", among="name_down")
    top = "datum.name_down" if below else f"datum.name_down - (datum.name_lines - 1) * {LINE}"
    options = {
        "align": "center",
        "baseline": "top" if below else "bottom",
        "dy": 9 if below else -9,
        "x": alt.ExprRef("datum.name_place"),
        "y": alt.ExprRef(top),
    }
    return _named(found, points, field, {**options, **mark})


def name_bars(bars: alt.Chart, field: str, names: Sequence[str], *, below: bool = False) -> list[alt.Chart]:
    """The names of two kinds of bars that stand in pairs, at the longest of each: the first to the left of its pair.

    Parameters
    ----------
    bars
        The chart of the bars: its data and transforms, places along both axes, and colour.
    field
        The name of the field that tells the kinds apart.
    names
        Both kinds, from the left.
    below
        Whether the names are below the lowest bars, and not above the highest.
    """
    value = _encoding(bars)["y"]["field"]
    look = {"dy": 4 if below else -4, "baseline": "top" if below else "bottom", "fontWeight": "bold"}
    return [
        bars.transform_filter(f"datum['{field}'] == {json.dumps(name)}")
        .transform_joinaggregate(name_longest=f"{'min' if below else 'max'}({value})")
        .transform_filter(f"datum['{value}'] == datum.name_longest")
        .mark_text(align=align, dx=dx, fontSize=TEXT_SIZE, **look)
        .encode(text=alt.Text(f"{field}:N"))
        .properties(name=f"names_{align}")
        for name, align, dx in zip(names, ("right", "left"), (-1, 1), strict=True)
    ]


def _encoding(chart: alt.Chart) -> dict[str, Any]:
    """The encoding of a chart, as Vega-Lite reads it."""
    return chart.mark_point().to_dict(validate=False)["encoding"]  # type: ignore[no-any-return]


def _written(found: alt.Chart, field: str, words: Mapping[str, str] | str | None) -> alt.Chart:
    """The lines of each name, their number, and the letters of the longest."""
    text = f"datum['{field}']"
    if isinstance(words, str):
        text = words
    elif words is not None:
        text = f"({json.dumps(dict(words), ensure_ascii=False)}[{text}] || {text})"
    return found.transform_calculate(name_words=f"split({text}, '\\n')").transform_calculate(
        name_lines="length(datum.name_words)",
        name_letters="max(" + ", ".join(f"length(datum.name_words[{i}] || '')" for i in range(3)) + ")",
    )


def _apart(found: alt.Chart, size: str, wall: str, among: str | None = None) -> alt.Chart:
    """Move `name_place` so that names of a size do not overlap and stay within the wall, as near as that allows.

    From one side each name is pushed by those before it, from the other by those after it: a running extreme of the
    places less the room of the names before. The mean of both keeps the distances.
    """
    group = {} if among is None else {"groupby": [among]}
    order: dict[str, Any] = {"sort": [alt.SortField("name_place")], "ignorePeers": True, **group}
    return (
        found.transform_calculate(name_size=size)
        .transform_window(name_after="sum(name_size)", frame=[None, 0], **order)
        .transform_calculate(name_centre="datum.name_after - datum.name_size / 2")
        .transform_calculate(name_free="datum.name_place - datum.name_centre")
        .transform_window(name_pushed="max(name_free)", frame=[None, 0], **order)
        .transform_window(name_pulled="min(name_free)", frame=[0, None], **order)
        .transform_joinaggregate(name_whole="sum(name_size)", **group)
        .transform_calculate(
            name_place="datum.name_centre + max(0, min("
            f"{wall} - datum.name_whole, (datum.name_pushed + datum.name_pulled) / 2))"
        )
    )


def _named(found: alt.Chart, series: alt.Chart, field: str, options: Mapping[str, Any]) -> alt.Chart:
    text = {"fontSize": TEXT_SIZE, "fontWeight": "bold", "lineHeight": LINE, "aria": False, **options}
    drawn = found.mark_text(**text)
    drawn.encoding = alt.FacetedEncoding(color=series.encoding.color)
    return drawn.encode(text=alt.Text("name_words:N")).properties(name="names_" + re.sub(r"\W", "_", field))
