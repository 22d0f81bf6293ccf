"""Charts of the chain rule: the factors of a sentence's probability, their running sum, and a recurrent chain."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from annotated_book.viz.channels import colour_by, dash_by, shape_by, x_axis, y_axis
from annotated_book.viz.forms import line_layers, titled
from annotated_book.viz.parameters import menu, slider
from annotated_book.viz.theme import BLUE, GREY, ORANGE

Factors = tuple[Sequence[str], ArrayLike]
"""Pieces, eos last, and the natural logarithm of the probability that each had when it was written."""

_BROKEN = 0.05  # a factor below this breaks the product visibly
_BAR = 25  # pixels for each piece
_DASHES = ([1, 0], [7, 3], [2, 2], [8, 2, 2, 2], [4, 4])
_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross")


def factors_chart(sentences: Mapping[str, Factors], *, start: str | None = None, step: int = 5) -> alt.LayerChart:
    """The probability of each piece, given those before it; a slider multiplies them up, a menu changes the sentence.

    Parameters
    ----------
    sentences
        By name, for the menu.
    start
        The sentence to show first; None for the first one.
    step
        How many factors are multiplied at first.

    Raises
    ------
    ValueError
        If there is no sentence, none of that name, if pieces and numbers differ in count, or a logarithm is above 0.
    """
    checked = {name: _checked(name, factors) for name, factors in sentences.items()}
    if not checked or start not in (None, *checked):
        raise ValueError(
            f"give at least one sentence, and one named {start!r}" if start else "give at least one sentence"
        )
    longest = max(len(pieces) for pieces, _ in checked.values())
    names = list(checked)
    base = _multiplied(checked)
    # Positions on the axis, pieces in the labels: a piece may come twice.
    label = f"{json.dumps({name: pieces for name, (pieces, _) in checked.items()})}[version][datum.value - 1]"
    y = alt.Y("i:O", title=None, axis=alt.Axis(labelExpr=label, labelLimit=130, ticks=False, domain=False))
    axis = alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], format=".2~f")
    scale = alt.Scale(domain=[0, 1.12], nice=False)
    x = alt.X("p:Q", scale=scale, title="probability, given the tokens before", axis=axis)
    states = ["multiplied", "not yet"]
    bars = base.mark_bar(height=15).encode(
        x=x,
        y=y,
        color=colour_by("state:N", states, [BLUE, GREY]),
        opacity=alt.condition("datum.i > step", alt.value(0.25), alt.value(1)),
        tooltip=[alt.Tooltip("piece:N"), alt.Tooltip("p:Q", format=".2g"), alt.Tooltip("log:Q", format=".2f")],
    )
    warning = alt.condition("datum.broken", alt.value(ORANGE), alt.value("currentColor"))
    numbers = base.mark_text(align="left", dx=5).encode(x=x, y=y, text="number:N", color=warning)
    return titled(
        alt.layer(bars, numbers),
        menu("version", names, start, "sentence"),
        slider("step", step, 0, longest, label="factors multiplied"),
        height=_BAR * longest,
        title=_product_so_far(checked),
        description="Bars for the tokens of a German sentence: the probability that the model gave to each token "
        "after those before it. A menu chooses a right sentence or a wrong one, a slider multiplies the factors up; "
        "in a wrong sentence one bar is nearly empty, and the ones after it are long again.",
    )


def _multiplied(sentences: Mapping[str, tuple[list[str], np.ndarray]]) -> alt.Chart:
    """The factors of the sentence `version`, each multiplied or not yet at `step`."""
    table = pd.DataFrame(
        {"s": name, "piece": pieces, "log": logs.round(4).tolist()} for name, (pieces, logs) in sentences.items()
    )
    return (
        alt.Chart(table)
        .transform_filter("datum.s == version")
        .transform_flatten(["piece", "log"])
        .transform_window(i="row_number()")
        .transform_calculate(
            p="exp(datum.log)",
            broken=f"exp(datum.log) < {_BROKEN}",
            number=f"datum.i > step ? '' : {_figure('exp(datum.log)')} + (datum.broken ? '  breaks the product' : '')",
            state="datum.i > step ? 'not yet' : 'multiplied'",
        )
    )


def _product_so_far(sentences: Mapping[str, tuple[list[str], np.ndarray]]) -> alt.Title:
    """A title that multiplies the first `step` factors of the sentence `version`."""
    totals = json.dumps({name: [0.0, *logs.cumsum().round(4).tolist()] for name, (_, logs) in sentences.items()})
    total = f"{totals}[version][min(step, length({totals}[version]) - 1)]"
    return alt.Title(alt.expr(f"'product ' + {_figure(f'exp({total})')} + ',  log p = ' + format({total}, '.2f')"))


def running_sum_chart(sentences: Mapping[str, Factors]) -> alt.LayerChart:
    """The logarithm of the probability of every prefix of every sentence: a staircase downwards.

    Raises
    ------
    ValueError
        As `factors_chart`.
    """
    sums = {}
    for name, factors in sentences.items():
        pieces, logs = _checked(name, factors)
        sums[name] = pd.DataFrame({"piece": ["<s>", *pieces], "log p": [0.0, *logs.cumsum()]})
    if not sums:
        raise ValueError("give at least one sentence")
    table = pd.concat(sums, names=["sentence", "i"]).reset_index().round({"log p": 3})
    names, pick = list(sentences), alt.selection_point(fields=["sentence"], bind="legend", name="pick")
    legend = alt.Legend(columns=1, labelLimit=320, title=None)
    base = alt.Chart(table).encode(
        x=x_axis("i:Q", "tokens written", tickMinStep=1),
        y=alt.Y("log p:Q", title="log-probability so far (nats)"),
        color=colour_by("sentence:N", names, legend=legend),
        opacity=alt.condition(pick, alt.value(1), alt.value(0.15)),
        tooltip=["sentence:N", "piece:N", alt.Tooltip("log p:Q", format=".2f")],
    )
    dash = dash_by("sentence:N", names, _DASHES, legend=legend)
    shape = shape_by("sentence:N", names, _SHAPES, legend=legend)
    lines, points = line_layers(base, dash=dash, shape=shape, line={"strokeWidth": 2.2}, size=34, opacity=None)
    return titled(
        alt.layer(lines, points.add_params(pick)),
        height=280,
        title="A wrong token is a steep drop",
        description="Lines of the log-probability of several German sentences after each token, with a legend that "
        "singles one out. The right sentence falls slowly and evenly. Each wrong one falls in a cliff at the token "
        "that is wrong, and goes on beside the right one, lower.",
    )


def unroll_chart(influence: ArrayLike, *, step: int = 6) -> Any:
    """A recurrent network unrolled: how far the first input travels, and how much of it is left on arrival.

    Parameters
    ----------
    influence
        Size of d h_t / d x_1 for t = 1, 2, ...: positive numbers.
    step
        Where the slider starts.

    Raises
    ------
    ValueError
        If a number is not positive, or there are fewer than two.
    """
    sizes = np.asarray(influence, dtype=np.float64)
    if sizes.ndim != 1 or len(sizes) < 2 or not (sizes > 0).all():
        raise ValueError("influence must be a list of two or more positive numbers")
    n = len(sizes)
    table = pd.DataFrame({"t": range(1, n + 1), "size": [float(f"{value:.4g}") for value in sizes]})
    steps = alt.Scale(domain=[0.4, n + 0.6], nice=False)
    return titled(
        alt.vconcat(_network(table, steps), _influence(table, steps), usermeta={"fit": True}),
        slider("t0", step, 1, n, label="step t"),
        description=f"Above, a recurrent network unrolled over {n} steps: inputs below, states above, and the way of "
        "the first input to the state at the slider's step marked in orange. Below, the measured influence of the "
        "first input on that state, on a logarithmic scale: it shrinks with every step.",
    )


def _network(table: pd.DataFrame, steps: alt.Scale) -> alt.LayerChart:
    """The unrolled network: inputs below, states above, and the first input's way to step t0 in orange."""
    nodes = alt.Chart(table).transform_calculate(h="1", x="0", before="datum.t - 0.72", after="datum.t - 0.28")
    on = alt.condition("datum.t <= t0", alt.value(ORANGE), alt.value(GREY))
    first = alt.condition("datum.t == 1", alt.value(ORANGE), alt.value(GREY))
    faint = alt.condition("datum.t <= t0", alt.value(1), alt.value(0.45))

    def x(field: str) -> alt.X:
        return alt.X(f"{field}:Q", scale=steps, axis=None)

    def y(field: str) -> alt.Y:
        return y_axis(f"{field}:Q", domain=[-0.45, 1.45], nice=False, axis=None)

    hops = nodes.transform_filter("datum.t > 1").mark_rule(strokeWidth=3)
    feeds = nodes.mark_rule(strokeWidth=1.6).transform_calculate(low="0.2", high="0.78")
    names = alt.Chart(pd.DataFrame({"name": ["state h", "input x"], "t": 0.4, "y": [1, 0]}))
    told = "'x₁ passes through ' + t0 + (t0 > 1 ? ' applications' : ' application') + ' of f'"
    return alt.layer(
        hops.encode(x=x("before"), x2="after:Q", y=y("h"), color=on, opacity=faint),
        feeds.encode(x=x("t"), y=y("low"), y2="high:Q", color=first, opacity=faint),
        nodes.mark_point(shape="square", filled=True, size=190).encode(x=x("t"), y=y("h"), color=on, opacity=faint),
        nodes.mark_point(filled=True, size=110).encode(x=x("t"), y=y("x"), color=first, opacity=faint),
        names.mark_text(align="right", dx=-6).encode(x=x("t"), y=y("y"), text="name:N"),
        nodes.mark_text(dy=-19, fontSize=12).encode(x=x("t"), y=y("h"), text="t:Q", opacity=faint),
    ).properties(width=320, height=110, title=alt.Title(alt.expr(told)))


def _influence(table: pd.DataFrame, steps: alt.Scale) -> alt.LayerChart:
    """The measured influence at every step, with step t0 marked."""
    measured = alt.Chart(table).encode(
        x=x_axis("t:Q", "step t", scale=steps, tickMinStep=1),
        y=y_axis("size:Q", "size of ∂hₜ/∂x₁ (log scale)", type="log", tickCount=4, format="~g"),
        tooltip=["t:Q", alt.Tooltip("size:Q", format=".2g")],
    )
    here = measured.transform_filter("datum.t == t0")
    return alt.layer(
        *line_layers(measured, line={"color": BLUE}, color=BLUE, size=26, opacity=None),
        here.mark_point(color=ORANGE, filled=True, shape="diamond", size=150),
        here.mark_text(dy=-13, align="center").encode(text=alt.Text("size:Q", format=".2g")),
    ).properties(width=320, height=130, title="The influence of x₁ shrinks")


def end_chart(tokens: Sequence[str], chances: Sequence[float]) -> alt.LayerChart:
    """How probable the end token is at each step, on a logarithmic axis.

    Parameters
    ----------
    tokens
        What was chosen at each step, the end token last.
    chances
        The probability of the end token there.
    """
    table = pd.DataFrame({"i": range(len(tokens)), "p": chances, "token": tokens})
    table["said"] = [_share(p) for p in chances]
    low = 10.0 ** math.floor(math.log10(min(chances)))
    labels = alt.Axis(
        labelExpr=f"{json.dumps(list(tokens))}[datum.value]", labelOverlap=False, ticks=False, domain=False
    )
    y = alt.Y("i:O", title="chosen token", axis=labels)
    scale = alt.Scale(type="log", domain=[low, 30], nice=False)
    ticks = [10.0**k for k in range(round(math.log10(low)), 1)]
    x = x_axis("p:Q", "probability of the end token", scale=scale, values=ticks, format="~p")
    chart = alt.Chart(table)
    tip = ["token:N", alt.Tooltip("said:N", title="end token")]
    return titled(
        alt.layer(
            chart.mark_point(filled=True, size=80, color=ORANGE).encode(x=x, y=y, tooltip=tip),
            chart.mark_text(align="left", dx=9).encode(x=x, y=y, text="said:N"),
        ),
        height=24 * len(tokens),
        title=["The end token is improbable", "until the sentence is complete"],
        description=(
            "Probability of the end token at each step: "
            + "; ".join(f"{token} {said}" for token, said in zip(tokens, table["said"], strict=True))
        ),
    )


def _share(p: float) -> str:
    """A probability in per cent with one digit that is not zero: '0.00002 %'."""
    percent = 100 * p
    return f"{percent:.0f} %" if percent >= 1 else f"{percent:.{-math.floor(math.log10(percent))}f} %"


def _checked(name: str, factors: Factors) -> tuple[list[str], np.ndarray]:
    pieces, logs = list(factors[0]), np.asarray(factors[1], dtype=np.float64)
    if logs.shape != (len(pieces),) or not pieces:
        raise ValueError(f"{name}: {len(pieces)} pieces need as many log-probabilities, not {list(logs.shape)}")
    if (logs > 1e-6).any():
        raise ValueError(f"{name}: a log-probability is never above 0; give natural logarithms")
    return pieces, logs


def _figure(value: str) -> str:
    """A Vega expression that prints a probability readably, however small."""
    steps = ((0.0001, ".0e"), (0.001, ".4f"), (0.1, ".3f"))
    return (
        "("
        + "".join(f"{value} < {below} ? format({value}, '{form}') : " for below, form in steps)
        + (f"format({value}, '.2f'))")
    )
