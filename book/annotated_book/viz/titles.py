"""Titles of charts, in lines that fit a phone."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping
from typing import Any

import altair as alt

_CHARACTERS = 40  # of 14 px, beside each other on a phone


def title_lines(text: str) -> list[str]:
    """A title cut into lines: a title of a chart does not wrap by itself.

    Examples
    --------
    >>> title_lines("Half of a network's units can be missing at little cost; all of them cannot")
    ["Half of a network's units can be missing", 'at little cost; all of them cannot']
    """
    return textwrap.wrap(text, _CHARACTERS)


def title_expression(*parts: str) -> str:
    """A Vega expression for a title of several lines, from an expression for each."""
    return f"[{', '.join(parts)}]"


def title_of(parameter: str, titles: Mapping[str, str]) -> Any:
    """A title that follows a menu: for each of its options the title in lines.

    Parameters
    ----------
    parameter
        The menu's name in the chart.
    titles
        A title for each option. They are cut into lines where the chart's width is known, all into as many as the
        longest, so that nothing moves.
    """
    return alt.expr(f"{json.dumps(dict(titles), ensure_ascii=False)}[{parameter}]")
