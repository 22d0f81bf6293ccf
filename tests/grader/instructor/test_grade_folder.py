"""Grading a folder: it goes on where it was killed, redoes what changed, and never blames students for itself."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from annotated.cli import main
from annotated_grader.commands import exercise_grade
from annotated_grader.exercise import catalogue
from annotated_grader.exercise.exercise import Exercise, ExerciseError
from annotated_grader.exercise.run import ExerciseResult, run_checks
from annotated_grader.exercise.student import LocalStudent
from annotated_grader.exercise.submission import Submission
from annotated_grader.instructor import grade_one
from annotated_grader.instructor.grade_folder import GradingOptions, GradingRun, grade_folder
from annotated_grader.instructor.gradebook import Gradebook, Graded, clean
from annotated_grader.sandbox.isolation import available
from annotated_grader.sandbox.process import GraderBroken
from tests.grader.instructor.forked import use_forks
from tests.grader.sandbox.attacks import FULL, make_exercise

pytestmark = pytest.mark.process

RIGHT = "def weights(x):\n    return x.softmax(-1)\n"
WRONG = "def weights(x):\n    return x.softmax(0)\n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A class of three, and its exercise."""
    monkeypatch.setenv(catalogue.PLACE, str(make_exercise(tmp_path / "exercises")))
    (tmp_path / "class").mkdir()
    for name, code in (("ada", RIGHT), ("ben", WRONG), ("cleo", RIGHT)):
        (tmp_path / "class" / f"{name}_ex99-1.py").write_text(code, encoding="utf-8")
    return tmp_path


class InProcess:
    """Grades without a sandbox, and counts, in a file since each has a child; what `fails` names raises instead."""

    def __init__(self, journal: Path) -> None:
        self.journal = journal
        self.fails: dict[str, Exception] = {}

    @property
    def graded(self) -> list[str]:
        """The answers, in the order in which they were graded."""
        return [code for code, _ in self._lines()]

    @property
    def checks(self) -> list[str]:
        """Of the last one."""
        return self._lines()[-1][1]

    def _lines(self) -> list[tuple[str, list[str]]]:
        return [json.loads(line) for line in self.journal.read_text(encoding="utf-8").splitlines()]

    def __call__(
        self, chosen: Exercise, submission: Submission, salt: str, level: str, limits: Any, more: Any, files: Any
    ) -> tuple[ExerciseResult, str, str]:
        for mark, error in self.fails.items():
            if mark in submission.code:
                raise error
        result = run_checks(chosen, LocalStudent.of_code(submission.code), salt, more=more)
        with self.journal.open("a", encoding="utf-8") as file:
            file.write(json.dumps([submission.code, [check.name for check in result.checks]]) + "\n")
        return result, "ok", ""


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> InProcess:
    """Instead of the sandbox, where it is the bookkeeping that is looked at."""
    fake = InProcess(tmp_path / "journal.txt")
    monkeypatch.setattr(grade_one, "grade_code", fake)
    return fake


def grade(place: Path, **more: Any) -> GradingRun:
    """Grade the class."""
    return grade_folder(place / "class", place / "out", GradingOptions("none", **more))


def scores(done: GradingRun) -> dict[str, int | None]:
    """By student."""
    return {one.student: one.score for one in done.graded}


def test_only_what_changed_is_graded_again(place: Path, in_process: InProcess) -> None:
    assert scores(grade(place)) == {"ada": FULL, "ben": 0, "cleo": FULL}
    assert (grade(place).reused, len(in_process.graded)) == (3, 3)
    (place / "class" / "ben_ex99-1.py").write_text(RIGHT + "# again\n", encoding="utf-8")
    assert scores(grade(place)) == {"ada": FULL, "ben": FULL, "cleo": FULL}
    assert (len(in_process.graded), in_process.graded[-1]) == (4, RIGHT + "# again\n")
    for changed in ({"salt": "another"}, {"salt": "another", "fresh": True}):
        before = len(in_process.graded)
        assert grade(place, **changed).reused == 0
        assert len(in_process.graded) == before + 3
    checks = place / "exercises" / "ex99_1_softmax" / "checks.py"
    checks.write_text(checks.read_text(encoding="utf-8") + "# changed\n", encoding="utf-8")
    assert grade(place, salt="another").reused == 0


RECITED = """
seen = []
def weights(x):
    seen.append(x)
    return x.softmax(-1) if len(seen) <= PUBLIC else x
"""


def test_an_answer_that_knows_the_public_cases_alone_is_flagged_for_the_instructor(
    place: Path, in_process: InProcess
) -> None:
    # The public checks ask three times (two cases and one), before any hidden one.
    (place / "class" / "ben_ex99-1.py").write_text(RECITED.replace("PUBLIC", "3"), encoding="utf-8")
    (place / "class" / "cleo_ex99-1.py").write_text(RECITED.replace("PUBLIC", "5"), encoding="utf-8")
    notes = {one.student: one.note for one in grade(place).graded}
    assert notes == {"ada": "", "ben": grade_one.PUBLIC_ONLY, "cleo": ""}
    page = next((place / "out" / "results").glob("ben*.html")).read_text(encoding="utf-8")
    assert "public inputs alone" not in page


def test_files_without_a_students_name_are_all_graded_and_noted_for_the_instructor(
    place: Path, in_process: InProcess
) -> None:
    for file in (place / "class").iterdir():
        file.rename(file.with_name(f"Blatt ex99-1 {file.name[:3]}.py"))
    done = grade(place)
    assert scores(done) == {"Blatt ex99-1 ada": FULL, "Blatt ex99-1 ben": 0, "Blatt ex99-1 cle": FULL}
    note = "the name does not begin with a student: rename it STUDENT_ex99-1"
    assert {one.notes for one in done.graded} == {note} and not done.skipped
    assert all(note not in page.read_text(encoding="utf-8") for page in (place / "out" / "results").glob("*.html"))


def test_a_student_who_left_leaves_no_feedback_to_be_handed_out(place: Path, in_process: InProcess) -> None:
    grade(place)
    (place / "class" / "ben_ex99-1.py").unlink()
    assert scores(grade(place)) == {"ada": FULL, "cleo": FULL}
    left = {file.name for file in (place / "out" / "results").iterdir()}
    assert left == {f"{name}_ex99-1{kind}" for name in ("ada", "cleo") for kind in (".html", ".json")}
    assert {file.name for file in (place / "out" / "removed").iterdir()} == {"ben_ex99-1.html", "ben_ex99-1.json"}


def table(place: Path) -> dict[str, dict[str, str]]:
    """The rows of gradebook.csv by student."""
    with (place / "out" / "gradebook.csv").open(encoding="utf-8", newline="") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


def test_a_late_answer_loses_what_the_instructor_says_and_in_the_table_alone(
    place: Path, in_process: InProcess
) -> None:
    for file, name in zip(
        sorted((place / "class").iterdir()), ("a_1_901", "b_LATE_2_902", "c_LATE_3_903"), strict=True
    ):
        file.rename(file.with_name(f"{name}_ex99-1.py"))
    assert scores(grade(place, late_penalty=25)) == {"a": FULL, "b": 0, "c": FULL}
    rows = {n: (r["id"], r["score"], r["percent"], r["late"], r["penalty"]) for n, r in table(place).items()}
    assert rows == {
        "a": ("1", "7", "100.0", "no", ""),
        "b": ("2", "0", "0.0", "yes", ""),
        "c": ("3", "5.25", "75.0", "yes", "1.75"),
    }
    assert grade(place).reused == 3
    assert {name: row["score"] for name, row in table(place).items()} == {"a": "7", "b": "0", "c": "7"}


def test_a_row_names_the_other_files_of_its_student_also_where_nothing_is_graded_again(
    place: Path, in_process: InProcess
) -> None:
    grade(place)
    (place / "class" / "ada_ex99-1-Copy1.py").write_text("# nothing yet\n", encoding="utf-8")
    assert grade(place).reused == 3
    assert table(place)["ada"]["note"] == "also handed in: ada_ex99-1-Copy1.py (nothing written in it)"


def test_a_private_overlay_adds_hidden_checks(place: Path, in_process: InProcess) -> None:
    (place / "overlay" / "ex99-1").mkdir(parents=True)
    more = '''
from annotated_grader import expect, graded
@graded(points=1, hidden=4, levels=1)
def shifted(student, case):
    """A constant changes nothing."""
    x = case.normal(2, 3)
    expect.close(student.call("weights", x + 5), student.call("weights", x), "the weights")
'''
    (place / "overlay" / "ex99-1" / "checks.py").write_text(more, encoding="utf-8")
    done = grade(place, overlay=place / "overlay")
    assert in_process.checks == ["values", "sums", "values:hidden", "sums:hidden", "shifted:hidden"]
    assert scores(done) == {"ada": FULL + 4, "ben": 4, "cleo": FULL + 4}


@pytest.mark.parametrize(
    ("folder", "text", "message"),
    [
        ("ex98-1", "", "there is no exercise 'ex98-1'"),
        ("ex99-1", "", "needs hidden points"),
        ("ex99-1", "1 / 0", "ZeroDivisionError"),
        ("", "", "has no checks"),
    ],
)
def test_an_overlay_that_would_be_passed_over_is_refused(place: Path, folder: str, text: str, message: str) -> None:
    (place / "overlay" / folder).mkdir(parents=True)
    (place / "overlay" / folder / "checks.py").write_text(text, encoding="utf-8")
    with pytest.raises(ExerciseError, match=message):
        grade(place, overlay=place / "overlay")


def test_a_failing_grader_gives_no_score_and_tries_again_next_time(place: Path, in_process: InProcess) -> None:
    in_process.fails = {"softmax(0)": OSError("no space")}
    done = grade(place)
    assert scores(done) == {"ada": FULL, "ben": None, "cleo": FULL}
    with (place / "out" / "gradebook.csv").open(encoding="utf-8", newline="") as file:
        row = {row["student"]: row for row in csv.DictReader(file)}["ben"]
    assert (row["score"], row["status"], row["note"]) == ("", "grader_error", "the grader failed: OSError: no space")
    in_process.fails = {}
    done = grade(place)
    assert (scores(done)["ben"], done.reused) == (0, 2)


def test_a_broken_sandbox_stops_the_batch_and_scores_nobody(place: Path, in_process: InProcess) -> None:
    in_process.fails = {"softmax(0)": GraderBroken("no torch in the sandbox")}
    with pytest.raises(GraderBroken, match="no torch"):
        grade(place, jobs=1)
    results = [json.loads(path.read_text(encoding="utf-8")) for path in (place / "out" / "results").glob("*.json")]
    assert "ben" not in {result["student"] for result in results}
    assert "GRADER BROKEN" in (place / "out" / "run.log").read_text(encoding="utf-8")


def test_names_that_no_file_can_have_stay_apart(tmp_path: Path) -> None:
    book = Gradebook(tmp_path)
    names = ["a", "a b", "a/b", "../a", "a" * 300, "a" * 301, "ä", ".a", "a\x00b"]
    places = [book.place(name, "ex05-1") for name in names]
    assert len(set(places)) == len(names)
    assert {path.parent for path in places} == {tmp_path / "results"}
    assert all(len(path.name) < 100 and not path.name.startswith(".") for path in places)


def test_text_from_strangers_is_one_line_without_control() -> None:
    assert clean("a\nb\t\x1b[2Jc\u202ed") == "a b \N{REPLACEMENT CHARACTER}[2Jc\N{REPLACEMENT CHARACTER}d"


@pytest.mark.slow
def test_killed_in_the_middle_it_goes_on_where_it_stood(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if not (found := available("bubblewrap")).works:
        pytest.skip(f"bubblewrap does not work here: {found.reason}")
    out = place / "out"
    arguments = ["exercise", "grade", str(place / "class"), "-o", str(out), "--jobs", "1"]
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen([sys.executable, "-m", "annotated", *arguments], **quiet)
    end = time.monotonic() + 120
    while not list(out.glob("results/*.json")) and process.poll() is None and time.monotonic() < end:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = {path.name: path.stat().st_mtime_ns for path in (out / "results").glob("[!.]*.json")}
    assert 1 <= len(kept) < 3
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert f"{3 - len(kept)} graded in" in printed
    assert f"{len(kept)} unchanged" in printed
    assert kept.items() <= {path.name: path.stat().st_mtime_ns for path in (out / "results").glob("*.json")}.items()
    with (out / "gradebook.csv").open(encoding="utf-8", newline="") as file:
        assert {row["student"]: row["score"] for row in csv.DictReader(file)} == {"ada": "7", "ben": "0", "cleo": "7"}
    assert main([*arguments, "--level", "none"]) == 1
    assert "--trust" in capsys.readouterr().err


HELPED = "from helpers.shapes import last\ndef weights(x):\n    return x.softmax(last)\n"
LAST = "last = -1\n"


@pytest.mark.slow
def test_a_students_own_modules_go_with_the_answer_that_imports_them(place: Path) -> None:
    """In a folder of a student, and flat as Canvas names files; a classmate's module of the same name is another."""
    for name in ("ben", "cleo"):
        (place / "class" / f"{name}_ex99-1.py").unlink()
    files = {
        "dora/ex99-1.py": HELPED, "dora/helpers/shapes.py": LAST, "dora/unused.py": "1 / 0",
        "emil/week 1/ex99-1.py": HELPED.replace("helpers.shapes", "shapes"), "emil/week 1/shapes.py": LAST,
        "finn/ex99-1.py": HELPED.replace("helpers.shapes", "shapes"), "finn/shapes.py": "last = 0\n",
    }  # fmt: skip
    for name, text in files.items():
        (place / "class" / name).parent.mkdir(parents=True, exist_ok=True)
        (place / "class" / name).write_text(text, encoding="utf-8")
    done = grade(place, jobs=2)
    assert scores(done) == {"ada": FULL, "dora": FULL, "emil": FULL, "finn": 0}
    assert not done.skipped
    assert grade(place).reused == 4
    (place / "class" / "finn" / "shapes.py").write_text(LAST)
    again = grade(place)
    assert (again.reused, scores(again)["finn"]) == (3, FULL)


def test_a_package_that_is_missing_here_takes_nobodys_points(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    use_forks(monkeypatch, place)
    for name in ("dora", "emil"):
        code = "import no_such_package\n" + RIGHT.replace("x.", "no_such_package.as_tensor(x).")
        (place / "class" / f"{name}_ex99-1.py").write_text(code, encoding="utf-8")
    command = ["exercise", "grade", str(place / "class"), "--out", str(place / "out"), "--level", "none", "--trust"]
    assert main(command) == 0
    shown = capsys.readouterr().out
    said = "2 submissions import no_such_package, which is not available here"
    assert said in shown and "5 graded" in shown
    rows = {row["student"]: row for row in csv.DictReader((place / "out" / "gradebook.csv").open())}
    assert (rows["dora"]["score"], rows["dora"]["status"]) == ("", "not_available")
    assert main(command) == 0
    assert "2 graded" in capsys.readouterr().out


def test_packages_that_are_not_available_are_summed_up(capsys: pytest.CaptureFixture[str]) -> None:
    notes = [
        "`einops` is not available to the grader; without it",
        "`einops` and `scipy` are not available to the grader",
    ]
    graded = [Graded("ada", "ex99-1", "a.py", "not_available", None, 9, note, ()) for note in notes]
    exercise_grade._print(GradingRun(tuple(graded), (), 0, 1.0), Path("out"))
    said = [line.partition(" here")[0] for line in capsys.readouterr().out.splitlines() if "not available here" in line]
    assert said == [
        "2 submissions import einops, which is not available",
        "1 submission imports scipy, which is not available",
    ]
