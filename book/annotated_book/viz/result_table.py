"""Tables of results: a DataFrame as a reader wants to see it, in a page, in a notebook and in a terminal."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import pandas as pd

from annotated_book.viz.inline import inline
from annotated_book.viz.renderers import BOOK_VARIABLE

Digits = int | str
"""Places after the point, or a format such as '.1%' or '+.2f'."""

_DEFAULT_DIGITS = 2
_LONG = 10_000  # from here on thousands are set apart; years stay whole
_SHORT = 1000  # in a column that holds a long number they are set apart in every cell
_NOTHING = "–"
_LIST_COLUMNS = 4
# A notebook has no style of the book.
_STYLE = """<style>
.result-table { overflow-x: auto; }
.result-table table { border-collapse: collapse; margin: 0; }
.result-table caption { caption-side: top; text-align: left; font-weight: 600; padding: 0 0 0.3rem; }
.result-table :is(th, td) { text-align: left !important; white-space: nowrap; padding: 0.2rem 0.8rem; }
.result-table .number { text-align: right !important; font-variant-numeric: tabular-nums; }
.result-table tr.stressed > * { font-weight: 700; }
.result-table .unit, .result-note { font-weight: 400; opacity: 0.7; }
.result-note { margin: 0.3rem 0 0; }
.result-table .cell-label { display: none; }
</style>"""


@dataclass(frozen=True)
class Column:
    """A column as it is shown."""

    name: str
    unit: str
    cells: tuple[str, ...]
    is_number: bool
    is_index: bool

    @property
    def head(self) -> str:
        """'time (ms)'."""
        return f"{self.name} ({self.unit})" if self.unit else self.name


@dataclass(frozen=True)
class ResultTable:
    """A table made by `result_table`: as the last expression of a cell it is shown, and in a terminal printed."""

    columns: tuple[Column, ...]
    stressed: frozenset[int]
    """Rows that stand out, from 0."""
    caption: str = ""
    note: str = ""
    blocks: bool = False
    """Whether a narrow page sets each row as a block, with the heads before the cells; see `is_list`."""

    @property
    def is_list(self) -> bool:
        """Whether it may become blocks: with many columns it is compared down its columns, so it scrolls instead."""
        return self.blocks and len(self.columns) <= _LIST_COLUMNS

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The cells of each row."""
        return list(zip(*(column.cells for column in self.columns), strict=True))

    def _repr_html_(self) -> str:
        caption = f"<caption>{inline(self.caption)}</caption>" if self.caption else ""
        note = f'<p class="result-note">{inline(self.note)}</p>' if self.note else ""
        head = "".join(_head(column) for column in self.columns)
        body = "".join(self._row(number, cells) for number, cells in enumerate(self.rows))
        kind = "results blocks" if self.is_list else "results"
        table = f'<table class="{kind}">{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
        style = "" if os.environ.get(BOOK_VARIABLE) else _STYLE
        return f'{style}<div class="result-table pst-scrollable-table-container">{table}{note}</div>'

    def _row(self, number: int, cells: Sequence[str]) -> str:
        made = (
            _cell(column, text, self.is_list and place > 0)
            for place, (column, text) in enumerate(zip(self.columns, cells, strict=True))
        )
        stressed = ' class="stressed"' if number in self.stressed else ""
        return f"<tr{stressed}>{''.join(made)}</tr>"

    def __repr__(self) -> str:
        widths = [max(map(len, (column.head, *column.cells))) for column in self.columns]

        def line(cells: Iterable[str]) -> str:
            sides = zip(self.columns, cells, widths, strict=True)
            return "  ".join(t.rjust(w) if c.is_number else t.ljust(w) for c, t, w in sides).rstrip()

        lines = [line(column.head for column in self.columns), "  ".join("-" * width for width in widths)]
        lines += [f"{line(cells)}{'  <' if n in self.stressed else ''}" for n, cells in enumerate(self.rows)]
        return "\n".join([*filter(None, [self.caption]), *lines, *filter(None, [self.note])])


def result_table(
    frame: pd.DataFrame | pd.Series[Any],
    *,
    caption: str = "",
    units: Mapping[str, str] | None = None,
    digits: Digits | Mapping[str, Digits] | None = None,
    stress: Any = None,
    note: str = "",
    blocks: bool = False,
) -> ResultTable:
    """A table of results, for the last expression of a cell.

    Parameters
    ----------
    frame
        The results. Its index is shown if it has a name; several levels of columns become one.
    caption
        What the table shows, above it. Between backticks stands code, here and in the cells.
    units
        The unit of a column, by its name; it goes into the head.
    digits
        Places after the point, for all columns or by name; or a format, as '.1%'. Without it fractions have two places.
    stress
        The row that stands out, by its label in the index; or a list of them.
    note
        How the results came about, below the table: "Recorded on ...".
    blocks
        For tables of words: on a narrow page of the book each row is a block, with the heads before the cells. A table
        of more than four columns stays a table, whose first column stands while the others scroll.

    Raises
    ------
    ValueError
        If a column has no name, or units, digits or stress name what the frame does not have.

    Examples
    --------
    >>> times = pd.DataFrame({"time": [0.19, 11], "tokens": [32, 51200]}, index=pd.Index(["short", "long"], name="row"))
    >>> result_table(times, units={"time": "ms"}, digits=1, stress="long")
    row    time (ms)  tokens
    -----  ---------  ------
    short        0.2      32
    long        11.0  51,200  <
    """
    frame = frame.to_frame() if isinstance(frame, pd.Series) else frame
    units, known = units or {}, {_name(column) for column in frame.columns}
    places: Mapping[str, Digits] = digits if isinstance(digits, Mapping) else {}
    for what, names in (("units", units), ("digits", places)):
        if unknown := set(names) - known:
            raise ValueError(f"{what}: no column {', '.join(sorted(unknown))} among {', '.join(sorted(known))}")
    columns = [*_index_columns(frame.index)]
    for place, label in enumerate(frame.columns):
        name = _name(label)
        if not name.strip():
            raise ValueError("a column without a name: a reader who hears the table could not tell what it holds")
        wanted = places.get(name) if isinstance(digits, Mapping) else digits
        columns.append(_column(name, units.get(name, ""), list(frame.iloc[:, place]), wanted))
    return ResultTable(tuple(columns), _stressed(frame.index, stress), caption, note, blocks)


def _name(label: Any) -> str:
    return " · ".join(str(part) for part in label if str(part)) if isinstance(label, tuple) else str(label)


def _index_columns(index: pd.Index[Any]) -> list[Column]:
    if all(name is None for name in index.names):
        return []
    levels = (index.get_level_values(level) for level in range(index.nlevels))
    return [
        _column(str(name or f"level {n}"), "", list(values), None, is_index=True)
        for n, (name, values) in enumerate(zip(index.names, levels, strict=True), 1)
    ]


def _column(name: str, unit: str, values: list[Any], digits: Digits | None, is_index: bool = False) -> Column:
    real = [value for value in values if not _is_missing(value)]
    is_number = bool(real) and all(isinstance(value, Real) and not _is_flag(value) for value in real)
    if digits is None and is_index and all(float(value).is_integer() for value in real if is_number):
        digits = 0
    least = _SHORT if is_number and any(abs(float(value)) >= _LONG for value in real) else _LONG
    cells = tuple(_NOTHING if _is_missing(value) else _text(value, digits, least) for value in values)
    return Column(name, unit, cells, is_number, is_index)


def _is_missing(value: Any) -> bool:
    return value is None or value is pd.NA or (isinstance(value, Real) and math.isnan(value))


def _is_flag(value: Any) -> bool:
    return type(value).__name__.startswith("bool")  # also NumPy's


def _text(value: Any, digits: Digits | None, least: int = _LONG) -> str:
    if _is_flag(value):
        return "yes" if value else "no"
    if not isinstance(value, Real):
        return str(value)
    if isinstance(digits, str):
        return format(float(value), digits).replace("%", "\u00a0%")
    if isinstance(value, Integral):
        whole = int(value)
        return f"{whole:,}" if abs(whole) >= least else str(whole)
    return _plain_number(float(value), _DEFAULT_DIGITS if digits is None else digits, least)


def _plain_number(value: float, places: int, least: int) -> str:
    text = f"{value:,.{places}f}" if abs(value) >= least else f"{value:.{places}f}"
    return text.removeprefix("-") if not text.strip("-0.,") else text  # no minus before a nought


def _stressed(index: pd.Index[Any], stress: Any) -> frozenset[int]:
    if stress is None:
        return frozenset()
    wanted = stress if isinstance(stress, list) else [stress]
    labels = list(index)
    if missing := [label for label in wanted if label not in labels]:
        raise ValueError(f"stress: no row {missing[0]!r}; the rows are {labels}")
    return frozenset(number for number, label in enumerate(labels) if label in wanted)


def _classes(column: Column) -> str:
    return ' class="number"' if column.is_number else ""


def _head(column: Column) -> str:
    unit = f' <span class="unit">{inline(column.unit)}</span>' if column.unit else ""
    return f'<th scope="col"{_classes(column)}>{inline(column.name)}{unit}</th>'


def _cell(column: Column, text: str, is_labelled: bool) -> str:
    shown = inline(text.replace("-", "\u2212", 1) if column.is_number and text.startswith(("-", "+-")) else text)
    tag = 'th scope="row"' if column.is_index else "td"
    label = f'<span class="cell-label">{inline(column.head)}</span>' if is_labelled else ""
    return f"<{tag}{_classes(column)}>{label}{shown}</{tag[:2]}>"
