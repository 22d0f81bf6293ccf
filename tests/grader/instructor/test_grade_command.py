"""The command `annotated exercise grade` says first what it understood, and asks where that can be two things."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from annotated.cli import main
from tests.grader.instructor.classes import PLATFORMS, build

pytestmark = pytest.mark.process

CANVAS = PLATFORMS["canvas: the zip as it comes"].files
TUTORS = "Miller/ada/ex05-1.py\nMiller/ben/ex05-1.py\nSmith/cleo/ex05-1.py\nSmith/dan/ex05-1.py"


def grade(folder: Path, *more: str) -> int:
    """Look at a class."""
    return main(["exercise", "grade", str(folder), "-o", str(folder.parent / "out"), "--dry-run", *more])


def test_the_first_lines_say_what_was_understood(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    roster = tmp_path / "roster.csv"
    roster.write_text('Student,ID\n"Adler, Ada",101\n"Brandt, Ben",102\n"Ek, Eve",105\n', encoding="utf-16")
    build(tmp_path / "in", CANVAS)
    options = ("--roster", str(roster), "--before", "2026-10-05 23:59")
    assert grade(tmp_path / "in" / "submissions.zip", *options) == 0
    printed = capsys.readouterr()
    assert printed.err.splitlines() == [
        "Canvas: 3 students, 1 exercise, 3 files, 1 late",
        "3 of these files have no time that the platform tells; --before says nothing of them",
        "not on the roster: clarkcleo (103)",
        "on the roster, nothing handed in: Eve Ek",
    ]
    rows = [line.split()[:4] for line in printed.out.splitlines()]
    assert rows == [
        ["Ada", "Adler", "101", "ex05-1"], ["Ben", "Brandt", "102", "ex05-1"],
        ["clarkcleo", "103", "ex05-1", "submissions.zip/clarkcleo_103_900003_ex05-1-2.ipynb"],
    ]  # fmt: skip
    roster.write_text("Student,ID\nSomebody Else,1\n", encoding="utf-8")
    assert grade(tmp_path / "in", *options) == 2
    assert "nobody of" in capsys.readouterr().err


def test_a_doubt_is_asked_at_a_terminal_and_an_error_elsewhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = build(tmp_path / "in", TUTORS)
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    assert grade(folder) == 2
    assert "say --layout 'STUDENT' if Miller is a student" in capsys.readouterr().err
    terminal = io.StringIO("no\n2\n")
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdin", terminal)
    assert grade(folder) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["ada", "ben", "cleo", "dan"]


@pytest.mark.parametrize("option", [("--before", "tomorrow"), ("--late-penalty", "120"), ("--layout", "Kanvas")])
def test_an_option_that_says_nothing_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: tuple[str, str]
) -> None:
    assert grade(build(tmp_path / "in", "ada_ex05-1.py"), *option) == 2
    assert option[1] in capsys.readouterr().err


def test_nothing_to_grade_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And no folder of grades is made for it."""
    (tmp_path / "good.tsv").write_text("Yes.\tJa.\n")
    assert main(["exercise", "grade", str(tmp_path / "good.tsv"), "--out", str(tmp_path / "grades")]) == 2
    assert "no submission to grade; good.tsv: it is no notebook" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["good.tsv"]
