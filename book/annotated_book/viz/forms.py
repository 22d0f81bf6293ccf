"""Forms of charts: title and controls, lines through points, intervals, rules at a value, cells with their numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd

from annotated_book.viz.caption import captioned
from annotated_book.viz.tables import ONE_ROW


def titled(chart: Any, *controls: Any, title: Any = None, description: str, caption: str = "", **more: Any) -> Any:
    """The chart with its title, its menus and sliders, its height, and its description; as wide as the page.

    Parameters
    ----------
    chart
        Of one view, of layers, or of several views, which keep their widths.
    controls
        Parameters that the reader sets, from the top.
    title
        What to see: a text, which is cut into lines where the chart is drawn; a list, whose lines are kept; an
        expression of Vega, which follows the controls; or a title with more than a text. None where each view has its
        own.
    description
        For readers who do not see the chart.
    caption
        A sentence or two below the chart, as `annotated_book.viz.caption.captioned` adds them.
    more
        `height`, in pixels, and any other property of the chart.
    """
    drawn = chart
    if controls:
        drawn = drawn.add_params(*controls)
    if not isinstance(chart, (alt.ConcatChart, alt.HConcatChart, alt.VConcatChart)):
        more = {"width": "container", **more}
    if title is not None:
        more["title"] = title if isinstance(title, (list, alt.TitleParams)) else alt.Title(title)
    drawn = drawn.properties(description=description, **more)
    return captioned(drawn, caption) if caption else drawn


def line_layers(
    chart: alt.Chart,
    *,
    dash: Any = None,
    shape: Any = None,
    detail: Any = None,
    tooltip: Any = None,
    line: Mapping[str, Any] | None = None,
    **point: Any,
) -> tuple[alt.Chart, alt.Chart]:
    """Lines, and the points that they go through.

    Parameters
    ----------
    chart
        With the encodings that both have: places, colour, and what is told of either.
    dash, detail
        Of the lines: their dashes, as `dash_by` returns them, and the field that has a line for each value.
    shape, tooltip
        Of the points: their shapes, as `shape_by` returns them, and what is told of a point alone.
    line
        Options of the mark of the lines: `strokeWidth`, 2 pixels unless told, and any other.
    point
        Options of the mark of the points: `size`, in square pixels, 60 unless told; `opacity`, 1 unless told; and any
        other. None stands for Vega-Lite's own.
    """
    drawn = chart.mark_line(**_given({"strokeWidth": 2, **(line or {})}))
    points = chart.mark_point(**_given({"filled": True, "size": 60, "opacity": 1, **point}))
    return (
        drawn.encode(**_given({"strokeDash": dash, "detail": detail})),
        points.encode(**_given({"shape": shape, "tooltip": tooltip})),
    )


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def interval_rules(chart: alt.Chart, along: Any, low: str = "low:Q", high: str = "high:Q", **mark: Any) -> alt.Chart:
    """Intervals: a rule from one field to another, along an axis.

    Parameters
    ----------
    chart
        With the encodings across the axis, and a colour.
    along
        The channel of what the interval is of, from `x_axis` or `y_axis`, or of its low end alone, which then is what a
        screen reader names; both ends stand on its scale.
    low, high
        The fields of the ends.
    mark
        Options of the rules.
    """
    start = along.copy(deep=False)
    start.shorthand = low
    end = "x2" if isinstance(along, alt.X) else "y2"
    return chart.mark_rule(**mark).encode(start, **{end: high})


def rule_at(place: Any, value: float | str, **mark: Any) -> alt.Chart:
    """A rule across the plot at one value of an axis, such as zero, or where a slider stands.

    Parameters
    ----------
    place
        The axis, from `x_axis` or `y_axis`.
    value
        In the units of its field, or an expression of Vega, such as the name of a slider.
    mark
        Options of the rule.
    """
    field = place.shorthand.split(":")[0]
    if isinstance(value, str):
        return alt.Chart(ONE_ROW).transform_calculate(**{field: value}).mark_rule(**mark).encode(place)
    return alt.Chart(pd.DataFrame({field: [value]})).mark_rule(**mark).encode(place)


def labelled_cells(
    chart: alt.Chart, text: Any, *, cell: Mapping[str, Any], label: Mapping[str, Any] | None = None, **mark: Any
) -> tuple[alt.Chart, alt.Chart]:
    """A heat map: a cell for each pair of row and column, and its number in it.

    Parameters
    ----------
    chart
        With the encodings that cells and numbers have: rows, columns, and what is told of a cell.
    text
        The field that is written into the cells.
    cell
        Encodings of the cells alone: what shades them, such as `opacity` or `color`.
    label
        Encodings of the numbers alone, such as a colour that stands out from the cell's.
    mark
        Options of the mark of the cells; but `fontSize` is that of the numbers, in pixels.
    """
    size = {"fontSize": mark.pop("fontSize")} if "fontSize" in mark else {}
    return chart.mark_rect(**mark).encode(**cell), chart.mark_text(**size).encode(text=text, **(label or {}))
