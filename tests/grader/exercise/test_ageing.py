"""Right answers in notebooks that have aged: the grade is what the last check said, whatever cells came since."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from annotated_grader.exercise.catalogue import find
from tests.grader.exercise.notebook_bank import HonestNotebook, Verdicts, verdicts
from tests.grader.test_fairness import RIGHT, Answer

pytestmark = pytest.mark.slow
CELL = re.compile(r"^### (\w+) \| (below|above)\n(.*?)(?=^### |\Z)", re.M | re.S)
CELLS = CELL.findall(Path(__file__).with_name("ageing.txt").read_text(encoding="utf-8"))


def functions() -> list[Answer]:
    """A right answer of strangers to each exercise that asks for a function, in the exercises' order."""
    first: dict[str, Answer] = {}
    for answer in RIGHT:
        if f"def {find(answer.exercise).answers[0]}(" in find(answer.exercise).stub_code:
            first.setdefault(answer.exercise, answer)
    return list(first.values())


def aged() -> tuple[HonestNotebook, ...]:
    """Each cell in the notebook of an answer, every time another one."""
    answers, made = functions(), []
    for number, (name, where, code) in enumerate(CELLS):
        answer = answers[number % len(answers)]
        exercise = find(answer.exercise)
        code = code.replace("<stub>", exercise.stub_code).replace("ANSWER", exercise.answers[0]).strip("\n")
        cells = [("answer", answer.code.strip("\n"))]
        cells.insert(where == "below", ("below" if where == "below" else "", code))
        made.append(HonestNotebook(name, exercise.id, exercise.points_public, False, tuple(cells)))
    return tuple(made)


AGED = aged()


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Verdicts]:
    """The verdicts on all of them."""
    return verdicts(AGED, tmp_path_factory.mktemp("aged"))


def test_there_are_many_and_no_two_are_alike() -> None:
    assert len(AGED) >= 50 and len({one.name for one in AGED}) == len(AGED)
    assert len({one.exercise for one in AGED}) >= 15


@pytest.mark.parametrize("one", AGED, ids=lambda one: one.name)
def test_what_the_last_check_said_is_graded(found: dict[str, Verdicts], one: HonestNotebook) -> None:
    got = found[one.name]
    assert (got.in_notebook, got.from_file, got.graded) == (one.points,) * 3, got
