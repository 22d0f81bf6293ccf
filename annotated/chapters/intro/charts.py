"""Chart of a translation, token by token, and of the source tokens that the model attends to for each."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from annotated.viz.attention_map import check_weights
from annotated.viz.parameters import slider
from annotated.viz.theme import BLUE, INK, ORANGE

_ROW = 27  # pixels for a piece
_SOURCE, _TARGET = 0.36, 0.64  # where the two columns of pieces end and begin, of the width
_SEEN = 0.02  # lines of less weight are not drawn


def writing_chart(
    weights: ArrayLike, source: Sequence[str], written: Sequence[str], *, start: int = 4
) -> alt.LayerChart:
    """Two columns of pieces, and lines from the piece that is being written to those that the head looks at.

    Parameters
    ----------
    weights
        `[T, S]`: row t is the query that writes piece t.
    source
        The S pieces that were read.
    written
        The T pieces that are written, each beside its own row.
    start
        How many pieces the slider shows as written at first, from 1.

    Raises
    ------
    ValueError
        As `check_weights`; if `start` is not one of the rows.
    """
    array = check_weights(weights, written, source)
    if array.ndim != 2:
        raise ValueError(f"one map has two dimensions, these weights have {array.ndim}: choose a sentence and a head")
    if not 1 <= start <= len(written):
        raise ValueError(f"{start} pieces cannot have been written of {len(written)}, counted from 1")
    height = _ROW * max(len(source), len(written))
    step = slider("piece", start, 1, len(written), label="piece written")
    read = pd.DataFrame({"text": source, "y": _middles(len(source), height)})
    wrote = pd.DataFrame({"text": written, "y": _middles(len(written), height), "row": range(1, len(written) + 1)})
    y = alt.Y("y:Q", scale=alt.Scale(domain=[0, height], reverse=True), axis=None)

    def across(at: float) -> alt.X:
        return alt.X(datum=at, type="quantitative", scale=alt.Scale(domain=[0, 1]), axis=None)

    now, before = "datum.row == piece", "datum.row < piece"
    rules = (
        alt.Chart(_lines(array, read, wrote))
        .mark_rule(strokeCap="round")
        .encode(
            x=across(_SOURCE + 0.02), x2=alt.X2(datum=_TARGET - 0.02), y=y, y2="to:Q",
            strokeWidth=alt.StrokeWidth("weight:Q", scale=alt.Scale(domain=[0, 1], range=[0.5, 5]), legend=None),
            color=alt.condition(now, alt.value(ORANGE), alt.value(BLUE)),
            opacity=alt.when(now).then(alt.value(1)).when(before).then(alt.value(0.4)).otherwise(alt.value(0)),
            tooltip=[alt.Tooltip("read:N"), alt.Tooltip("written:N"), alt.Tooltip("weight:Q", format=".2f")],
        )
    )  # fmt: skip
    left = alt.Chart(read).mark_text(align="right", fontSize=14, fill=INK)
    right = alt.Chart(wrote).mark_text(align="left", fontSize=14)
    best = [f"{piece} from {source[int(row.argmax())]}" for piece, row in zip(written, array, strict=True)]
    description = (
        "Pieces of the sentence that was read on the left, pieces that are written on the right, and lines for the "
        f"attention of one head. For each piece written, where it looks most: {'; '.join(best)}."
    )
    chart = alt.layer(
        rules,
        left.encode(x=across(_SOURCE), y=y, text="text:N"),
        right.encode(
            x=across(_TARGET),
            y=y,
            text="text:N",
            color=alt.condition(now, alt.value(ORANGE), alt.value(INK)),
            opacity=alt.condition("datum.row <= piece", alt.value(1), alt.value(0.15)),
        ),
    )
    moved = chart.add_params(step).properties(width="container", height=height, description=description)
    return moved.configure_view(stroke=None)


def _middles(count: int, height: int) -> NDArray[np.float64]:
    """The middle of each of so many rows that share the height, in pixels."""
    return (np.arange(count) + 0.5) * height / count


def _lines(weights: NDArray[np.float64], read: pd.DataFrame, wrote: pd.DataFrame) -> pd.DataFrame:
    """A row for each pair of a piece written and a piece read, where there is weight to see."""
    ends = wrote.rename(columns={"text": "written", "y": "to"}), read.rename(columns={"text": "read"})
    lines = ends[0].merge(ends[1], how="cross").assign(weight=weights.ravel())
    return lines[lines["weight"] > _SEEN].round({"weight": 3})
