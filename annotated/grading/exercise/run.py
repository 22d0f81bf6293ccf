"""Runner of an exercise's checks on an answer; it adds up the points."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import torch

from annotated.grading.exercise.checks import Case, Check
from annotated.grading.exercise.exercise import Exercise
from annotated.grading.exercise.expect import Failed
from annotated.grading.exercise.student import Student
from annotated.grading.sandbox.interpreter import AnswerError


@dataclass(frozen=True)
class Failure:
    """Why a check did not pass: the smallest counterexample, or the error of the answer's code.

    Attributes
    ----------
    message
        One sentence for the learner.
    inputs, expected, got, where
        The counterexample, where there is one; `where` is the index of the worst entry.
    error
        True if the answer's code failed; `line` is then its line.
    """

    message: str
    what: str = ""
    inputs: dict[str, Any] = field(default_factory=dict)
    expected: Any = None
    got: Any = None
    where: tuple[int, ...] | None = None
    level: int = 0
    error: bool = False
    line: str = ""


@dataclass(frozen=True)
class CheckResult:
    """The outcome of one check, or of its hidden twin."""

    check: Check
    hidden: bool
    failure: Failure | None = None
    transcript: tuple[Any, ...] = field(default=(), repr=False)

    @property
    def name(self) -> str:
        """The check's name, with `:hidden` for the twin."""
        return f"{self.check.name}:hidden" if self.hidden else self.check.name

    @property
    def points(self) -> int:
        """What it is worth."""
        return self.check.hidden if self.hidden else self.check.points

    @property
    def earned(self) -> int:
        """What the answer got for it."""
        return 0 if self.failure else self.points


@dataclass(frozen=True)
class ExerciseResult:
    """What an answer to an exercise has earned, and why not more.

    Attributes
    ----------
    gate
        Why nothing was checked at all: the answer calls what the exercise forbids, or its code does not run.
    """

    exercise: Exercise
    checks: tuple[CheckResult, ...]
    gate: str = ""

    @property
    def score(self) -> int:
        """Points earned."""
        return sum(check.earned for check in self.checks)

    @property
    def maximum(self) -> int:
        """Points that could be earned in this run."""
        return sum(check.points for check in self.checks)

    @property
    def lost(self) -> tuple[str, ...]:
        """Names of the checks that did not pass."""
        return tuple(check.name for check in self.checks if check.failure)


def run_checks(
    exercise: Exercise,
    student: Student,
    salt: str | None = None,
    guard: Callable[[], AbstractContextManager[Any]] = nullcontext,
    more: Iterable[Check] = (),
    only: Collection[str] = (),
) -> ExerciseResult:
    """Check an answer.

    Parameters
    ----------
    student
        The answer.
    salt
        With a salt the hidden twins run as well.
    guard
        Makes a context around each check, such as a time limit; what it raises as `AnswerError` fails the check.
    more
        Further checks, such as an instructor's own; they run as hidden ones, and need a salt.
    only
        Names of the checks to run, with `:hidden` for a twin; all by default.
    """
    gate = forbidden_calls(student.source, exercise.forbidden, exercise.kind)
    results = []
    with torch.random.fork_rng(devices=[]):  # a notebook's own random numbers go on as they were
        for check, hidden in _in_order(exercise, salt, tuple(more)):
            if only and CheckResult(check, hidden).name not in only:
                continue
            failure = Failure(gate) if gate else None
            student.transcript = []
            if not gate:
                failure = _run(check, check.cases(exercise.id, salt if hidden else None), student, guard)
            results.append(CheckResult(check, hidden, failure, tuple(student.transcript)))
    return ExerciseResult(exercise, tuple(results), gate)


def not_run(exercise: Exercise, reason: str, salt: str | None = None, more: Iterable[Check] = ()) -> ExerciseResult:
    """The result of an answer whose code does not run: nothing earned, with the reason."""
    failure = Failure(reason, error=True)
    results = [CheckResult(check, hidden, failure) for check, hidden in _in_order(exercise, salt, tuple(more))]
    return ExerciseResult(exercise, tuple(results), reason)


def forbidden_calls(source: str, forbidden: Iterable[str], kind: str = "write") -> str:
    """One sentence if the code uses a name that the exercise rules out, else nothing. A reminder, not security."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, MemoryError, RecursionError):  # of code that does not run, it has nothing to say
        return ""
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    used |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    used |= {
        a.name.split(".")[-1] for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom) for a in n.names
    }
    found = ", ".join(sorted(used & set(forbidden)))
    asks = "is for pencil and paper" if kind == "predict" else "asks you to write it yourself"
    return f"this exercise {asks}: your code uses {found}" if found else ""


def _in_order(exercise: Exercise, salt: str | None, more: tuple[Check, ...]) -> Iterator[tuple[Check, bool]]:
    yield from ((check, False) for check in exercise.checks)
    if salt is not None:
        yield from ((check, True) for check in (*exercise.checks, *more) if check.hidden)


_ODD_VALUE = (TypeError, ValueError, LookupError, AttributeError, RuntimeError, ArithmeticError, MemoryError)


def _run(
    check: Check, cases: list[Case], student: Student, guard: Callable[[], AbstractContextManager[Any]]
) -> Failure | None:
    for case in cases:
        try:
            student.perform({"op": "seed", "number": case.level})  # answers that draw numbers repeat themselves
            with guard():
                check.function(student, case)
        except Failed as failed:
            return Failure(
                failed.message, failed.what, failed.inputs, failed.expected, failed.got, failed.where, case.level
            )
        except AnswerError as error:
            return Failure(str(error), level=case.level, error=True, line=error.where)
        except _ODD_VALUE as error:
            # The check took the answer apart and found another kind of value than it expected.
            if student.transcript and student.transcript[-1] is None:
                return Failure("the answer gave back None: is a `return` missing?", level=case.level)
            return Failure(f"the result has another form than asked for ({error})", level=case.level)
    return None
