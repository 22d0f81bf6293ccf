"""Charts of Table 1 by measurement: times of layers, and their paths hop by hop."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from annotated_book.viz.channels import colour_by, dash_by, x_axis, y_axis
from annotated_book.viz.forms import line_layers, titled
from annotated_book.viz.parameters import menu, slider
from annotated_book.viz.tables import curves_table
from annotated_book.viz.theme import BLUE, GREEN, GREY, ORANGE, PALETTE
from annotated_book.why.table_1.charts import NAMES, powers, tens

TIMED = {
    "self-attention": ("self-attention, equation 1", BLUE, [1, 0]),
    "fused self-attention": ("self-attention, fused", BLUE, [4, 3]),
    "torch.nn.GRU": ("GRU, torch.nn", ORANGE, [1, 0]),
    "recurrent": ("GRU, loop in Python", ORANGE, [4, 3]),
    "restricted": ("restricted self-attention", PALETTE[4], [7, 3]),
    "contiguous": ("contiguous convolution", GREEN, [1, 0]),
    "separable": ("separable convolution", GREY, [1, 3]),
}
"""What the clock's chart shows: name, colour and dashes; a dilated convolution takes the time of any other."""


def crossing(rows: Sequence[Mapping[str, Any]], slow: str, fast: str, d: int) -> float | None:
    """The length from which `slow` takes longer than `fast` at width d, by straight lines between logarithms.

    None if it never does, or does from the shortest length on.
    """
    times = [{row["n"]: row["ms"] for row in rows if (row["layer"], row["d"]) == (kind, d)} for kind in (slow, fast)]
    lengths = sorted(times[0].keys() & times[1].keys())
    gaps = [math.log(times[0][n] / times[1][n]) for n in lengths]
    points = list(zip(lengths, gaps, strict=True))
    for (n, gap), (longer, after) in zip(points, points[1:], strict=False):
        if gap < 0 <= after:
            return n * (longer / n) ** (-gap / (after - gap))
    return None


def time_chart(rows: Sequence[Mapping[str, Any]]) -> alt.LayerChart:
    """Measured milliseconds of one layer against the length, on logarithmic axes; a menu chooses the width.

    Parameters
    ----------
    rows
        Each with `layer`, `n`, `d` and `ms`, as `annotated_book.why.table_1.experiment` records them; layers that are
        not in `TIMED` are left out.
    """
    table = pd.DataFrame([row for row in rows if row["layer"] in TIMED])
    table = table.assign(layer=[TIMED[layer][0] for layer in table["layer"]])
    table = table[table.groupby("d")["n"].transform("nunique") > 1]  # a width with one length has no line
    widths = sorted(table["d"].unique().tolist())
    names, colours, dashes = zip(*TIMED.values(), strict=True)
    pick = alt.selection_point(name="layer", fields=["layer"], bind="legend")
    chart = alt.Chart(table).transform_filter("datum.d == d")
    legend = alt.Legend(columns=1, symbolType="stroke", symbolStrokeWidth=2.5, symbolSize=300, labelLimit=220)
    base = chart.encode(
        x=x_axis("n:Q", "length n (tokens)", axis=powers(11, 1), type="log", base=2, nice=False),
        y=y_axis("ms:Q", "processor time (ms)", type="log", axis=tens("~g")),
        color=colour_by("layer:N", names, colours, legend=legend),
        opacity=alt.condition(pick, alt.value(1.0), alt.value(0.12)),
    )
    dash = dash_by("layer:N", names, dashes, legend=legend)
    tip = ["layer:N", "n:Q", "d:Q", alt.Tooltip("ms:Q", format=".3~g", title="ms")]
    return titled(
        alt.layer(*line_layers(base, dash=dash, tooltip=tip, size=40, opacity=None)),
        menu("d", widths, widths[-1], "width d"),
        pick,
        height=320,
        title=alt.expr(f"{json.dumps({d: _overtakes(rows, d) for d in widths})}[d]"),
        description="Measured processor time of one layer on one sequence against its length, both axes logarithmic, "
        "for seven layers. A menu chooses the width, and a click in the legend picks a layer. Self-attention bends "
        "upwards, as written and fused; the GRU and the convolutions rise roughly in proportion to the length, and "
        "restricted attention does so but for one jump.",
    )


def _overtakes(rows: Sequence[Mapping[str, Any]], d: int) -> list[str]:
    found = crossing(rows, "self-attention", "torch.nn.GRU", d)
    if found is None:
        return ["Time of one layer over the length"]
    return ["Equation 1 falls behind torch.nn.GRU", f"at about {float(f'{found:.1g}'):,.0f} tokens"]


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
    chart = alt.Chart(table)
    some = "datum.value % 8 == 0 || datum.value == 1 ? datum.label : ''"
    x = x_axis("position:O", "position", labelExpr=some, labelAngle=0, ticks=False)
    y = y_axis("layer:N", None, sort=labels, labels=False, ticks=False)
    shade = alt.condition("datum.hop <= hops", alt.value(0.9), alt.value(0.08))
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
    return titled(
        alt.layer(cells, names),
        slider("hops", hops, 0, n - 1),
        height=46 * len(labels),
        title=alt.expr("'Reached from position 1 after ' + hops + (hops == 1 ? ' hop' : ' hops')"),
        description=(
            f"A row of {n} positions for each kind of layer, shaded where a position depends on position 1 after the "
            "number of hops that a slider sets. The last position is reached after "
            + "; ".join(f"{one[-1]} hops by {NAMES[layer]}" for layer, one in arrivals.items())
            + "."
        ),
    ).configure_view(strokeOpacity=0)
