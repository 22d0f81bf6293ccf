"""Survivors among an exercise's mutants: changed solutions that earn everything, and those declared to be right.

`equivalent.yaml` in the exercise's folder declares those that are right answers all the same, each with its reason::

    - because: "`repeat` and `expand` give the same values."
      changes:
        - ["x = x.repeat(2)", "x = x.expand(2)"]
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from annotated_grader.exercise.exercise import Exercise, ExerciseError, read_yaml
from annotated_grader.exercise.mutants import Calls, SolutionMutant, mutants, with_watched_parameters
from annotated_grader.exercise.run import run_checks
from annotated_grader.exercise.student import LocalStudent
from annotated_grader.exercise.verify import SALTS
from annotated_grader.sandbox.cells import answer_names
from annotated_grader.sandbox.interpreter import AnswerError

FILE = "equivalent.yaml"
USED_SALTS = SALTS[:3]
"""A mutant must lose a public check, or a hidden one under each of these."""

_SHORTEST, _SLOWER = 1.0, 5.0  # seconds, and how many times as long as the solution a mutant may take

TimeLimit = Callable[[float], AbstractContextManager[Any]]
"""Makes a context in which a block may take so many seconds."""


@dataclass
class Survival:
    """What became of an exercise's mutants.

    Attributes
    ----------
    count
        How many there were.
    declared
        How many of those that survived are declared to be equivalent.
    problems
        One sentence for each survivor that is not declared, and for each declaration that is not right.
    """

    exercise: Exercise
    count: int = 0
    declared: int = 0
    problems: list[str] = field(default_factory=list)
    seconds: float = 0.0


def survival(exercise: Exercise, time_limit: TimeLimit) -> Survival:
    """Run all checks on all mutants of an exercise's solution."""
    found, start = Survival(exercise), time.perf_counter()
    try:
        declared, calls = _declared(exercise), calls_of(exercise)
        limit = max(_SHORTEST, _SLOWER * (time.perf_counter() - start))
        every = mutants(exercise, calls)
        living = [mutant for mutant in every if survives(exercise, mutant, time_limit, limit)]
    except Exception as error:  # a broken exercise must not hide the others
        found.problems.append(f"it cannot be examined: {type(error).__name__}: {error}")
        return found
    changes = {(mutant.before, mutant.after) for mutant in living}
    found.count, found.declared = len(every), sum((m.before, m.after) in declared for m in living)
    found.problems += [
        f"line {m.line}: {m.before}  ->  {m.after}  loses nothing"
        for m in living
        if (m.before, m.after) not in declared
    ]
    for (before, after), reason in declared.items():
        faults = ["is no survivor"] * ((before, after) not in changes) + ["has no reason"] * (not reason.strip())
        found.problems += [f"{FILE}: {before}  ->  {after}  {fault}" for fault in faults]
    found.seconds = time.perf_counter() - start
    return found


def calls_of(exercise: Exercise) -> Calls:
    """What all checks call the solution's functions with."""
    calls = Calls()
    student = LocalStudent({**answer_names(), "__called__": calls.note}, "", exercise.given_code)
    student.interpreter.load(with_watched_parameters(exercise))
    run_checks(exercise, student, USED_SALTS[0])
    return calls


def survives(exercise: Exercise, mutant: SolutionMutant, time_limit: TimeLimit, seconds: float) -> bool:
    """Whether a mutant earns everything under one of the salts, and in time."""
    try:
        with time_limit(seconds):
            return _earns_everything(exercise, mutant.code)
    except (AnswerError, AssertionError, RecursionError):  # its code does not run, or takes too long
        return False


def _earns_everything(exercise: Exercise, code: str) -> bool:
    student = LocalStudent.of_code(code, exercise.given_code)

    def loses(name: str, salt: str | None) -> bool:
        return bool(run_checks(exercise, student, salt, only=(name,)).lost)

    if any(loses(check.name, None) for check in exercise.checks):
        return False
    twins = [f"{check.name}:hidden" for check in exercise.checks if check.hidden]
    return not all(any(loses(name, salt) for name in twins) for salt in USED_SALTS)


def _declared(exercise: Exercise) -> dict[tuple[str, str], str]:
    """Changes that are declared to be equivalent, and why."""
    file = exercise.folder / FILE
    if not file.is_file():
        return {}
    try:
        entries = read_yaml(file.read_text(encoding="utf-8")) or []
        return {
            (before, after): str(entry.get("because") or "") for entry in entries for before, after in entry["changes"]
        }
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ExerciseError(f"{file}: each entry needs `because` and `changes`, pairs of statements") from error
