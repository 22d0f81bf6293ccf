"""Patches that put a known-wrong variant into this library, and take it out again.

Everything goes through `Patches`, which remembers what it replaced; nothing is left behind, also after an error.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Self

# Invariants that often fail together, for short.
LEAKS = ("leak-by-change", "leak-by-gradient", "far-leak")
PADDING = ("source-padding", "batch-mates", "pad-vector-unread")
ROWS = ("attention-rows", "attention-before-dropout")
CACHE = ("cache-equals-forward", "cache-follows-beam")
SEARCH = ("greedy-follows-model", "beam-scores")
COMPANY = (*PADDING, "accumulation", *CACHE, "perplexity")
"""What compares a sentence alone with the same one among others, or in steps."""

_HERE = __name__.rpartition(".")[0]
_PATCHED = ("annotated", __name__.partition(".")[0])
"""The library, and what examines it."""
_MISSING = object()


class Patches:
    """Replacements in the library, for the length of a `with` block; they are undone in reverse order."""

    def __init__(self) -> None:
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def attribute(self, owner: Any, name: str, new: Any) -> None:
        """Give a class, module or object another attribute; what it only inherited it inherits again afterwards."""
        old = vars(owner).get(name, _MISSING)
        setattr(owner, name, new)
        if old is _MISSING:
            self._stack.callback(delattr, owner, name)
        else:
            self._stack.callback(setattr, owner, name, old)

    def method(self, owner: type, name: str, make: Callable[[Any], Any]) -> None:
        """Replace a method by `make(method)`."""
        self.attribute(owner, name, make(getattr(owner, name)))

    def function(self, old: Callable[..., Any], make: Callable[[Any], Any]) -> None:
        """Replace a function by `make(function)` in every module of the library that knows it, under any name.

        The bank's own modules keep the healthy one. A module that is imported in the meantime is put right too.
        """
        new = make(old)
        _replace(old, new)
        self._stack.callback(_replace, new, old)


def _replace(old: Any, new: Any) -> None:
    """Put a value where another one stands in the library's modules."""
    for module in _library_modules():
        for name in [name for name, found in vars(module).items() if found is old]:
            setattr(module, name, new)


def _library_modules() -> list[ModuleType]:
    inside = [name for name in sys.modules if name.partition(".")[0] in _PATCHED and not name.startswith(_HERE)]
    return [module for name in inside if isinstance(module := sys.modules[name], ModuleType)]


@dataclass(frozen=True)
class Mutant:
    """A known-wrong variant of a Transformer, or of how one is trained, searched with or scored."""

    id: str
    claim: str
    """Of the ledger (C01 ... C49, A1 ... A3) that it contradicts; empty if there is none."""
    sentence: str
    """What is wrong."""
    source: str
    """Where it was really seen; empty for mistakes of everybody."""
    killed_by: tuple[str, ...]
    """The invariants that fail, all of them and no others."""
    apply: Callable[[Patches], None]


class Bank:
    """The mutants of one theme, in the order in which they are written."""

    def __init__(self) -> None:
        self.mutants: list[Mutant] = []

    def mutant(
        self, sentence: str, *killed_by: str, claim: str = "", source: str = ""
    ) -> Callable[[Callable[[Patches], None]], Callable[[Patches], None]]:
        """Decorate the function that applies a mutant; its name is the mutant's id."""

        def add(apply: Callable[[Patches], None]) -> Callable[[Patches], None]:
            self.mutants.append(Mutant(apply.__name__, claim, sentence, source, killed_by, apply))
            return apply

        return add
