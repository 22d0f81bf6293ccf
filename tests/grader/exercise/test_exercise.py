"""An exercise's folder becomes an exercise, or an error that says what is wrong with it; checks add up to a score."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from annotated_grader import expect
from annotated_grader.exercise import catalogue
from annotated_grader.exercise.checks import Case, Check
from annotated_grader.exercise.diagnosis import diagnose
from annotated_grader.exercise.exercise import Exercise, ExerciseError, parse, solution_of, stub_of
from annotated_grader.exercise.run import not_run, run_checks
from annotated_grader.exercise.student import LocalStudent, Student
from annotated_grader.exercise.verify import verify
from annotated_grader.sandbox.interpreter import AnswerError

TEXT = '''---
exercise:
  id: ex99-1
  title: Double it
  line: Give back what is asked for
  chapter: attention/masks
  paper: ["3.1"]
  kind: write
  minutes: 1
  answers: [double, half]
  forbidden: [mul]
  hints: [a, b, c]
  quiz: [{question: q, options: [{text: x, correct: true, feedback: f}, {text: y, feedback: g}]}]
---

Write `double(x)`.

```{code-cell} ipython3
:tags: [answer]
def double(x):
    """Twice x."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION

### BEGIN SOLUTION stub: half = None
half = 0.5
### END SOLUTION
```

```{code-cell} ipython3
:tags: [try]
print(double(3))
```

## Afterwards

It was two.
'''

CHECKS = '''
from annotated_grader import expect, graded

@graded(points=3, hidden=2, levels=3)
def doubles(student, case):
    """Every number is doubled."""
    x = case.normal(case.between(1, 4))
    expect.close(student.call("double", x), x + x, "twice x", x=x)

@graded(points=1, hidden=0)
def is_half(student, case):
    """half is a half."""
    expect.number(student.value("half"), 0.5, "half")
'''

BANK = """
- {name: squares, kind: concept, says: You squared it., loses: [doubles], edit: [["2 * x", "x ** 2"]]}
- {name: adds_two, kind: concept, says: You added two., loses: [doubles], edit: [["2 * x", "x + 2"]]}
- {name: one_only, kind: slip, says: You doubled the first only., loses: [doubles], edit: [["2 * x", "x[:1] * 2"]]}
- {name: negative, kind: concept, says: Your half is negative., loses: [is_half], edit: [["0.5", "-0.5"]]}
- {name: third, kind: slip, says: That is a third., loses: [is_half], edit: [["0.5", "1 / 3"]]}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "ex99_1_double"
    place.mkdir()
    for name, text in (("exercise.md", TEXT), ("checks.py", CHECKS), ("bank.yaml", BANK)):
        (place / name).write_text(text, encoding="utf-8")
    return place


@pytest.fixture
def double(folder: Path) -> Exercise:
    return catalogue.find("ex99-1", folder.parent)


def test_the_parts_of_the_source(double: Exercise) -> None:
    assert double.statement == "Write `double(x)`." and double.afterwards == "It was two."
    assert [check.name for check in double.checks] == ["doubles", "is_half"]
    assert (double.points_public, double.points_hidden) == (4, 2)
    assert double.solution_code == 'def double(x):\n    """Twice x."""\n    return 2 * x\n\nhalf = 0.5\n'
    stub = 'def double(x):\n    """Twice x."""\n    raise NotImplementedError("your code here")\n\nhalf = None\n'
    assert double.stub_code == stub


def test_marks_may_be_indented_and_repeated() -> None:
    first = "if x:\n    ### BEGIN SOLUTION\n    a\n    ### END SOLUTION\n"
    code = first + "### BEGIN SOLUTION stub: b = ...\nb = 1\n### END SOLUTION\n"
    assert solution_of(code) == "if x:\n    a\nb = 1\n"
    assert stub_of(code) == 'if x:\n    raise NotImplementedError("your code here")\nb = ...\n'


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("---\nexercise", "exercise", "front matter"),
        ("minutes: 1", "minuts: 1", "unknown keys: minuts"),
        ("  title: Double it\n", "", "missing keys: title"),
        ("  line: Give back what is asked for\n", "", "missing keys: line"),
        ("is asked for\n", "is asked for.\n", "expected what it asks for, in one line without a full stop"),
        ("ex99-1", "ex9", "expected one like ex05-1"),
        ("kind: write", "kind: paint", "expected one of predict"),
    ],
)
def test_a_broken_source_is_named(old: str, new: str, message: str) -> None:
    with pytest.raises(ExerciseError, match=message):
        parse(TEXT.replace(old, new), Path("x"))


def test_a_bank_that_no_longer_fits_the_solution_is_named(folder: Path) -> None:
    (folder / "bank.yaml").write_text(BANK.replace('"2 * x"', '"3 * x"'), encoding="utf-8")
    with pytest.raises(ExerciseError, match=re.escape("'3 * x' occurs 0 times")):
        _ = catalogue.find("ex99-1", folder.parent).bank


def test_an_unknown_exercise_lists_those_that_are_there(folder: Path) -> None:
    with pytest.raises(ExerciseError, match="there is no exercise 'ex98-1': did you mean ex99-1"):
        catalogue.find("ex98-1", folder.parent)


@pytest.mark.parametrize("name", ["ex99-1", "99.1", "99-1", "EX99-01"])
def test_an_exercise_is_found_as_the_book_numbers_it(name: str, folder: Path) -> None:
    assert catalogue.find(name, folder.parent).id == "ex99-1"


def test_points_and_the_smallest_counterexample(double: Exercise) -> None:
    everything = run_checks(double, LocalStudent.of_code(double.solution_code), salt="s")
    assert (everything.score, everything.maximum) == (6, 6)
    public = run_checks(double, LocalStudent.of_code("def double(x):\n    return x ** 2"))
    assert (public.score, public.maximum, public.lost) == (0, 4, ("doubles", "is_half"))
    failure = public.checks[0].failure
    assert failure and failure.level == 0 and failure.inputs["x"].shape == (1,)


def test_hidden_twins_need_a_salt_and_differ_with_it(double: Exercise) -> None:
    check = double.checks[0]
    first, again, other = (check.cases(double.id, salt)[0].normal(4).tolist() for salt in ("a", "a", "b"))
    assert first == again != other
    assert check.cases(double.id, None)[0].normal(4).tolist() != first
    assert [case.hidden for case in check.cases(double.id, "a")] == [True] * 3


def test_what_is_forbidden_costs_one_check_and_what_does_not_run_everything(double: Exercise) -> None:
    code = "import torch\nhalf = 0.5\ndef double(x):\n    return torch.mul(x, 2)\n"
    result = run_checks(double, LocalStudent.of_code(code), "s")
    assert (result.score, result.lost) == (1, ("doubles", "doubles:hidden"))
    (note,) = result.notes
    assert "uses `mul` (line 4: return torch.mul(x, 2))" in note and "3 and 2 hidden" in note
    assert result.checks[0].failure and result.checks[0].failure.message == note
    broken = not_run(double, "SyntaxError: line 1", "s")
    assert broken.score == 0 and broken.maximum == 6


def test_a_check_that_meets_another_form_fails_the_answer_not_the_grader(double: Exercise) -> None:
    result = run_checks(double, LocalStudent.of_code("half = 0.5\ndef double(x):\n    return {'x': x}\n"))
    assert result.lost == ("doubles",)


def test_the_wrong_idea_is_told_from_its_behaviour(double: Exercise) -> None:
    def named(code: str) -> str | None:
        found = diagnose(run_checks(double, LocalStudent.of_code(code)))
        return found and found.name

    assert named("half = 0.5\nimport torch\ndef double(x):\n    return torch.pow(x, 2.0)\n") == "squares"
    assert named("half = 0.5\ndef double(y):\n    return y + 1 + 1\n") == "adds_two"
    assert named("half = 0.5\ndef double(y):\n    return y + 7\n") is None
    assert named(double.solution_code) is None
    two_things = "half = -0.5\ndef double(y):\n    return y + 7\n"  # one of them is known
    assert named(two_things) == "negative"


def test_verification_finds_what_it_must(double: Exercise, folder: Path) -> None:
    assert verify(double).problems == []
    text = BANK.replace('[is_half], edit: [["0.5", "-0.5"]]', '[doubles], edit: [["0.5", "-0.5"]]')
    changed = parse(TEXT.replace("return 2 * x", "return 2 * x + 0 * id(x)"), folder)
    (folder / "bank.yaml").write_text(text.replace("2 * x", "2 * x + 0 * id(x)"), encoding="utf-8")
    assert any(
        "negative also loses ['is_half'], and keeps ['doubles'" in problem for problem in verify(changed).problems
    )


def test_trusted_code_that_fails_says_where() -> None:
    with pytest.raises(AnswerError) as error:
        LocalStudent.of_code("x = 1\ny = 1 / 0\n")
    assert error.value.where == "line 2: y = 1 / 0"


def test_a_value_on_which_arithmetic_fails_costs_the_check_alone(double: Exercise) -> None:
    def divides(student: Student, case: Case) -> None:
        """It divides by the answer."""
        expect.number(1 / student.value("half"), 2, "one over it")

    more = (Check("divides", "It divides.", divides, 1, 1),)
    student = LocalStudent.of_code(double.solution_code.replace("0.5", "0"))
    result = run_checks(double, student, "s", more=more, only=("divides:hidden",))
    assert result.lost == ("divides:hidden",) and result.maximum == 1
