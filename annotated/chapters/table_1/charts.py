"""Charts of Table 1 by its formulas: cost against its four variables, and the terms of self-attention.

`annotated.chapters.table_1.time_charts` draws what was measured.
"""

from __future__ import annotations

import json
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from annotated.viz.parameters import menu, slider
from annotated.viz.tables import ONE_ROW
from annotated.viz.theme import BLUE, GREEN, GREY, ORANGE, PALETTE

NAMES = {
    "self-attention": "self-attention",
    "restricted": "restricted self-attention",
    "recurrent": "recurrent (GRU)",
    "contiguous": "convolution",
    "dilated": "dilated convolution",
    "separable": "separable convolution",
}
"""The layers of `annotated.chapters.table_1.complexity`, as the charts name them."""

WHAT = ("operations, all products", "operations, Table 1's term", "steps that wait", "hops from first to last")
LABELS = list(NAMES.values())
COLOURS = [BLUE, PALETTE[4], ORANGE, GREEN, PALETTE[3], GREY]
DASHES = [[1, 0], [7, 3], [2, 2], [9, 3, 2, 3], [4, 2], [1, 3]]
_COLOUR = alt.Color("layer:N", sort=LABELS, scale=alt.Scale(domain=LABELS, range=COLOURS), legend=alt.Legend(columns=2))
DASH = alt.StrokeDash("layer:N", sort=LABELS, scale=alt.Scale(domain=LABELS, range=DASHES), legend=None)
_R = "min(r, N)"
# For each layer the four columns of `WHAT`; N is the length, and d, k and r are sliders.
_FORMULAS = {
    "self-attention": ("2*N*N*d + 4*N*d*d", "N*N*d", "1", "1"),
    "restricted": (f"2*{_R}*N*d + 4*N*d*d", f"{_R}*N*d", "1", f"ceil((N-1) / ({_R}-1))"),
    "recurrent": ("6*N*d*d", "N*d*d", "N", "N-1"),
    "contiguous": ("k*N*d*d", "k*N*d*d", "1", "ceil((N-1) / (k-1))"),
    "dilated": ("k*N*d*d", "k*N*d*d", "1", "ceil(log(N) / log(k) - 1e-9)"),
    "separable": ("k*N*d + N*d*d", "k*N*d + N*d*d", "1", "ceil((N-1) / (k-1))"),
}


def formula(layer: str, what: int) -> str:
    """The Vega expression of a column of `WHAT` for a layer, in `datum.n` and the sliders d, k and r."""
    return _FORMULAS[layer][what].replace("N", "datum.n")


def cost_chart(*, n: int = 5, d: int = 9, k: int = 3, r: int = 32) -> alt.VConcatChart:
    """Table 1 alive: one of its columns against the length, and the values at one length, with sliders for n, d, k, r.

    Parameters
    ----------
    n, d
        Where the sliders start, as powers of two.
    k, r
        Kernel and neighbourhood, as they are.
    """
    sliders = (
        slider("n2", n, 3, 13, label="length n, as a power of 2:"),
        slider("d2", d, 4, 12, label="width d, as a power of 2:"),
        slider("k", k, 2, 15, label="kernel k:"),
        slider("r", r, 2, 256, 2, label="neighbourhood r:"),
    )
    derived = [
        alt.param(name="d", expr="pow(2, d2)"),
        alt.param(name="what", expr=f"indexof({json.dumps(WHAT)}, column)"),
    ]
    chosen = " : ".join(
        f"datum.layer == '{name}' ? [{', '.join(formula(layer, i) for i in range(4))}][what]"
        for layer, name in NAMES.items()
    )
    table = pd.MultiIndex.from_product([LABELS, np.arange(6, 27) / 2], names=["layer", "p"]).to_frame(index=False)
    chart = alt.Chart(table).transform_calculate(n="pow(2, datum.p)").transform_calculate(value=f"{chosen} : 0")
    description = (
        "Table 1 as a chart on logarithmic axes: operations, steps that must wait, or hops from the first position to "
        "the last, against the length, for six kinds of layer. Sliders set length, width, kernel and neighbourhood; "
        "bars give the values at the chosen length. Self-attention climbs more steeply than the rest once n exceeds d."
    )
    together = alt.vconcat(_cost_lines(chart), _cost_bars(chart), usermeta={"fit": True}).resolve_scale(color="shared")
    controls = (*sliders, menu("column", WHAT, label="show"), *derived)
    return together.add_params(*controls).properties(description=description)


def _cost_lines(chart: alt.Chart) -> alt.LayerChart:
    """The chosen column of Table 1 against the length, with the length n2 marked."""
    x = alt.X("n:Q", title="length n", scale=alt.Scale(type="log", base=2, domain=[8, 8192], nice=False), axis=powers())
    y = alt.Y("value:Q", title=None, scale=alt.Scale(type="log"), axis=tens("~s", minExtent=34))
    lines = chart.mark_line(strokeWidth=2).encode(
        x=x, y=y, color=_COLOUR, strokeDash=DASH, tooltip=["layer:N", alt.Tooltip("value:Q", format=",.3s")]
    )
    here = alt.Chart(ONE_ROW).transform_calculate(n="pow(2, n2)").mark_rule(color=GREY).encode(x="n:Q")
    return alt.layer(here, lines).properties(width=300, height=240, title=alt.Title(alt.expr("column + ', d = ' + d")))


def _cost_bars(chart: alt.Chart) -> alt.LayerChart:
    """The values at the length n2, in figures and as bars."""
    label = "datum.layer + ': ' + format(datum.value, what < 2 ? '.3s' : ',d')"
    at = chart.transform_filter("datum.p == n2").transform_calculate(length="log(datum.value) / LN10", label=label)
    row = alt.Y("layer:N", sort=LABELS, title=None, axis=None)
    # A bar begins at 1, where the logarithm is 0.
    bars = at.mark_bar(height=15, opacity=0.8).encode(
        x=alt.X("length:Q", axis=None, scale=alt.Scale(zero=True)), y=row, color=alt.Color("layer:N", legend=None)
    )
    figures = at.mark_text(align="left", dx=4, fontSize=11).encode(x=alt.value(4), y=row, text="label:N")
    title = alt.Title(alt.expr("'at n = ' + pow(2, n2)"))
    return alt.layer(bars, figures).properties(width=300, height=132, title=title)


def terms_chart(*, d: int = 9) -> alt.LayerChart:
    """Shares of self-attention's two terms over the length; a slider sets the width.

    Parameters
    ----------
    d
        Where the slider starts, as a power of two.
    """
    names = ["projections, 4nd² (not in Table 1)", "scores and mixture, 2n²d (Table 1's n²d)"]
    table = pd.DataFrame({"term": names, "i": [0, 1]}).merge(pd.DataFrame({"p": np.arange(12, 53) / 4}), how="cross")
    scale = alt.Scale(type="log", base=2, domain=[8, 8192], nice=False)
    share = alt.Y("share:Q", stack=True, title="share of the work")
    colour = alt.Color("term:N", sort=names, scale=alt.Scale(domain=names, range=[GREY, BLUE]))
    areas = (
        alt.Chart(table)
        .transform_calculate(n="pow(2, datum.p)", d="pow(2, d2)")
        .transform_calculate(share="(datum.i ? datum.n : 2 * datum.d) / (datum.n + 2 * datum.d)")
        .mark_area(opacity=0.75)
        .encode(
            x=alt.X("n:Q", title="length n", scale=scale, axis=powers()),
            y=share.scale(alt.Scale(domain=[0, 1])).axis(alt.Axis(format="%")),
            color=colour.legend(alt.Legend(columns=1, labelLimit=320)),
            order="i:Q",
            tooltip=["term:N", alt.Tooltip("n:Q", format=".0f"), alt.Tooltip("share:Q", format=".1%")],
        )
    )
    usual = alt.Chart(pd.DataFrame({"from": [15], "to": [70], "t": ["sentences"]}))
    band = usual.mark_rect(fill="currentColor", opacity=0.22).encode(x=alt.X("from:Q", scale=scale), x2="to:Q")
    name = usual.mark_text(align="left", dx=3, fontSize=11, fontWeight="bold").encode(
        x="from:Q", y=alt.value(12), text="t:N"
    )
    description = (
        "Shares of the two terms of self-attention's work against the length: the projections, which Table 1 leaves "
        "out, and the scores. A slider sets the width d. At n = d the scores have a third, at n = 2d a half; a band "
        "marks sentences of 15 to 70 tokens, where at d = 512 the projections do more than nine tenths."
    )
    return (
        alt.layer(areas, band, name, *_multiples_of_d())
        .add_params(slider("d2", d, 4, 12, label="width d, as a power of 2:"))
        .properties(
            width="container", height=220, title=alt.Title(alt.expr("'d = ' + pow(2, d2)")), description=description
        )
    )


def _multiples_of_d() -> list[alt.Chart]:
    """Dashed rules where n is d and 2d, and their names."""
    marks = alt.Chart(pd.DataFrame({"m": [1, 2], "t": ["n = d", "n = 2d"]})).transform_calculate(
        n="datum.m * pow(2, d2)"
    )
    shown = marks.transform_filter("datum.n <= 8192")
    names = [
        shown.transform_filter(f"datum.m == {m}")
        .mark_text(align=align, dx=dx, fontSize=12, fontWeight="bold")
        .encode(x="n:Q", y=alt.value(190), text="t:N")
        for m, align, dx in ((1, "right", -4), (2, "left", 4))
    ]
    return [shown.mark_rule(strokeDash=[4, 3], color="currentColor").encode(x="n:Q"), *names]


def tens(form: str, **options: Any) -> Any:
    """A logarithmic axis with a label at each power of ten."""
    return alt.Axis(values=[10.0**i for i in range(-3, 15)], format=form, **options)


def powers() -> Any:
    """A logarithmic axis for lengths, with a label at every other power of two."""
    return alt.Axis(values=[2**i for i in range(3, 14, 2)], labelOverlap="greedy", format="d", grid=False)
