"""Recorded experiments and the pages that they feed: read from the sources, nothing is imported or run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from annotated_book.pages import BOOK, page_folder
from annotated_book.record import experiment_module

_USE = re.compile(r"""\brecorded\(\s*["']([\w/]+)["']""")


def used_in(text: str) -> set[str]:
    """The names of the records that a text asks for, as `recorded("masks")` does."""
    return set(_USE.findall(text))


@cache
def used_by_code(folder: Path = BOOK) -> Mapping[str, frozenset[str]]:
    """For each page's folder, by its name, the records that its modules ask for; not those that its tests read."""
    found: dict[str, set[str]] = {}
    for file in sorted(folder.rglob("*.py")):
        inside = file.relative_to(folder).parts[:-1]
        for name in inside if "tests" not in inside else ():
            found.setdefault(name, set()).update(used_in(file.read_text(encoding="utf-8")))
    return {name: frozenset(names) for name, names in found.items() if names}


_NO_SHOW = "reference/api/"
"""Pages whose examples read a record without showing it."""


def fed_pages(names: Iterable[str], pages: Mapping[str, str], folder: Path = BOOK) -> dict[str, list[str]]:
    """The pages that show each record.

    Parameters
    ----------
    names
        Of records.
    pages
        The source of each page by its name, in the order of the book.
    folder
        Of the pages: what a page's modules read is shown on it.
    """
    by_code = used_by_code(folder)
    used = {
        page: used_in(text) | by_code.get(page.rpartition("/")[2], frozenset())
        for page, text in pages.items()
        if not page.startswith(_NO_SHOW)
    }
    return {name: [page for page, seen in used.items() if name in seen] for name in names}


def described(name: str) -> str:
    """What an experiment says that it does: the first line of its module."""
    file = page_folder(name.partition("/")[0]) / f"{experiment_module(name).rpartition('.')[2]}.py"
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return text.partition("\n")[0]
