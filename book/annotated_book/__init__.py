"""The book's chapters in code: one folder a chapter, under the name of its page.

In a folder: `charts`, the pictures; `widget`, what moves in the page, in Python, JavaScript and CSS; measurements; and
`experiment`, which makes `record.json`. `python -m annotated_book NAME` makes a record again; `recorded(NAME)`
reads it. A page never prints a number of a record without its caption, which says what machine made it, by which
command. `effect_size` records a number for the page of claims.
"""

from annotated_book.effects import effect_size
from annotated_book.record import Record, recorded

__all__ = ["Record", "effect_size", "recorded"]
