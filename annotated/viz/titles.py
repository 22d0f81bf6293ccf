"""Titles of charts, in lines that fit a phone."""

from __future__ import annotations

import textwrap

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
