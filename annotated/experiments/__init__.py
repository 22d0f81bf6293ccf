"""The runs behind the book's recorded results: each is a module here, and its record lies in the package.

`python -m annotated.experiments NAME` makes a record again; `recorded(NAME)` reads it. A chapter never prints a number
of a record without its caption, which says what machine made it and by which command.
"""

from annotated.experiments.record import Record, recorded

__all__ = ["Record", "recorded"]
