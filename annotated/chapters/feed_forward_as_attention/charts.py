"""The feed-forward network read as attention: what each key-value pair gets under a ReLU and under a softmax."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from annotated.viz.parameters import menu, slider
from annotated.viz.theme import BLUE


def memory_weights_chart(tokens: Sequence[str], scores: ArrayLike, *, ranks: int = 80) -> alt.LayerChart:
    """How much each key-value pair of a feed-forward network gets from some tokens, under the ReLU and under a softmax.

    Parameters
    ----------
    tokens
        N labels for the menu.
    scores
        x W_1 + b_1, `[N, F]`.
    ranks
        Pairs to draw, the strongest first; all F are counted.
    """
    array = np.asarray(scores, dtype=np.float64)
    if array.ndim != 2 or len(array) != len(tokens):
        raise ValueError(f"scores must be [{len(tokens)}, F], a row for each token, not {list(array.shape)}")
    rule = alt.param(
        name="rule", value="ReLU", bind=alt.binding_radio(options=["ReLU", "softmax"], name="compatibility ")
    )
    heat = slider("sharpness", 1, 0.25, 4, 0.25, label="softmax scale")
    shared = _shared(pd.DataFrame({"token": tokens, "s": (-np.sort(-array)).round(3).tolist()}))
    bars = (
        shared.transform_filter(f"datum.rank <= {ranks}")
        .mark_bar(color=BLUE)
        .encode(
            x=alt.X(
                "rank:Q", title="key-value pairs, strongest first", scale=alt.Scale(domain=[0, ranks + 1], nice=False)
            ),
            y=alt.Y("share:Q", title="share of all activation", axis=alt.Axis(format="%", tickCount=5)),
            size=alt.value(3),
            tooltip=[alt.Tooltip("rank:Q"), alt.Tooltip("s:Q", title="score"), alt.Tooltip("share:Q", format=".2%")],
        )
    )
    told = (
        shared.transform_aggregate(active="sum(active)", entropy="sum(surprise)")
        .transform_calculate(
            text=f"'weight on ' + datum.active + ' of {array.shape[1]} pairs;\\n"
            "as spread out as ' + format(exp(datum.entropy), '.0f') + ' equal ones'"
        )
        .mark_text(align="right", baseline="top", fontSize=13, lineBreak="\n")
        .encode(x=alt.value("width"), y=alt.value(4), text="text:N")
    )
    description = (
        "Bars of the share that each key-value pair of a feed-forward network has in the activation at one token, "
        "strongest first. A menu chooses the token, a switch the ReLU or a softmax over the same scores, a slider the "
        "softmax's sharpness. The ReLU leaves most pairs at exactly zero; the softmax gives every pair something."
    )
    return (
        alt.layer(bars, told)
        .add_params(menu("token", tokens), rule, heat)
        .properties(width="container", height=210, description=description)
    )


def _shared(scores: pd.DataFrame) -> alt.Chart:
    """The share of each pair in the activation at the chosen token, by the chosen rule, strongest first."""
    return (
        alt.Chart(scores)
        .transform_filter("datum.token == token")
        .transform_flatten(["s"])
        .transform_window(rank="row_number()")
        .transform_calculate(raw="rule == 'ReLU' ? max(0, datum.s) : exp(sharpness * datum.s)")
        .transform_joinaggregate(total="sum(raw)")
        .transform_calculate(share="datum.raw / datum.total", active="datum.raw > 0 ? 1 : 0")
        .transform_calculate(surprise="datum.share > 0 ? -datum.share * log(datum.share) : 0")
    )
