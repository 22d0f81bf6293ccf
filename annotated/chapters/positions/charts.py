"""Charts of the sinusoids: the table of waves, dot products between positions, and the clock hands.

Paper: section 3.5
"""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from annotated.model.positional_encoding import sinusoidal_encoding
from annotated.viz.theme import BLUE, GREEN, GREY, ORANGE, slider


def positional_encoding_chart(length: int = 60, d_model: int = 64, *, position: int = 12, dimension: int = 8) -> Any:
    """The table of sinusoids, with sliders for a position and a dimension, and the wave of that dimension.

    Parameters
    ----------
    length, d_model
        Shape of the table.
    position, dimension
        Where the sliders start.

    Paper: section 3.5
    """
    table = sinusoidal_encoding(length, d_model).numpy().astype(np.float64)
    rows = [{"dimension": i, "v": (column * 1000).round().astype(int).tolist()} for i, column in enumerate(table.T)]
    sliders = slider("position", position, 0, length - 1), slider("dimension", dimension, 0, d_model - 1)
    chart = (
        alt.Chart(alt.Data(values=rows))
        .transform_flatten(["v"])
        .transform_window(position="row_number()", groupby=["dimension"])
        .transform_calculate(position="datum.position - 1", value="datum.v / 1000", size="abs(datum.v) / 1000")
    )
    x = alt.X("position:O", title="position", axis=_every(10))
    tip = ["position:O", "dimension:O", alt.Tooltip("value:Q", format=".3f")]
    cells = chart.mark_rect().encode(
        x=alt.X("position:O", title=None, axis=_every(10)),
        y=alt.Y("dimension:O", title="dimension", axis=_every(8, minExtent=34)),
        color=alt.condition("datum.value > 0", alt.value(BLUE), alt.value(ORANGE)),
        opacity=alt.Opacity("size:Q", scale=alt.Scale(domain=[0, 1], range=[0, 1]), legend=None),
        tooltip=tip,
    )
    one = alt.Chart(alt.Data(values=[{}])).transform_calculate(position="position", dimension="dimension")
    frame = {"filled": False, "stroke": "currentColor", "strokeWidth": 1.6}
    row = one.mark_rect(**frame).encode(y="dimension:O")
    column = one.mark_rect(**frame).encode(x="position:O")
    picture = alt.layer(cells, row, column).properties(width=300, height=4 * d_model)
    wave = chart.transform_filter("datum.dimension == dimension").encode(
        x=x,
        y=alt.Y("value:Q", title="value", scale=alt.Scale(domain=[-1, 1]), axis=alt.Axis(tickCount=3, minExtent=34)),
        tooltip=tip,
    )
    here = wave.transform_filter("datum.position == position")
    # The pair of dimension 2i and 2i + 1 shares the wavelength 2 pi 10000^(2i / d_model).
    label = (
        f"'dimension ' + dimension + ', a ' + (dimension % 2 ? 'cosine' : 'sine') + ': one wave in '"
        f" + format(2 * PI * pow(10000, 2 * floor(dimension / 2) / {d_model}), ',.1f') + ' positions'"
    )
    line = alt.layer(
        wave.mark_line(color=GREY), wave.mark_circle(color=GREY, size=14), here.mark_circle(color=ORANGE, size=90)
    ).properties(width=300, height=90, title=alt.Title(alt.expr(label)))
    description = (
        f"Above, the sinusoids of {length} positions and {d_model} dimensions as a table of colours, blue for positive "
        "and orange for negative: fast waves in the first dimensions, slow ones in the last. Below, the wave of one "
        "dimension. Two sliders choose the position and the dimension."
    )
    together = alt.vconcat(picture, line, usermeta={"renderer": "canvas", "fit": True}).add_params(*sliders)
    return together.properties(description=description)


def offset_chart(length: int = 80, d_model: int = 64, *, position: int = 20) -> alt.LayerChart:
    """The dot product of one position's encoding with every other's; a slider moves the position.

    Paper: section 3.5
    """
    table = sinusoidal_encoding(length, d_model).double()
    products = (table @ table.T).numpy()
    rows = [{"p": p, "dot": line.round(2).tolist()} for p, line in enumerate(products)]
    curve = (
        alt.Chart(alt.Data(values=rows))
        .transform_filter("datum.p == position")
        .transform_flatten(["dot"])
        .transform_window(q="row_number()")
        .transform_calculate(q="datum.q - 1", offset="datum.q - 1 - datum.p")
        .encode(
            x=alt.X("q:Q", title="other position", scale=alt.Scale(domain=[0, length - 1], nice=False)),
            y=alt.Y("dot:Q", title="dot product", scale=alt.Scale(domain=[0, d_model / 2 + 1])),
            tooltip=["p:Q", "q:Q", "offset:Q", alt.Tooltip("dot:Q", format=".2f")],
        )
    )
    marker = (
        alt.Chart(alt.Data(values=[{}])).transform_calculate(q="position").mark_rule(color=ORANGE, strokeDash=[4, 3])
    ).encode(x="q:Q")
    description = (
        f"Dot product of the encoding of one position with those of all {length} positions, with a slider for the "
        "position: a peak at the position itself, falling to both sides, that keeps its shape when it moves."
    )
    return (
        alt.layer(curve.mark_line(color=BLUE, strokeWidth=2.5), curve.mark_circle(color=BLUE, size=16), marker)
        .add_params(slider("position", position, 0, length - 1))
        .properties(width="container", height=220, description=description)
    )


def rotation_chart(d_model: int = 64, *, reach: int = 40, pairs: int = 16) -> alt.LayerChart:
    """One sine-cosine pair as a clock hand at a position and at a later one; three sliders move them.

    Paper: section 3.5
    """
    table = sinusoidal_encoding(2 * reach + 1, d_model).double().numpy()
    rows = [
        {"pair": i, "sin": table[:, 2 * i].round(4).tolist(), "cos": table[:, 2 * i + 1].round(4).tolist()}
        for i in range(min(pairs, d_model // 2))
    ]
    position, offset = slider("position", 5, 0, reach), slider("offset", 4, 0, reach)
    pair = slider("pair", 4, 0, len(rows) - 1)
    span = alt.Scale(domain=[-1.5, 1.5], nice=False)
    hands = (
        alt.Chart(alt.Data(values=rows))
        .transform_filter("datum.pair == pair")
        .transform_flatten(["sin", "cos"])
        .transform_window(p="row_number()")
        .transform_calculate(p="datum.p - 1")
        .transform_filter("datum.p == position || datum.p == position + offset")
        .transform_calculate(
            hand="datum.p == position ? 'position p' : 'position p + offset'",
            label="datum.p == position ? 'p' : 'p + ' + offset",
            lx="datum.sin * 1.25",
            ly="datum.cos * 1.25",
        )
        .encode(
            x=alt.X("sin:Q", scale=span, title="sine"),  # as on a clock: up at position 0, then to the right
            y=alt.Y("cos:Q", scale=span, title="cosine"),
            color=alt.Color(
                "hand:N", scale=alt.Scale(domain=["position p", "position p + offset"], range=[GREEN, ORANGE])
            ),
            tooltip=[alt.Tooltip("p:Q", title="position"), alt.Tooltip("sin:Q"), alt.Tooltip("cos:Q")],
        )
    )
    turn = np.linspace(0, 2 * np.pi, 73)
    circle = [{"i": i, "cos": float(np.cos(a)), "sin": float(np.sin(a))} for i, a in enumerate(turn)]
    rim = (
        alt.Chart(alt.Data(values=circle))
        .mark_line(color=GREY, strokeWidth=1)
        .encode(x="sin:Q", y="cos:Q", order="i:Q")
    )
    angle = f"(offset * 180 / PI / pow(10000, 2 * pair / {d_model})) % 360"
    label = f"'the angle between the hands: ' + format({angle}, '.1f') + '°'"
    description = (
        "Two hands on a circle, the sine-cosine pair at a position p and at p plus an offset, with sliders for "
        "position, offset and pair. Moving the position turns both hands and leaves the angle between them; only the "
        "offset and the pair change it."
    )
    return (
        alt.layer(
            rim,
            hands.mark_rule(strokeWidth=3).encode(x2=alt.datum(0), y2=alt.datum(0)),
            hands.mark_circle(size=110, opacity=1),
            hands.mark_text(fontSize=13).encode(x="lx:Q", y="ly:Q", text="label:N", color=alt.value("currentColor")),
        )
        .add_params(position, offset, pair)
        .properties(width=270, height=270, title=alt.Title(alt.expr(label)), description=description)
    )


def _every(step: int, **options: Any) -> alt.Axis:
    """An axis with a label at every so many places."""
    return alt.Axis(labelExpr=f"datum.value % {step} == 0 ? datum.label : ''", labelAngle=0, ticks=False, **options)
