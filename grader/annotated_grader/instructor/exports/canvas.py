"""Canvas: grades in the columns of its own gradebook export, to be imported there again."""

from __future__ import annotations

import re
from collections.abc import Iterable

from annotated_grader.instructor.exports.roster_table import ExportedTable, Grades, table_of
from annotated_grader.instructor.roster import POINTS, Roster


def canvas_table(
    gradebook: str,
    roster: str,
    exercises: Iterable[str] = (),
    *,
    gradebook_file: str = "the gradebook",
    roster_file: str = "the roster",
) -> ExportedTable:
    """Put grades beside the students of a Canvas roster.

    Parameters
    ----------
    gradebook
        The text of a `gradebook.csv`.
    roster
        The text of the CSV that Canvas exports under Grades.
    exercises
        Only these; each becomes a column.
    gradebook_file, roster_file
        What errors call them.

    Raises
    ------
    ValueError
        If the roster has none of the columns that name a student, the gradebook is none, or a line cannot be read.
    """
    read = Roster.read(roster, roster_file)
    if "Student" not in read.columns:
        raise ValueError("the roster has no column `Student`; export it from Canvas under Grades")
    grades = Grades.read(gradebook, gradebook_file, exercises)
    columns = {exercise: _column(exercise, read.columns) for exercise in grades.exercises}
    maxima = {column: grades.maximum(exercise) for exercise, column in columns.items()}
    points = [row for row in read.rows.values() if row["Student"].strip() == POINTS]
    for row in points:
        row.update(maxima)
    return table_of(read, grades, columns, [] if points else [{"Student": f"    {POINTS}", **maxima}])


def _column(exercise: str, columns: Iterable[str]) -> str:
    """The roster's column of an exercise: Canvas numbers one that was imported before, as in `ex05-1 (4711)`."""
    return next((name for name in columns if re.fullmatch(rf"{re.escape(exercise)}( \(\d+\))?", name)), exercise)
