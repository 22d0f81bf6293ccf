"""Attention of one query, number by number, in the order of the boxes of figure 2.

Paper: section 3.2.1, figure 2 (left), equation 1
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
from numpy.typing import ArrayLike, NDArray

from annotated.viz.theme import BLUE, GREEN, GREY, ORANGE, slider

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

    Paper: section 3.2.1, figure 2 (left), equation 1
    """
    q, k, v = (np.asarray(x, dtype=np.float64) for x in (queries, keys, values))
    if not (q.shape == k.shape and len(k) == len(names)) or v.shape != (len(names), 2):
        raise ValueError(f"queries and keys must be [{len(names)}, d_k] and values [{len(names)}, 2]")
    rows, arrows = _steps(q, k, v, list(names))
    menu = alt.param(
        name="asks", value=names[query], bind=alt.binding_select(options=list(names), name="which token asks? ")
    )
    titles = [
        "1. MatMul: query · each key",
        f"2. Scale: ÷ √d_k = {q.shape[1] ** 0.5:.3g} (then the mask)",
        "3. SoftMax: the exponential",
        "4. SoftMax: its share of the sum",
        "5. MatMul: weights × values, summed",
    ]
    chosen = alt.Chart(alt.Data(values=rows)).transform_filter("datum.query == asks && datum.step <= step")
    color = alt.condition("datum.step == step", alt.value(ORANGE), alt.value(BLUE))
    x = alt.X("left:Q", axis=None, scale=alt.Scale(domain=[0, _COLUMNS[-1]]))
    line = alt.Y("row:Q", axis=None, scale=alt.Scale(domain=[len(names) + 1.6, -0.4]))
    table = alt.layer(
        chosen.mark_bar(height=7, opacity=0.8).encode(
            x=x,
            x2="right:Q",
            y=alt.Y("below:Q", axis=None, scale=alt.Scale(domain=[len(names) + 1.6, -0.4])),
            color=color,
        ),
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
    return together.add_params(slider("step", step, 1, 5), menu)


def _steps(
    q: NDArray[np.float64], k: NDArray[np.float64], v: NDArray[np.float64], names: list[str]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The cells of the table of `one_query_chart`, and its arrows."""
    rows: list[dict[str, Any]] = []
    arrows: list[dict[str, Any]] = []
    heads = ["", "q · k", "÷ √d_k", "exp", "weight", "× value"]
    for t, who in enumerate(names):
        dots = k @ q[t]
        scaled = dots / q.shape[1] ** 0.5
        powers = np.exp(scaled)
        weights = powers / powers.sum()
        parts = weights[:, None] * v

        def cell(step: int, row: float, text: str, share: float = 0.0, who: str = who) -> None:
            left, wide = _COLUMNS[step], 0.88 * (_COLUMNS[step + 1] - _COLUMNS[step])
            rows.append(
                {"query": who, "step": step, "row": row, "below": row + 0.33, "text": text}
                | {"left": left, "right": round(left + wide * share, 3)}
            )

        for step, head in enumerate(heads):
            cell(step, 0, head)
        for s, name in enumerate(names):
            cell(0, s + 1, name)
            for step, column in enumerate((dots, scaled, powers, weights), start=1):
                number = f"{column[s]:.2f}" if step > 2 else f"{column[s]:.3g}"
                cell(step, s + 1, number, float(abs(column[s]) / max(1e-9, abs(column).max())))
            cell(5, s + 1, f"({parts[s, 0]:.2f}, {parts[s, 1]:.2f})", float(weights[s] / weights.max()))
        below = len(names) + 1
        cell(3, below, f"Σ {powers.sum():.2f}")
        cell(4, below, "Σ 1")
        cell(5, below, f"({parts[:, 0].sum():.2f}, {parts[:, 1].sum():.2f})")
        path = np.vstack([np.zeros(2), parts.cumsum(axis=0)]).round(4)
        for s, name in enumerate(names):
            (x, y), (x2, y2) = path[s].tolist(), path[s + 1].tolist()
            arrows.append({"query": who, "name": name, "x": x, "y": y, "x2": x2, "y2": y2, "last": s + 1 == len(names)})
    return rows, arrows


def _head_to_tail(v: NDArray[np.float64], arrows: list[dict[str, Any]], names: list[str]) -> alt.LayerChart:
    """The values as points, the hull between them, and the weighted values as arrows that end in the output."""
    low, high = np.minimum(v.min(axis=0), 0), np.maximum(v.max(axis=0), 0)
    pad = np.array([0.25, 0.18]) * (high - low)
    span = [alt.Scale(domain=[float(a), float(b)]) for a, b in zip(low - pad, high + pad, strict=True)]
    points = [{"name": f"value of {name}", "x": float(x), "y": float(y)} for name, (x, y) in zip(names, v, strict=True)]
    corners = [points[i] | {"order": n} for n, i in enumerate([*range(len(points)), 0])]
    axes = {
        "x": alt.X("x:Q", scale=span[0], title="value, first entry", axis=alt.Axis(tickCount=3)),
        "y": alt.Y("y:Q", scale=span[1], title="second entry", axis=alt.Axis(tickCount=3, minExtent=30)),
    }
    place = alt.Chart(alt.Data(values=points)).encode(**axes)
    chosen = alt.Chart(alt.Data(values=arrows)).transform_filter("datum.query == asks && step == 5")
    end = chosen.transform_filter("datum.last").transform_calculate(label="'output'")
    ends = {"x": "x2:Q", "y": "y2:Q"}
    return alt.layer(
        alt.Chart(alt.Data(values=corners))
        .mark_line(color=GREY, strokeDash=[3, 3], strokeWidth=1)
        .encode(**axes, order="order:Q"),
        place.mark_circle(color=BLUE, size=70, opacity=1),
        place.mark_text(dy=-12, fontSize=12).encode(text="name:N"),
        chosen.mark_rule(color=GREEN, strokeWidth=3).encode(**axes, x2="x2:Q", y2="y2:Q", tooltip=["name:N"]),
        end.mark_point(shape="diamond", filled=True, size=140, color=ORANGE, opacity=1).encode(**ends),
        end.mark_text(dx=12, align="left", fontSize=13, fontWeight="bold").encode(**ends, text="label:N"),
    )
