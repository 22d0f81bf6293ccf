"""Fairness of the grader: right answers in strangers' styles keep every point, wrong ones lose some, no name is false.

An exercise's `answers.py` holds answers to it, written from its statement alone, in cells:

    # %% right: numpy and loops
    # %% wrong: forgets the transpose | may be called: scores_from_values, no_scale

What stands before the first cell (imports) belongs to every cell, and so does what the exercise gives. Every cell
runs after the file's first right one, so that it may change one answer of several and leave the others as they are. A
wrong answer may be called by the names of the bank's entries that are true of it; where none is listed, every name
would be false. A misconception that is named with "perhaps" is not held against the grader.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cache

import pytest

from annotated_grader.exercise import catalogue
from annotated_grader.exercise.diagnosis import diagnose
from annotated_grader.exercise.exercise import Exercise
from annotated_grader.exercise.run import ExerciseResult, run_checks
from annotated_grader.exercise.student import LocalStudent

pytestmark = pytest.mark.slow

CELL = re.compile(
    r"^# %% (?P<kind>right|wrong): (?P<title>[^|\n]+?)(?: \| may be called: ?(?P<names>[^\n]*))?\n"
    r"(?P<code>.*?)(?=^# %% |\Z)",
    re.M | re.S,
)
SALTS = ("fairness-1", pytest.param("fairness-2", marks=pytest.mark.nightly))


@dataclass(frozen=True)
class Answer:
    """A stranger's answer, and what is true of it."""

    exercise: str
    kind: str
    title: str
    code: str
    names: tuple[str, ...] = ()


@cache
def exercise_of(id: str) -> Exercise:
    return catalogue.find(id)


def answers_to(exercise: Exercise) -> list[Answer]:
    """The answers beside an exercise, each with all that it needs to run."""
    file = exercise.folder / "answers.py"
    if not file.is_file():
        return []
    text = file.read_text(encoding="utf-8")
    opening = text[: text.index("# %% ")]
    given = "\n".join(cell.text for cell in exercise.cells if cell.code and "given" in cell.tags)
    cells = list(CELL.finditer(text))
    assert len(cells) == len(re.findall("^# %% ", text, re.M)), f"{file}: the head of a cell is not as it must be"
    first = next(cell["code"] for cell in cells if cell["kind"] == "right")
    answers = []
    for cell in cells:
        code = "\n".join((given, opening, first, cell["code"]))
        names = tuple(name.strip() for name in (cell["names"] or "").split(",") if name.strip())
        answers.append(Answer(exercise.id, cell["kind"], cell["title"], code, names))
    return answers


ANSWERS = [answer for exercise in catalogue.all_exercises() for answer in answers_to(exercise)]
RIGHT = [answer for answer in ANSWERS if answer.kind == "right"]
WRONG = [answer for answer in ANSWERS if answer.kind == "wrong"]


def named(answer: Answer) -> str:
    return f"{answer.exercise}: {answer.title}"


def graded(answer: Answer, salt: str) -> ExerciseResult:
    exercise = exercise_of(answer.exercise)
    return run_checks(exercise, LocalStudent.of_code(answer.code, exercise.given_code), salt)


@pytest.mark.parametrize("salt", SALTS)
@pytest.mark.parametrize("answer", RIGHT, ids=named)
def test_a_right_answer_loses_nothing(answer: Answer, salt: str) -> None:
    result = graded(answer, salt)
    assert not result.gate
    assert {check.name: check.failure.message for check in result.checks if check.failure} == {}


@pytest.mark.parametrize("answer", WRONG, ids=named)
def test_a_wrong_answer_loses_points_and_is_called_nothing_false(answer: Answer) -> None:
    result = graded(answer, "fairness-1")
    assert result.lost, "a wrong answer has every point"
    diagnosis = diagnose(result)
    certain = [cause for cause in (diagnosis.causes if diagnosis else ()) if cause.certain]
    said = {entry.name: entry.says for cause in certain for entry in cause.entries}
    assert {name: says for name, says in said.items() if name not in answer.names} == {}


def test_the_names_are_of_the_bank() -> None:
    for answer in ANSWERS:
        assert set(answer.names) <= {entry.name for entry in exercise_of(answer.exercise).bank}, named(answer)
        assert not (answer.kind == "right" and answer.names), named(answer)


def test_the_bank_is_large_and_every_answer_has_a_name_of_its_own() -> None:
    assert len(RIGHT) >= 100 and len(WRONG) >= 200
    assert max(Counter(map(named, ANSWERS)).values()) == 1
