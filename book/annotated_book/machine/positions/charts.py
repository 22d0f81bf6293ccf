"""Charts of the sinusoids: the table of waves, dot products between positions, and the clock hands."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from annotated.model.positional_encoding import sinusoidal_encoding
from annotated_book.viz.channels import colour_by, x_axis, y_axis
from annotated_book.viz.forms import rule_at, titled
from annotated_book.viz.parameters import slider
from annotated_book.viz.tables import ONE_ROW
from annotated_book.viz.theme import BLUE, GREEN, GREY, ORANGE

_WAVE_TIP = ["position:O", "dimension:O", alt.Tooltip("value:Q", format=".3f")]


def positional_encoding_chart(length: int = 60, d_model: int = 64, *, position: int = 12, dimension: int = 8) -> Any:
    """The table of sinusoids, with sliders for a position and a dimension, and the wave of that dimension.

    Parameters
    ----------
    length, d_model
        Shape of the table.
    position, dimension
        Where the sliders start.
    """
    chart = (
        alt.Chart(pd.DataFrame({"dimension": range(d_model), "v": thousandths(length, d_model)}))
        .transform_flatten(["v"])
        .transform_window(position="row_number()", groupby=["dimension"])
        .transform_calculate(position="datum.position - 1", value="datum.v / 1000", size="abs(datum.v) / 1000")
    )
    picture, line = _wave_table(chart, d_model), _one_wave(chart, d_model)
    return titled(
        alt.vconcat(picture, line, usermeta={"renderer": "canvas", "fit": True}),
        slider("position", position, 0, length - 1),
        slider("dimension", dimension, 0, d_model - 1),
        description=f"Above, the sinusoids of {length} positions and {d_model} dimensions as a table of colours, "
        "blue for positive and orange for negative: fast waves in the first dimensions, slow ones in the last. "
        "Below, the wave of one dimension. Two sliders choose the position and the dimension.",
    )


def thousandths(length: int, d_model: int) -> list[list[int]]:
    """The table of sinusoids in thousandths, which are short to write: a list for each dimension."""
    table = sinusoidal_encoding(length, d_model).numpy().astype(np.float64)
    return (table.T * 1000).round().astype(int).tolist()


def _wave_table(chart: alt.Chart, d_model: int) -> alt.LayerChart:
    """Positions across, dimensions down, with the sliders' row and column framed."""
    cells = chart.mark_rect().encode(
        x=alt.X("position:O", title=None, axis=_every(10)),
        y=alt.Y("dimension:O", title="dimension", axis=_every(8, minExtent=34)),
        color=alt.condition("datum.value > 0", alt.value(BLUE), alt.value(ORANGE)),
        opacity=alt.Opacity("size:Q", scale=alt.Scale(domain=[0, 1], range=[0, 1]), legend=None),
        tooltip=_WAVE_TIP,
    )
    one = alt.Chart(ONE_ROW).transform_calculate(position="position", dimension="dimension")
    frame = {"filled": False, "stroke": "currentColor", "strokeWidth": 1.6}
    row = one.mark_rect(**frame).encode(y="dimension:O")
    column = one.mark_rect(**frame).encode(x="position:O")
    title = "Fast waves at the top, slow ones below"
    return alt.layer(cells, row, column).properties(width=300, height=4 * d_model, title=title)


def _one_wave(chart: alt.Chart, d_model: int) -> alt.LayerChart:
    """The wave of the slider's dimension, with the slider's position marked."""
    wave = chart.transform_filter("datum.dimension == dimension").encode(
        x=alt.X("position:O", title="position", axis=_every(10)),
        y=y_axis("value:Q", "value", domain=[-1, 1], tickCount=3, minExtent=34),
        tooltip=_WAVE_TIP,
    )
    here = wave.transform_filter("datum.position == position")
    # The pair of dimension 2i and 2i + 1 shares the wavelength 2 pi 10000^(2i / d_model).
    label = (
        f"'dimension ' + dimension + ', a ' + (dimension % 2 ? 'cosine' : 'sine') + ': one wave in '"
        f" + format(2 * PI * pow(10000, 2 * floor(dimension / 2) / {d_model}), ',.1f') + ' positions'"
    )
    return alt.layer(
        wave.mark_line(color=GREY), wave.mark_circle(color=GREY, size=14), here.mark_circle(color=ORANGE, size=90)
    ).properties(width=300, height=90, title=alt.Title(alt.expr(label)))


def offset_chart(length: int = 80, d_model: int = 64, *, position: int = 20) -> alt.LayerChart:
    """The dot product of one position's encoding with every other's; a slider moves the position."""
    encoding = sinusoidal_encoding(length, d_model).double()
    products = (encoding @ encoding.T).numpy().round(2)
    curve = (
        alt.Chart(pd.DataFrame({"p": range(length), "dot": products.tolist()}))
        .transform_filter("datum.p == position")
        .transform_flatten(["dot"])
        .transform_window(q="row_number()")
        .transform_calculate(q="datum.q - 1", offset="datum.q - 1 - datum.p")
        .encode(
            x=x_axis("q:Q", "other position q, in tokens", domain=[0, length - 1], nice=False),
            y=y_axis("dot:Q", "dot product of p and q", domain=[0, d_model / 2 + 1]),
            tooltip=["p:Q", "q:Q", "offset:Q", alt.Tooltip("dot:Q", format=".2f")],
        )
    )
    marker = rule_at(alt.X("q:Q"), "position", color=ORANGE, strokeDash=[4, 3])
    return titled(
        alt.layer(curve.mark_line(color=BLUE, strokeWidth=2.5), curve.mark_circle(color=BLUE, size=16), marker),
        slider("position", position, 0, length - 1),
        height=220,
        title="The peak moves and keeps its shape",
        description=f"Dot product of the encoding of one position with those of all {length} positions, with a "
        "slider for the position: a peak at the position itself, falling to both sides, that keeps its shape when it "
        "moves.",
    )


def rotation_chart(d_model: int = 64, *, reach: int = 40, pairs: int = 16) -> alt.LayerChart:
    """One sine-cosine pair as a clock hand at a position and at a later one; three sliders move them."""
    pairs = min(pairs, d_model // 2)
    waves = sinusoidal_encoding(2 * reach + 1, d_model).double().numpy().round(4).T[: 2 * pairs].tolist()
    hands = _hands(pd.DataFrame({"pair": range(pairs), "sin": waves[0::2], "cos": waves[1::2]}))
    turn = np.linspace(0, 2 * np.pi, 73)
    circle = pd.DataFrame({"i": range(len(turn)), "cos": np.cos(turn), "sin": np.sin(turn)})
    rim = alt.Chart(circle).mark_line(color=GREY, strokeWidth=1).encode(x="sin:Q", y="cos:Q", order="i:Q")
    angle = f"(offset * 180 / PI / pow(10000, 2 * pair / {d_model})) % 360"
    label = f"'The angle between the hands: ' + format({angle}, '.1f') + '°'"
    return titled(
        alt.layer(
            rim,
            hands.mark_rule(strokeWidth=3).encode(x2=alt.datum(0), y2=alt.datum(0)),
            hands.mark_circle(size=110, opacity=1),
            hands.mark_text(fontSize=13, fontWeight="bold").encode(x="lx:Q", y="ly:Q", text="label:N"),
        ),
        slider("position", 5, 0, reach),
        slider("offset", 4, 0, reach),
        slider("pair", 4, 0, pairs - 1),
        width=270,
        height=270,
        title=alt.expr(label),
        description="Two hands on a circle, the sine-cosine pair at a position p and at p plus an offset, with "
        "sliders for position, offset and pair. Moving the position turns both hands and leaves the angle between "
        "them; only the offset and the pair change it.",
        usermeta={"widest": 420, "aspect": 1, "beside": 60},
    )


def _hands(table: pd.DataFrame) -> alt.Chart:
    """The sine and the cosine of the slider's pair at its position and at the later one."""
    span = alt.Scale(domain=[-1.5, 1.5], nice=False)
    hands, whole = ["position p", "position p + offset"], alt.Axis(values=[-1, 0, 1])
    return (
        alt.Chart(table)
        .transform_filter("datum.pair == pair")
        .transform_flatten(["sin", "cos"])
        .transform_window(p="row_number()")
        .transform_calculate(p="datum.p - 1")
        .transform_filter("datum.p == position || datum.p == position + offset")
        .transform_calculate(
            hand=f"datum.p == position ? '{hands[0]}' : '{hands[1]}'",
            label="datum.p == position ? 'p' : 'p + ' + offset",
            lx="datum.sin * 1.25",
            ly="datum.cos * 1.25",
        )
        .encode(
            x=alt.X("sin:Q", scale=span, title="sine", axis=whole),  # as on a clock: up at 0, then to the right
            y=alt.Y("cos:Q", scale=span, title="cosine", axis=whole),
            color=colour_by("hand:N", hands, [GREEN, ORANGE]),
            tooltip=[alt.Tooltip("p:Q", title="position"), alt.Tooltip("sin:Q"), alt.Tooltip("cos:Q")],
        )
    )


def _every(step: int, **options: Any) -> alt.Axis:
    """An axis with a label at every so many places."""
    return alt.Axis(labelExpr=f"datum.value % {step} == 0 ? datum.label : ''", labelAngle=0, ticks=False, **options)
