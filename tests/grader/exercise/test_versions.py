"""Versions of an answer: which of them counts, and what is said of the other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from annotated_grader.exercise.catalogue import find
from annotated_grader.exercise.submission import read
from annotated_grader.exercise.versions import versions_of
from annotated_grader.learner import grade_local
from annotated_grader.learner.record import ProgressRecord

EXERCISE = find("ex05-1")
RIGHT, STUB = EXERCISE.solution_code, EXERCISE.stub_code
WRONG = RIGHT.replace("math.sqrt(q.size(-1))", "1.0")
SPOILED = "attention = attention(*[torch.ones(1, 1)] * 3)[1]"
HELPED = "def attention(q, k, v, mask=None):\n    return helped(q, k, v, mask)"
HELPER = RIGHT.replace("def attention", "def helped")
WRAPPED = "import functools\nattention = functools.partial(attention)"


def kept(cell: int, name: str) -> str:
    """What is said where a definition counts, and not what became of it."""
    changed = f"cell {cell} changes `{name}`, and with that cell the answer would earn 0 of 10"
    return f"graded as last defined: {changed}"


def mended(cell: int, name: str) -> str:
    """What is said where the whole file counts, and not what was checked."""
    found = f"graded with cell {cell}, which is below the last check() and changes `{name}`"
    return f"{found}: without that cell the answer would earn 0 of 10"


def notebook(*cells: str) -> bytes:
    """A notebook of these cells."""
    return json.dumps({"cells": [{"cell_type": "code", "source": code} for code in cells]}).encode()


def checked(tmp_path: Path, data: bytes, name: str = "ex05-1.ipynb") -> tuple[int, str]:
    """The public points of a file, and the notes that speak of a change."""
    file = tmp_path / name
    file.write_bytes(data)
    found = grade_local.in_file(file, "ex05-1")[1]
    result = grade_local.examine(EXERCISE, found, ProgressRecord(tmp_path / "progress.json"), seconds=10).result
    return result.score, "; ".join(note for note in result.notes if "changes" in note)


@pytest.mark.parametrize(
    ("cells", "points", "note"),
    [
        ([RIGHT, "check()", SPOILED], 10, ""),
        ([RIGHT, SPOILED], 10, kept(2, "attention")),
        ([RIGHT, STUB], 10, kept(2, "attention")),
        ([RIGHT, SPOILED, HELPER], 10, kept(2, "attention")),
        ([RIGHT, "math = 3"], 10, kept(2, "math")),
        ([RIGHT, WRAPPED], 10, ""),
        ([HELPED, HELPER], 10, ""),
        ([HELPED, "check()", HELPER], 10, mended(3, "helped")),
        ([STUB, "check()", RIGHT], 10, mended(3, "attention")),
        ([RIGHT, "check('ex05-2')\n" + SPOILED, "check(exercise='ex05-1')"], 0, ""),
        (["from annotated_grader import check as verdict\n" + RIGHT, "verdict()", SPOILED, "check = 3"], 10, ""),
        (["def submit():\n    check()", RIGHT, "submit()", SPOILED], 10, ""),
        (["submit = lambda: check()", RIGHT, "submit()", SPOILED], 10, ""),
        (["import annotated_grader as grader\nverdict = grader.check", RIGHT, "verdict()", SPOILED], 10, ""),
        ([RIGHT, "check()", "EXERCISE = 'ex08-4'\n" + SPOILED, "check()"], 10, ""),
        (["class Grid:\n    def check(self):\n        pass", "Grid().check()", RIGHT, SPOILED], 10,
         kept(4, "attention")),
        (["def check():\n    pass", RIGHT, "check()", "check()\n" + SPOILED + "; check()"], 10,
         kept(4, "attention")),
        ([RIGHT + "\ncheck(); " + SPOILED], 10, ""),
        ([RIGHT, "check()", "@staticmethod\ndef attention(q):\n    '''\n'''\nmath = (\n3)\nü = 'ü'; math = 4"], 10, ""),
        ([STUB, "check()", STUB], 0, ""),
    ],
)  # fmt: skip
def test_which_version_counts(tmp_path: Path, cells: list[str], points: int, note: str) -> None:
    assert checked(tmp_path, notebook(*cells)) == (points, note)


def test_of_two_that_both_lose_the_better_one_counts(tmp_path: Path) -> None:
    (few, _), (more, said) = checked(tmp_path, notebook(WRONG)), checked(tmp_path, notebook(WRONG, "check()", SPOILED))
    assert few == more > 0
    assert said == (
        "graded as it was at the last check(): cell 3, below it, changes `attention`, "
        "and with that cell the answer would earn 0 of 10"
    )


def test_a_python_file_says_the_line(tmp_path: Path) -> None:
    lines = RIGHT.rstrip().count("\n") + 1
    points, note = checked(tmp_path, f"{RIGHT.rstrip()}\n{SPOILED}\n".encode(), "mine.py")
    assert points == 10 and f": line {lines + 1} changes `attention`" in note


def test_every_line_keeps_its_number() -> None:
    code = f"{RIGHT.rstrip()}\ncheck()\nx = [\n  1,\n]\nmath = 3\n"
    as_checked, whole = versions_of(EXERCISE, read(code.encode(), "a.py"))
    first, second = ("".join(cell.text for cell in one.submission.cells) for one in (as_checked, whole))
    assert second == code
    assert [line.strip() for line in first.splitlines()[-4:]] == ["pass", "", "", "pass"]
    assert len(first.splitlines()) == len(code.splitlines())


def test_the_quiz_may_be_answered_below_the_check(tmp_path: Path) -> None:
    file = tmp_path / "ex05-1.ipynb"
    file.write_bytes(notebook("from annotated_grader import answer, check", RIGHT, "check()", "answer(1, 'A')\n1 / 0"))
    exercise, found = grade_local.in_file(file, "ex05-1")
    report = grade_local.examine(exercise, found, ProgressRecord(tmp_path / "progress.json"), seconds=10)
    assert any(note.startswith("Question 1 of the quiz:") for note in report.notes)
