"""Charts of attention: a map of weights, and a query that the reader turns."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from annotated.viz.parameters import slider
from annotated.viz.tables import array_table
from annotated.viz.theme import BLUE, GREEN, GREY, ORANGE

_TOLERANCE = 1e-3
_NUMBERED_UP_TO = 8  # columns of a map that still have room for the weight in figures
_REACH = 3.2  # how far the plane of `query_chart` extends
_RADIANS = "(angle * PI / 180)"
_TOOLTIP = [alt.Tooltip("key:N"), alt.Tooltip("score:Q", format=".2f"), alt.Tooltip("weight:Q", format=".2f")]


def check_weights(weights: ArrayLike, queries: Sequence[str], keys: Sequence[str]) -> NDArray[np.float64]:
    """The weights as an array, after making sure that they are attention and that the labels fit.

    Parameters
    ----------
    weights
        `[..., T, S]`: queries on rows, keys on columns.
    queries, keys
        The T and S tokens.

    Raises
    ------
    ValueError
        If the shape is not that of the tokens, a weight lies outside [0, 1], or a row sums to neither one
        nor zero.
    """
    array = np.asarray(weights.detach().cpu() if hasattr(weights, "detach") else weights, dtype=np.float64)
    expected = (len(queries), len(keys))
    if array.ndim < 2 or array.shape[-2:] != expected:
        hint = " (transposed: queries go on rows)" if array.shape[-2:] == expected[::-1] else ""
        raise ValueError(f"weights {list(array.shape)} do not fit {expected[0]} queries and {expected[1]} keys{hint}")
    if not np.isfinite(array).all() or array.min(initial=0) < -_TOLERANCE or array.max(initial=0) > 1 + _TOLERANCE:
        raise ValueError("attention weights lie between 0 and 1; these do not: are they scores, before the softmax?")
    sums = array.sum(axis=-1)
    wrong = np.argwhere(~(np.isclose(sums, 1, atol=_TOLERANCE) | np.isclose(sums, 0, atol=_TOLERANCE)))
    if len(wrong):
        place = tuple(int(i) for i in wrong[0])
        raise ValueError(
            f"row {place[-1]} ({queries[place[-1]]!r}) of the weights sums to {sums[place]:.3f}, not to one or zero: "
            "the softmax runs over keys, the last axis"
        )
    return array


def attention_chart(
    weights: ArrayLike,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    title: str = "",
    description: str | None = None,
) -> alt.LayerChart:
    """One attention map: a row for each query, a column for each key, darker for more weight.

    Parameters
    ----------
    weights
        `[T, S]`, each row summing to one, or to zero where nothing may be attended to.
    queries, keys
        The T and S tokens; the same token may come more than once.
    title
        Above the chart.
    description
        For readers who do not see it; one is written if none is given.

    Raises
    ------
    ValueError
        As `check_weights`; also if `weights` has more than two dimensions.

    Paper: figures 3-5
    """
    array = check_weights(weights, queries, keys)
    if array.ndim != 2:
        raise ValueError(f"one map has two dimensions, these weights have {array.ndim}: choose a sentence and a head")
    table = array_table(array.round(4), "weight", q=range(len(queries)), k=range(len(keys)))
    table = table.assign(query=table["q"].map(pd.Series(queries)), key=table["k"].map(pd.Series(keys)))
    if description is None:
        description = _largest_weights(array, queries, keys)
    x = alt.X("k:O", title="keys", axis=_token_axis(keys, orient="top", labelAngle=-40 if _long(keys) else 0))
    y = alt.Y("q:O", title="queries", axis=_token_axis(queries))
    tooltip = [alt.Tooltip("query:N"), alt.Tooltip("key:N"), alt.Tooltip("weight:Q", format=".3f")]
    base = alt.Chart(table).encode(x=x, y=y, tooltip=tooltip)
    shade = alt.Opacity("weight:Q", scale=alt.Scale(domain=[0, 1], range=[0, 1]), legend=None)
    layers = [base.mark_rect(fill=BLUE, stroke=GREY, strokeWidth=0.3).encode(opacity=shade)]
    if len(keys) <= _NUMBERED_UP_TO:
        layers.append(base.mark_text(fontSize=12).encode(text=alt.Text("weight:Q", format=".2f")))
    height = max(28 if len(keys) <= _NUMBERED_UP_TO else 20, 60 // len(queries)) * len(queries)
    return alt.layer(*layers).properties(width="container", height=height, title=title, description=description)


def query_chart(
    keys: ArrayLike, names: Sequence[str], *, length: float = 2.0, angle: int = 60, scale: float = 2**-0.5
) -> alt.ConcatChart:
    """A query in the plane, which the reader turns and stretches, the keys around it, and the weights they get.

    Parameters
    ----------
    keys
        `[S, 2]`.
    names
        The S tokens.
    length, angle
        Where the query starts; the angle in degrees.
    scale
        What the dot products are multiplied by; 1 / sqrt(2) as the paper has it for d_k = 2.
    """
    array = np.asarray(keys, dtype=np.float64)
    if array.shape != (len(names), 2):
        raise ValueError(f"keys must be [{len(names)}, 2], one point for each name, not {list(array.shape)}")
    table = pd.DataFrame(array, columns=["x", "y"]).assign(key=list(names))
    turn, stretch = slider("angle", angle, -180, 180, 5, label="angle (degrees)"), slider("length", length, 0, 6, 0.1)
    weighted = (
        alt.Chart(table)
        .transform_calculate(qx=f"length * cos{_RADIANS}", qy=f"length * sin{_RADIANS}")
        .transform_calculate(score=f"(datum.qx * datum.x + datum.qy * datum.y) * {scale}")
        .transform_calculate(e="exp(datum.score)")
        .transform_joinaggregate(total="sum(e)")
        .transform_calculate(weight="datum.e / datum.total")
    )
    description = (
        "A query arrow and the keys in a plane, with two sliders for the query's angle and length; bars show the "
        "weight of each key: the key that points the way the query points gets most, the more so the longer the query."
    )
    plane, bars = _plane(weighted), _weight_bars(weighted, list(names))
    together = alt.concat(plane, bars, columns=1, usermeta={"columns": 2}).properties(description=description)
    return together.add_params(turn, stretch)


def _largest_weights(array: NDArray[np.float64], queries: Sequence[str], keys: Sequence[str]) -> str:
    best = array.argmax(axis=1)
    parts = [
        f"{query} to {keys[best[i]]} {array[i, best[i]]:.0%}" if array[i].any() else f"{query} to nothing"
        for i, query in enumerate(queries)
    ]
    return "Attention map. The largest weight of each query: " + "; ".join(parts) + "."


def _token_axis(tokens: Sequence[str], **options: Any) -> alt.Axis:
    """An axis over positions that shows tokens, so that a repeated token keeps its own row or column."""
    return alt.Axis(labelExpr=f"{json.dumps(list(tokens))}[datum.value]", labelOverlap=False, **options)


def _long(tokens: Sequence[str]) -> bool:
    return sum(len(token) + 2 for token in tokens) > 34


def _plane(weighted: alt.Chart) -> alt.LayerChart:
    """Keys as arrows whose points grow with their weight, and the query."""
    span = alt.Scale(domain=[-_REACH, _REACH])
    axes = {"x": alt.X("x:Q", scale=span, title="first entry"), "y": alt.Y("y:Q", scale=span, title="second entry")}
    origin = {"x2": alt.datum(0), "y2": alt.datum(0)}
    size = alt.Size("weight:Q", scale=alt.Scale(domain=[0, 1], range=[40, 700]), legend=None)
    # The arrow may leave the picture when it is long: its tip is kept inside, its direction is what counts.
    seen = f"min(length, {_REACH - 0.2})"
    query = alt.Chart(pd.DataFrame({"name": ["query"]})).transform_calculate(
        x=f"{seen} * cos{_RADIANS}", y=f"{seen} * sin{_RADIANS}"
    )
    return alt.layer(
        weighted.mark_rule(strokeWidth=2, color=BLUE, opacity=0.6).encode(**axes, **origin),
        weighted.mark_circle(color=BLUE, opacity=0.75).encode(**axes, size=size, tooltip=_TOOLTIP),
        weighted.mark_text(dy=-16, fontSize=13).encode(**axes, text="key:N"),
        query.mark_rule(strokeWidth=3, color=ORANGE).encode(**axes, **origin),
        query.mark_point(filled=True, shape="diamond", size=130, color=ORANGE).encode(**axes),
        query.mark_text(dy=16, fontSize=13, color=ORANGE, fontWeight="bold").encode(**axes, text="name:N"),
    ).properties(width=250, height=250)


def _weight_bars(weighted: alt.Chart, names: list[str]) -> alt.LayerChart:
    y = alt.Y("key:N", sort=names, title=None)
    x = alt.X("weight:Q", scale=alt.Scale(domain=[0, 1]), title="weight: softmax of the scores")
    bars = weighted.mark_bar(color=GREEN, height=18).encode(x=x, y=y, tooltip=_TOOLTIP)
    figures = weighted.mark_text(align="left", dx=4).encode(x=x, y=y, text=alt.Text("weight:Q", format=".2f"))
    return alt.layer(bars, figures).properties(width=250, height=40 * len(names))
