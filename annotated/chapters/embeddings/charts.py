"""Charts of embeddings: the balance of word and place, the shared matrix, neighbours, and the unused direction.

Paper: section 3.4
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
from numpy.typing import ArrayLike

from annotated.viz.theme import BLUE, GREEN, GREY, ORANGE, PALETTE, slider

_DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])
_USES = ("source embedding", "target embedding", "logits")
_WAYS = ("source tokens to the encoder", "target tokens to the decoder", "decoder output to the vocabulary")


def balance_chart(widths: Sequence[int] = (64, 128, 512, 1024), *, exponent: float = 0.5) -> alt.LayerChart:
    """The word's share of the squared length of word + place, by the factor d_model ** exponent; a slider moves it.

    A row of the table has length 1 at initialisation, a sinusoid's encoding sqrt(d_model / 2); the two are nearly at
    right angles, so that squared lengths add.

    Parameters
    ----------
    widths
        Up to four values of d_model.
    exponent
        Where the slider starts.

    Paper: section 3.4
    """
    if not 1 <= len(widths) <= len(_DASHES):
        raise ValueError(f"between one and {len(_DASHES)} widths, not {len(widths)}")
    names = [f"d_model {widths[0]}", *(str(width) for width in widths[1:])]
    grid = [round(float(x), 3) for x in np.linspace(0, 1, 41)]
    share = "pow(datum.d, 2 * datum.power) / (pow(datum.d, 2 * datum.power) + datum.d / 2)"
    lines = (
        alt.Chart(alt.Data(values=[{"d": d, "width": n, "power": grid} for d, n in zip(widths, names, strict=True)]))
        .transform_flatten(["power"])
        .transform_calculate(share=share)
        .mark_line(strokeWidth=2.5)
    )
    x = alt.X("power:Q", title="p: the factor is d_model to the power p", scale=alt.Scale(domain=[0, 1]))
    y = alt.Y("share:Q", title="the word's share of the sum", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1]))
    colour = alt.Color("width:N", sort=names, scale=alt.Scale(domain=names, range=list(PALETTE[: len(names)])))
    dash = alt.StrokeDash("width:N", sort=names, scale=alt.Scale(domain=names, range=_DASHES[: len(names)]))
    chosen = (
        alt.Chart(alt.Data(values=[{"d": d, "width": n} for d, n in zip(widths, names, strict=True)]))
        .transform_calculate(power="exponent")
        .transform_calculate(share=share)
        .encode(x=x, y=y, color=colour, tooltip=["width:N", alt.Tooltip("share:Q", format=".1%")])
    )
    rule = alt.Chart(alt.Data(values=[{}])).transform_calculate(power="exponent")
    first, last = widths[0], widths[-1]

    def word(d: int) -> str:
        return f"format(pow({d}, 2 * exponent) / (pow({d}, 2 * exponent) + {d} / 2), '.1%')"

    title = f"'word: ' + {word(first)} + ' at width {first}, ' + {word(last)} + ' at {last}'"
    description = (
        "The word's share of the sum of embedding and position, against the exponent of the factor, for "
        f"d_model {', '.join(map(str, widths))}, with a slider for the exponent. Every line passes through two thirds "
        "at exponent one half; below, positions drown the words, above, words drown the positions."
    )
    return (
        alt.layer(
            lines.encode(x=x, y=y, color=colour, strokeDash=dash),
            rule.mark_rule(color=GREY, strokeDash=[4, 3]).encode(x="power:Q"),
            chosen.mark_circle(size=90, opacity=1),
        )
        .add_params(slider("exponent", exponent, 0, 1, 0.05))
        .properties(width="container", height=240, title=alt.Title(alt.expr(title)), description=description)
    )


def tying_chart() -> alt.LayerChart:
    """One matrix and its three uses; a menu brings one use forward.

    Paper: section 3.4
    """
    uses = [
        {"use": use, "way": way, "y": 2 - i, "out": out}
        for i, (use, way, out) in enumerate(
            zip(_USES, _WAYS, ("row × √d_model", "row × √d_model", "output · every row"), strict=True)
        )
    ]
    choose = alt.param(
        name="use", value="all three", bind=alt.binding_select(options=["all three", *_USES], name="bring forward ")
    )
    span = {"x": alt.Scale(domain=[0, 10]), "y": alt.Scale(domain=[-0.7, 2.7])}
    x, y = alt.X("x:Q", scale=span["x"], axis=None), alt.Y("y:Q", scale=span["y"], axis=None)
    shade = alt.condition("use == 'all three' || use == datum.use", alt.value(1), alt.value(0.18))
    base = alt.Chart(alt.Data(values=uses)).transform_calculate(x="3.0", x2="4.5")
    colour = alt.condition("datum.use == 'logits'", alt.value(ORANGE), alt.value(BLUE))
    matrix = (
        alt.Chart(alt.Data(values=[{"x": 0.1, "x2": 3.0, "y": -0.4, "y2": 2.4}]))
        .mark_rect(fill=GREEN, fillOpacity=0.25, stroke=GREEN, cornerRadius=4)
        .encode(x=x, x2="x2:Q", y=y, y2="y2:Q")
    )
    label = (
        alt.Chart(alt.Data(values=[{"x": 1.55, "y": 1.2, "t": "E"}, {"x": 1.55, "y": 0.75, "t": "V × d_model"}]))
        .mark_text(fontSize=12)
        .encode(x=x, y=y, text="t:N")
    )
    wires = base.mark_rule(strokeWidth=3).encode(x=x, x2="x2:Q", y=y, color=colour, opacity=shade)
    tips = (
        base.transform_calculate(x="datum.use == 'logits' ? 3.15 : 4.45", a="datum.use == 'logits' ? 270 : 90")
        .mark_point(shape="triangle-up", size=130, filled=True)
        .encode(x=x, y=y, angle=alt.Angle("a:Q", scale=None), color=colour, opacity=shade)
    )
    words = base.transform_calculate(x="4.8")
    named = words.mark_text(align="left", fontSize=14, fontWeight=600, dy=-9).encode(
        x=x, y=y, text="use:N", opacity=shade
    )
    what = words.mark_text(align="left", fontSize=12, dy=8).encode(x=x, y=y, text="out:N", opacity=shade)
    ways = json.dumps(dict(zip(_USES, _WAYS, strict=True)))
    title = f"use == 'all three' ? 'one matrix, three uses' : use + ': from ' + {ways}[use]"
    description = (
        "A box for the matrix E of V rows and d_model columns, joined by three lines to its uses: source embedding and "
        "target embedding, each a row times the root of d_model, and the logits, the decoder's output times every row. "
        "A menu brings one use forward."
    )
    return (
        alt.layer(matrix, label, wires, tips, named, what)
        .add_params(choose)
        .properties(width="container", height=190, title=alt.Title(alt.expr(title)), description=description)
    )


def neighbour_chart(
    neighbours: Mapping[str, Sequence[tuple[str, float, str]]], *, piece: str | None = None
) -> alt.Chart:
    """The nearest rows of the embedding table to a row that the reader chooses from a menu.

    Parameters
    ----------
    neighbours
        For each piece its neighbours, nearest first: (piece, cosine, group), where the group is drawn as a colour
        and a word, such as the language that the piece belongs to.
    piece
        Which to show first; None for the first.

    Paper: section 3.4
    """
    if not neighbours:
        raise ValueError("there is no piece to choose")
    names = list(neighbours)
    start = names[0] if piece is None else piece
    if start not in neighbours:
        raise ValueError(f"no neighbours of {start!r} were given")
    rows = [
        {"piece": name, "rank": rank, "neighbour": other, "cosine": round(float(cosine), 3), "group": group}
        for name, found in neighbours.items()
        for rank, (other, cosine, group) in enumerate(found, 1)
    ]
    groups = sorted({group for found in neighbours.values() for *_, group in found})
    choose = alt.param(name="piece", value=start, bind=alt.binding_select(options=names, name="piece "))
    base = alt.Chart(alt.Data(values=rows)).transform_filter("datum.piece == piece")
    y = alt.Y("rank:O", title="nearest rows", axis=alt.Axis(labels=False, ticks=False))
    x = alt.X("cosine:Q", title="cosine with the chosen row", scale=alt.Scale(domain=[0, 1]))
    colour = alt.Color("group:N", scale=alt.Scale(domain=groups, range=list(PALETTE[: len(groups)])))
    tooltip = ["neighbour:N", "group:N", alt.Tooltip("cosine:Q", format=".2f")]
    bars = base.mark_bar(height=15, opacity=0.75).encode(x=x, y=y, color=colour, tooltip=tooltip)
    labels = (
        base.transform_calculate(label="datum.neighbour + '   (' + datum.group + ')'")
        .mark_text(align="left", dx=6, fontSize=13)
        .encode(x=x, y=y, text="label:N")
    )
    most = max(len(found) for found in neighbours.values())
    description = (
        f"A menu of {len(names)} pieces; for the chosen one, bars of its cosine with the rows nearest to it in the "
        "embedding table, each labelled with the piece and its language. "
        f"Nearest to {start}: " + ", ".join(other for other, *_ in neighbours[start]) + "."
    )
    title = alt.Title(alt.expr("'nearest to ' + piece"))
    return (
        alt.layer(bars, labels)
        .add_params(choose)
        .properties(width="container", height=24 * most, title=title, description=description)
    )


def direction_chart(cosines: Mapping[str, ArrayLike], axis: str, *, step: float = 0.05) -> alt.Chart:
    """Histograms, one above the other, of how far each group of rows points in one direction.

    Parameters
    ----------
    cosines
        For each group, the cosine of each of its rows with the direction.
    axis
        What the direction is, for the title of the axis.
    step
        Width of a bin.

    Paper: section 3.4
    """
    rows: list[dict[str, Any]] = []
    means = []
    for group, values in cosines.items():
        array = np.asarray(values, dtype=np.float64)
        if array.size == 0 or np.abs(array).max() > 1 + 1e-6:
            raise ValueError(f"group {group!r} must hold cosines, between -1 and 1")
        edges, counts = np.unique(np.floor(array / step), return_counts=True)
        means.append(f"{group} {array.mean():.2f}")
        rows += [
            {
                "group": group,
                "from": round(e * step, 4),
                "to": round((e + 1) * step, 4),
                "share": round(c / array.size, 4),
            }
            for e, c in zip(edges.tolist(), counts.tolist(), strict=True)
        ]
    names = list(cosines)
    colour = alt.Color(
        "group:N", sort=names, scale=alt.Scale(domain=names, range=list(PALETTE[: len(names)])), legend=None
    )
    description = f"Histograms of the cosine of the rows with {axis}. Means: " + "; ".join(means) + "."
    return (
        alt.Chart(alt.Data(values=rows))
        .mark_bar(stroke=None)
        .encode(
            x=alt.X("from:Q", bin="binned", title=f"cosine with {axis}", scale=alt.Scale(domain=[-0.2, 1])),
            x2="to:Q",
            y=alt.Y("share:Q", title="share of rows", axis=alt.Axis(format="%", tickCount=2)),
            color=colour,
            row=alt.Row("group:N", sort=names, title=None, header=alt.Header(labelOrient="top", labelAnchor="start")),
            tooltip=["group:N", "from:Q", "to:Q", alt.Tooltip("share:Q", format=".1%")],
        )
        .properties(width=270, height=64, description=description)
        .resolve_scale(y="independent")
    )
