"""The gate judges calls that an answer reaches, however they are spelled, and takes one check for them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from annotated_grader.exercise.catalogue import all_exercises, find
from annotated_grader.exercise.forbidden_calls import find_forbidden_call
from annotated_grader.exercise.run import run_checks
from annotated_grader.exercise.student import LocalStudent

F = "import torch.nn.functional as F\n"
SDPA = "scaled_dot_product_attention"


def cases(kind: str) -> list[tuple[str, str]]:
    """Exercises and answers of `forbidden_calls.txt`."""
    text = Path(__file__).with_name("forbidden_calls.txt").read_text(encoding="utf-8")
    return re.findall(rf"^### (\S+) \| {kind}\n(.*?)(?=^### |\Z)", text, re.M | re.S)


@pytest.mark.parametrize(("exercise", "code"), cases("innocent"))
def test_names_of_ones_own_and_calls_that_no_answer_reaches_do_not_count(exercise: str, code: str) -> None:
    assert find_forbidden_call(find(exercise), code) is None


@pytest.mark.parametrize(("exercise", "code"), cases("forbidden"))
def test_a_call_that_an_answer_reaches_counts(exercise: str, code: str) -> None:
    found = find_forbidden_call(find(exercise), code)
    assert found and found.name in find(exercise).forbidden
    assert found.line in found.message and found.name in found.message


def test_it_costs_the_check_that_is_worth_most_and_asks_for_that_answer() -> None:
    found = find_forbidden_call(find("ex06-2"), F + f"def step(q, k, v): return F.{SDPA}(q, k, v)\n")
    assert found and found.check == "newest_row", "three points, and it calls `step`"
    found = find_forbidden_call(
        find("ex26-1"), "import sacrebleu\ndef brevity_penalty(a, b): return sacrebleu.BLEU(a, b)\n"
    )
    assert found and found.check == "too_short_costs", "of five checks the one that asks for this answer"


def test_no_solution_is_stopped_and_every_gate_has_a_check() -> None:
    for exercise in all_exercises():
        assert find_forbidden_call(exercise, exercise.solution_code) is None, exercise.id
        for answer in exercise.answers if exercise.forbidden else ():
            name = next(name for name in exercise.forbidden if name != answer)
            found = find_forbidden_call(exercise, F + f"def {answer}(x): return F.{name}(x)\n")
            assert found and found.check in {check.name for check in exercise.checks}, exercise.id


def test_the_other_checks_count() -> None:
    exercise = find("ex05-1")
    code = exercise.solution_code.replace("scores.softmax(dim=-1)", "hidden_in(scores)")
    code += F + f"def hidden_in(x):\n    F.{SDPA}(x, x, x)\n    return x.softmax(dim=-1)\n"
    result = run_checks(exercise, LocalStudent.of_code(code), "salt")
    assert result.score == result.maximum - 3 and len(result.lost) == 2
    assert [check.failure.message for check in result.checks if check.failure] == [result.notes[0]] * 2


def test_code_that_is_not_python_has_nothing_to_say() -> None:
    assert find_forbidden_call(find("ex05-1"), "(" * 10_000) is None


def test_work_grows_with_the_input_and_no_faster() -> None:
    exercise = find("ex05-1")
    assert find_forbidden_call(exercise, "attention = 1\n" + "attention += 1\n" * 5_000) is None
    assert find_forbidden_call(exercise, "def attention(q):\n" + "    q.linear.q(q)\n" * 5_000) is None
