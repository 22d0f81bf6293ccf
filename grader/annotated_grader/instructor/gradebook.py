"""Gradebook on disk: JSON and HTML for each result of a folder, `gradebook.csv` and `run.log` for all.

Every file appears whole or not at all, so that a run that was killed goes on where it stood.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any

from annotated.ownership import require_our_folder
from annotated.storage import atomic_write
from annotated_grader.exercise.run import CheckResult, ExerciseResult, Failure
from annotated_grader.feedback.report import Feedback
from annotated_grader.feedback.report_html import html_of
from annotated_grader.instructor.strangers_text import clean, harmless

FORMAT = 3
STATUSES = ("ok", "student_error", "timeout", "died", "not_available", "grader_error")
UNDECIDED = ("not_available", "grader_error")
"""Those without a score: graded again each time."""
_MOST_OF_A_PAGE = 10**6
_LONGEST_NAME = 100
_TAIL = re.compile(r"-[0-9a-f]{16}$")
LOG, TABLE = "run.log", "gradebook.csv"
WRITTEN = (LOG, TABLE, "results", "removed", "salt.txt")
"""What grading writes, at the top of its folder."""
_BEGINS = "a gradebook of `annotated exercise grade`"
_LOG_BEGINS = re.compile(rf"[\d-]+ [\d:]+ ({_BEGINS}|\d+ submissions in .*isolation: )")
"""The log is written first, so it shows whose folder it is; earlier versions began with the number of submissions."""
COLUMNS = (
    "student", "id", "exercise", "score", "maximum", "percent", "status", "late", "penalty", "lost", "misconception",
    "seconds", "submitted", "file", "note",
)  # fmt: skip


@dataclass(frozen=True)
class Graded:
    """One submission with its grade, as it is written down.

    Attributes
    ----------
    score
        None where the grader failed, or lacks a package: that is not the student's mistake.
    status
        ok, student_error (no answer in it), timeout, died, not_available (it imports what is not installed here), or
        grader_error.
    checks
        For each check: name, title, hidden, points, earned, message, line.
    misconception
        The name of the known mistake that the answer behaves like, and what is said to it; may be empty.
    digest
        Of all that the grade depends on.
    id, late, submitted, about
        Of the file and not of the answer: what the platform knows the student by, whether it came late (`yes`, `no`, or
        nothing where nobody knows), when it came, and what there is to say about it.
    """

    student: str
    exercise: str
    file: str
    status: str
    score: int | None
    maximum: int
    note: str
    checks: tuple[dict[str, Any], ...]
    misconception: str = ""
    says: str = ""
    output: str = ""
    seconds: float = 0.0
    level: str = ""
    digest: str = ""
    id: str = ""
    late: str = ""
    submitted: str = ""
    about: str = ""
    format: int = FORMAT

    @property
    def notes(self) -> str:
        """For the instructor: of the answer, and of the file."""
        return "; ".join(filter(None, (self.note, self.about)))

    @property
    def lost(self) -> list[str]:
        """Names of the checks that did not pass."""
        return [check["name"] for check in self.checks if check["earned"] < check["points"]]


class Gradebook:
    """The folder of results.

    Parameters
    ----------
    folder
        Made if it is not there.

    Raises
    ------
    FileExistsError
        If it holds what no grading wrote, under names that grading writes.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = require_our_folder(folder, WRITTEN, _is_gradebook)
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / LOG).exists():
            self.log(_BEGINS)
        (folder / "results").mkdir(parents=True, exist_ok=True)

    def place(self, student: str, exercise: str) -> Path:
        """The file of one result, without its suffix; names that no file can have are replaced, and stay apart."""
        safe = re.sub(r"[^\w.@-]+", "_", student, flags=re.ASCII).strip("._")[:60]
        if safe != student:
            safe = safe[:60] + _tail(student)
        return self.folder / "results" / f"{safe}_{exercise}"

    def load(self, student: str, exercise: str) -> Graded | None:
        """A result of an earlier run, if there is one that may be kept; its digest says of what it is the result."""
        try:
            data = json.loads(_suffixed(self.place(student, exercise), ".json").read_text(encoding="utf-8"))
            known = Graded(**{**data, "checks": tuple(data["checks"])})
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return known if known.digest and known.format == FORMAT and known.status not in UNDECIDED else None

    def save(self, graded: Graded, page: str) -> None:
        """Write a result as HTML for the student and as JSON; the JSON comes last, and says that it is done."""
        place = self.place(graded.student, graded.exercise)
        if page:
            write_whole(_suffixed(place, ".html"), page)
        write_whole(_suffixed(place, ".json"), json.dumps(asdict(graded), indent=1, ensure_ascii=False) + "\n")

    def write_table(self, graded: Iterable[Graded], penalty: float = 0.0) -> Path:
        """Write `gradebook.csv`: a row for each student and exercise.

        Parameters
        ----------
        penalty
            The percentage of its points that an answer loses which came late.
        """
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for one in sorted(graded, key=lambda one: (one.student, one.exercise)):
            taken = round((one.score or 0) * penalty / 100, 2) if one.late == "yes" else 0.0
            score = None if one.score is None else round(one.score - taken, 2)
            percent = "" if score is None or not one.maximum else f"{100 * score / one.maximum:.1f}"
            row = [one.student, one.id, one.exercise, _number(score), one.maximum, percent, one.status, one.late]
            row += [_number(taken or None), " ".join(one.lost), one.misconception, f"{one.seconds:.1f}"]
            writer.writerow([harmless(cell) for cell in (*row, one.submitted, one.file, one.notes)])
        place = self.folder / TABLE
        write_whole(place, file.getvalue())
        return place

    def set_aside(self, graded: Iterable[Graded]) -> list[str]:
        """Move results of these exercises that have no row any more, such as a student's who left, into `removed/`."""
        graded = list(graded)
        kept = {self.place(one.student, one.exercise).name for one in graded}
        exercises = tuple(f"_{one.exercise}" for one in graded)
        moved = []
        for file in sorted((self.folder / "results").glob("*.*")):
            if file.suffix in (".json", ".html") and file.stem.endswith(exercises) and file.stem not in kept:
                (self.folder / "removed").mkdir(exist_ok=True)
                os.replace(file, self.folder / "removed" / file.name)
                moved.append(file.stem)
        return list(dict.fromkeys(moved))

    def log(self, *lines: str) -> None:
        """Add lines to `run.log`."""
        stamp = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S")
        with (self.folder / LOG).open("a", encoding="utf-8") as file:
            file.writelines(f"{stamp} {clean(line)}\n" for line in lines)


def _is_gradebook(folder: Path) -> bool:
    """Whether grading wrote into a folder: its log or its table tells."""
    log, table = (_first_line(folder / name) for name in (LOG, TABLE))
    known = {"student", "exercise", "score", "maximum", "percent", "status"}
    return bool(_LOG_BEGINS.match(log)) or known <= {*table.split(",")}


def _first_line(file: Path) -> str:
    try:
        with file.open(encoding="utf-8", errors="replace") as lines:
            return lines.readline(1000).strip()
    except OSError:
        return ""


def described_checks(result: ExerciseResult) -> tuple[dict[str, Any], ...]:
    """The checks of a result, in plain values."""
    return tuple(
        {
            "name": check.name, "title": check.check.title, "hidden": check.hidden, "points": check.points,
            "earned": check.earned, "message": _message(check),
            "line": clean(check.failure.line) if check.failure and not check.hidden else "",
        }
        for check in result.checks
    )  # fmt: skip


def _message(check: CheckResult) -> str:
    """What a student may read: of a hidden check neither values nor what the answer says of its inputs."""
    if check.failure is None:
        return ""
    if not check.hidden:
        return clean(check.failure.message)
    kind = check.failure.message.partition(":")[0]
    stopped = f" ({kind})" if kind in ("TimeoutError", "ProcessDied") else ""
    return f"with other sizes and numbers, this does not hold: {check.check.title}{stopped}"


def hidden_messages(result: ExerciseResult) -> list[str]:
    """What went wrong in hidden checks, for the instructor alone."""
    lost = [check for check in result.checks if check.failure and check.hidden]
    return [clean(f"{check.name}: {check.failure.message} {check.failure.line}") for check in lost if check.failure]


def shown_name(student: str) -> str:
    """A student's name in one line; two names that are not the same never look the same."""
    shown = clean(student, _LONGEST_NAME)
    return shown if shown == student and not _TAIL.search(student) else shown[:60] + _tail(student)


def _tail(student: str) -> str:
    """What keeps names apart that have become alike; `_TAIL` keeps others from taking it for their own."""
    return "-" + hashlib.sha256(student.encode(errors="surrogateescape")).hexdigest()[:16]


def write_whole(path: Path, text: str) -> None:
    """Write a file so that it is never seen half written."""
    with atomic_write(path, "wb") as file:
        file.write(text.encode("utf-8", errors="replace"))


def _suffixed(place: Path, suffix: str) -> Path:
    return place.with_name(place.name + suffix)


def _number(value: float | None) -> str | float:
    return "" if value is None else int(value) if value == int(value) else value


def page(graded: Graded, report: Feedback) -> str:
    """The feedback for a student; without counterexample and output where these cannot be shown."""
    try:
        if len(whole := _page(graded, report)) <= _MOST_OF_A_PAGE:
            return whole
    except Exception:  # of a value that torch cannot compare or print
        pass
    checks = tuple(replace(check, failure=_bare(check.failure)) for check in report.result.checks)
    gate = clean(report.result.gate)
    bare = replace(report.result, checks=checks, gate=gate)
    return _page(graded, replace(report, result=bare, output=""))


def _bare(failure: Failure | None) -> Failure | None:
    return failure and Failure(clean(failure.message), error=failure.error, line=clean(failure.line))


def _page(graded: Graded, report: Feedback) -> str:
    title = escape(f"{graded.exercise} · {graded.student}")
    view = '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    style = "margin: 2rem; color-scheme: light dark; font-family: system-ui, sans-serif"
    head = f'<!doctype html>\n<html lang="en"><head>{view}<title>{title}</title></head>'
    return f'{head}\n<body style="{style}">\n<h1>{title}</h1>\n{html_of(report)}\n</body></html>\n'
