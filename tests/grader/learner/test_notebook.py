"""What a learner meets: check, hint, solution, answer and progress, and the file in which their progress is kept."""

from __future__ import annotations

import builtins
import json
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from annotated_grader.exercise.catalogue import all_exercises, find
from annotated_grader.exercise.exercise import Exercise
from annotated_grader.exercise.markdown import terminal
from annotated_grader.learner import grade_local, notebook, timeout
from annotated_grader.learner.record import ProgressRecord
from annotated_grader.learner.timeout import TimeBudget, time_limit
from annotated_grader.sandbox.interpreter import AnswerError

pytestmark = pytest.mark.process

ID = "ex05-1"
WRONG = """
def attention(q, k, v, mask=None):
    weights = (q @ k.transpose(-2, -1) / q.size(-1)).softmax(-1)
    return weights @ v, weights
"""


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Any]:
    """The names of a running program that is no notebook, with a record of its own."""
    main = ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", main)
    monkeypatch.setenv("ANNOTATED_PROGRESS", str(tmp_path / "progress.json"))
    monkeypatch.setattr(notebook, "_shell", lambda: None)
    main.EXERCISE = ID  # type: ignore[attr-defined]
    return main.__dict__


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """What a function shows."""

    def say(function: Callable[..., None], *args: Any, **kwargs: Any) -> str:
        capsys.readouterr()
        function(*args, **kwargs)
        return capsys.readouterr().out

    return say


def write(names: dict[str, Any], code: str) -> None:
    """Run a cell, and keep its text as IPython does."""
    exec(compile(code, "<cell>", "exec"), names)
    names.setdefault("In", [""]).append(code)


def exercise() -> Exercise:
    return find(ID)


def test_from_start_to_solved(names: dict[str, Any], said: Any) -> None:
    assert "there is no `attention` yet" in said(notebook.check)
    write(names, exercise().stub_code)
    assert f"0 of {exercise().points_public} public points: the answer is not written" in said(notebook.check)
    assert "Try it first" in said(notebook.solution), "the stub is no attempt"
    write(names, WRONG)
    shown = said(notebook.check)
    assert "root of d_k" in shown and "got (× marks what differs)" in shown
    assert "def attention" in said(notebook.solution)
    write(names, exercise().solution_code)
    assert "every check passes" in said(notebook.check)
    entry = ProgressRecord().entry(ID)
    assert (entry.attempts, entry.best, entry.solved, entry.solution) == (2, exercise().points_public, True, True)
    write(names, WRONG)
    said(notebook.check)
    assert ProgressRecord().entry(ID).solved, "a worse attempt takes nothing away"
    assert "solved, solution seen" in said(notebook.progress)


def test_a_known_mistake_is_named(names: dict[str, Any], said: Any) -> None:
    entry = next(entry for entry in exercise().bank if entry.claim)
    write(names, entry.code)
    shown = said(notebook.check)
    assert "behaves like a known mistake" in shown and entry.claim in shown and "chapter 5" in shown


def test_what_the_answer_prints_comes_last_and_once(names: dict[str, Any], said: Any) -> None:
    write(names, WRONG.replace("    return", "    print('seen')\n    return"))
    before, _, after = said(notebook.check).partition("Your code printed:")
    assert "seen" not in before and set(after.split()) <= {"seen", "..."} and "seen" in after


def test_hints_come_one_by_one(names: dict[str, Any], said: Any) -> None:
    shown = [said(notebook.hint) for _ in range(4)]
    assert [[f"Hint {i} of 3" in text for i in (1, 2, 3)] for text in shown] == [
        [True, False, False],
        [False, True, False],
        [False, False, True],
        [True, True, True],
    ]
    assert ProgressRecord().entry(ID).hints == 3


def test_errors_of_the_answer_show_their_line(names: dict[str, Any], said: Any) -> None:
    names["In"] = [""]
    write(names, "def attention(q, k, v, mask=None):\n    return q[9][9]\n")
    shown = said(notebook.check)
    assert "stopped with IndexError" in shown and "line 2" in shown and "Traceback" not in shown


def test_a_time_limit_ends_a_loop_and_leaves_no_alarm_behind() -> None:
    begun = time.monotonic()
    with pytest.raises(AnswerError, match="longer than 0.05 seconds"), time_limit(0.05):
        while True:
            pass
    assert time.monotonic() - begun < 5
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    with time_limit(5):
        pass
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_time_without_a_processor_does_not_count_but_it_does_not_last_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeout, "_delayed", lambda: 0.95 * time.monotonic())
    with time_limit(0.2):
        time.sleep(0.5)
    monkeypatch.setattr(timeout, "_delayed", time.monotonic)
    with pytest.raises(AnswerError, match="longer than 0.05 seconds"), time_limit(0.05):
        while True:
            pass


def test_after_one_endless_loop_the_next_ends_sooner() -> None:
    budget = TimeBudget(0.05, afterwards=0.01)
    for seconds in ("0.05", "0.01"):
        with pytest.raises(AnswerError, match=f"longer than {seconds} seconds"), budget():
            while True:
                pass


def test_a_check_of_an_endless_loop_comes_back(names: dict[str, Any], said: Any) -> None:
    write(names, "def attention(q, k, v, mask=None):\n    while True:\n        pass\n")
    shown = said(notebook.check, seconds=0.05)
    assert "longer than 0.05 seconds" in shown


@pytest.mark.parametrize("text", ["a", " B ", "C"])
def test_the_quiz_answers_with_the_feedback_of_the_option(names: dict[str, Any], said: Any, text: str) -> None:
    option = exercise().quiz[0]["options"]["ABC".index(text.strip().upper())]
    shown = said(notebook.answer, 1, text)
    assert terminal(option["feedback"]) in shown
    assert ("Right" in shown) == bool(option.get("correct"))


def test_wrong_calls_get_help_and_no_traceback(names: dict[str, Any], said: Any) -> None:
    assert "choose one of A, B, C" in said(notebook.answer, 1, "Z")
    assert "Choose one of" in said(notebook.answer, 1)
    assert "has questions 1 to" in said(notebook.answer, 9, "A")
    assert "there is no exercise 'ex05-99'; there are ex05-1" in said(notebook.check, "ex05-99")
    del names["EXERCISE"]
    assert 'check("ex' in said(notebook.check)


def test_without_a_name_the_last_exercise_is_meant(names: dict[str, Any], said: Any) -> None:
    write(names, WRONG)
    said(notebook.check)
    del names["EXERCISE"]
    assert ID in said(notebook.check)


def test_the_code_of_an_answer_is_that_of_its_last_cells_and_what_they_use(names: dict[str, Any]) -> None:
    for cell in (
        "def attention(): return softmax",
        "from torch.nn.functional import softmax",
        "other = 3",
        "def helper(x): return softmax(x, -1)",
        WRONG.replace("return weights", "return helper(weights)"),
    ):
        write(names, cell)
    source = grade_local.in_notebook(exercise(), names).source
    assert "def helper" in source and "import softmax" in source and "helper(weights)" in source
    assert "other" not in source


def test_layout_and_comments_do_not_make_an_attempt() -> None:
    assert not exercise().is_untouched(WRONG)
    reformatted = exercise().stub_code.replace("    raise", "\n    # here\n    raise")
    assert exercise().is_untouched(reformatted)


def test_every_stub_counts_as_untouched() -> None:
    for found in all_exercises():
        assert found.is_untouched(found.stub_code), found.id
        assert not found.is_untouched(found.solution_code), found.id


def test_a_damaged_record_is_set_aside_and_said(tmp_path: Path) -> None:
    file = tmp_path / "progress.json"
    file.write_text('{"format": 1, "exercises": {"ex05-1": ', encoding="utf-8")
    record = ProgressRecord(file)
    assert record.entry(ID).attempts == 0
    (aside,) = tmp_path.glob("progress.damaged-*.json")
    assert str(aside) in record.notice and aside.read_text(encoding="utf-8").startswith('{"format"')
    with record.change(ID) as entry:
        entry.attempts = 4
    assert ProgressRecord(file).entry(ID).attempts == 4 and ProgressRecord(file).last == ID


def test_a_record_of_a_newer_version_keeps_what_is_known(tmp_path: Path) -> None:
    file = tmp_path / "progress.json"
    values = {"attempts": 2, "best": 3, "hints": "many", "stars": 5}
    file.write_text(json.dumps({"format": 1, "last": "", "exercises": {ID: values}}), encoding="utf-8")
    entry = ProgressRecord(file).entry(ID)
    assert (entry.attempts, entry.best, entry.hints) == (2, 3, 0)


def test_a_write_that_fails_leaves_the_old_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "progress.json"
    with ProgressRecord(file).change(ID) as entry:
        entry.attempts = 1
    record = ProgressRecord(file)

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("annotated_grader.learner.record.json.dump", full)
    with record.change(ID) as entry:
        entry.attempts = 2
    assert "the disk is full" in record.notice and ProgressRecord(file).entry(ID).attempts == 1
    assert not list(tmp_path.glob(".partial-*")), "and no half of the new one"


def test_nothing_needs_ipython(names: dict[str, Any], said: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.partition(".")[0] == "IPython":
            raise ModuleNotFoundError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    write(names, WRONG)
    assert "public points" in said(notebook.check)
