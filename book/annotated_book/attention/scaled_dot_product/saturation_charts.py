"""Charts of what the division by sqrt(d_k) does: scores, weights and gradients under a scale that the reader moves."""

from __future__ import annotations

import json
from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from annotated.config import ModelConfig
from annotated_book.viz.caption import captioned
from annotated_book.viz.channels import colour_by, dash_by, x_axis, y_axis
from annotated_book.viz.end_labels import name_lines
from annotated_book.viz.forms import titled
from annotated_book.viz.parameters import slider, steps
from annotated_book.viz.theme import BLUE, GREEN, GREY, ORANGE
from annotated_book.viz.titles import title_expression

_EDGE = 40  # where the histogram ends; what lies beyond is counted in its last bins
_SHOWN = 400  # quantiles that stand for all scores in the histogram
_GAP = 12  # largest difference of two scores in `saturation_chart`


def scale_chart(widths: Sequence[int], scores: ArrayLike, *, step: int = 9, exponent: float = 0.0) -> alt.VConcatChart:
    """Scores, weights and gradients of queries whose dot products are divided by d_k to a power that the reader moves.

    Parameters
    ----------
    widths
        Values of d_k, for the first slider.
    scores
        `[len(widths), Q, S]`: dot products of Q queries with S keys at each width, not divided. The histogram shows
        their quantiles, the bars the first query.
    step
        Index into `widths` to start at.
    exponent
        Power of d_k to start at: 0 divides by nothing, 0.5 is the paper's root, 1 divides by d_k.

    Raises
    ------
    ValueError
        If the scores do not have a matrix for each width.
    """
    array = np.asarray(scores, dtype=np.float64)
    if array.ndim != 3 or len(array) != len(widths):
        raise ValueError(f"scores must be [{len(widths)}, Q, S], a matrix for each width, not {list(array.shape)}")
    places = (np.arange(_SHOWN) + 0.5) / _SHOWN  # evenly spaced, so that the histogram is smooth
    first = -np.sort(-array[:, 0], axis=1)  # one query, its keys from the largest dot product to the smallest
    table = pd.DataFrame(
        {
            "step": range(len(widths)),
            "d": widths,
            "all": np.quantile(array.reshape(len(array), -1), places, axis=1).T.round(2).tolist(),
            "one": first.round(3).tolist(),
        }
    )
    power = slider("exponent", exponent, 0, 1, 0.05, label="power of dₖ that divides")
    width = steps("step", widths, widths[step], label="width dₖ")
    chosen = alt.Chart(table).transform_filter("datum.step == step")
    title = (
        f"'dₖ = ' + {json.dumps(list(widths))}[step] + ', divided by ' + "
        f"(exponent == 0 ? 'nothing' : format(pow({json.dumps(list(widths))}[step], exponent), '.1f'))"
    )
    weights, gradients = _softmax_bars(chosen)
    chart = titled(
        alt.vconcat(
            _histogram(chosen).properties(width=300, height=110, title=alt.Title(alt.expr(title))),
            weights.properties(width=300, height=110, title="Weights of one query"),
            gradients.properties(width=300, height=90, title="Gradient of each weight by its own score"),
            usermeta={"fit": True},
        ),
        width,
        power,
        description=f"Three charts with two sliders, for d_k from {widths[0]} to {widths[-1]} and the power of d_k "
        "that scores are divided by. Above, a histogram of scores: at power 0 it widens as d_k grows, at 0.5 it "
        "keeps its width, at 1 it shrinks to a spike. In the middle, the weights of one query: nearly all on one key "
        "at power 0, nearly even at 1. Below, each key's p times 1 minus p, which vanishes when one key takes all.",
    )
    caption = (
        f"Dot products of random queries and {array.shape[2]} random keys with entries of variance 1. Above, "
        "all scores; below, one query."
    )
    return captioned(chart, caption)


def _histogram(chosen: alt.Chart) -> alt.Chart:
    return (
        chosen.transform_flatten(["all"])
        .transform_calculate(score=f"clamp(datum.all / pow(datum.d, exponent), {-_EDGE}, {_EDGE})")
        .transform_calculate(bin="floor(datum.score + 0.5)")
        .transform_aggregate(n="count()", groupby=["bin"])
        .transform_calculate(share=f"datum.n / {_SHOWN}", low="datum.bin - 0.5", high="datum.bin + 0.5")
        .mark_bar(color=BLUE)
        .encode(
            x=x_axis("low:Q", f"score (all beyond ±{_EDGE} in the outermost bars)", domain=[-_EDGE - 1, _EDGE + 1]),
            x2="high:Q",
            y2=alt.datum(0),
            y=y_axis("share:Q", "share of scores", format="%", tickCount=3, minExtent=38),
            tooltip=[alt.Tooltip("bin:Q", title="score about"), alt.Tooltip("share:Q", format=".1%")],
        )
    )


def _softmax_bars(chosen: alt.Chart) -> tuple[alt.Chart, alt.Chart]:
    """Bars of the weights of one query, and of p (1 - p) below them."""
    query = (
        chosen.transform_flatten(["one"])
        .transform_calculate(score="datum.one / pow(datum.d, exponent)")
        .transform_joinaggregate(top="max(score)")
        .transform_window(rank="row_number()")
        .transform_calculate(e="exp(datum.score - datum.top)")
        .transform_joinaggregate(total="sum(e)")
        .transform_calculate(
            weight="datum.e / datum.total", gradient="datum.e / datum.total * (1 - datum.e / datum.total)"
        )
    )
    rank = x_axis("rank:O", "keys, by falling score", labelAngle=0)
    bars = query.encode(
        x=rank,
        tooltip=[
            alt.Tooltip("score:Q", format=".2f"),
            alt.Tooltip("weight:Q", format=".3f"),
            alt.Tooltip("gradient:Q", format=".3f"),
        ],
    )
    weight = y_axis("weight:Q", "weight p", domain=[0, 1], tickCount=3, minExtent=38)
    gradient = y_axis("gradient:Q", "p (1 − p)", domain=[0, 0.25], values=[0, 0.1, 0.2], minExtent=38)
    weights = bars.mark_bar(color=GREEN).encode(y=weight, x=rank.title(None))
    return weights, bars.mark_bar(color=ORANGE).encode(y=gradient)


def saturation_chart(*, d_k: int = ModelConfig.d_k) -> alt.LayerChart:
    """Two keys, one softmax: the weight of the first, its gradient, and where scores of width d_k usually fall.

    The difference of two scores of the footnote's random vectors has the standard deviation sqrt(2 d_k), or sqrt(2)
    once they are divided by the root. Two thirds of all differences lie in the marked bands.

    Parameters
    ----------
    d_k
        Where the slider starts; a power of two up to 1024.
    """
    title = title_expression(
        "'At dₖ = ' + pow(2, log_d_k) + ':'",
        "log_d_k < 3 ? 'both bands lie on the steep part' : log_d_k < 5 ? 'undivided scores reach the flat parts'"
        " : 'most undivided scores lie on flat parts'",
    )
    return titled(
        alt.layer(*_usual_differences(), *_weight_and_gradient()),
        steps("log_d_k", [2**n for n in range(11)], d_k, label="width dₖ"),
        height=240,
        title=alt.expr(title),
        description="Weight of the first of two keys against the difference of their scores, an S-shaped curve from "
        "0 to 1, and its gradient p times 1 minus p, a hill around zero that is flat beyond about 5. Two grey bands "
        "show where two thirds of the differences lie: divided by the root of d_k, always on the hill; not divided, "
        "far out on the plains as the slider raises d_k.",
        caption="Softmax over two keys. Grey bands: where two thirds of the differences of random scores lie; a band "
        "wider than the chart is cut at its edge.",
    )


def _weight_and_gradient() -> tuple[alt.Chart, alt.Chart]:
    """The weight of the first of two keys, and its gradient, over the difference of their scores, and their names."""
    gap = np.linspace(-_GAP, _GAP, 97)
    p = 1 / (1 + np.exp(-gap))
    labels = ["weight p", "gradient p (1 − p)"]
    curves = pd.DataFrame({"gap": gap.round(3), labels[0]: p.round(5), labels[1]: (p * (1 - p)).round(5)})
    base = alt.Chart(curves.melt("gap", var_name="what")).encode(
        x=x_axis("gap:Q", "score of key 1 − score of key 2", domain=[-_GAP, _GAP]),
        y=y_axis("value:Q", "weight and gradient", domain=[0, 1], nice=False),
        color=colour_by("what:N", labels, [GREEN, ORANGE]),
        tooltip=["what:N", alt.Tooltip("gap:Q", format=".1f"), alt.Tooltip("value:Q", format=".4f")],
    )
    drawn = base.mark_line(strokeWidth=2.5).encode(strokeDash=dash_by("what:N", labels))
    return drawn, name_lines(base, "what", align="right", dx=-4, dy=alt.ExprRef("datum.name_value > 0.5 ? 12 : -10"))


def _usual_differences() -> tuple[alt.Chart, alt.Chart]:
    """Bands of one standard deviation to both sides, divided by the root of d_k and not, and their names."""
    bands = pd.DataFrame({"name": ["divided by the root", "not divided"], "level": [0.9, 0.76], "power": [0.0, 0.5]})
    base = (
        alt.Chart(bands)
        .transform_calculate(reach=f"min({_GAP}, sqrt(2) * pow(pow(2, log_d_k), datum.power))")
        .transform_calculate(start="-datum.reach")
    )
    level = alt.Y("level:Q")
    span = base.mark_bar(height=9, color=GREY, opacity=0.75).encode(x="start:Q", x2="reach:Q", y=level)
    names = base.mark_text(align="left", fontSize=12).encode(
        x=alt.datum(-_GAP + 0.3), y=alt.Y("above:Q"), text="name:N"
    )
    return span, names.transform_calculate(above="datum.level + 0.06")
