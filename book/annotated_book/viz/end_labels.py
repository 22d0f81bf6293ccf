"""End labels: the names of lines beside their ends, apart from each other, and a measure's name above its axis."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd

from annotated_book.viz.theme import INK

EXTENT = 42
"""Pixels for the labels of a y axis whose measure a menu chooses: with room for the longest, nothing moves."""


def axis_title_from(parameter: str) -> alt.Chart:
    """The menu's choice as the title of the y axis, above it."""
    return (
        alt.Chart(pd.DataFrame({"none": [0]}))
        .mark_text(
            align="left", baseline="bottom", x=-EXTENT, y=-8, color=INK, fontSize=12, text=alt.ExprRef(parameter)
        )
        .encode()
    )


def spread_labels(places: Mapping[str, float], gap: float) -> dict[str, float]:
    """Places for names along an axis, at least `gap` from each other, and as near to those given as that allows."""
    names = sorted(places, key=lambda name: places[name])
    found = [places[name] for name in names]
    for _ in range(200):
        for i in range(1, len(found)):
            if (missing := gap - (found[i] - found[i - 1])) > 0:
                found[i - 1], found[i] = found[i - 1] - missing / 2, found[i] + missing / 2
    return dict(zip(names, found, strict=True))


def label_line_ends(ends: alt.Chart, text: str, **mark: Any) -> alt.Chart:
    """The names of lines, to the right of their ends unless told.

    Parameters
    ----------
    ends
        A row for each line, with its place and its colour.
    text
        The field of the name, such as 'model:N'.
    mark
        Options of the text: `dx`, 6 pixels from the end unless told, `align`, and any other.
    """
    return ends.mark_text(**{"align": "left", "dx": 6, **mark}).encode(text=text)
