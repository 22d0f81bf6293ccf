"""Gradebook on disk: JSON and HTML for each result of a folder, `gradebook.csv` and `run.log` for all.

Every file appears whole or not at all, so that a run that was killed goes on where it stood.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any

from annotated.grading.exercise.run import ExerciseResult
from annotated.grading.feedback.report import Feedback
from annotated.grading.feedback.report_html import html_of
from annotated.storage import atomic_write

FORMAT = 1
COLUMNS = (
    "student",
    "exercise",
    "score",
    "maximum",
    "percent",
    "status",
    "lost",
    "misconception",
    "seconds",
    "file",
    "note",
)


@dataclass(frozen=True)
class Graded:
    """One submission with its grade, as it is written down.

    Attributes
    ----------
    score
        None where the grader failed: that is nobody's mistake but the grader's.
    status
        ok, student_error (no answer in it), timeout, died, or grader_error.
    checks
        For each check: name, title, hidden, points, earned, message, line.
    misconception
        The name of the known mistake that the answer behaves like, and what is said to it; may be empty.
    digest
        Of all that the grade depends on.
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
    format: int = FORMAT

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
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "results").mkdir(parents=True, exist_ok=True)

    def place(self, student: str, exercise: str) -> Path:
        """The file of one result, without its suffix; names that no file can have are replaced, and stay apart."""
        safe = re.sub(r"[^\w.@-]+", "_", student, flags=re.ASCII).strip("._")[:60]
        if safe != student:
            safe += "-" + hashlib.sha256(student.encode(errors="replace")).hexdigest()[:8]
        return self.folder / "results" / f"{safe}_{exercise}"

    def load(self, student: str, exercise: str, digest: str) -> Graded | None:
        """A result of an earlier run, if nothing that it depends on has changed."""
        try:
            data = json.loads(_suffixed(self.place(student, exercise), ".json").read_text(encoding="utf-8"))
            known = Graded(**{**data, "checks": tuple(data["checks"])})
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return known if known.digest == digest and known.format == FORMAT and known.status != "grader_error" else None

    def save(self, graded: Graded, report: Feedback | None) -> None:
        """Write a result as HTML for the student and as JSON; the JSON comes last, and says that it is done."""
        place = self.place(graded.student, graded.exercise)
        if report is not None:
            write_whole(_suffixed(place, ".html"), _page(graded, report))
        write_whole(_suffixed(place, ".json"), json.dumps(asdict(graded), indent=1, ensure_ascii=False) + "\n")

    def write_table(self, graded: Iterable[Graded]) -> Path:
        """Write `gradebook.csv`: a row for each student and exercise."""
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for one in sorted(graded, key=lambda one: (one.student, one.exercise)):
            percent = "" if one.score is None or not one.maximum else f"{100 * one.score / one.maximum:.1f}"
            row = [one.student, one.exercise, "" if one.score is None else one.score, one.maximum, percent, one.status]
            row += [" ".join(one.lost), one.misconception, f"{one.seconds:.1f}", one.file, one.note]
            writer.writerow([_harmless(cell) for cell in row])
        place = self.folder / "gradebook.csv"
        write_whole(place, file.getvalue())
        return place

    def log(self, *lines: str) -> None:
        """Add lines to `run.log`."""
        stamp = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S")
        with (self.folder / "run.log").open("a", encoding="utf-8") as file:
            file.writelines(f"{stamp} {clean(line)}\n" for line in lines)


def described_checks(result: ExerciseResult) -> tuple[dict[str, Any], ...]:
    """The checks of a result, in plain values."""
    return tuple(
        {
            "name": check.name, "title": check.check.title, "hidden": check.hidden, "points": check.points,
            "earned": check.earned, "message": clean(check.failure.message) if check.failure else "",
            "line": clean(check.failure.line) if check.failure else "",
        }
        for check in result.checks
    )  # fmt: skip


def clean(text: str, most: int = 500) -> str:
    """One line of text from a stranger, without what would steer a terminal."""
    return "".join(c if c.isprintable() else " " if c.isspace() else "\N{REPLACEMENT CHARACTER}" for c in text[:most])


def write_whole(path: Path, text: str) -> None:
    """Write a file so that it is never seen half written."""
    with atomic_write(path, "wb") as file:
        file.write(text.encode("utf-8", errors="replace"))


def _suffixed(place: Path, suffix: str) -> Path:
    return place.with_name(place.name + suffix)


def _harmless(cell: Any) -> Any:
    """A cell that a spreadsheet does not take for a formula."""
    if not isinstance(cell, str):
        return cell
    text = clean(cell)
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text


def _page(graded: Graded, report: Feedback) -> str:
    title = escape(f"{graded.exercise} · {graded.student}")
    view = '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    style = "margin: 2rem; color-scheme: light dark; font-family: system-ui, sans-serif"
    head = f'<!doctype html>\n<html lang="en"><head>{view}<title>{title}</title></head>'
    return f'{head}\n<body style="{style}">\n<h1>{title}</h1>\n{html_of(report)}\n</body></html>\n'
