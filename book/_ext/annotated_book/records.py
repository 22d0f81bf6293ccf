"""Recorded experiments and the pages that they feed: read from the sources, nothing is imported or run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from annotated.chapters.record import CHAPTERS, experiment_module

_USE = re.compile(r"""\brecorded\(\s*["']([\w/]+)["']""")

_PANEL = re.compile(r"^:folder: (\w+)$", re.MULTILINE)  # of a live panel whose code is another chapter's


def used_in(text: str) -> set[str]:
    """The names of the records that a text asks for, as `recorded("masks")` does."""
    return set(_USE.findall(text))


@cache
def used_by_chapters(folder: Path = CHAPTERS) -> Mapping[str, frozenset[str]]:
    """For each chapter's folder, the records that its modules ask for; a sub-folder's belong to the folder."""
    found: dict[str, set[str]] = {}
    for file in sorted(folder.glob("*/**/*.py")):
        found.setdefault(file.relative_to(folder).parts[0], set()).update(used_in(file.read_text(encoding="utf-8")))
    return {name: frozenset(names) for name, names in found.items() if names}


_NO_SHOW = "reference/api/"
"""Pages whose examples read a record without showing it."""


def fed_pages(names: Iterable[str], pages: Mapping[str, str], folder: Path = CHAPTERS) -> dict[str, list[str]]:
    """The pages that show each record.

    Parameters
    ----------
    names
        Of records.
    pages
        The source of each page by its name, in the order of the book.
    folder
        Of the chapters' code: what a chapter's modules read is shown on the page of its name, and where its panels are.
    """
    by_code, nothing = used_by_chapters(folder), frozenset[str]()
    used = {
        page: used_in(text).union(
            *(by_code.get(name, nothing) for name in (page.rpartition("/")[2], *_PANEL.findall(text)))
        )
        for page, text in pages.items()
        if not page.startswith(_NO_SHOW)
    }
    return {name: [page for page, seen in used.items() if name in seen] for name in names}


def described(name: str, folder: Path = CHAPTERS) -> str:
    """What an experiment says that it does: the first line of its module."""
    *_, chapter, part = experiment_module(name).split(".")
    text = ast.get_docstring(ast.parse((folder / chapter / f"{part}.py").read_text(encoding="utf-8"))) or ""
    return text.partition("\n")[0]
