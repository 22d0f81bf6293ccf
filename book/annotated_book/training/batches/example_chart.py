"""A few batches as rectangles of tokens and padding: the same pairs, batched in different orders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from annotated_book.viz.channels import colour_by, x_axis, y_axis
from annotated_book.viz.forms import titled
from annotated_book.viz.theme import BLUE, GREY, ORANGE

Batch = Sequence[tuple[int, int]]
_SIDES, _PADDING = ("source tokens", "target tokens"), "padding"
_BETWEEN_SIDES, _BETWEEN_BATCHES = 0.4, 2.5  # in cells
_HEAD, _FOOT, _BETWEEN_ORDERS = 1.6, 1.2, 0.6  # in rows


def batch_cells(batch: Batch) -> int:
    """The cells of a batch on both sides, padding included."""
    return int(len(batch) * np.max(batch, axis=0).sum())


def example_batches_chart(orders: Mapping[str, Sequence[Batch]]) -> alt.LayerChart:
    """Every batch of a few pairs: a rectangle for the source and one for the target, a row for each pair.

    Parameters
    ----------
    orders
        For each order of the pairs its batches: a list of pairs of lengths (source, target) for each batch.

    Raises
    ------
    ValueError
        If there is no batch.
    """
    if not orders or not all(batches and all(map(len, batches)) for batches in orders.values()):
        raise ValueError("there must be a batch in every order, and a pair in every batch")
    stretches, heads, feet, top = [], [], [], 0.0
    for name, batches in orders.items():
        heads.append({"x": 0.0, "y": top + 0.75, "text": _told(name, batches)})
        placed = list(_placed(batches, top + _HEAD))
        stretches += [stretch for found, _ in placed for stretch in found]
        feet += [foot for _, foot in placed]
        top += _HEAD + max(map(len, batches)) + _FOOT + _BETWEEN_ORDERS
    table = pd.DataFrame(stretches)
    x, y = (
        x_axis("x:Q", domain=[0, float(table["end"].max()) + 1], nice=False, axis=None),
        y_axis("y:Q", domain=[0, top], reverse=True, nice=False, axis=None),
    )
    kinds = [*_SIDES, _PADDING]
    cells = (
        alt.Chart(table)
        .mark_rect(stroke="white", strokeWidth=0.5, strokeOpacity=0.6)
        .encode(
            x=x,
            x2="end:Q",
            y=y,
            y2="bottom:Q",
            color=colour_by("kind:N", kinds, [BLUE, ORANGE, GREY], legend=alt.Legend()),
            opacity=alt.condition(f"datum.kind == '{_PADDING}'", alt.value(0.35), alt.value(1)),
            tooltip=["pair:N", "kind:N", "cells:Q"],
        )
    )
    words = {"align": "left", "baseline": "middle"}
    above = alt.Chart(pd.DataFrame(heads)).mark_text(fontSize=13, fontWeight="bold", **words)
    below = alt.Chart(pd.DataFrame(feet)).mark_text(fontSize=12, **words)
    encoding = {"x": x, "y": y, "text": "text:N"}
    told = ". ".join(_told(name, batches) for name, batches in orders.items())
    return titled(
        alt.layer(cells, above.encode(**encoding), below.encode(**encoding)),
        height=round(19 * top),
        title="Rows of like length leave less padding",
        description="Batches as rectangles, one for the source and one for the target of each batch, with a row for "
        f"each pair, tokens strong and padding faint. {told}.",
        view=alt.ViewBackground(stroke=None),
    )


def _told(name: str, batches: Sequence[Batch]) -> str:
    cells = sum(map(batch_cells, batches))
    padding = 1 - sum(map(np.sum, batches)) / cells
    return f"{name}: {cells} cells, {padding:.0%} padding"


def _placed(batches: Sequence[Batch], top: float) -> Iterator[tuple[list[dict[str, Any]], dict[str, Any]]]:
    """For each batch its stretches of cells, and the number of cells of both sides that stands below it."""
    left = 0.0
    for batch in batches:
        widths = np.max(batch, axis=0).tolist()
        starts = (left, left + widths[0] + _BETWEEN_SIDES)
        found = []
        for row, pair in enumerate(batch):
            for side, kind in enumerate(_SIDES):
                ends = (0, pair[side], widths[side])
                for part, begin, end in zip((kind, _PADDING), ends, ends[1:], strict=False):
                    if end > begin:
                        place = {"x": starts[side] + begin, "end": starts[side] + end}
                        found.append({**place, "y": top + row, "bottom": top + row + 1, "kind": part,
                                      "cells": end - begin, "pair": f"{pair[0]} and {pair[1]} tokens"})  # fmt: skip
        foot = " + ".join(str(len(batch) * width) for width in widths)
        yield found, {"x": left, "y": top + len(batch) + 0.7, "text": foot}
        left = starts[1] + widths[1] + _BETWEEN_BATCHES
