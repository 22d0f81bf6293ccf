"""A diagnosis is true or silent: what it compares, when it says perhaps, and which lost check it explains first."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from annotated_grader.exercise import catalogue
from annotated_grader.exercise.diagnosis import Diagnosis, alike, diagnose
from annotated_grader.exercise.exercise import Exercise
from annotated_grader.exercise.run import run_checks
from annotated_grader.exercise.student import LocalStudent, Raised

TEXT = """---
exercise:
  id: ex99-2
  title: Three functions
  line: Give back what is asked for
  chapter: attention/masks
  paper: ["3.1"]
  kind: write
  minutes: 1
  answers: [double, even, first]
  hints: [a, b, c]
  quiz: []
---

Write them.

```{code-cell} ipython3
:tags: [answer]
def double(x):
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION


def even(n):
    ### BEGIN SOLUTION
    return n % 2 == 0
    ### END SOLUTION


def first(x):
    ### BEGIN SOLUTION
    if x.numel() == 0:
        raise ValueError("nothing is in it")
    return x[0]
    ### END SOLUTION
```
"""

CHECKS = '''
import torch
from annotated_grader import expect, graded

@graded(points=1)
def doubles(student, case):
    """Every number is doubled."""
    x = case.normal(3)
    expect.close(student.call("double", x), x + x, "twice x", x=x)

@graded(points=1)
def of_a_matrix(student, case):
    """Rows are doubled too."""
    x = case.normal(2, 3)
    expect.close(student.call("double", x), x + x, "twice x", x=x)

@graded(points=1)
def is_even(student, case):
    """Two is even and three is odd."""
    expect.equal(student.call("even", 2), True, "even(2)")
    expect.equal(student.call("even", 3), False, "even(3)")

@graded(points=1)
def is_first(student, case):
    """The first entry is given back, and of nothing there is none."""
    expect.raises(lambda: student.call("first", torch.zeros(0)), "ValueError", "first of nothing")
    x = case.normal(4)
    expect.close(student.call("first", x), x[0], "the first", x=x)
'''

BANK = """
- {name: squares, kind: concept, says: You squared., loses: [doubles, of_a_matrix], edit: [["2 * x", "x ** 2"]]}
- {name: columns, kind: concept, says: You doubled columns., loses: [of_a_matrix],
   edit: [["2 * x", "x * torch.tensor([2.0, 2, 3])[-x.size(-1):] if x.ndim == 2 else 2 * x"],
          ["def double", "import torch\\ndef double"]]}
- {name: by_shape, kind: concept, says: You multiplied shapes., loses: [doubles, of_a_matrix],
   edit: [["2 * x", "x @ torch.ones(4, 5)"], ["def double", "import torch\\ndef double"]]}
- {name: divides, kind: slip, says: You divided by nothing., loses: [doubles, of_a_matrix], edit: [["2 * x", "1 / 0"]]}
- {name: always, kind: concept, says: You always say yes., loses: [is_even], edit: [["n % 2 == 0", "True"]]}
- {name: below_four, kind: slip, says: You asked for less than four., loses: [is_even], edit: [["n % 2 == 0", "n < 4"]]}
- {name: last, kind: concept, says: You gave the last., loses: [is_first], edit: [["x[0]", "x[-1]"]]}
"""

SOLUTION = {
    "double": "2 * x",
    "even": "n % 2 == 0",
    "first": "x[0]",
}


@pytest.fixture(scope="module")
def exercise(tmp_path_factory: pytest.TempPathFactory) -> Exercise:
    place: Path = tmp_path_factory.mktemp("bank") / "ex99_2_three"
    place.mkdir()
    for name, text in (("exercise.md", TEXT), ("checks.py", CHECKS), ("bank.yaml", BANK)):
        (place / name).write_text(text, encoding="utf-8")
    return catalogue.find("ex99-2", place.parent)


def diagnosed(exercise: Exercise, says: str = "'nothing'", **bodies: str) -> Diagnosis | None:
    parts = {**SOLUTION, **bodies}
    code = (
        f"import torch\ndef double(x):\n    return {parts['double']}\ndef even(n):\n    return {parts['even']}\n"
        f"def first(x):\n    if x.numel() == 0:\n        raise ValueError({says})\n    return {parts['first']}\n"
    )
    return diagnose(run_checks(exercise, LocalStudent.of_code(code)))


def test_numbers_with_fractions_name_a_mistake_for_certain(exercise: Exercise) -> None:
    found = diagnosed(exercise, double="x * x")
    assert found and found.name == "squares" and found.says == "You squared."
    assert found.causes[0].checks == ("doubles", "of_a_matrix") and found.causes[0].certain


def test_the_kind_of_an_error_names_nothing(exercise: Exercise) -> None:
    assert diagnosed(exercise, double="x @ torch.ones(7, 5)") is None  # a RuntimeError too, of other sizes
    assert diagnosed(exercise, double="x / (1 - 1) if 0 else 1 // 0") is None  # any mistake may divide by zero


def test_the_text_of_an_error_names_a_mistake_with_a_perhaps(exercise: Exercise) -> None:
    found = diagnosed(exercise, double="torch.matmul(x, torch.zeros(4, 5))")
    assert found and found.name == "perhaps by_shape" and found.says == "Perhaps: You multiplied shapes."


def test_true_and_false_alone_say_perhaps_and_list_what_fits(exercise: Exercise) -> None:
    found = diagnosed(exercise, even="n != 7")
    assert found and found.name == "perhaps always or below_four"
    assert found.says == "Perhaps: You always say yes. Or: You asked for less than four."


def test_an_error_that_the_answer_raises_itself_may_have_any_text(exercise: Exercise) -> None:
    found = diagnosed(exercise, says="'there is no first entry'", first="x[len(x) - 1]")
    assert found and found.name == "last"


def test_the_first_lost_check_is_explained_first_and_others_have_causes_of_their_own(exercise: Exercise) -> None:
    found = diagnosed(exercise, double="x.square()", first="x[-1]")
    assert found and found.name == "squares; last"
    assert [cause.checks for cause in found.causes] == [("doubles", "of_a_matrix"), ("is_first",)]
    later = diagnosed(exercise, double="x + 9", first="x[-1]")  # nobody knows what is wrong with the first
    assert later and [cause.checks for cause in later.causes] == [("is_first",)]


def test_what_agrees_in_some_of_its_checks_only_says_perhaps(exercise: Exercise) -> None:
    found = diagnosed(exercise, double="x ** 2 if x.ndim == 1 else x ** 2 + 1")
    assert found and found.name == "perhaps squares" and found.causes[0].checks == ("doubles",)


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        (0.001, 0.001 * (1 + 5e-6), True),  # five parts in a million
        (0.001, 0.001 * (1 + 2e-5), False),  # twenty; no number is so small that it is the same as any other
        (0.0, 1e-9, False),
        (float("nan"), float("nan"), True),
        (torch.tensor([1e4, 0.0]), torch.tensor([1e4, 0.05]), True),  # noise of the largest entry
        (torch.tensor([1e4, 0.0]), torch.tensor([1e4, 0.2]), False),
        (torch.tensor([1e-6, 2e-6]), torch.tensor([2e-6, 1e-6]), False),
        (torch.tensor([1 + 1j]), torch.tensor([1 - 1j]), False),
        (Raised("ValueError", "a"), Raised("ValueError", "b"), False),
        (Raised("ValueError", "a", own=True), Raised("ValueError", "b", own=True), True),
        (Raised("ValueError", "a"), Raised("KeyError", "a"), False),
    ],
)
def test_what_counts_as_the_same(a: object, b: object, same: bool) -> None:
    assert alike(a, b) is same


EDITS = {
    "a decay over 96,000 updates": (
        "ex20-1",
        "min(update**-0.5, update * warmup**-1.5)",
        "(update * warmup**-1.5 if update <= warmup else warmup**-0.5 * (1 - (update - warmup) / 96000))",
        None,
    ),
    "the average of those alive": ("ex24-3", "max(alive)", "(sum(alive) / len(alive))", "perhaps worst_alive"),
    "the transpose forgotten": ("ex05-1", "q @ k.transpose(-2, -1)", "q @ k", None),
    "a bias on the wrong axis": ("ex10-1", "w1.T[..., None], b1)", "w1.T[..., None]) + b1)", None),
    "an offset out of range": ("ex24-4", "beam_size * torch", "7 * torch", None),
    "three values for two": ("ex23-3", "value, token = step(rows).max(dim=1)", "a, b, c = step(rows).max(dim=1)", None),
}


@pytest.mark.parametrize("case", EDITS)
def test_mistakes_that_the_bank_lacks_are_not_named(case: str) -> None:
    id, old, new, name = EDITS[case]
    exercise = catalogue.find(id)
    code = exercise.solution_code.replace(old, new)
    if case == "a bias on the wrong axis":
        code = code.replace("conv1d(x.transpose(1, 2), w1", "(conv1d(x.transpose(1, 2), w1", 1)
    assert code != exercise.solution_code
    result = run_checks(exercise, LocalStudent.of_code(code, exercise.given_code))
    found = diagnose(result)
    assert result.lost and (found and found.name) == name
