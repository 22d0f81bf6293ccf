"""Runner of an exercise's checks on an answer; it adds up the points."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from annotated_grader.exercise.checks import Case, Check
from annotated_grader.exercise.exercise import Exercise
from annotated_grader.exercise.expect import Failed
from annotated_grader.exercise.forbidden_calls import find_forbidden_call
from annotated_grader.exercise.student import Student
from annotated_grader.exercise.submission import MOST_NOTES
from annotated_grader.sandbox.interpreter import AnswerError

_NO_MODULE = re.compile(r"\bModuleNotFoundError: No module named '(\w+)")


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
        Why nothing was checked at all: the answer's code does not run.
    notes
        What the score does not say by itself: a forbidden call and what it costs, a cell that failed.
    """

    exercise: Exercise
    checks: tuple[CheckResult, ...]
    gate: str = ""
    notes: tuple[str, ...] = ()

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

    @property
    def is_public_only(self) -> bool:
        """Whether every public check passes and every hidden twin fails, as when an answer recites the public cases."""
        own = {check.name for check in self.exercise.checks}
        twins = [check for check in self.checks if check.hidden and check.check.name in own]
        return (
            bool(twins)
            and all(check.failure for check in twins)
            and not any(check.failure for check in self.checks if not check.hidden)
        )


def run_checks(
    exercise: Exercise,
    student: Student,
    salt: str | None = None,
    guard: Callable[[], AbstractContextManager[Any]] = nullcontext,
    more: Iterable[Check] = (),
    only: Collection[str] = (),
    before_hidden: Callable[[], None] = lambda: None,
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
    before_hidden
        Is called when the public checks are done, whether or not hidden ones follow.
    """
    forbidden = find_forbidden_call(exercise, student.source)
    results, told = [], False
    with student.own_random_numbers():
        for check, hidden in _in_order(exercise, salt, tuple(more)):
            if only and CheckResult(check, hidden).name not in only:
                continue
            if hidden and not told:
                told = True
                before_hidden()
            student.transcript = []
            if forbidden and check.name == forbidden.check:
                failure: Failure | None = Failure(forbidden.message, line=forbidden.line)
            else:
                failure = _run(check, check.cases(exercise.id, salt if hidden else None), student, guard)
            results.append(CheckResult(check, hidden, failure, tuple(student.transcript)))
        if not told:
            before_hidden()
    return ExerciseResult(exercise, tuple(results), notes=(forbidden.message,) if forbidden else ())


def not_run(exercise: Exercise, reason: str, salt: str | None = None, more: Iterable[Check] = ()) -> ExerciseResult:
    """The result of an answer whose code does not run: nothing earned, with the reason."""
    failure = Failure(reason, error=True)
    results = [CheckResult(check, hidden, failure) for check, hidden in _in_order(exercise, salt, tuple(more))]
    return ExerciseResult(exercise, tuple(results), reason)


def missing_answer(exercise: Exercise, student: Student, problems: Mapping[str, AnswerError]) -> str:
    """Why not one of the answers exists, from what went wrong in cells; empty if one does."""
    missing = []
    for name in exercise.answers:
        try:
            student.perform({"op": "has", "name": name})
            return ""
        except AnswerError as error:
            missing.append(_in_words(error))
    broken = [f"{title}: {_in_words(error)}" for title, error in problems.items()]
    return "; ".join(broken[:3] or missing[:1]) if missing else ""


def missing_modules(result: ExerciseResult, problems: Mapping[str, AnswerError]) -> list[str]:
    """Modules that an answer imports and that are not installed where this runs, by name.

    What it says in hidden checks does not count: the name may be one that it makes of what a check asked.
    """
    said = [result.gate, *map(str, problems.values())]
    public = [check.failure for check in result.checks if check.failure and not check.hidden]
    said += [failure.message for failure in public if failure.error]
    named = {name for text in said for name in _NO_MODULE.findall(text)}
    return sorted(name for name in named if not _is_installed(name))


def _is_installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):  # ValueError: of a module without a spec, such as `__main__`
        return True


def notes_on(problems: Mapping[str, AnswerError]) -> tuple[str, ...]:
    """A sentence on each cell in which something failed, though an answer is there."""
    listed = list(problems.items())[:MOST_NOTES]
    return tuple(f"{title} did not run to its end and was passed over: {_in_words(error)}" for title, error in listed)


def note_on_others(seconds: float, count: int) -> str:
    """A sentence on cells that there was no time for, or none any more."""
    limit = f"{seconds:g} second{'' if seconds == 1 else 's'}"
    what = f"cells that the answer does not seem to need took longer than {limit} together, or ended the process"
    return f"{what}; {count} of their statements {'was' if count == 1 else 'were'} not run"


def _in_words(error: AnswerError) -> str:
    return f"{error} ({error.where})" if error.where else str(error)


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
