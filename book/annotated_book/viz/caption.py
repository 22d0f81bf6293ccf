"""Captions: what a chart shows, in a line below it."""

from __future__ import annotations

from typing import Any


def captioned(chart: Any, text: str) -> Any:
    """The chart with a caption below it, in a page and in a notebook.

    Parameters
    ----------
    chart
        A chart of Altair, of any kind.
    text
        A sentence or two: what is measured, how, and on what. The chart's title says what to see.

    Raises
    ------
    ValueError
        If the caption is empty.
    """
    if not text.strip():
        raise ValueError("a caption needs a text")
    copy = chart.copy(deep=False)
    known = copy.usermeta if isinstance(copy.usermeta, dict) else {}
    copy.usermeta = {**known, "caption": " ".join(text.split())}
    return copy
