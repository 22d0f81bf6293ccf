"""Charts of batches: what padding costs, how many pairs fill a budget of tokens, how many epochs a run takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from annotated.viz.parameters import slider
from annotated.viz.tables import ONE_ROW
from annotated.viz.theme import BLUE, GREEN, GREY, ORANGE


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
            options=budgets, labels=[f"{budget:,}" for budget in budgets], name="tokens a side in a batch "
        ),
    )
    chart = alt.Chart(table).transform_filter("datum.budget == tokens")
    y = alt.Y("label:N", sort=labels, title=None, axis=alt.Axis(labelLimit=150))
    x = alt.X("padding:Q", title="cells that are padding", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1]))
    tip = ["label:N", alt.Tooltip("padding:Q", format=".1%")]
    bars = chart.mark_bar(color=ORANGE, height=14).encode(x=x, y=y, tooltip=tip)
    text = chart.mark_text(align="left", dx=4).encode(x=x, y=y, text=alt.Text("padding:Q", format=".1%"))
    description = (
        f"Bars: the share of a batch's cells that holds no token, for {len(labels)} ways of batching real sentence "
        "pairs, with a menu for the size of a batch. From fixed widths and unsorted pairs, with more than half wasted, "
        "it falls to nothing for packed rows."
    )
    return (
        alt.layer(bars, text)
        .add_params(pick)
        .properties(width="container", height=24 * len(labels), description=description)
    )


def pairs_per_batch_chart(histogram: ArrayLike, *, budget: int = 25_000) -> alt.ConcatChart:
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
    base = alt.Chart(_length_shares(counts)).transform_calculate(fits="room / datum.length")
    here = alt.Chart(ONE_ROW).transform_calculate(at="length", fits="room / length")
    description = (
        "First, the number of pairs that fill a batch falls with their length, from thousands of short pairs to a few "
        "hundred long ones, on a logarithmic axis; sliders set the budget and a length. Second, at each length, the "
        "share of all pairs and the share of all tokens: short pairs are most of the pairs, longer ones most of the "
        "tokens."
    )
    upper, lower = _fitting_pairs(base, here), _shares_by_length(base, here)
    together = alt.concat(upper, lower, columns=1, usermeta={"columns": 2}).properties(description=description)
    together = together.resolve_scale(color="independent", strokeDash="independent")
    return together.add_params(room, length)


def _length_shares(counts: np.ndarray) -> pd.DataFrame:
    """The share of all pairs, and of all tokens, that each length has; five digits of them."""
    lengths = np.arange(len(counts))
    tokens = counts * lengths
    shares = pd.DataFrame({"length": lengths, "pairs": counts / counts.sum(), "share": tokens / tokens.sum()})
    shares = shares[(lengths > 0) & (counts > 0)]
    return shares.assign(**{name: [float(f"{one:.5g}") for one in shares[name]] for name in ("pairs", "share")})


def _length_axis() -> alt.X:
    return alt.X("length:Q", title="tokens of a pair's longer side", scale=alt.Scale(nice=False))


def _fitting_pairs(base: alt.Chart, here: alt.Chart) -> alt.LayerChart:
    """How many pairs of each length fill a batch, with a dot at the chosen length."""
    y = alt.Y(
        "fits:Q",
        title="pairs in a batch",
        scale=alt.Scale(type="log", domain=[10, 20_000], clamp=True),
        axis=alt.Axis(values=[10, 100, 1000, 10_000], format=",d"),
    )
    line = base.mark_line(color=BLUE, strokeWidth=2.5).encode(x=_length_axis(), y=y)
    dot = here.mark_point(filled=True, size=110, color=ORANGE).encode(x=alt.X("at:Q"), y=y)
    rule = here.mark_rule(color=ORANGE, strokeDash=[4, 3]).encode(x=alt.X("at:Q"))
    fits = "format(floor(room / length), ',') + ' pairs of ' + length + ' tokens'"
    title = alt.Title(alt.expr(f"format(room, ',') + ' tokens = ' + {fits}"))
    return alt.layer(line, rule, dot).properties(width=300, height=200, title=title)


def _shares_by_length(base: alt.Chart, here: alt.Chart) -> alt.LayerChart:
    """The shares of pairs and of tokens at each length, with a rule at the chosen one."""
    shares = base.transform_fold(["pairs", "share"], as_=["what", "value"]).transform_calculate(
        kind="datum.what == 'pairs' ? 'share of all pairs' : 'share of all tokens'"
    )
    legend = alt.Legend(orient="top-right", columns=1)
    colour = alt.Color("kind:N", scale=alt.Scale(range=[GREY, GREEN]), legend=legend)
    dash = alt.StrokeDash("kind:N", scale=alt.Scale(range=[[1, 0], [6, 3]]), legend=legend)
    lines = shares.mark_line(strokeWidth=2).encode(
        x=_length_axis(),
        y=alt.Y("value:Q", title="share at this length", axis=alt.Axis(format=".0%", tickCount=4)),
        color=colour,
        strokeDash=dash,
    )
    marker = here.mark_rule(color=ORANGE, strokeDash=[4, 3]).encode(x=alt.X("at:Q"))
    return alt.layer(lines, marker).properties(width=300, height=200)


def noise_chart(rows: Sequence[Mapping[str, float]]) -> alt.LayerChart:
    """Relative noise of a gradient against the tokens it is summed over, with the line 1 / sqrt(tokens).

    Parameters
    ----------
    rows
        `tokens` and `noise`: the distance of a batch's gradient from that of the whole corpus, over the latter's norm.
    """
    if not rows:
        raise ValueError("there is nothing to draw")
    table = pd.DataFrame(rows)[["tokens", "noise"]].astype(float)
    constant = float(np.exp(np.log(table["noise"] * np.sqrt(table["tokens"])).mean()))
    first, last = float(table["tokens"].min()), float(table["tokens"].max())
    ends = pd.DataFrame({"tokens": [first, last], "noise": constant / np.sqrt([first, last])})
    reach = slider("reach", last, first, 64 * last, first, label="extend the line to tokens")
    log = {"type": "log", "nice": False}
    ticks = [digit * 10**power for power in range(-2, 6) for digit in (1, 2, 5)]
    axis = alt.Axis(values=ticks, format=",~r", labelOverlap=True)
    x = alt.X("tokens:Q", title="target tokens in the batch", axis=axis, scale=alt.Scale(**log))
    y = alt.Y("noise:Q", title="noise over signal", axis=axis, scale=alt.Scale(**log, padding=12))
    line = (
        alt.Chart(ends)
        .transform_calculate(tokens=f"datum.tokens == {first} ? {first} : max(reach, {2 * first})")
        .transform_calculate(noise=f"{constant} / sqrt(datum.tokens)")
        .mark_line(color=GREY, strokeDash=[6, 4], strokeWidth=2)
        .encode(x=x, y=y)
    )
    points = (
        alt.Chart(table)
        .mark_point(filled=True, color=BLUE, size=60, opacity=0.7)
        .encode(x=x, y=y, tooltip=[alt.Tooltip("tokens:Q", format=",.0f"), alt.Tooltip("noise:Q", format=".2f")])
    )
    value = f"format({constant} / sqrt(max(reach, {2 * first})), '.2f')"
    title = alt.Title(alt.expr(f"'dashed: 1 / sqrt(tokens), ' + {value} + ' at ' + format(reach, ',.0f') + ' tokens'"))
    description = (
        "Points on two logarithmic axes: the noise of a batch's gradient falls with the number of target tokens in it, "
        "along a dashed line of slope minus one half. A slider extends the line to larger batches."
    )
    return (
        alt.layer(line, points)
        .add_params(reach)
        .properties(width="container", height=240, title=title, description=description)
    )


def epochs_chart(
    *, pairs: int, tokens: int, mean: float, steps: Sequence[tuple[str, int]], top: float = 60
) -> alt.LayerChart:
    """How often a training run sees its corpus, against the mean length of a sentence; sliders for length and batch.

    Parameters
    ----------
    pairs
        Sentence pairs of the corpus.
    tokens
        Target tokens of a batch, where its slider starts.
    mean
        Target tokens of a sentence on average, where its slider starts.
    steps
        Training runs to draw: name, and number of steps.
    top
        End of the vertical axis.
    """
    if pairs < 1 or not steps:
        raise ValueError("there must be pairs to see, and a training that sees them")
    here = slider("mean", round(mean), 10, 45, 1, label="target tokens of a mean sentence")
    batch = slider("batch", tokens, 5000, 50_000, 1000, label="target tokens in a batch")
    table = pd.DataFrame(steps, columns=["name", "steps"]).merge(pd.DataFrame({"x": range(10, 46)}), how="cross")
    epochs = f"datum.steps * batch / ({pairs} * datum.x)"
    names = [name for name, _ in steps]
    colour = alt.Color("name:N", sort=names, scale=alt.Scale(domain=names, range=[BLUE, ORANGE, GREEN][: len(names)]))
    dash = alt.StrokeDash(
        "name:N", sort=names, scale=alt.Scale(domain=names, range=[[1, 0], [6, 3], [2, 2]][: len(names)])
    )
    x = alt.X("x:Q", title="target tokens of a mean sentence", scale=alt.Scale(nice=False, zero=False))
    y = alt.Y("epochs:Q", title="times over the corpus", scale=alt.Scale(domain=[0, top], clamp=True))
    base = alt.Chart(table).transform_calculate(epochs=epochs)
    lines = base.mark_line(strokeWidth=2.5).encode(x=x, y=y, color=colour, strokeDash=dash)
    dots = base.transform_filter("datum.x == mean")
    points = dots.mark_point(filled=True, size=90).encode(x=x, y=y, color=colour)
    text = dots.mark_text(dx=8, dy=-10, align="left", fontWeight="bold").encode(
        x=x, y=y, text=alt.Text("epochs:Q", format=".1f")
    )
    rule = (
        alt.Chart(ONE_ROW).transform_calculate(x="mean").mark_rule(color=GREY, strokeDash=[4, 3]).encode(x=alt.X("x:Q"))
    )
    description = (
        f"Falling curves for {', '.join(names)}: the longer a mean sentence, the fewer times a training of fixed steps "
        "goes over the corpus. Sliders set the mean length and the tokens of a batch."
    )
    return (
        alt.layer(rule, lines, points, text)
        .add_params(here, batch)
        .properties(width="container", height=250, description=description)
    )
