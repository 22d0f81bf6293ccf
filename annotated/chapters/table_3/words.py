"""Words for the rows of Table 3: what each changes, in the paper's numbers."""

from __future__ import annotations

from annotated.paper import TABLE_3

CHANGES = {
    "base": "as it is",
    "A1": "1 head",
    "A2": "4 heads",
    "A3": "16 heads",
    "A4": "32 heads",
    "B1": "keys of 16",
    "B2": "keys of 32",
    "C1": "N = 2",
    "C2": "N = 4",
    "C3": "N = 8",
    "C4": "width 256",
    "C5": "width 1024",
    "C6": "d_ff 1024",
    "C7": "d_ff 4096",
    "D1": "dropout 0",
    "D2": "dropout 0.2",
    "D3": "smoothing 0",
    "D4": "smoothing 0.2",
    "E1": "learned positions",
    "big": "big",
}
"""What a row changes, in two or three words."""
GROUPS = {"A": "heads", "B": "width of the keys", "C": "size", "D": "regularisation", "E": "positions", "b": "big"}
"""What the rows of a letter have in common."""
ROWS = tuple(row for row in TABLE_3 if row != "base")
"""The 19 rows that differ from base."""


def label(row: str) -> str:
    """'C1  N = 2': the row and its change."""
    return row if row in ("base", "big") else f"{row}  {CHANGES[row]}"
