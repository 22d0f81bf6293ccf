"""Charts of Table 1 by its formulas: cost against its four variables, and the terms of a layer's work.

`annotated_book.why.table_1.time_charts` draws what was measured.
"""

from __future__ import annotations

import json
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from annotated_book.viz.channels import colour_by, dash_by, x_axis, y_axis
from annotated_book.viz.forms import rule_at, titled
from annotated_book.viz.parameters import menu, slider, steps
from annotated_book.viz.tables import ONE_ROW
from annotated_book.viz.theme import BLUE, GREEN, GREY, ORANGE, PALETTE

NAMES = {
    "self-attention": "self-attention",
    "restricted": "restricted self-attention",
    "recurrent": "recurrent (GRU)",
    "contiguous": "contiguous convolution",
    "dilated": "dilated convolution",
    "separable": "separable convolution",
}
"""The layers of `annotated_book.why.table_1.complexity`, as the charts name them."""

WHAT = ("multiplications", "as printed", "sequential steps", "path length")
UNITS = ("multiplications", "Table 1's formula", "products in sequence", "hops")
"""What each column of `WHAT` counts."""
LENGTHS = [2**i for i in range(3, 14)]
WIDTHS = [2**i for i in range(4, 13)]
LABELS = list(NAMES.values())
COLOURS = [BLUE, PALETTE[4], ORANGE, GREEN, PALETTE[3], GREY]
DASHES = [[1, 0], [7, 3], [2, 2], [9, 3, 2, 3], [4, 2], [1, 3]]
_COLOUR = colour_by("layer:N", LABELS, COLOURS)
_DASH = dash_by("layer:N", LABELS, DASHES)
_SEEN = (  # one title for each column of `WHAT`
    "'Attention meets the GRU at n = d = ' + format(d, ',d')",
    "'As printed, they cross at n = d = ' + format(d, ',d')",
    "'Only the recurrent layer takes n products'",
    "'Attention needs one hop at any length'",
)
_R = "min(r, N)"
# For each layer the four columns of `WHAT`; N is the length, and d, k and r are sliders.
_FORMULAS = {
    "self-attention": ("2*N*N*d + 4*N*d*d", "N*N*d", "4", "1"),
    "restricted": (f"2*{_R}*N*d + 4*N*d*d", f"{_R}*N*d", "4", f"ceil((N-1) / ({_R}-1))"),
    "recurrent": ("6*N*d*d", "N*d*d", "N", "N-1"),
    "contiguous": ("k*N*d*d", "k*N*d*d", "1", "ceil((N-1) / (k-1))"),
    "dilated": ("k*N*d*d", "k*N*d*d", "1", "ceil(log(N) / log(k) - 1e-9)"),
    "separable": ("k*N*d + N*d*d", "k*N*d + N*d*d", "2", "ceil((N-1) / (k-1))"),
}


def formula(layer: str, what: int) -> str:
    """The Vega expression of a column of `WHAT` for a layer, in `datum.n` and the sliders d, k and r."""
    return _FORMULAS[layer][what].replace("N", "datum.n")


def cost_chart(*, n: int = 32, d: int = 512, k: int = 3, r: int = 33) -> alt.VConcatChart:
    """Table 1 as a chart: a column against the length, and the values at one length, with sliders for n, d, k and r.

    Parameters
    ----------
    n, d
        Where the sliders start, of `LENGTHS` and `WIDTHS`.
    k, r
        Kernel and neighbourhood.
    """
    chosen = " : ".join(
        f"datum.layer == '{name}' ? [{', '.join(formula(layer, i) for i in range(4))}][what]"
        for layer, name in NAMES.items()
    )
    table = pd.MultiIndex.from_product([LABELS, np.arange(6, 27) / 2], names=["layer", "p"]).to_frame(index=False)
    chart = alt.Chart(table).transform_calculate(n="pow(2, datum.p)").transform_calculate(value=f"{chosen} : 0")
    seen = " : ".join(f"what == {i} ? {text}" for i, text in enumerate(_SEEN))
    return titled(
        alt.vconcat(_cost_lines(chart), _cost_bars(chart), usermeta={"fit": True}).resolve_scale(color="shared"),
        menu("column", WHAT, label="column"),
        steps("n_step", LENGTHS, n, "length n"),
        steps("d_step", WIDTHS, d, "width d"),
        slider("k", k, 2, 15, label="kernel k"),
        slider("r", r, 3, 255, 2, label="neighbourhood r"),
        alt.param(name="length", expr=f"pow(2, n_step) * {LENGTHS[0]}"),
        alt.param(name="d", expr=f"pow(2, d_step) * {WIDTHS[0]}"),
        alt.param(name="what", expr=f"indexof({json.dumps(WHAT)}, column)"),
        title=alt.expr(f"{seen} : ''"),
        description="Table 1 as a chart on logarithmic axes: multiplications, products in sequence, or hops from the "
        "first position to the last, against the length, for six kinds of layer. Sliders set length, width, kernel "
        "and neighbourhood; bars give the values at the chosen length. Self-attention climbs more steeply than the "
        "rest once n exceeds d.",
    )


def _cost_lines(chart: alt.Chart) -> alt.LayerChart:
    """The chosen column of Table 1 against the length, with the chosen length marked."""
    x = alt.X("n:Q", title="length n (tokens)", scale=_lengths(8192), axis=powers())
    y = y_axis("value:Q", None, type="log", axis=tens("~s", minExtent=34))
    tip = ["layer:N", alt.Tooltip("n:Q", format=",.0f"), alt.Tooltip("value:Q", format=",.3s")]
    lines = chart.mark_line(strokeWidth=2).encode(x=x, y=y, color=_COLOUR, strokeDash=_DASH, tooltip=tip)
    here = rule_at(alt.X("n:Q"), "length", color=GREY)
    at = chart.transform_filter("datum.n == length").mark_point(filled=True, size=70, opacity=1)
    dots = at.encode(x=x, y=y, color=_COLOUR, tooltip=tip)
    unit = alt.Title(alt.expr(f"{json.dumps(UNITS)}[what]"), fontSize=12, fontWeight="normal")
    return alt.layer(here, lines, dots).properties(width=300, height=260, title=unit)


def _cost_bars(chart: alt.Chart) -> alt.LayerChart:
    """The values at the chosen length, in figures and as bars from zero."""
    label = "datum.layer + ': ' + format(datum.value, what < 2 ? '.3s' : ',d')"
    at = chart.transform_filter("datum.n == length").transform_calculate(label=label)
    row = alt.Y("layer:N", sort=LABELS, title=None, axis=None)
    axis = alt.Axis(format="~s", tickCount=4, tickMinStep=1, title=None)  # the heading names the unit
    bars = at.mark_bar(height=9, yOffset=8).encode(x=x_axis("value:Q", axis=axis, zero=True), y=row, color=_COLOUR)
    figures = at.mark_text(align="left", dy=-5, fontSize=12).encode(x=alt.value(2), y=row, text="label:N")
    heading = f"{json.dumps(UNITS)}[what] + ', n = ' + format(length, ',d')"
    return alt.layer(bars, figures).properties(width=300, height=34 * len(LABELS), title=alt.Title(alt.expr(heading)))


PARTS = ("attention alone", "attention and feed-forward network")
_TERMS = {
    "projections, 4nd²": ("4 * d", GREY),
    "feed-forward network, 8nd²": ("whole * 8 * d", ORANGE),
    "scores and mixture, 2n²d": ("2 * datum.n", BLUE),
}


def terms_chart(*, d: int = 512) -> alt.LayerChart:
    """Shares of the terms of a layer's work over the length; sliders and a menu set the width and what is counted.

    Parameters
    ----------
    d
        Where the slider starts, of `WIDTHS`.
    """
    names = list(_TERMS)
    table = pd.DataFrame({"term": names, "i": range(3)}).merge(pd.DataFrame({"p": np.arange(6, 35) / 2}), how="cross")
    amounts = " : ".join(f"datum.i == {i} ? {amount}" for i, (amount, _) in enumerate(_TERMS.values()))
    colour = colour_by("term:N", names, [c for _, c in _TERMS.values()])
    areas = (
        alt.Chart(table)
        .transform_calculate(n="pow(2, datum.p)")
        .transform_calculate(share=f"({amounts} : 0) / (2 * datum.n + (4 + whole * 8) * d)")
        .mark_area(opacity=0.75)
        .encode(
            x=alt.X("n:Q", title="length n (tokens)", scale=_lengths(2**17), axis=powers(17, 3)),
            y=alt.Y("share:Q", stack=True, title="share of the multiplications")
            .scale(alt.Scale(domain=[0, 1]))
            .axis(alt.Axis(format="%")),
            color=colour,
            order="i:Q",
            tooltip=["term:N", alt.Tooltip("n:Q", format=",.0f"), alt.Tooltip("share:Q", format=".1%")],
        )
    )
    usual = alt.Chart(pd.DataFrame({"from": [15], "to": [70], "t": ["sentences"]}))
    band = usual.mark_rect(fill="currentColor", fillOpacity=0.08, stroke="currentColor", strokeDash=[2, 2]).encode(
        x=alt.X("from:Q", scale=_lengths(2**17)), x2="to:Q"
    )
    name = usual.mark_text(align="left", dx=3, fontWeight="bold").encode(x="from:Q", y=alt.value(12), text="t:N")
    return titled(
        alt.layer(areas, band, name, _areas_named(), *_half()),
        menu("part", PARTS, label="count"),
        steps("d_step", WIDTHS, d, "width d"),
        alt.param(name="d", expr=f"pow(2, d_step) * {WIDTHS[0]}"),
        alt.param(name="whole", expr=f"part == '{PARTS[1]}' ? 1 : 0"),
        height=260,
        title=alt.expr("'Half is scores from n = ' + (whole ? 6 : 2) + 'd = ' + format((whole ? 6 : 2) * d, ',d')"),
        description="Shares of the terms of one layer's work against the length: projections and, by a menu, the "
        "feed-forward network, which Table 1 leaves out, and the scores with the mixture. A slider sets the width d. "
        "In attention alone the scores have a third at n = d and half at n = 2d; with the feed-forward network they "
        "reach half at n = 6d. A band marks sentences of 15 to 70 tokens, where at d = 512 the scores are a few per "
        "cent.",
    )


def _areas_named() -> alt.LayerChart:
    """The names of the terms in their areas; that of the feed-forward network while it is counted."""
    places = [(85, 0.08, 1, 1), (85, 0.6, 0, 1), (2**16.8, 0.76, 1, 0)]
    rows = [
        {"term": t, "n": n, "y": y, "always": a, "left": left}
        for t, (n, y, a, left) in zip(_TERMS, places, strict=True)
    ]
    chart = alt.Chart(pd.DataFrame(rows)).transform_filter("datum.always || whole")
    named = chart.encode(x=alt.X("n:Q", scale=_lengths(2**17)), y="y:Q", text="term:N")
    left, right = (
        named.transform_filter(f"datum.left == {side}").mark_text(align=align, fontWeight="bold")
        for side, align in ((1, "left"), (0, "right"))
    )
    return left + right


def _half() -> list[alt.Chart]:
    """A dashed rule at the length from which scores and mixture are half of the work, and its name."""
    mark = alt.Chart(ONE_ROW).transform_calculate(n="(whole ? 6 : 2) * d", t="whole ? 'n = 6d' : 'n = 2d'")
    text = mark.mark_text(align="left", dx=4, fontWeight="bold")
    return [
        mark.mark_rule(strokeDash=[4, 3], color="currentColor").encode(x="n:Q"),
        text.encode(x="n:Q", y=alt.value(30), text="t:N"),
    ]


def _lengths(longest: int) -> alt.Scale:
    return alt.Scale(type="log", base=2, domain=[8, longest], nice=False)


def tens(form: str, **options: Any) -> Any:
    """A logarithmic axis with a label at each power of ten."""
    return alt.Axis(values=[10.0**i for i in range(-3, 15)], format=form, **options)


def powers(longest: int = 13, every: int = 2) -> Any:
    """A logarithmic axis for lengths, with a label at every other power of two up to 2 to the `longest`."""
    return alt.Axis(
        values=[2**i for i in range(3, longest + 1, every)],
        labelOverlap="greedy",
        labelSeparation=8,
        format=",d",
        grid=False,
    )
