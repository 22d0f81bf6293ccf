"""Text from strangers, such as names and messages, in forms that steer neither a terminal nor a spreadsheet."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

_BEGIN_FORMULAS = "=+-@"
_BEGIN_CELLS = ",;|\"'"


def clean(text: str, most: int = 500) -> str:
    """One line of text from a stranger, without what would steer a terminal."""
    return "".join(c if c.isprintable() else " " if c.isspace() else "\N{REPLACEMENT CHARACTER}" for c in text[:most])


def harmless(cell: Any) -> Any:
    """A cell in which no spreadsheet finds a formula, however it takes the fields apart.

    After OWASP's list: what begins a formula is quoted, full-width characters too, and so is what would begin one where
    another character stands between fields. Tabs and ends of lines have become spaces.
    """
    if not isinstance(cell, str):
        return cell
    text, begins, safe = clean(cell), True, []
    for c in text:
        if begins and unicodedata.normalize("NFKC", c)[:1] in tuple(_BEGIN_FORMULAS):
            safe.append("'")
        safe.append(c)
        begins = c in _BEGIN_CELLS or (begins and c.isspace())
    return "".join(safe)


def plain(cell: str) -> str:
    """What a cell was before it was made harmless."""
    return re.sub(r"'(?=[=+\-@\uff1d\uff0b\uff0d\uff20])", "", cell)
