"""Canvas: grades in the columns of its own gradebook export, to be imported there again.

A row of the roster gets the grades of the student whom its login, SIS id, id or name names. Nobody gets a grade that
may be another's: where rows of two people name the same student, or one row names two students, none of them gets a
new grade, and each has a reason.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

ID_COLUMNS = ("SIS Login ID", "SIS User ID", "ID", "Student")
"""Where a student's name in our gradebook is looked for."""


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
    ambiguous
        Rows of the roster that got no new grade because it may be another's, with reasons.
    """

    text: str
    unknown: tuple[str, ...]
    without: tuple[str, ...]
    ambiguous: tuple[str, ...] = ()


def canvas_table(
    gradebook: str,
    roster: str,
    exercises: Iterable[str] = (),
    *,
    gradebook_file: str = "the gradebook",
    roster_file: str = "the roster",
) -> CanvasTable:
    """Put grades beside the students of a Canvas roster.

    Parameters
    ----------
    gradebook
        The text of our `gradebook.csv`.
    roster
        The text of the CSV that Canvas exports under Grades; its columns are kept.
    exercises
        Which to include; all by default. Each becomes a column.
    gradebook_file, roster_file
        What errors call them.

    Raises
    ------
    ValueError
        If the roster has none of the columns that name a student, the gradebook is none, or a line cannot be read.
    """
    lines = _lines(roster, roster_file)
    rows = list(lines.values())
    columns = list(rows[0]) if rows else []
    if "Student" not in columns:
        raise ValueError("the roster has no column `Student`; export it from Canvas under Grades")
    grades = list(_lines(gradebook, gradebook_file).values())
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
    students = {student for student, _ in scores}
    people = {line: row for line, row in lines.items() if row["Student"].strip() != "Points Possible"}
    owners, ambiguous = _owners(people, students)
    for line, row in lines.items():
        row.update({e: row.get(e, "") for e in chosen})  # an earlier score stays where there is no new one
        if line not in people:
            row.update({e: _maximum(scores, e) for e in chosen})
        elif name := owners.get(line):
            row.update({e: scores[name, e]["score"] for e in chosen if (name, e) in scores})
    if len(people) == len(rows):
        rows.insert(0, {"Student": "    Points Possible", **{e: _maximum(scores, e) for e in chosen}})
    file = io.StringIO()
    writer = csv.DictWriter(file, [*columns, *(e for e in chosen if e not in columns)], restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    named_by_somebody = {name for row in people.values() for name in _named(row, students)}
    without = tuple(row["Student"] for row in people.values() if not any(row[e] != "" for e in chosen))
    return CanvasTable(file.getvalue(), tuple(sorted(students - named_by_somebody)), without, ambiguous)


def _lines(text: str, file: str) -> dict[int, dict[str, str]]:
    """The rows of a table by the line on which each ends."""
    reader = csv.DictReader(io.StringIO(text.lstrip("\ufeff")), restval="")
    rows: dict[int, dict[str, str]] = {}
    try:
        for row in reader:
            if None in row:
                more = len(row[None])
                has = f"{more} field{'s'[: more > 1]} more than the {len(row) - 1} columns of the first line"
                raise ValueError(f"{file}, line {reader.line_num}: it has {has}; is a comma not quoted?")
            rows[reader.line_num] = row
    except csv.Error as error:
        raise ValueError(f"{file}, line {reader.line_num}: {error}") from None
    return rows


def _owners(people: Mapping[int, dict[str, str]], students: Collection[str]) -> tuple[dict[int, str], tuple[str, ...]]:
    """The student of the gradebook that a line of the roster is about, and the lines that nobody can say it of."""
    named = {line: _named(row, students) for line, row in people.items()}
    owners, ambiguous = {}, []
    for line, row in people.items():
        name = next(iter(named[line]), "")
        same = [other for other, names in named.items() if name in names]
        about = f"{row['Student']} (line {line})"
        if len(named[line]) > 1:
            ambiguous.append(f"{about}: its columns name several students of the gradebook: {', '.join(named[line])}")
        elif len({_identity(people[other]) for other in same}) > 1:
            rows = ", ".join(f"line {other} by {_column_of(name, people[other])}" for other in same)
            ambiguous.append(f"{about}: several rows of the roster name the student {name} of the gradebook: {rows}")
        elif name:
            owners[line] = name
    return owners, tuple(ambiguous)


def _identity(row: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(row.get(column, "") for column in ID_COLUMNS)


def _column_of(name: str, row: Mapping[str, str]) -> str:
    return next(column for column in ID_COLUMNS if row.get(column) == name)


def _column(exercise: str, columns: Iterable[str]) -> str:
    """The roster's column of an exercise: Canvas numbers one that was imported before, as in `ex05-1 (4711)`."""
    return next((name for name in columns if re.fullmatch(rf"{re.escape(exercise)}( \(\d+\))?", name)), exercise)


def _named(row: Mapping[str, str], students: Collection[str]) -> list[str]:
    """The students of the gradebook that a row of the roster names, each once."""
    return list(dict.fromkeys(row[column] for column in ID_COLUMNS if row.get(column) in students))


def _maximum(scores: Mapping[tuple[str, str], dict[str, str]], column: str) -> str:
    return next((grade["maximum"] for (_, name), grade in scores.items() if name == column), "")
