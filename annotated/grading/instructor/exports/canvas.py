"""Canvas: grades in the columns of its own gradebook export, to be imported there again."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

ID_COLUMNS = ("SIS Login ID", "SIS User ID", "ID", "Student")
"""Where a student's name in our gradebook is looked for, in this order."""


@dataclass(frozen=True)
class CanvasTable:
    """Result of an export.

    Attributes
    ----------
    text
        The CSV file for Canvas.
    unknown
        Students of the gradebook who are not on the roster.
    without
        Students of the roster without any grade.
    """

    text: str
    unknown: tuple[str, ...]
    without: tuple[str, ...]


def canvas_table(gradebook: str, roster: str, exercises: Iterable[str] = ()) -> CanvasTable:
    """Put grades beside the students of a Canvas roster.

    Parameters
    ----------
    gradebook
        The text of our `gradebook.csv`.
    roster
        The text of the CSV that Canvas exports under Grades; its columns are kept.
    exercises
        Which to include; all by default. Each becomes a column.

    Raises
    ------
    ValueError
        If the roster has none of the columns that name a student, or the gradebook is none.
    """
    rows = list(csv.DictReader(io.StringIO(roster.lstrip("\ufeff"))))
    columns = list(rows[0]) if rows else []
    if "Student" not in columns:
        raise ValueError("the roster has no column `Student`; export it from Canvas under Grades")
    grades = list(csv.DictReader(io.StringIO(gradebook)))
    if grades and not {"student", "exercise", "score", "maximum"} <= set(grades[0]):
        raise ValueError("this is no gradebook.csv of `annotated exercise grade`")
    named = list(exercises) or sorted({grade["exercise"] for grade in grades})
    column = {name: _column(name, columns) for name in named}
    chosen = list(column.values())
    scores = {
        (grade["student"], column[grade["exercise"]]): grade
        for grade in grades
        if grade["score"] != "" and grade["exercise"] in column
    }
    found = set()
    for row in rows:
        row.update({e: row.get(e, "") for e in chosen})  # an earlier score stays where there is no new one
        if row["Student"].strip() == "Points Possible":
            row.update({e: _maximum(scores, e) for e in chosen})
        elif name := _named(row, {student for student, _ in scores}):
            found.add(name)
            row.update({e: scores[name, e]["score"] for e in chosen if (name, e) in scores})
    if not any(row["Student"].strip() == "Points Possible" for row in rows):
        rows.insert(0, {"Student": "    Points Possible", **{e: _maximum(scores, e) for e in chosen}})
    file = io.StringIO()
    writer = csv.DictWriter(file, [*columns, *(e for e in chosen if e not in columns)], restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    people = [row for row in rows if row["Student"].strip() != "Points Possible"]
    without = tuple(row["Student"] for row in people if not any(row[e] != "" for e in chosen))
    return CanvasTable(file.getvalue(), tuple(sorted({student for student, _ in scores} - found)), without)


def _column(exercise: str, columns: Iterable[str]) -> str:
    """The roster's column of an exercise: Canvas numbers one that was imported before, as in `ex05-1 (4711)`."""
    return next((name for name in columns if re.fullmatch(rf"{re.escape(exercise)}( \(\d+\))?", name)), exercise)


def _named(row: dict[str, str], students: set[str]) -> str:
    """The student of the gradebook that a row of the roster is about, or nothing."""
    return next((row[column] for column in ID_COLUMNS if row.get(column) in students), "")


def _maximum(scores: Mapping[tuple[str, str], dict[str, str]], column: str) -> str:
    return next((grade["maximum"] for (_, name), grade in scores.items() if name == column), "")
