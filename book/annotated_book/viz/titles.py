"""Titles of charts that follow a menu or a slider; all titles are cut into lines where the chart's width is known."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import altair as alt


def title_expression(*parts: str) -> str:
    """A Vega expression for a title of several lines, from an expression for each."""
    return f"[{', '.join(parts)}]"


def title_of(choice: str, titles: Mapping[str, str]) -> Any:
    """A title that follows a menu or a slider.

    Parameters
    ----------
    choice
        The menu's name in the chart, or an expression without brackets, such as "table ? 1 : 0".
    titles
        A title for each value of it. They are cut into lines where the chart's width is known, all into as many as the
        longest, so that nothing moves.
    """
    return alt.expr(f"{json.dumps(dict(titles), ensure_ascii=False)}[{choice}]")
