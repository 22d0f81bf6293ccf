"""Charts of attention: a map of weights."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from annotated_book.viz.tables import array_table
from annotated_book.viz.theme import BLUE, GREY

_TOLERANCE = 1e-3
_NUMBERED_UP_TO = 8  # columns of a map that still have room for the weight in figures


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
