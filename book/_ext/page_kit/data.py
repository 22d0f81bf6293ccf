"""Tables of `book/_data` that pages are made from, and the one way in which they are read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import yaml

BOOK = Path(__file__).parents[2]
DATA = BOOK / "_data"
_Made = TypeVar("_Made")


def table(file: Path) -> Any:
    """What a file of YAML holds."""
    return yaml.safe_load(file.read_text(encoding="utf-8"))


def records(file: Path, make: Callable[..., _Made]) -> dict[str, _Made]:
    """The entries of a file by key, each made from its key and its fields; lists become tuples.

    Raises
    ------
    ValueError
        Naming the file and the entry, if one lacks a field, has one that nobody reads, or `make` refuses it.
    """
    found = {}
    for key, fields in table(file).items():
        given = {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}
        try:
            found[key] = make(key, **given)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{file.name}, {key}: {error}") from error
    return found
