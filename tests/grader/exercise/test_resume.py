"""ex33-2: what a snapshot holds has to be in the file; a variable of the process that is gone helps nobody."""

from __future__ import annotations

import pytest

from annotated_grader.exercise import catalogue
from annotated_grader.exercise.run import run_checks
from annotated_grader.exercise.student import LocalStudent

IN_A_DICTIONARY = """
import copy

import torch

KEPT = {}


def snapshot(t):
    state = t.model, t.optimizer, t.update, t.order, t.generator.get_state(), torch.get_rng_state()
    KEPT[len(KEPT)] = copy.deepcopy(state)
    return {"number": len(KEPT) - 1}


def restore(t, saved):
    model, optimizer, t.update, t.order, orders, random = KEPT[saved["number"]]
    t.model.load_state_dict(model.state_dict())
    t.optimizer.load_state_dict(optimizer.state_dict())
    t.generator.set_state(orders)
    torch.set_rng_state(random)
"""

OF_A_FUNCTION = (
    IN_A_DICTIONARY.replace("KEPT = {}\n\n\n", "").replace("KEPT", "snapshot.kept") + "\nsnapshot.kept = {}\n"
)
ON_TORCH = (
    IN_A_DICTIONARY.replace("KEPT = {}\n\n\n", "")
    .replace("KEPT[len(KEPT)] =", "torch.kept =")
    .replace("len(KEPT) - 1", "0")
    .replace('KEPT[saved["number"]]', "torch.kept")
)


@pytest.mark.parametrize("code", [IN_A_DICTIONARY, OF_A_FUNCTION, ON_TORCH])
def test_what_is_kept_in_the_process_is_not_there(code: str) -> None:
    exercise = catalogue.find("ex33-2")
    result = run_checks(exercise, LocalStudent.of_code(code, exercise.given_code), "salt")
    assert result.score == 0


def test_an_answer_with_helpers_and_constants_of_its_own_is_right() -> None:
    exercise = catalogue.find("ex33-2")
    code = exercise.solution_code.replace("return copy.deepcopy(state)", "return copied(state)")
    code += "\nNOTHING = {}\n\n\ndef copied(state):\n    return NOTHING | copy.deepcopy(state)\n"
    result = run_checks(exercise, LocalStudent.of_code(code, exercise.given_code), "salt")
    assert result.lost == ()


def test_modules_that_a_notebook_imported_elsewhere_are_there() -> None:
    exercise = catalogue.find("ex33-2")
    student = LocalStudent.of_code(exercise.solution_code, exercise.given_code)
    student.source = exercise.solution_code.replace("import copy\n", "").replace("import torch\n", "")
    assert run_checks(exercise, student).lost == ()
