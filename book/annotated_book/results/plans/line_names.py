"""Names of lines beside them and of a measure above its axis, for charts whose measure a menu chooses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd

from annotated_book.viz.theme import INK

EXTENT = 42
"""Pixels for the labels of a y axis whose measure a menu chooses: with room for the longest, nothing moves."""


def measure_named(parameter: str) -> alt.Chart:
    """The menu's choice as the title of the y axis, above it."""
    return (
        alt.Chart(pd.DataFrame({"none": [0]}))
        .mark_text(
            align="left", baseline="bottom", x=-EXTENT, y=-8, color=INK, fontSize=12, text=alt.ExprRef(parameter)
        )
        .encode()
    )


def apart(places: Mapping[str, float], gap: float) -> dict[str, float]:
    """Places for names along an axis, at least `gap` from each other, and as near to those given as that allows."""
    names = sorted(places, key=lambda name: places[name])
    found = [places[name] for name in names]
    for _ in range(200):
        for i in range(1, len(found)):
            if (missing := gap - (found[i] - found[i - 1])) > 0:
                found[i - 1], found[i] = found[i - 1] - missing / 2, found[i] + missing / 2
    return dict(zip(names, found, strict=True))


def names_beside(table: pd.DataFrame, chosen: str, y: Any, colour: Any) -> alt.Chart:
    """The names of the lines to the right of the plot: `text`, at the height and in the colour of the encodings."""
    return (
        alt.Chart(table)
        .transform_filter(f"datum.measure == {chosen}")
        .mark_text(align="left", baseline="middle", dx=6, lineBreak="\n")
        .encode(x=alt.value("width"), y=y, color=colour, text="text:N")
    )
