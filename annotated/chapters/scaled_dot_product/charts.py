"""Attention of one query, number by number, in the order of the boxes of figure 2."""

from __future__ import annotations

import json
from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from annotated.viz.parameters import menu, slider
from annotated.viz.tables import array_table
from annotated.viz.theme import BLUE, GREEN, GREY, ORANGE

_COLUMNS = (0.1, 0.9, 1.65, 2.8, 3.95, 5.0, 6.7)  # where the columns of the table begin


def one_query_chart(
    queries: ArrayLike, keys: ArrayLike, values: ArrayLike, names: Sequence[str], *, query: int = -1, step: int = 5
) -> alt.VConcatChart:
    """Attention of one query, number by number: a slider walks through the boxes of figure 2, a menu chooses who asks.

    Above, a column for each step and a row for each key; below, the values as points, and each value's share of the
    output as an arrow, head to tail.

    Parameters
    ----------
    queries, keys
        `[S, d_k]`, few and small enough to be read.
    values
        `[S, 2]`, so that they can be drawn.
    names
        The S tokens.
    query, step
        What is shown first: the number of a query, and a step from 1 to 5.

    Raises
    ------
    ValueError
        If the shapes do not fit each other or the names.
    """
    q, k, v = (np.asarray(x, dtype=np.float64) for x in (queries, keys, values))
    if not (q.shape == k.shape and len(k) == len(names)) or v.shape != (len(names), 2):
        raise ValueError(f"queries and keys must be [{len(names)}, d_k] and values [{len(names)}, 2]")
    cells, arrows = _steps(q, k, v, list(names))
    titles = [
        "1. MatMul: query · each key",
        f"2. Scale: ÷ √d_k = {q.shape[1] ** 0.5:.3g} (then the mask)",
        "3. SoftMax: the exponential",
        "4. SoftMax: its share of the sum",
        "5. MatMul: weights × values, summed",
    ]
    chosen = alt.Chart(cells).transform_filter("datum.query == asks && datum.step <= step")
    color = alt.condition("datum.step == step", alt.value(ORANGE), alt.value(BLUE))
    x = alt.X("left:Q", axis=None, scale=alt.Scale(domain=[0, _COLUMNS[-1]]))
    line, below = (
        alt.Y(f"{field}:Q", axis=None, scale=alt.Scale(domain=[len(names) + 1.6, -0.4])) for field in ("row", "below")
    )
    table = alt.layer(
        chosen.mark_bar(height=7, opacity=0.8).encode(x=x, x2="right:Q", y=below, color=color),
        chosen.mark_text(align="left", fontSize=12).encode(x=x, y=line, text="text:N"),
    ).properties(width=300, height=46 * (len(names) + 2), title=alt.Title(alt.expr(f"{json.dumps(titles)}[step - 1]")))
    description = (
        f"A table for one query of {len(names)} tokens, with a slider for five steps and a menu for who asks: "
        "dot product with each key, divided by the root of d_k, exponential, share of the sum, and weight times value. "
        "Below, the values as points and the weighted values as arrows, head to tail: their sum is the output, which "
        "lies inside the triangle of the values."
    )
    plane = _head_to_tail(v, arrows, list(names)).properties(width=300, height=190)
    together = alt.vconcat(table, plane, usermeta={"fit": True}).properties(description=description)
    return together.add_params(slider("step", step, 1, 5), menu("asks", names, names[query], "which token asks?"))


def _steps(
    q: NDArray[np.float64], k: NDArray[np.float64], v: NDArray[np.float64], names: list[str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The cells of the table of `one_query_chart`, and its arrows."""
    dots = q @ k.T
    scaled = dots / q.shape[1] ** 0.5
    powers = np.exp(scaled)
    weights = powers / powers.sum(axis=1, keepdims=True)
    parts = weights[..., None] * v  # [S, S, 2]: query, key
    cells = pd.concat(
        [
            _labels(names),
            _numbers(np.stack([dots, scaled, powers, weights])),
            _weighted_values(weights, parts),
            _sums(powers, parts),
        ]
    )
    cells = cells.sort_values(["t", "row", "step"], ignore_index=True).fillna({"share": 0})
    columns, step = np.array(_COLUMNS), cells["step"]
    width = 0.88 * np.diff(columns)[step] * cells.pop("share")
    cells = cells.assign(below=cells["row"] + 0.33, left=columns[step], right=(columns[step] + width).round(3))
    path = np.pad(parts.cumsum(axis=1), [(0, 0), (1, 0), (0, 0)]).round(4)
    arrows = pd.MultiIndex.from_product([names, names], names=["query", "name"]).to_frame(index=False)
    arrows[["x", "y"]], arrows[["x2", "y2"]] = path[:, :-1].reshape(-1, 2), path[:, 1:].reshape(-1, 2)
    arrows["last"] = np.arange(len(arrows)) % len(names) == len(names) - 1
    return cells.assign(query=cells.pop("t").map(pd.Series(names))), arrows


def _labels(names: list[str]) -> pd.DataFrame:
    """The head of each column, and the name of each row, the same for every query t."""
    heads = pd.DataFrame({"row": 0, "step": range(6), "text": ["", "q · k", "÷ √d_k", "exp", "weight", "× value"]})
    sides = pd.DataFrame({"row": range(1, len(names) + 1), "step": 0, "text": names})
    return pd.concat([heads, sides]).merge(pd.DataFrame({"t": range(len(names))}), how="cross")


def _numbers(columns: NDArray[np.float64]) -> pd.DataFrame:
    """Four columns of numbers, `[4, query, key]`; `share` is a number's part of the largest for its query."""
    _, queries, keys = columns.shape
    table = array_table(columns, "number", step=range(1, 5), t=range(queries), row=range(1, keys + 1))
    sizes = table["number"].abs()
    text = [f"{x:.2f}" if step > 2 else f"{x:.3g}" for step, x in zip(table["step"], table.pop("number"), strict=True)]
    return table.assign(text=text, share=sizes / sizes.groupby([table["step"], table["t"]]).transform("max").clip(1e-9))


def _weighted_values(weights: NDArray[np.float64], parts: NDArray[np.float64]) -> pd.DataFrame:
    shares = weights / weights.max(axis=1, keepdims=True)
    table = array_table(shares, "share", t=range(len(shares)), row=range(1, shares.shape[1] + 1))
    return table.assign(step=5, text=[_point(part) for part in parts.reshape(-1, 2)])


def _sums(powers: NDArray[np.float64], parts: NDArray[np.float64]) -> pd.DataFrame:
    """The last row: the sums over the keys."""
    sums = {3: [f"Σ {total:.2f}" for total in powers.sum(axis=1)], 4: "Σ 1", 5: [_point(p) for p in parts.sum(axis=1)]}
    wide = pd.DataFrame(sums).rename_axis(index="t", columns="step")
    table = wide.reset_index().melt("t", value_name="text").astype({"step": int})
    return table.assign(row=powers.shape[1] + 1)


def _point(xy: NDArray[np.float64]) -> str:
    return f"({xy[0]:.2f}, {xy[1]:.2f})"


def _head_to_tail(v: NDArray[np.float64], arrows: pd.DataFrame, names: list[str]) -> alt.LayerChart:
    """The values as points, the hull between them, and the weighted values as arrows that end in the output."""
    low, high = np.minimum(v.min(axis=0), 0), np.maximum(v.max(axis=0), 0)
    pad = np.array([0.25, 0.18]) * (high - low)
    span = [alt.Scale(domain=[float(a), float(b)]) for a, b in zip(low - pad, high + pad, strict=True)]
    points = pd.DataFrame(v, columns=["x", "y"]).assign(name=[f"value of {name}" for name in names])
    corners = points.iloc[[*range(len(points)), 0]].assign(order=range(len(points) + 1))
    axes = {
        "x": alt.X("x:Q", scale=span[0], title="value, first entry", axis=alt.Axis(tickCount=3)),
        "y": alt.Y("y:Q", scale=span[1], title="second entry", axis=alt.Axis(tickCount=3, minExtent=30)),
    }
    place = alt.Chart(points).encode(**axes)
    chosen = alt.Chart(arrows).transform_filter("datum.query == asks && step == 5")
    end = chosen.transform_filter("datum.last").transform_calculate(label="'output'")
    ends = {"x": "x2:Q", "y": "y2:Q"}
    return alt.layer(
        alt.Chart(corners).mark_line(color=GREY, strokeDash=[3, 3], strokeWidth=1).encode(**axes, order="order:Q"),
        place.mark_circle(color=BLUE, size=70, opacity=1),
        place.mark_text(dy=-12, fontSize=12).encode(text="name:N"),
        chosen.mark_rule(color=GREEN, strokeWidth=3).encode(**axes, x2="x2:Q", y2="y2:Q", tooltip=["name:N"]),
        end.mark_point(shape="diamond", filled=True, size=140, color=ORANGE, opacity=1).encode(**ends),
        end.mark_text(dx=12, align="left", fontSize=13, fontWeight="bold").encode(**ends, text="label:N"),
    )
