"""Registry of invariants: each is a declared function that returns what it measured, or raises."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from annotated_grader.doctor.finding import Mistake
from annotated_grader.doctor.probe import Probe
from annotated_grader.doctor.subject import NotOffered

Examine = Callable[[Probe], str]


class InvariantViolated(Exception):
    """The invariant does not hold; the message says what was measured.

    Parameters
    ----------
    measured
        One sentence.
    mistakes
        What the measured numbers themselves point to, likeliest first; if there are none, the invariant's own list is
        shown.
    """

    def __init__(self, measured: str, *mistakes: Mistake) -> None:
        super().__init__(measured)
        self.mistakes = mistakes


@dataclass(frozen=True)
class Invariant:
    """Something that must hold of an encoder-decoder."""

    id: str
    title: str
    theme: str
    paper: str
    needs: tuple[str, ...]
    """Capabilities of `Subject`, by name."""
    claims: tuple[str, ...]
    """Fields of `Claims` that must not be None."""
    mistakes: tuple[Mistake, ...]
    examine: Examine
    """Returns what it measured in one sentence; raises `InvariantViolated` or `NotOffered`."""


DECLARED: list[Invariant] = []
"""All of them, as their modules were imported."""


def invariant(
    id: str,
    *mistakes: Mistake,
    paper: str,
    needs: tuple[str, ...] = (),
    claims: tuple[str, ...] = (),
) -> Callable[[Examine], Examine]:
    """Declare a function as an invariant; its docstring's first line is the title, its module the theme."""

    def declare(function: Examine) -> Examine:
        title = (function.__doc__ or "").strip().splitlines()[0]
        theme = function.__module__.rpartition(".")[2]
        if id in {known.id for known in DECLARED}:
            raise ValueError(f"there are two invariants {id}")
        DECLARED.append(Invariant(id, title, theme, paper, needs, claims, mistakes, function))
        return function

    return declare


def require(holds: bool, measured: str, *mistakes: Mistake) -> None:
    """Raise `InvariantViolated` unless it holds."""
    if not holds:
        raise InvariantViolated(measured, *mistakes)


def not_applicable(why: str) -> NoReturn:
    """Leave the invariant: it has no meaning for this subject."""
    raise NotOffered(why)
