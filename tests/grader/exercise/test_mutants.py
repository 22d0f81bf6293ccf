"""Mutants of a solution are made by rule in the solution's part alone; those that lose nothing must be declared."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from annotated_grader.commands.exercise_verify import Verify
from annotated_grader.exercise import catalogue
from annotated_grader.exercise.checks import Case
from annotated_grader.exercise.exercise import Exercise
from annotated_grader.exercise.mutants import SolutionMutant, mutants
from annotated_grader.exercise.survivors import FILE, USED_SALTS, calls_of, survival, survives
from annotated_grader.learner.timeout import time_limit

TEXT = '''---
exercise:
  id: ex99-4
  title: Clip
  line: Give back what is asked for
  chapter: attention/masks
  paper: ["3.1"]
  kind: write
  minutes: 1
  answers: [clip]
  hints: [a, b, c]
  quiz: []
---

Write `clip(x, low, high=10)`.

```{code-cell} ipython3
:tags: [given]
LEAST = 3
```

```{code-cell} ipython3
:tags: [answer]
def clip(x, low, high=10):
    """x, or the nearest number from low to high."""
    ### BEGIN SOLUTION
    if x < low:
        return low
    return min(x, high)
    ### END SOLUTION
```
'''

CHECKS = """
from annotated_grader import expect, graded

@graded(points=1, levels=1)
def clips(student, case):
    \"\"\"Numbers are clipped.\"\"\"
    for x, *bounds in {asked}:
        expect.equal(student.call("clip", x, *bounds), min(max(x, bounds[0]), [*bounds, 10][1]), "the number")
"""
LOW_ALONE = ((5, 7), (8, 7), (2, 3))
"""Questions that nobody can answer wrongly by forgetting `high`."""
BOTH_ENDS = (*LOW_ALONE, (11, 7), (9, 7, 8), (12, 7, 11))

NOT_BELOW = ("if x < low:", "if x <= low:")
"""A right answer all the same: for x = low both are low."""


def said_of(before: str, after: str) -> str:
    """What is said of a survivor, with its line in the exercise's text."""
    line = [text.strip() for text in TEXT.splitlines()].index(before) + 1
    return f"line {line}: {before}  ->  {after}  loses nothing"


def made(folder: Path, asked: Sequence[tuple[int, ...]], declared: str = "") -> Exercise:
    place = folder / "ex99_4_clip"
    place.mkdir()
    (place / "exercise.md").write_text(TEXT, encoding="utf-8")
    (place / "checks.py").write_text(CHECKS.format(asked=asked), encoding="utf-8")
    if declared:
        (place / FILE).write_text(declared, encoding="utf-8")
    return catalogue.find("ex99-4", folder)


def entry(change: tuple[str, str], because: str) -> str:
    return f'- because: "{because}"\n  changes:\n    - ["{change[0]}", "{change[1]}"]\n'


def test_only_the_solution_is_changed_and_by_every_rule(tmp_path: Path) -> None:
    exercise = made(tmp_path, BOTH_ENDS)
    found = mutants(exercise, calls_of(exercise))
    assert {(m.before, m.after) for m in found} >= {
        NOT_BELOW,
        ("if x < low:", "if False:"),
        ("if x < low:", "if True:"),
        ("return min(x, high)", "return max(x, high)"),
        ("return min(x, high)", "return x"),
        ("return min(x, high)", "return min(x)"),
        ("def clip(x, low, high=10):", "def clip(x, low, high=10): high = 10"),
        ("def clip(x, low, high=10):", "def clip(x, low, high=10): low = 7"),  # of the first call
        ("def clip(x, low, high=10):", "def clip(x, low, high=10): x = low"),
    }
    lines = TEXT.splitlines()
    assert {m.before for m in found} == {lines[m.line - 1].strip() for m in found}
    assert all("LEAST = 3" in m.code for m in found)
    assert len({m.code for m in found}) == len(found)


def test_a_parameter_that_no_check_varies_is_found(tmp_path: Path) -> None:
    problems = survival(made(tmp_path, LOW_ALONE), time_limit).problems
    signature = "def clip(x, low, high=10):"
    assert said_of(signature, f"{signature} high = 10") in problems
    assert said_of("return min(x, high)", "return x") in problems


@pytest.mark.parametrize(
    ("declared", "problems"),
    [
        ("", [said_of(*NOT_BELOW)]),
        (entry(NOT_BELOW, "For x = low both are low."), []),
        (entry(NOT_BELOW, " "), [f"{FILE}: if x < low:  ->  if x <= low:  has no reason"]),
        (
            entry(NOT_BELOW, "Both are low.") + entry(("if x < low:", "if False:"), "It was once."),
            [f"{FILE}: if x < low:  ->  if False:  is no survivor"],
        ),
    ],
)
def test_survivors_are_declared_with_a_reason(tmp_path: Path, declared: str, problems: list[str]) -> None:
    found = survival(made(tmp_path, BOTH_ENDS, declared), time_limit)
    assert found.problems == problems
    assert found.declared == declared.count("<=")


def test_a_file_in_another_form_is_named(tmp_path: Path) -> None:
    (problem,) = survival(made(tmp_path, BOTH_ENDS, "- because: x\n"), time_limit).problems
    assert f"{FILE}: each entry needs `because` and `changes`" in problem


def test_what_loses_by_luck_survives(tmp_path: Path) -> None:
    """A wrong answer must lose under every salt."""
    exercise = made(tmp_path, ())
    checks = CHECKS.split("    for")[0] + "    n = int(case.integers(0, 10**9, 1))\n"
    checks += '    expect.equal(student.call("clip", n, 0, n), n, "the number")\n'
    (exercise.folder / "checks.py").write_text(checks, encoding="utf-8")

    def drawn(salt: str) -> int:
        return int(Case(f"{salt}|ex99-4|clips|hidden", 1).integers(0, 10**9, 1))

    for salts, survived in ((USED_SALTS[:1], True), (USED_SALTS, False)):
        unlucky = f"def clip(x, low, high):\n    return x + (x in {[*map(drawn, salts)]})\n"
        assert survives(exercise, SolutionMutant(1, "", "", unlucky), time_limit, 5.0) == survived


@pytest.mark.process
def test_an_endless_loop_ends(tmp_path: Path) -> None:
    endless = SolutionMutant(1, "", "", "def clip(*bounds):\n    while True:\n        pass\n")
    assert not survives(made(tmp_path, BOTH_ENDS), endless, time_limit, 0.2)


@pytest.mark.process
def test_the_command_says_what_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made(tmp_path, BOTH_ENDS)
    monkeypatch.setenv(catalogue.PLACE, str(tmp_path))
    assert Verify(mutants=True, jobs=1).run() == 1
    said = capsys.readouterr().out
    assert "FAIL ex99-4" in said and "if x < low:  ->  if x <= low:  loses nothing" in said
    assert "of 1 exercises, 1 problems" in said
