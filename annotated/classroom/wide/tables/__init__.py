"""Reading the tables: lines of text with fields between bars; '#' begins a comment, '##' names a group."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def lines(name: str) -> tuple[tuple[str, str], ...]:
    """The lines of a table that say something, each with the group that it is in."""
    group, found = "", []
    text = (files(__package__) / f"{name}.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line.startswith("##"):
            group = line.lstrip("# ").strip()
        elif line.strip() and not line.startswith("#"):
            found.append((group, line.strip()))
    return tuple(found)


def rows(name: str) -> list[list[str]]:
    """The fields of each line."""
    return [[field.strip() for field in line.split("|")] for _, line in lines(name)]
