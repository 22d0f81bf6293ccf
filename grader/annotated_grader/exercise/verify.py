"""Verify exercises: solutions earn everything, stubs nothing, and each wrong answer loses exactly what it must.

The bank's answers are ours, so they run in this process; solution, stub and empty notebook go through the sandbox too.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from annotated_grader.exercise.build import student_notebook
from annotated_grader.exercise.diagnosis import diagnose, tells
from annotated_grader.exercise.exercise import Exercise, WrongAnswer, solution_of
from annotated_grader.exercise.nondeterminism import find_nondeterminism
from annotated_grader.exercise.run import ExerciseResult, not_run, run_checks
from annotated_grader.exercise.student import LocalStudent
from annotated_grader.sandbox.interpreter import AnswerError

SALTS = tuple(f"verify-{i}" for i in range(5))
"""The solution must earn everything under each of these; the bank is held to the first."""

FEWEST_WRONG, MOST_WRONG = 5, 20


@dataclass
class Verdict:
    """What the gate found about one exercise.

    Attributes
    ----------
    problems
        One sentence each; none if the exercise may be released.
    matrix
        For each entry of the bank, the checks that it lost.
    seconds
        How long it took.
    """

    exercise: Exercise
    problems: list[str] = field(default_factory=list)
    matrix: dict[str, tuple[str, ...]] = field(default_factory=dict)
    seconds: float = 0.0


Grader = Callable[[Exercise, str, str], ExerciseResult]
"""Grades code for an exercise under a salt, in a sandbox."""


def verify(exercise: Exercise, grader: Grader | None = None) -> Verdict:
    """Hold an exercise to the rules of `exercises/README.md`.

    Parameters
    ----------
    grader
        The sandboxed path; without one only this process is used.
    """
    verdict, start = Verdict(exercise), time.perf_counter()
    try:
        verdict.problems += _shape(exercise)
        verdict.problems += _solution_and_stub(exercise, _in_process, "", SALTS)
        if grader:
            verdict.problems += _solution_and_stub(exercise, grader, " in the sandbox", SALTS[:1])
        verdict.problems += find_nondeterminism(exercise, SALTS[0])
        verdict.problems += _bank(exercise, verdict.matrix)
        verdict.problems += _student_build(exercise)
    except Exception as error:  # a broken exercise must not hide the others
        verdict.problems.append(f"it cannot be verified: {type(error).__name__}: {error}")
    verdict.seconds = time.perf_counter() - start
    return verdict


def _shape(exercise: Exercise) -> list[str]:
    wrong = len(exercise.bank)
    rules = {
        "it has no checks": bool(exercise.checks),
        "it needs three hints": len(exercise.hints) == 3,
        "it needs a question for its quiz": bool(exercise.quiz),
        "it needs the names of its answers": bool(exercise.answers),
        "a mark, ### BEGIN SOLUTION or ### END SOLUTION, is there without the other": not any(
            " SOLUTION" in solution_of(cell.text) for cell in exercise.cells if cell.code
        ),
        "it says nothing afterwards": bool(exercise.afterwards),
        f"its bank has {wrong} answers, expected {FEWEST_WRONG} to {MOST_WRONG}": FEWEST_WRONG <= wrong <= MOST_WRONG,
        "two of its checks have one name": len({check.name for check in exercise.checks}) == len(exercise.checks),
        "two wrong answers have one name": len({entry.name for entry in exercise.bank}) == wrong,
    }
    for question in exercise.quiz:
        rules[f"quiz: exactly one option is right: {question['question'][:40]}"] = (
            sum(bool(option.get("correct")) for option in question["options"]) == 1
        )
    return [problem for problem, holds in rules.items() if not holds]


def _in_process(exercise: Exercise, code: str, salt: str) -> ExerciseResult:
    try:
        student = LocalStudent.of_code(code, exercise.given_code)
    except AnswerError as error:
        return not_run(exercise, str(error), salt)
    return run_checks(exercise, student, salt)


def _solution_and_stub(exercise: Exercise, grade: Grader, where: str, salts: tuple[str, ...]) -> list[str]:
    problems = []
    for salt in salts:
        result = grade(exercise, exercise.solution_code, salt)
        problems += [
            f"the solution loses {check.name}{where} (salt {salt}): {check.failure.message} {check.failure.line}"
            for check in result.checks
            if check.failure
        ]
    for name, code in (("stub", exercise.stub_code), ("empty notebook", "")):
        result = grade(exercise, code, salts[0])
        problems += [f"the {name} earns {check.name}{where}" for check in result.checks if not check.failure]
    return problems


def _bank(exercise: Exercise, matrix: dict[str, tuple[str, ...]]) -> list[str]:
    problems = []
    for entry in exercise.bank:
        result = _in_process(exercise, entry.code, SALTS[0])
        matrix[entry.name] = result.lost
        problems += _entry(exercise, entry, result)
    killed = {name for lost in matrix.values() for name in lost}
    every = {check.name for check in exercise.checks}
    every |= {f"{check.name}:hidden" for check in exercise.checks if check.hidden}
    return problems + [f"no wrong answer loses {name}" for name in sorted(every - killed)]


def _entry(exercise: Exercise, entry: WrongAnswer, result: ExerciseResult) -> list[str]:
    twins = {check.name for check in exercise.checks if check.hidden}
    names = {check.name for check in exercise.checks}
    if unknown := sorted(name for name in entry.loses if name.removesuffix(":hidden") not in names):
        return [
            f"{entry.name} loses {', '.join(unknown)}, and there is no such check; there are {', '.join(sorted(names))}"
        ]
    expected = set(entry.loses) | {f"{name}:hidden" for name in entry.loses if name in twins}
    lost, problems = set(result.lost), []
    if lost != expected:
        more, less = sorted(lost - expected), sorted(expected - lost)
        details = "; ".join(f"{c.name}: {c.failure.message}" for c in result.checks if c.failure and c.name in more)
        problems.append(f"{entry.name} also loses {more}, and keeps {less}. {details}")
    if entry.kind == "concept" and all(name.endswith(":hidden") for name in lost):
        problems.append(f"{entry.name} is a wrong idea, but loses no public check")
    elif entry.kind == "concept" and tells(exercise, entry):
        named = diagnose(result)
        ideas = [
            other for cause in (named.causes if named else ()) for other in cause.entries if other.kind == "concept"
        ]
        if [idea.name for idea in ideas] != [entry.name]:
            problems.append(f"{entry.name} is taken for {named.name if named else 'nothing known'}")
    return problems


def _student_build(exercise: Exercise) -> list[str]:
    """What the student's notebook must not show: a line of the solution, or of the checks."""
    built = student_notebook(exercise)
    shown = {line.strip() for cell in json.loads(built)["cells"] for line in "".join(cell["source"]).splitlines()}
    allowed = _telling(exercise.stub_code) | _telling(exercise.statement)
    allowed |= {line for cell in exercise.cells if "try" in cell.tags for line in _telling(cell.text)}
    checks = (exercise.folder / "checks.py").read_text(encoding="utf-8")
    secrets = (_telling(exercise.solution_code) | _telling(checks)) - allowed
    problems = [f"the student notebook shows {line!r}" for line in sorted(secrets & shown)]
    return problems + ["two builds of it differ"] * (student_notebook(exercise) != built)


def _telling(text: str) -> set[str]:
    """Lines that say something; imports and closing brackets do not."""
    lines = {line.strip() for line in text.splitlines()}
    return {line for line in lines if len(line) > 8 and not line.startswith(("import ", "from "))}


def matrix_text(verdict: Verdict) -> str:
    """The check-by-bank matrix: a row for each wrong answer, x where it loses the check, h where the twin alone."""
    names = [check.name for check in verdict.exercise.checks]
    width = max((len(name) for name in verdict.matrix), default=0)
    lines = [f"{verdict.exercise.id} {verdict.exercise.title}"]
    lines += [f"  {i}: {name}" for i, name in enumerate(names, 1)]
    lines.append("  " + " " * width + " " + " ".join(f"{i:>2}" for i in range(1, len(names) + 1)))
    for entry, lost in verdict.matrix.items():
        marks = ("x" if name in lost else "h" if f"{name}:hidden" in lost else "." for name in names)
        lines.append(f"  {entry:<{width}} " + " ".join(f"{mark:>2}" for mark in marks))
    return "\n".join(lines)
