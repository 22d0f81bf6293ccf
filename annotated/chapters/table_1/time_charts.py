"""Charts of Table 1 by measurement: times of layers, and their paths hop by hop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from annotated.chapters.table_1.charts import COLOURS, DASH, LABELS, NAMES, powers, tens
from annotated.viz.parameters import menu, slider
from annotated.viz.tables import curves_table
from annotated.viz.theme import BLUE, GREY

_COLOUR_STROKES = alt.Color(
    "layer:N",
    sort=LABELS,
    scale=alt.Scale(domain=LABELS, range=COLOURS),
    legend=alt.Legend(columns=2, symbolType="stroke", symbolStrokeWidth=2.5, symbolSize=300),
)


def time_chart(rows: Sequence[Mapping[str, Any]]) -> alt.LayerChart:
    """Measured milliseconds of one layer against the length, on logarithmic axes; a menu chooses the width.

    Parameters
    ----------
    rows
        Each with `layer`, `n`, `d` and `ms`, as `annotated.chapters.table_1.experiment` records them.

    Raises
    ------
    ValueError
        If a row names a layer that has no name here.
    """
    if unknown := {row["layer"] for row in rows} - set(NAMES):
        raise ValueError(f"unknown layers {sorted(unknown)}; there are {sorted(NAMES)}")
    table = pd.DataFrame(rows).assign(layer=[NAMES[row["layer"]] for row in rows])
    table = table[table.groupby("d")["n"].transform("nunique") > 1]  # a width with one length has no line
    widths = sorted(table["d"].unique().tolist())
    pick = alt.selection_point(name="layer", fields=["layer"], bind="legend")
    chart = alt.Chart(table).transform_filter("datum.d == d")
    looks: dict[str, Any] = {
        "x": alt.X("n:Q", title="length n", scale=alt.Scale(type="log", base=2, nice=False), axis=powers()),
        "y": alt.Y("ms:Q", title="milliseconds", scale=alt.Scale(type="log"), axis=tens("~g")),
        "color": _COLOUR_STROKES,
        "opacity": alt.condition(pick, alt.value(1.0), alt.value(0.12)),
    }
    tip = ["layer:N", "n:Q", "d:Q", alt.Tooltip("ms:Q", format=".3~g")]
    description = (
        "Measured processor time of one layer on one sequence against its length, both axes logarithmic, for six kinds "
        "of layer. A menu chooses the width, and a click in the legend picks a layer. Full self-attention bends "
        "upwards; all other layers rise in proportion to the length."
    )
    return (
        alt.layer(
            chart.mark_line(strokeWidth=2).encode(strokeDash=DASH, **looks),
            chart.mark_point(filled=True, size=40).encode(tooltip=tip, **looks),
        )
        .add_params(menu("d", widths, widths[-1], "width d"), pick)
        .properties(width="container", height=280, description=description)
    )


def paths_chart(arrivals: Mapping[str, Sequence[int]], *, hops: int = 1) -> alt.LayerChart:
    """Which positions know of position 1 after so many hops, for each kind of layer; a slider adds hops.

    Parameters
    ----------
    arrivals
        For each layer, the hop with which each position is first reached; all of one length.
    hops
        Where the slider starts.

    Raises
    ------
    ValueError
        If the layers differ in length.
    """
    lengths = {len(one) for one in arrivals.values()}
    if len(lengths) != 1:
        raise ValueError(f"all layers must have one length, not {sorted(lengths)}")
    n, labels = lengths.pop(), [NAMES[layer] for layer in arrivals]
    table = curves_table(arrivals, "layer", "position", "hop", start=1)
    table = table.assign(layer=table["layer"].map(NAMES), last=table.groupby("layer")["hop"].transform("last"))
    chart = alt.Chart(table).transform_calculate(reached="datum.hop <= hops ? 'reached' : 'not yet'")
    some = "datum.value % 8 == 0 || datum.value == 1 ? datum.label : ''"
    x = alt.X("position:O", title="position", axis=alt.Axis(labelExpr=some, labelAngle=0, ticks=False))
    y = alt.Y("layer:N", sort=labels, title=None, axis=alt.Axis(labels=False, ticks=False))
    shade = alt.Opacity("reached:N", scale=alt.Scale(domain=["reached", "not yet"], range=[0.9, 0.08]), legend=None)
    names = (
        alt.Chart(table[table["position"] == 1])
        .transform_calculate(
            text="datum.layer + (datum.last > hops ? ': not there yet' : ': the last position after ' + datum.last + "
            "(datum.last == 1 ? ' hop' : ' hops'))"
        )
        .mark_text(align="left", fontSize=12, dy=-19)
        .encode(x=alt.value(2), y=y, text="text:N")
    )
    cells = chart.mark_rect(fill=BLUE, stroke=GREY, strokeWidth=0.4, height=14).encode(
        x=x, y=y, opacity=shade, tooltip=["layer:N", "position:O", alt.Tooltip("hop:Q", title="reached after hops")]
    )
    description = (
        f"A row of {n} positions for each kind of layer, shaded where a position depends on position 1 after the "
        "number of hops that a slider sets. The last position is reached after "
        + "; ".join(f"{one[-1]} hops by {NAMES[layer]}" for layer, one in arrivals.items())
        + "."
    )
    return (
        alt.layer(cells, names)
        .add_params(slider("hops", hops, 0, n - 1))
        .properties(
            width="container",
            height=46 * len(labels),
            title=alt.Title(alt.expr("'after ' + hops + (hops == 1 ? ' hop' : ' hops')")),
            description=description,
        )
        .configure_view(strokeOpacity=0)
    )
