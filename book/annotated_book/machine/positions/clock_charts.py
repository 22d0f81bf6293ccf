"""Charts of the sinusoids: a wall of clocks, and the two layouts."""

from __future__ import annotations

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from annotated.config import ModelConfig
from annotated_book.machine.positions.charts import thousandths
from annotated_book.viz.channels import x_axis, y_axis
from annotated_book.viz.forms import titled
from annotated_book.viz.parameters import menu, slider
from annotated_book.viz.theme import BLUE, GREY, ORANGE

_COLUMNS = 4  # clocks in a row


def clock_hands_chart(
    d_model: int = ModelConfig.d_model, *, clocks: int = 8, length: int = 200, position: int = 5
) -> alt.LayerChart:
    """One clock for each of a few sine-cosine pairs, all showing the same position, which a slider moves.

    Parameters
    ----------
    d_model
        Width of the encoding; the clocks are spread evenly over its d_model / 2 pairs.
    clocks
        How many, at most.
    length
        Positions that the slider reaches.
    position
        Where it starts.
    """
    pairs = sorted({round(i) for i in np.linspace(0, d_model // 2 - 1, min(clocks, d_model // 2))})
    table = _clocks(np.array(pairs), d_model)
    lines = -(-len(pairs) // _COLUMNS)
    x, y = (
        x_axis("x:Q", domain=[-1.3, 2.6 * (_COLUMNS - 1) + 1.3], axis=None),
        y_axis("y:Q", domain=[-3.3 * (lines - 1) - 2.1, 1.3], axis=None),
    )
    # Twelve o'clock is position 0: up is the cosine, right is the sine.
    base = alt.Chart(table).transform_calculate(
        x="datum.cx + sin(position * datum.omega)", y="datum.cy + cos(position * datum.omega)"
    )
    tooltip = ["pair:O", alt.Tooltip("wave:N", title="positions in one turn")]
    hands = base.mark_rule(strokeWidth=3, color=BLUE).encode(x=x, y=y, x2="cx:Q", y2="cy:Q", tooltip=tooltip)
    tips = base.mark_circle(size=60, color=ORANGE, opacity=1).encode(x=x, y=y, tooltip=tooltip)
    name = alt.Chart(table).transform_calculate(x="datum.cx", y="datum.cy - 1.2")
    first = name.transform_calculate(t="'pair ' + datum.pair").mark_text(dy=6, fontSize=12, fontWeight=600)
    second = name.transform_calculate(t="'turn: ' + datum.wave").mark_text(dy=20, fontSize=11)
    label = {"x": x, "y": y, "text": "t:N"}
    fastest, slowest = table["wave"].iloc[[0, -1]]
    return titled(
        alt.layer(_rims(table, x, y), hands, tips, first.encode(**label), second.encode(**label)),
        slider("position", position, 0, length),
        width=330,
        height=round(330 * (3.3 * lines + 0.1) / (2.6 * _COLUMNS)),
        title=alt.expr("'Each hand has its own speed: position ' + position"),
        description=f"{len(pairs)} clocks, one for each of a few sine-cosine pairs of an encoding of width "
        f"{d_model}, with a slider for the position. The hand of the first turns once in {fastest} positions, that "
        f"of the last once in {slowest}: a position is what all hands say together.",
        usermeta={"widest": 720, "aspect": (3.3 * lines + 0.1) / (2.6 * _COLUMNS)},
    )


def _clocks(pairs: NDArray[np.int64], d_model: int) -> pd.DataFrame:
    """A row for each clock: its pair, the angle of one position, its middle, and the positions in one turn."""
    place = np.arange(len(pairs))
    omega = 10000.0 ** (-2 * pairs / d_model)
    return pd.DataFrame(
        {
            "pair": pairs,
            "omega": omega,
            "cx": 2.6 * (place % _COLUMNS),
            "cy": -3.3 * (place // _COLUMNS),
            "wave": [_number(2 * np.pi / angle) for angle in omega],
        }
    )


def _rims(clocks: pd.DataFrame, x: alt.X, y: alt.Y) -> alt.Chart:
    turn = np.linspace(0, 2 * np.pi, 49).round(4).tolist()
    return (
        alt.Chart(clocks.assign(a=[turn] * len(clocks)))
        .transform_flatten(["a"])
        .transform_calculate(x="datum.cx + sin(datum.a)", y="datum.cy + cos(datum.a)")
        .mark_line(color=GREY, strokeWidth=1)
        .encode(x=x, y=y, order="a:Q", detail="pair:N")
    )


def layout_chart(length: int = 40, d_model: int = 32) -> alt.Chart:
    """The same table with sines and cosines in turn, as written, or all sines first, as released."""
    written = np.arange(d_model)
    released = written // 2 + (written % 2) * d_model // 2
    table = pd.DataFrame({"written": written, "released": released, "v": thousandths(length, d_model)})
    options = ["sines and cosines in turn, as written", "all sines first, as released"]
    every = alt.Axis(labelExpr="datum.value % 8 == 0 ? datum.label : ''", labelAngle=0, ticks=False)
    return titled(
        alt.Chart(table)
        .transform_flatten(["v"])
        .transform_window(position="row_number()", groupby=["written"])
        .transform_calculate(
            position="datum.position - 1",
            value="datum.v / 1000",
            size="abs(datum.v) / 1000",
            dimension=f"layout == '{options[0]}' ? datum.written : datum.released",
            kind="datum.written % 2 ? 'cosine' : 'sine'",
        )
        .mark_rect()
        .encode(
            x=alt.X("position:O", title="position", axis=every),
            y=alt.Y("dimension:O", title="dimension", axis=every),
            color=alt.condition("datum.value > 0", alt.value(BLUE), alt.value(ORANGE)),
            opacity=alt.Opacity("size:Q", scale=alt.Scale(domain=[0, 1], range=[0, 1]), legend=None),
            tooltip=["position:O", "dimension:O", "kind:N", alt.Tooltip("value:Q", format=".3f")],
        ),
        menu("layout", options),
        height=7 * d_model,
        title=alt.expr("upper(slice(layout, 0, 1)) + slice(layout, 1)"),
        description=f"The table of sinusoids for {length} positions and {d_model} dimensions with a menu for the "
        "layout: sines and cosines in turn, or all sines in the first half and all cosines in the second.",
        usermeta={"renderer": "canvas"},
    )


def _number(value: float) -> str:
    return f"{value:.1f}" if value < 100 else f"{round(value):,}"
