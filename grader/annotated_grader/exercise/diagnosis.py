"""Diagnosis of the wrong idea behind an answer: the known-wrong answers of the bank that behave exactly alike.

What is compared is the transcript of a lost check: all that the answer gave back in it. Two numbers are the same within
one part in 100,000, two tensors entry by entry within one part in 100,000 of the entry, or of the largest entry. Two
errors are the same if kind and text are. Where the transcript could as well come from another mistake, the diagnosis
says *perhaps*: `Cause.certain`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor

from annotated_grader.exercise.exercise import Exercise, WrongAnswer
from annotated_grader.exercise.run import ExerciseResult, run_checks
from annotated_grader.exercise.student import Handle, LocalStudent, Raised
from annotated_grader.sandbox.codec import Ref
from annotated_grader.sandbox.interpreter import AnswerError

TOLERANCE = 1e-5
"""Two numbers are the same if they differ by no more than this part of them."""

MOST_CAUSES, MOST_ENTRIES = 3, 3
"""Causes that a diagnosis has, and known mistakes that a cause lists."""

_TELLING = 20  # bits: a number with a fraction, or a mask of five queries and four keys
_BITS_OF_FRACTION, _BITS_OF_LETTER = 20, 4

Transcript = tuple[Any, ...]


@dataclass(frozen=True)
class Cause:
    """What lies behind some of the lost checks.

    Attributes
    ----------
    entries
        The known mistakes that fit; more than one where they cannot be told apart.
    checks
        The lost public checks that they explain, in the exercise's order.
    certain
        Whether nothing else in the bank gives the same, and what was given back says enough: not True and False alone,
        and not an error alone.
    """

    entries: tuple[WrongAnswer, ...]
    checks: tuple[str, ...]
    certain: bool

    @property
    def name(self) -> str:
        """The mistake's name, or `perhaps` and the names."""
        names = " or ".join(entry.name for entry in self.entries)
        return names if self.certain else f"perhaps {names}"

    @property
    def says(self) -> str:
        """What is said to the learner, in one paragraph."""
        return ("" if self.certain else "Perhaps: ") + " Or: ".join(entry.says for entry in self.entries)


@dataclass(frozen=True)
class Diagnosis:
    """The causes of an answer's lost checks, at least one, in the order of the checks that they explain."""

    causes: tuple[Cause, ...]

    @property
    def name(self) -> str:
        """The names of the mistakes, for a table."""
        return "; ".join(cause.name for cause in self.causes)

    @property
    def says(self) -> str:
        """What is said to the learner, in one paragraph."""
        return " ".join(cause.says for cause in self.causes)


@dataclass(frozen=True)
class _Fit:
    """How well one entry of the bank fits an answer: the lost checks in which both give the same."""

    entry: WrongAnswer
    checks: tuple[str, ...]
    whole: bool
    bits: int


def diagnose(result: ExerciseResult) -> Diagnosis | None:
    """The causes of the lost public checks, as far as the bank knows them; None if it knows none.

    For each lost check that is not explained yet, from the first on, the entry is taken that explains most of the
    others along with it. An entry fits if it gives the same in all the checks that it loses. If the answer has lost
    these and gives the same in some of them only, something else is wrong too, and the entry is named with a perhaps,
    provided that what agrees says enough.
    """
    mine = _profile(result)
    if not mine or result.gate:
        return None
    entries = sorted(result.exercise.bank, key=lambda entry: entry.kind != "concept")
    fits = [fit for entry in entries if (fit := _fit(result.exercise, entry, mine))]
    found: list[Cause] = []
    unexplained = list(mine)
    for check in mine:
        candidates = [fit for fit in fits if check in fit.checks]
        if check not in unexplained or not candidates:
            continue
        found.append(_cause(candidates, unexplained))
        unexplained = [name for name in unexplained if name not in found[-1].checks]
        fits = [fit for fit in fits if fit.entry not in found[-1].entries]
    return Diagnosis(tuple(found[:MOST_CAUSES])) if found else None


def tells(exercise: Exercise, entry: WrongAnswer) -> bool:
    """Whether what an entry gives back can name it: not if it fails with errors that any mistake may end in."""
    return _fit(exercise, entry, _profile_of(exercise, entry.name)) is not None


def _cause(candidates: list[_Fit], unexplained: list[str]) -> Cause:
    """The best of the entries that explain a check, and those that are as good."""

    def worth(fit: _Fit) -> tuple[bool, int]:
        return fit.whole, len(set(fit.checks) & set(unexplained))

    best = max(map(worth, candidates))
    chosen = [fit for fit in candidates if worth(fit) == best]
    explained = {name for fit in chosen for name in fit.checks}
    certain = len(chosen) == 1 and chosen[0].whole and chosen[0].bits >= _TELLING
    order = [name for name in unexplained if name in explained]
    return Cause(tuple(fit.entry for fit in chosen[:MOST_ENTRIES]), tuple(order), certain)


def _fit(exercise: Exercise, entry: WrongAnswer, mine: dict[str, Transcript]) -> _Fit | None:
    # What an entry loses is written in the bank, and held to it; those that cannot fit need not run.
    if not {name for name in entry.loses if ":" not in name} <= mine.keys():
        return None
    theirs = _profile_of(exercise, entry.name)
    right = _right_transcripts(exercise)
    checks = tuple(name for name in mine if name in theirs and alike(mine[name], theirs[name]))
    wrong = [part for name in checks for part in _differing(theirs[name], right.get(name, ()))]
    whole, bits = len(checks) == len(theirs), sum(map(_bits, wrong))
    if not checks or not (bits >= _TELLING or whole and (bits or any(map(_is_specific, wrong)))):
        return None
    return _Fit(entry, checks, whole, bits)


def _profile(result: ExerciseResult) -> dict[str, Transcript]:
    """What the answer gave back in each public check that it lost."""
    return {check.name: check.transcript for check in result.checks if check.failure and not check.hidden}


@cache
def _profile_of(exercise: Exercise, name: str) -> dict[str, Transcript]:
    entry = next(entry for entry in exercise.bank if entry.name == name)
    try:
        student = LocalStudent.of_code(entry.code, exercise.given_code)
    except AnswerError:
        return {}
    return _profile(run_checks(exercise, student))


@cache
def _right_transcripts(exercise: Exercise) -> dict[str, Transcript]:
    """What the solution gives back in each public check."""
    result = run_checks(exercise, LocalStudent.of_code(exercise.solution_code, exercise.given_code))
    return {check.name: check.transcript for check in result.checks}


def _differing(wrong: Transcript, right: Transcript) -> Iterable[Any]:
    """What a transcript has and the solution's has not: the rest says nothing about a mistake."""

    def same(a: Any, b: Any) -> bool:
        return isinstance(a, Tensor) == isinstance(b, Tensor) and alike(a, b)

    return [part for i, part in enumerate(wrong) if i >= len(right) or not same(part, right[i])]


def _bits(value: Any) -> int:
    """How much a result says, roughly in bits: 1 for True or False, 20 for a number with a fraction, 0 for an error."""
    if isinstance(value, Raised | Handle | Ref):
        return 0
    if isinstance(value, Tensor):
        entries = value.flatten().tolist()[:100]
        return sum(map(_bits, entries)) if len(set(entries)) > 1 else max(map(_bits, entries[:1]), default=1)
    if isinstance(value, dict):
        return max(1, sum(map(_bits, value.values())))
    if isinstance(value, list | tuple | set):
        return max(1, sum(map(_bits, value)))
    if isinstance(value, str):
        return _BITS_OF_LETTER * len(value)
    if value is None or isinstance(value, bool) or value in (0, 1, -1):
        return 1
    if isinstance(value, int):
        return 2 * value.bit_length()
    return _BITS_OF_FRACTION if not isinstance(value, float) or math.isfinite(value) else 1


def _is_specific(value: Any) -> bool:
    """Whether this is an error whose text says what happened: with the sizes of tensors, not "division by zero"."""
    if not isinstance(value, Raised) or value.own:
        return False
    from_computing = value.kind in ("RuntimeError", "ValueError", "IndexError") and "to unpack" not in value.message
    return from_computing and len(value.message) >= 30


def _alike_tensors(a: Tensor, b: Tensor) -> bool:
    """Equal up to rounding relative to the largest entry: what cancels to nearly zero keeps the noise of its terms."""
    kind = torch.complex128 if a.is_complex() or b.is_complex() else torch.float64
    a, b = a.to(kind), b.to(kind)
    finite = b[b.isfinite()].abs()
    scale = float(finite.max()) if finite.numel() else 0.0
    return torch.allclose(a, b, rtol=TOLERANCE, atol=TOLERANCE * scale, equal_nan=True)


def _plain(value: Any) -> Any:
    """A number for a tensor without axes; no leading axes of size one, which broadcasting adds anyway."""
    if not isinstance(value, Tensor):
        return value
    while value.ndim > 1 and value.size(0) == 1:
        value = value[0]
    return value if value.ndim else value.item()


def alike(a: Any, b: Any) -> bool:
    """Whether two transcripts are the same: numbers up to rounding, tensors up to leading axes of size one."""
    a, b = _plain(a), _plain(b)
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(alike(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(alike(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        if a.shape != b.shape or (a.dtype == torch.bool) != (b.dtype == torch.bool):
            return False
        return _alike_tensors(a, b)
    if isinstance(a, float | int) and isinstance(b, float | int) and not isinstance(a, bool):
        near = math.isfinite(b) and abs(a - b) <= TOLERANCE * abs(b)
        return a == b or near or (a != a and b != b)
    if isinstance(a, Raised) and isinstance(b, Raised):  # the text of an error raised on purpose is the answer's own
        return (a.kind, a.own) == (b.kind, b.own) and (a.own or a.message == b.message)
    if isinstance(a, Ref | Handle) and isinstance(b, Ref | Handle):
        return True
    return type(a) is type(b) and a == b
