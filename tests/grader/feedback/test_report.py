"""What a result looks like: score and reason first, then the smallest counterexample, in a terminal and as HTML."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

from annotated_grader.exercise.checks import Case, Check
from annotated_grader.exercise.diagnosis import Cause, Diagnosis
from annotated_grader.exercise.exercise import Exercise, WrongAnswer, parse
from annotated_grader.exercise.run import CheckResult, ExerciseResult, Failure
from annotated_grader.feedback.report import Feedback, headline, name_of
from annotated_grader.feedback.report_html import html_of
from annotated_grader.feedback.tensor_tables import MOST, compared, single

SOURCE = """---
exercise:
  id: ex05-9
  title: "Twice"
  line: Give back what is asked for
  chapter: attention/scaled_dot_product
  paper: ["3.2.1"]
  kind: write
  minutes: 5
  answers: [twice]
  hints: [one, two, three]
  quiz: []
---

Write `twice(x)`.

```{code-cell} ipython3
:tags: [answer]
def twice(x):
    ### BEGIN SOLUTION
    return x + x
    ### END SOLUTION
```
"""


def nothing(student: object, case: Case) -> None:
    """Title of the check."""


@pytest.fixture
def exercise(tmp_path: Path) -> Exercise:
    check = "@graded(points=3, hidden=2)\ndef values(student, case):\n    'Values.'\n"
    (tmp_path / "checks.py").write_text(f"from annotated_grader import graded\n\n{check}", encoding="utf-8")
    return parse(SOURCE, tmp_path)


def result_of(exercise: Exercise, *failures: Failure | None, hidden: bool = False, gate: str = "") -> ExerciseResult:
    checks = [Check(f"check{i}", f"Property `{i}` holds.", nothing, 3, 2) for i in range(len(failures))]
    made = tuple(CheckResult(check, hidden, failure) for check, failure in zip(checks, failures, strict=True))
    return ExerciseResult(exercise, made, gate)


WRONG = Failure(
    "the weights at [0, 1]: expected 2, got 3",
    what="the weights",
    inputs={"x": torch.tensor([[1.0, 1.0]])},
    expected=torch.tensor([[1.0, 2.0]]),
    got=torch.tensor([[1.0, 3.0]]),
    where=(0, 1),
)


def test_the_score_and_its_reason_come_first(exercise: Exercise) -> None:
    result = result_of(exercise, None, WRONG)
    reason = "the weights at [0, 1]: expected 2, got 3"
    assert headline(result) == f"3 of 6 public points: {reason} (an instructor's grading adds 2 hidden points)."
    assert Feedback(result).text().startswith("3 of 6 public points: the weights")
    page = html_of(Feedback(result))
    assert page.index("3 of 6") < page.index("<table")


def known(*entries: WrongAnswer, checks: tuple[str, ...] = ("check0",), certain: bool = True) -> Diagnosis:
    return Diagnosis((Cause(entries, checks, certain),))


def test_the_first_lost_check_is_shown_and_a_cause_says_which_checks_it_explains(exercise: Exercise) -> None:
    result = result_of(exercise, WRONG, Failure("another reason?", inputs={"your_weights": torch.ones(1)}))
    entry = WrongAnswer("other", "You did.", "concept", ("check1",), "")
    report = Feedback(result, known(entry, checks=("check1",)))
    assert "expected 2, got 3" in headline(result)
    text = report.text()
    assert "FAIL  Property `0` holds.\n  input x" in text and "It explains: Property `1` holds." in text
    assert "It explains: Property <code>1</code> holds." in html_of(report)
    all_of_it = Feedback(result, known(entry, checks=("check0", "check1"))).text()
    assert "It explains" not in all_of_it and "reason" not in all_of_it


def test_inputs_that_are_the_answers_own_are_called_so(exercise: Exercise) -> None:
    text = Feedback(result_of(exercise, Failure("another reason?", inputs={"your_weights": torch.ones(1)}))).text()
    assert "your weights: " in text and "input your" not in text and "reason? (an" in text


def test_several_causes_are_all_said_and_what_is_not_certain_says_perhaps(exercise: Exercise) -> None:
    one, two = (WrongAnswer(name, f"You did {name}.", "concept", (), "") for name in ("this", "that"))
    both = Diagnosis((Cause((one,), ("check0",), True), Cause((two, one), ("check1",), False)))
    report = Feedback(result_of(exercise, WRONG, WRONG), both)
    for page in (report.text(), html_of(report)):
        words = " ".join(re.sub(r"<[^>]+>", " ", page).split())
        assert words.index("behaves like a known mistake.") < words.index("fits several known mistakes. Perhaps")
        assert words.index("You did this.") < words.index("You did that.") < words.rindex("You did this.")
    alone = Feedback(result_of(exercise, WRONG), known(two, certain=False)).text()
    assert "Perhaps it is this known mistake" in alone and "behaves like" not in alone


def test_code_that_does_not_run_is_said_in_one_sentence(exercise: Exercise) -> None:
    failure = Failure(
        "your code does not run: TimeoutError: it took longer than 10 seconds", error=True, line="line 2: x"
    )
    report = Feedback(result_of(exercise, failure))
    for page in (report.text(), html_of(report)):
        assert "Your code does not run: TimeoutError: it took longer" in page and "stopped with" not in page
    stopped = Feedback(result_of(exercise, Failure("IndexError: no", error=True))).text()
    assert "Your code stopped with IndexError: no" in stopped


@pytest.mark.parametrize(
    ("failure", "said"),
    [
        (None, "3 of 3 public points: every check passes"),
        (Failure("NotImplementedError: your code here", error=True), "0 of 3 public points: the answer is not written"),
        (Failure("ValueError: no.", error=True), "0 of 3 public points: ValueError: no ("),
    ],
)
def test_reasons(exercise: Exercise, failure: Failure | None, said: str) -> None:
    assert headline(result_of(exercise, failure)).startswith(said)


def test_hidden_checks_say_what_failed_and_keep_their_numbers(exercise: Exercise) -> None:
    report = Feedback(result_of(exercise, WRONG, hidden=True))
    for shown in (report.text(), html_of(report)):
        words = re.sub(r"<[^>]+>", "", shown)
        assert "0 of 2 points: with other sizes and numbers, this does not hold" in words
        assert "got 3" not in shown and "expected" not in shown


def test_the_counterexample_in_a_terminal_is_aligned_and_marks_what_differs(exercise: Exercise) -> None:
    lines = Feedback(result_of(exercise, WRONG)).text().splitlines()
    heads = next(line for line in lines if line.startswith("  expected "))
    values = lines[lines.index(heads) + 1]
    assert values.split() == ["1", "2", "1", "3×"]
    assert heads.index("got") <= values.rindex("1")


def test_the_counterexample_as_html_marks_what_differs_by_sign_and_frame(exercise: Exercise) -> None:
    page = html_of(Feedback(result_of(exercise, WRONG)))
    assert re.findall(r"<caption>(\w+)</caption>", page) == ["expected", "got"]
    assert re.findall(r'<td class="wrong"[^>]*>([^<]*)</td>', page) == ["3 ≠"]


def test_what_the_answer_holds_cannot_become_markup(exercise: Exercise) -> None:
    evil = "<script>alert(1)</script>"
    failure = Failure(f"RuntimeError: {evil}", inputs={evil: evil}, expected="x", got=evil, error=True, line=evil)
    page = html_of(Feedback(result_of(exercise, failure), output=evil, notes=(evil,)))
    assert "<script" not in page and page.count("&lt;script&gt;") >= 6


def test_what_the_answer_prints_cannot_steer_what_is_shown(exercise: Exercise) -> None:
    evil = "a\x1b[31mred\x1b]8;;http://x\x07link\u202egnp.exe\ud800\x9b2J\r\n\tend ü 文"
    failure = Failure(evil, inputs={evil: evil}, expected="x", got=evil, error=True, line=evil)
    page = html_of(Feedback(result_of(exercise, failure), output=evil, notes=(evil,)))
    assert page.count("ared\N{REPLACEMENT CHARACTER}]8;;") >= 3 and "\n\tend ü 文" in page
    assert not {"\x1b", "\x07", "\u202e", "\ud800", "\x9b", "\r"} & set(page)
    page.encode()


def test_the_misconception_is_named_with_its_chapter_and_link(exercise: Exercise) -> None:
    entry = WrongAnswer("divided_by_d_k", "You divided by $\\sqrt{d_k}$ *twice*.", "concept", ("check0",), "", "C08")
    report = Feedback(result_of(exercise, WRONG), known(entry), chapters={5: "https://book.example/a.html"})
    text = report.text()
    assert "known mistake." in text and "by √d_k twice." in text and "(divided by d_k; chapter 5, claim C08)" in text
    page = html_of(report)
    assert '<a href="https://book.example/a.html">chapter 5</a>' in page and "<i>√d_k</i> <em>twice</em>" in page
    assert name_of(entry) == "divided by d_k"


def test_grids_show_every_difference_however_small() -> None:
    expected = torch.full((2, 3), 0.5)
    got = expected.clone()
    got[1, 2] += 1e-6
    a, b = compared(expected, got) or pytest.fail("no grids")
    assert b.wrong == [[False] * 3, [False, False, True]]
    assert a.cells[1][2] != b.cells[1][2] and a.cells[0] == b.cells[0]


def test_large_tensors_show_the_part_around_the_worst_entry() -> None:
    expected = torch.zeros(2, 30, 40)
    got = expected.clone()
    got[1, 29, 20] = 7
    a, b = compared(expected, got, (1, 29, 20)) or pytest.fail("no grids")
    assert len(b.cells) == len(b.cells[0]) == MOST
    assert [row.count(True) for row in b.wrong].count(1) == 1 and "7" in b.cells[-1]
    assert b.note == "part [1], rows 18 to 29 of 30, columns 14 to 25 of 40"


@pytest.mark.parametrize(
    ("value", "cells"),
    [
        (torch.tensor([True, False]), [["True", "False"]]),
        (torch.tensor([[1], [-20]]), [["1"], ["-20"]]),
        (torch.tensor([float("nan"), float("inf"), 0.25]), [["nan", "inf", "0.250"]]),
        (torch.tensor([2e-7, -0.0]), [["2.00e-07", "0.00e+00"]]),
        (torch.tensor([-0.001, 12.5]), [["0.0", "12.5"]]),
    ],
)
def test_numbers_are_short(value: torch.Tensor, cells: list[list[str]]) -> None:
    assert single("x", value).cells == cells


def test_values_of_two_shapes_are_not_drawn_as_a_pair() -> None:
    assert compared(torch.zeros(2, 3), torch.zeros(3, 2)) is None
    assert compared("a", torch.zeros(2)) is None
