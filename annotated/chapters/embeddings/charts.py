"""Charts of embeddings: the balance of word and place, the shared matrix, neighbours, and the unused direction."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from annotated.viz.parameters import menu, slider
from annotated.viz.tables import ONE_ROW
from annotated.viz.theme import BLUE, GREEN, GREY, ORANGE, PALETTE

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
    """
    if not 1 <= len(widths) <= len(_DASHES):
        raise ValueError(f"between one and {len(_DASHES)} widths, not {len(widths)}")
    names = [f"d_model {widths[0]}", *(str(width) for width in widths[1:])]
    table = pd.DataFrame({"d": widths, "width": names})
    grid = [np.linspace(0, 1, 41).round(3).tolist()] * len(table)
    share = "pow(datum.d, 2 * datum.power) / (pow(datum.d, 2 * datum.power) + datum.d / 2)"
    lines = (
        alt.Chart(table.assign(power=grid))
        .transform_flatten(["power"])
        .transform_calculate(share=share)
        .mark_line(strokeWidth=2.5)
    )
    x = alt.X("power:Q", title="p: the factor is d_model to the power p", scale=alt.Scale(domain=[0, 1]))
    y = alt.Y("share:Q", title="the word's share of the sum", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1]))
    colour = alt.Color("width:N", sort=names, scale=alt.Scale(domain=names, range=list(PALETTE[: len(names)])))
    dash = alt.StrokeDash("width:N", sort=names, scale=alt.Scale(domain=names, range=_DASHES[: len(names)]))
    chosen = (
        alt.Chart(table)
        .transform_calculate(power="exponent")
        .transform_calculate(share=share)
        .encode(x=x, y=y, color=colour, tooltip=["width:N", alt.Tooltip("share:Q", format=".1%")])
    )
    rule = alt.Chart(ONE_ROW).transform_calculate(power="exponent")
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
        .properties(width="container", height=240, title=_word_shares(widths[0], widths[-1]), description=description)
    )


def _word_shares(first: int, last: int) -> alt.Title:
    """A title with the word's share at the slider's exponent, for two widths."""

    def share(d: int) -> str:
        return f"format(pow({d}, 2 * exponent) / (pow({d}, 2 * exponent) + {d} / 2), '.1%')"

    return alt.Title(alt.expr(f"'word: ' + {share(first)} + ' at width {first}, ' + {share(last)} + ' at {last}'"))


def tying_chart() -> alt.LayerChart:
    """One matrix and its three uses; a menu brings one use forward."""
    outputs = ["row × √d_model", "row × √d_model", "output · every row"]
    uses = pd.DataFrame({"use": _USES, "way": _WAYS, "y": [2, 1, 0], "out": outputs})
    x = alt.X("x:Q", scale=alt.Scale(domain=[0, 10]), axis=None)
    y = alt.Y("y:Q", scale=alt.Scale(domain=[-0.7, 2.7]), axis=None)
    shade = alt.condition("use == 'all three' || use == datum.use", alt.value(1), alt.value(0.18))
    base = alt.Chart(uses).transform_calculate(x="3.0", x2="4.5")
    colour = alt.condition("datum.use == 'logits'", alt.value(ORANGE), alt.value(BLUE))
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
        alt.layer(*_matrix_box(x, y), wires, tips, named, what)
        .add_params(menu("use", ["all three", *_USES], label="bring forward"))
        .properties(width="container", height=190, title=alt.Title(alt.expr(title)), description=description)
    )


def _matrix_box(x: alt.X, y: alt.Y) -> tuple[alt.Chart, alt.Chart]:
    """The matrix as a box, and its name and shape."""
    box = alt.Chart(pd.DataFrame({"x": [0.1], "x2": [3.0], "y": [-0.4], "y2": [2.4]}))
    words = alt.Chart(pd.DataFrame({"x": 1.55, "y": [1.2, 0.75], "t": ["E", "V × d_model"]}))
    return (
        box.mark_rect(fill=GREEN, fillOpacity=0.25, stroke=GREEN, cornerRadius=4).encode(
            x=x, x2="x2:Q", y=y, y2="y2:Q"
        ),
        words.mark_text(fontSize=12).encode(x=x, y=y, text="t:N"),
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
    """
    if not neighbours:
        raise ValueError("there is no piece to choose")
    names = list(neighbours)
    start = names[0] if piece is None else piece
    if start not in neighbours:
        raise ValueError(f"no neighbours of {start!r} were given")
    found = {name: pd.DataFrame(rows, columns=["neighbour", "cosine", "group"]) for name, rows in neighbours.items()}
    table = pd.concat(found, names=["piece", "rank"]).reset_index().round({"cosine": 3})
    table["rank"] += 1
    groups = sorted(table["group"].unique())
    base = alt.Chart(table).transform_filter("datum.piece == piece")
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
    most = int(table["rank"].max())
    description = (
        f"A menu of {len(names)} pieces; for the chosen one, bars of its cosine with the rows nearest to it in the "
        "embedding table, each labelled with the piece and its language. "
        f"Nearest to {start}: " + ", ".join(other for other, *_ in neighbours[start]) + "."
    )
    title = alt.Title(alt.expr("'nearest to ' + piece"))
    return (
        alt.layer(bars, labels)
        .add_params(menu("piece", names, start))
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
    """
    bins, means = {}, []
    for group, values in cosines.items():
        array = np.asarray(values, dtype=np.float64)
        if array.size == 0 or np.abs(array).max() > 1 + 1e-6:
            raise ValueError(f"group {group!r} must hold cosines, between -1 and 1")
        means.append(f"{group} {array.mean():.2f}")
        bins[group] = pd.Series(np.floor(array / step)).value_counts(normalize=True).sort_index()
    table = pd.concat(bins, names=["group", "bin"]).reset_index(name="share")
    table = table.assign(**{"from": table["bin"] * step, "to": (table["bin"] + 1) * step}).drop(columns="bin").round(4)
    names = list(cosines)
    colour = alt.Color(
        "group:N", sort=names, scale=alt.Scale(domain=names, range=list(PALETTE[: len(names)])), legend=None
    )
    description = f"Histograms of the cosine of the rows with {axis}. Means: " + "; ".join(means) + "."
    return (
        alt.Chart(table)
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
