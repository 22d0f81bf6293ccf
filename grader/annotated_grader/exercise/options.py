"""The order of a question's options: the same everywhere and always, and no habit of an author's."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import Any


def shuffled(question: str, options: Iterable[Any], text: Callable[[Any], str] = str) -> list[Any]:
    """Options in an order that depends on nothing but the texts of the question and of the options.

    Examples
    --------
    >>> shuffled("How many?", ["one", "two", "three"]) == shuffled("How many?", ["three", "two", "one"])
    True
    """
    return sorted(options, key=lambda option: hashlib.sha256(f"{question}\n{text(option)}".encode()).digest())
