"""Moodle: grades in the grading worksheet of one assignment, to be uploaded there again.

Moodle takes the number behind *Participant*, the grade, and the time of the last grade, by which it sees whether
somebody graded meanwhile. A grade is a share of its *Maximum grade*.
"""

from __future__ import annotations

from collections.abc import Iterable

from annotated_grader.instructor.exports.roster_table import ExportedTable, Grades, written
from annotated_grader.instructor.roster import GradedStudent, Roster

IDENTIFIER, GRADE, LOCKED = "Identifier", "Grade", "Grade can be changed"
MAXIMUM = ("Maximum Grade", "Maximum grade")


def moodle_table(
    gradebook: str,
    worksheet: str,
    exercises: Iterable[str] = (),
    *,
    gradebook_file: str = "the gradebook",
    worksheet_file: str = "the worksheet",
) -> ExportedTable:
    """Put the grades of one assignment into its grading worksheet.

    Parameters
    ----------
    gradebook
        The text of a `gradebook.csv`.
    worksheet
        The text of the CSV that Moodle gives under *Download grading worksheet*.
    exercises
        Those of the assignment. Of several the points are added; one that a student did not hand in counts nothing.
    gradebook_file, worksheet_file
        What errors call them.

    Raises
    ------
    ValueError
        If the worksheet is none, the gradebook is none, a line cannot be read, or several exercises could be meant.
    """
    roster = Roster.read(worksheet, worksheet_file)
    maximum = next((name for name in MAXIMUM if name in roster.columns), "")
    if missing := [name for name in (IDENTIFIER, GRADE, maximum or MAXIMUM[0]) if name not in roster.columns]:
        has = ", ".join(roster.columns)
        raise ValueError(
            f"{worksheet_file} has no column {', '.join(missing)} (it has {has}); download the grading worksheet with "
            "Moodle in English"
        )
    exercises = tuple(exercises)
    grades = Grades.read(gradebook, gradebook_file, exercises)
    if not exercises and len(grades.exercises) > 1:
        raise ValueError(
            f"a worksheet is of one assignment: say --exercises with those of it, of {', '.join(grades.exercises)}"
        )
    owners, ambiguous = roster.owners(grades.students)
    reasons = list(ambiguous)
    for line, student in owners.items():
        row = roster.rows[line]
        if row.get(LOCKED, "Yes").strip().casefold() in ("no", "0"):
            reasons.append(f"{student.name} (line {line}): Moodle says that the grade cannot be changed")
        elif whole := row[maximum].strip():
            row[GRADE] = _grade(student, grades, whole)
    known = {student for student in grades.students if roster.lines_of(student)}
    unknown = tuple(sorted(student.name for student in set(grades.students) - known))
    without = tuple(one.name for one in roster.people.values() if not one.row[GRADE].strip(" -"))
    text = written(roster.columns, roster.rows.values(), roster.delimiter)
    return ExportedTable(text, unknown, without, tuple(reasons))


def _grade(student: GradedStudent, grades: Grades, whole: str) -> str:
    """A student's share of the points, of Moodle's maximum, with the comma where Moodle writes one."""
    rows = [grades.scores.get((student, exercise)) for exercise in grades.exercises]
    earned = sum(float(row["score"]) for row in rows if row)
    possible = sum(float(grades.maximum(exercise) or 0) for exercise in grades.exercises)
    grade = f"{earned / possible * float(whole.replace(',', '.')):.2f}"
    return grade.replace(".", ",") if "," in whole else grade
