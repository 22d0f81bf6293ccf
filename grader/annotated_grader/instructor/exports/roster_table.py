"""Tables of platforms with our scores in them: the rows of a roster as they came, and the columns that are asked for.

A row of the roster gets the grades of the student whom its login, id or name names (`roster`). Nobody gets a grade that
may be another's: where rows of two people name the same student, or one row names two students, none of them gets a
new grade, and each has a reason.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from annotated_grader.instructor.roster import GradedStudent, Roster, read_table
from annotated_grader.instructor.strangers_text import plain


@dataclass(frozen=True)
class ExportedTable:
    """Result of an export.

    Attributes
    ----------
    text
        The CSV file for the platform.
    unknown
        Students of the gradebook who are not on the roster.
    without
        People of the roster without any grade.
    ambiguous
        Rows of the roster that got no new grade because it may be another's, with reasons.
    """

    text: str
    unknown: tuple[str, ...]
    without: tuple[str, ...]
    ambiguous: tuple[str, ...] = ()


@dataclass(frozen=True)
class Grades:
    """A gradebook, by student and exercise; exercises without a score are not in it."""

    scores: Mapping[tuple[GradedStudent, str], Mapping[str, str]]
    exercises: tuple[str, ...]

    @classmethod
    def read(cls, text: str, file: str, only: Iterable[str] = ()) -> Grades:
        """Read a `gradebook.csv`.

        Raises
        ------
        ValueError
            If it is none, or a line cannot be read.
        """
        columns, rows, _ = read_table(text, file)
        if not {"student", "exercise", "score", "maximum"} <= set(columns):
            raise ValueError(f"{file} is no gradebook.csv of `annotated exercise grade`")
        exercises = tuple(only) or tuple(sorted({row["exercise"] for row in rows.values()}))
        if missing := set(exercises) - {row["exercise"] for row in rows.values()}:
            raise ValueError(f"{file} has no exercise {', '.join(sorted(missing))}")
        scores = {
            (GradedStudent(plain(row["student"]), plain(row.get("id") or "")), row["exercise"]): row
            for row in rows.values()
            if row["exercise"] in exercises and row["score"] != ""
        }
        return cls(scores, exercises)

    @property
    def students(self) -> tuple[GradedStudent, ...]:
        """Those with a score."""
        return tuple(dict.fromkeys(student for student, _ in self.scores))

    def maximum(self, exercise: str) -> str:
        """The points of an exercise."""
        return next((row["maximum"] for (_, name), row in self.scores.items() if name == exercise), "")


def table_of(
    roster: Roster, grades: Grades, columns: Mapping[str, str], first: Iterable[dict[str, str]] = ()
) -> ExportedTable:
    """The rows of a roster, each with its student's score in the column of each exercise.

    Parameters
    ----------
    columns
        By exercise. One that the roster has keeps what is in it where there is no new score.
    first
        Rows that go before all others.
    """
    owners, ambiguous = roster.owners(grades.students)
    for line, student in owners.items():
        for exercise, column in columns.items():
            if row := grades.scores.get((student, exercise)):
                roster.rows[line][column] = row["score"]
    shown = [*roster.columns, *(name for name in columns.values() if name not in roster.columns)]
    text = written(shown, [*first, *roster.rows.values()], roster.delimiter)
    known = {student for student in grades.students if roster.lines_of(student)}
    unknown = tuple(sorted(student.name for student in set(grades.students) - known))
    people = [roster.rows[line] for line in roster.people]
    without = tuple(row[shown[0]] for row in people if not any(row.get(name) for name in columns.values()))
    return ExportedTable(text, unknown, without, ambiguous)


def written(columns: Iterable[str], rows: Iterable[Mapping[str, str]], delimiter: str = ",") -> str:
    """A CSV file."""
    file = io.StringIO()
    writer = csv.DictWriter(file, list(columns), restval="", lineterminator="\n", delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()
