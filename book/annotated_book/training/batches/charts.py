"""Charts of batches: what padding costs, how many pairs fill a budget of tokens, how many epochs a run takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from annotated_book.viz.channels import colour_by, dash_by, x_axis, y_axis
from annotated_book.viz.end_labels import name_lines
from annotated_book.viz.forms import rule_at, titled
from annotated_book.viz.parameters import slider, steps
from annotated_book.viz.tables import ONE_ROW
from annotated_book.viz.theme import BLUE, GREEN, GREY, ORANGE


def waste_chart(rows: Sequence[Mapping[str, Any]]) -> alt.LayerChart:
    """Share of cells that are padding, a bar for each way of batching; a menu chooses the budget.

    Parameters
    ----------
    rows
        `label`, `budget` (tokens of a batch on each side) and `padding` (0 to 1); labels keep the order they come in.

    Raises
    ------
    ValueError
        If there are no rows, or a share lies outside 0 to 1.
    """
    if not rows:
        raise ValueError("there is nothing to draw")
    table = pd.DataFrame(rows)[["label", "budget", "padding"]]
    if not table["padding"].between(0, 1).all():
        raise ValueError("padding is a share: it lies between 0 and 1")
    labels, budgets = table["label"].unique().tolist(), sorted(table["budget"].unique().tolist())
    pick = alt.param(
        name="tokens",
        value=budgets[-1],
        bind=alt.binding_select(
            options=budgets, labels=[f"{budget:,}" for budget in budgets], name="tokens per side of a batch "
        ),
    )
    chart = alt.Chart(table).transform_filter("datum.budget == tokens")
    y = y_axis("label:N", None, sort=labels, labelLimit=150)
    x = alt.X("padding:Q", title="cells that are padding", axis=alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1]),
              scale=alt.Scale(domain=[0, 1.18], nice=False))  # fmt: skip
    tip = ["label:N", alt.Tooltip("padding:Q", format=".1%")]
    bars = chart.mark_bar(color=ORANGE, height=14).encode(x=x, y=y, tooltip=tip)
    text = chart.mark_text(align="left", dx=4).encode(x=x, y=y, text=alt.Text("padding:Q", format=".1%"))
    return titled(
        alt.layer(bars, text),
        pick,
        height=24 * len(labels),
        title="Sorting in large pools removes most of the padding, packing all of it",
        description=f"Bars: the share of a batch's cells that holds no token, for {len(labels)} ways of batching "
        "real sentence pairs, with a menu for the size of a batch. From fixed widths and unsorted pairs, with more "
        "than half wasted, it falls to nothing for packed rows.",
    )


def pairs_per_batch_chart(histogram: ArrayLike, *, budget: int = 25_000) -> alt.VConcatChart:
    """How many pairs of each length fill a batch, over the lengths of a text; sliders set the budget and a length.

    Parameters
    ----------
    histogram
        Pairs whose longer side has 0, 1, 2, ... tokens.
    budget
        Where the slider starts.

    Raises
    ------
    ValueError
        If the histogram is not a row of counts.
    """
    counts = np.asarray(histogram)
    if counts.ndim != 1 or counts.sum() <= 0 or counts.min() < 0:
        raise ValueError("histogram must be a row of counts, not all zero")
    room = slider("room", budget, 1000, 50_000, 1000, label="target tokens in a batch")
    longest = int(counts.nonzero()[0].max())
    length = slider("length", 20, 4, longest, 1, label="tokens of each pair's longer side")
    shares = _length_shares(counts)
    base = alt.Chart(shares).transform_calculate(fits="room / datum.length")
    here = alt.Chart(ONE_ROW).transform_calculate(at="length", fits="room / length")
    upper, lower = _fitting_pairs(base, here), _shares_by_length(shares, base, here)
    together = alt.vconcat(upper, lower, spacing=24, usermeta={"fit": True})
    return titled(
        together.resolve_scale(color="independent", strokeDash="independent"),
        room,
        length,
        description="First, the number of pairs that fill a batch falls with their length, from thousands of short "
        "pairs to a few hundred long ones, on a logarithmic axis; sliders set the budget and a length. Second, at "
        "each length, the share of all pairs and the share of all tokens: short pairs are most of the pairs, longer "
        "ones most of the tokens.",
    )


def _length_shares(counts: np.ndarray) -> pd.DataFrame:
    """The share of all pairs, and of all tokens, that each length has; five digits of them."""
    lengths = np.arange(len(counts))
    tokens = counts * lengths
    shares = pd.DataFrame({"length": lengths, "pairs": counts / counts.sum(), "share": tokens / tokens.sum()})
    shares = shares[(lengths > 0) & (counts > 0)]
    return shares.assign(**{name: [float(f"{one:.5g}") for one in shares[name]] for name in ("pairs", "share")})


def _length_axis() -> alt.X:
    return x_axis("length:Q", "tokens of a pair's longer side", nice=False, zero=True, values=list(range(0, 101, 20)))


def _fitting_pairs(base: alt.Chart, here: alt.Chart) -> alt.LayerChart:
    """How many pairs of each length fill a batch, with a dot at the chosen length."""
    ticks = alt.Axis(values=[10, 100, 1000, 10_000], format=",d", minExtent=42)
    y = y_axis("fits:Q", "pairs in a batch", axis=ticks, type="log", domain=[10, 20_000], clamp=True)
    line = base.mark_line(color=BLUE, strokeWidth=2.5).encode(x=_length_axis(), y=y)
    dot = here.mark_point(filled=True, size=110, color=ORANGE).encode(x=alt.X("at:Q"), y=y)
    rule = here.mark_rule(color=ORANGE, strokeDash=[4, 3]).encode(x=alt.X("at:Q"))
    fits = "format(floor(room / length), ',') + ' pairs of ' + length + ' tokens'"
    title = alt.Title(alt.expr(f"format(room, ',') + ' tokens = ' + {fits}"))
    return alt.layer(line, rule, dot).properties(width=300, height=200, title=title)


_LONG = 20
"""A pair with more tokens is called long."""
_NAMED_AT = 9, 24
"""Where the names of both shares stand, to the right of their peaks."""


def _shares_by_length(table: pd.DataFrame, base: alt.Chart, here: alt.Chart) -> alt.LayerChart:
    """The shares of pairs and of tokens at each length, with a rule at the chosen one."""
    shares = base.transform_fold(["pairs", "share"], as_=["what", "value"]).transform_calculate(
        kind="datum.what == 'pairs' ? 'share of all pairs' : 'share of all tokens'"
    )
    kinds = ["share of all pairs", "share of all tokens"]
    shares = shares.encode(
        x=_length_axis(),
        y=y_axis("value:Q", "share at this length", format=".0%", tickCount=4, minExtent=42),
        color=colour_by("kind:N", kinds, [GREY, GREEN]),
    )
    lines = shares.mark_line(strokeWidth=2).encode(strokeDash=dash_by("kind:N", kinds, [[1, 0], [6, 3]]))
    places = f"(datum.kind == '{kinds[0]}' ? {_NAMED_AT[0]} : {_NAMED_AT[1]})"
    names = name_lines(shares, "kind", at=places, scale=None, dy=-4)
    marker = here.mark_rule(color=ORANGE, strokeDash=[4, 3]).encode(x=alt.X("at:Q"))
    long = table[table["length"] > _LONG]
    shade = alt.Chart(pd.DataFrame({"from": [_LONG], "to": [int(table["length"].max())]}))
    shaded = shade.mark_rect(color=GREEN, opacity=0.1).encode(x=alt.X("from:Q"), x2="to:Q")
    title = [
        f"Pairs of more than {_LONG} tokens: {long['pairs'].sum():.0%}",
        f"of the pairs, {long['share'].sum():.0%} of the tokens (shaded)",
    ]
    return alt.layer(shaded, lines, marker, names).properties(width=300, height=200, title=title)


_READINGS = (125, 250, 500, 1000, 2000, 4000)
"""Where the line of the noise can be read, in target tokens."""


def noise_chart(rows: Sequence[Mapping[str, float]]) -> alt.LayerChart:
    """Relative noise of a gradient against the tokens it is summed over, with the line 1 / sqrt(tokens).

    A slider puts a dot on the line; beyond the largest batch the line is extrapolated, and drawn in dots.

    Parameters
    ----------
    rows
        `tokens` and `noise`: the distance of a batch's gradient from that of the whole corpus, over the latter's norm.
    """
    if not rows:
        raise ValueError("there is nothing to draw")
    table = pd.DataFrame(rows)[["tokens", "noise"]].astype(float)
    constant = float(np.exp(np.log(table["noise"] * np.sqrt(table["tokens"])).mean()))
    last, farthest = float(table["tokens"].max()), _READINGS[-1]
    x, y = _noise_axes(table, constant)
    ends = pd.DataFrame(
        {"tokens": [table["tokens"].min(), last, last, farthest], "part": [*["fitted"] * 2, *["beyond"] * 2]}
    )
    ends["noise"] = constant / np.sqrt(ends["tokens"])
    dashes = dash_by("part:N", ["fitted", "beyond"], [[6, 4], [1, 4]])
    line = alt.Chart(ends).mark_line(color=GREY, strokeWidth=2).encode(x=x, y=y, strokeDash=dashes)
    points = (
        alt.Chart(table)
        .mark_point(filled=True, color=BLUE, size=60, opacity=0.7)
        .encode(x=x, y=y, tooltip=[alt.Tooltip("tokens:Q", format=",.0f"), alt.Tooltip("noise:Q", format=".2f")])
    )
    start = max([reading for reading in _READINGS if reading <= last], default=_READINGS[0])
    here = alt.Chart(ONE_ROW).transform_calculate(tokens="reach", noise=f"{constant} / sqrt(reach)")
    dot = here.mark_point(filled=True, shape="diamond", size=150, opacity=1, color=ORANGE).encode(x=x, y=y)
    reading = f"'noise ' + format({constant} / sqrt(reach), '.2f') + ' at ' + format(reach, ',') + ' tokens'"
    beyond = f"(reach > {last} ? ', extrapolated' : ' (dashed line)')"
    return titled(
        alt.layer(line, points, dot),
        steps("place", _READINGS, start, label="read the line at tokens"),
        alt.param(name="reach", expr=f"{list(_READINGS)}[place]"),
        height=240,
        title=alt.expr(f"['Four times the tokens, half the noise', {reading} + {beyond}]"),
        description="Points on two logarithmic axes: the noise of a batch's gradient falls with the number of target "
        "tokens in it, along a dashed line of slope minus one half. A slider moves a dot along the line, which is "
        "dotted where it goes beyond the largest measured batch.",
    )


def _noise_axes(table: pd.DataFrame, constant: float) -> tuple[alt.X, alt.Y]:
    """Two logarithmic axes that hold the points and all readings, wherever the slider stands."""
    wide = [min(_READINGS[0], float(table["tokens"].min())) * 0.9, _READINGS[-1] * 1.1]
    least = min(float(table["noise"].min()), constant / _READINGS[-1] ** 0.5)
    most = max(float(table["noise"].max()), constant / _READINGS[0] ** 0.5)
    log = {"type": "log", "nice": False}
    ticks = alt.Axis(values=_READINGS, format=",~r", labelOverlap=True)
    x = alt.X("tokens:Q", title="target tokens in the batch", axis=ticks, scale=alt.Scale(**log, domain=wide))
    fine = alt.Axis(values=[0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2], format="~r", labelOverlap=True)
    tall = alt.Scale(**log, domain=[least * 0.9, most * 1.1])
    return x, alt.Y("noise:Q", title="noise, relative to the gradient", axis=fine, scale=tall)


def epochs_chart(*, pairs: int, tokens: int, mean: float, runs: Sequence[tuple[str, int]]) -> alt.LayerChart:
    """How often a training run sees its corpus, against the mean length of a sentence; sliders for length and batch.

    Parameters
    ----------
    pairs
        Sentence pairs of the corpus.
    tokens
        Target tokens of a batch, where its slider starts.
    mean
        Target tokens of a sentence on average, where its slider starts.
    runs
        Training runs to draw: name, and number of steps.
    """
    if pairs < 1 or not runs:
        raise ValueError("there must be pairs to see, and a training that sees them")
    table = pd.DataFrame(runs, columns=["name", "steps"]).merge(pd.DataFrame({"x": range(10, 46)}), how="cross")
    epochs = f"datum.steps * batch / ({pairs} * datum.x)"
    names = [name for name, _ in runs]
    colour = colour_by("name:N", names, [BLUE, ORANGE, GREEN])
    dash = dash_by("name:N", names, [[1, 0], [6, 3], [2, 2]])
    x = x_axis("x:Q", "mean target tokens per sentence", nice=False, zero=False)
    y = y_axis("epochs:Q", "passes over the corpus", domainMin=0, nice=True)
    base = alt.Chart(table).transform_calculate(epochs=epochs)
    named = base.encode(x=x, y=y, color=colour)
    lines = named.mark_line(strokeWidth=2.5).encode(strokeDash=dash)
    dots = base.transform_filter("datum.x == mean")
    points = dots.mark_point(filled=True, size=90).encode(x=x, y=y, color=colour)
    text = dots.mark_text(dx=8, dy=-10, align="left", fontWeight="bold").encode(
        x=x, y=y, text=alt.Text("epochs:Q", format=".1f")
    )
    return titled(
        alt.layer(
            rule_at(alt.X("x:Q"), "mean", color=GREY, strokeDash=[4, 3]), lines, points, text, name_lines(named, "name")
        ),
        slider("mean", round(mean), 10, 45, 1, label="mean target tokens per sentence"),
        slider("batch", tokens, 5000, 50_000, 1000, label="target tokens in a batch"),
        height=250,
        title=["Longer sentences: fewer passes over the corpus"],
        description=f"Falling curves for {', '.join(names)}: the longer a mean sentence, the fewer times a training "
        "of fixed steps goes over the corpus. Sliders set the mean length and the tokens of a batch.",
    )
