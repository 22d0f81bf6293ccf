"""Rosters: who is in a class, as a platform's table of it says, and which of them a student of ours is.

Any CSV file whose first line names columns that platforms use: Canvas's gradebook, Moodle's grading worksheet, the
tables of Gradescope, Blackboard, Brightspace, Sakai, GitHub Classroom and nbgrader, or one's own with `name` and `id`.

Nobody is taken for another. A number or login must be that of one person, and a name too; where both are known they
must agree.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from annotated_grader.instructor.names import display_name, name_key

NAMES = ("student", "student name", "full name", "name", "display name")
FIRST = ("first name", "first_name", "firstname", "given name", "first")
LAST = ("last name", "last_name", "lastname", "surname", "family name", "last")
IDS = (
    "sis login id", "sis user id", "id", "integration id", "identifier", "id number", "username", "login", "user id",
    "sid", "student id", "student_id", "student number", "orgdefinedid", "github_username", "github username",
    "github_id", "roster_identifier", "display id", "lms_user_id", "email", "email address", "e-mail", "mail",
)  # fmt: skip
"""Columns that hold what one person alone has."""
POINTS = "Points Possible"
_NOBODY = (POINTS, "Test Student")
"""Rows of Canvas that are about nobody."""


@dataclass(frozen=True)
class GradedStudent:
    """One of ours: the name in the gradebook, and what the platform knows them by."""

    name: str
    id: str = ""


@dataclass(frozen=True)
class Person:
    """A line of a roster."""

    line: int
    row: Mapping[str, str]
    columns: Mapping[str, str]

    @cached_property
    def name(self) -> str:
        """First name first."""
        names = [display_name(self.row[column]) for column in self._of(NAMES)]
        parts = [" ".join(self.row[column].strip() for column in self._of(kind)[:1]) for kind in (FIRST, LAST)]
        return next(filter(None, [" ".join(filter(None, parts)), *names]), "")

    @cached_property
    def ids(self) -> dict[str, str]:
        """What this person alone has, in small letters, with the column."""
        found: dict[str, str] = {}
        for column in self._of(IDS):
            text = self.row[column].strip().casefold()
            found.setdefault(text, column)
            if number := re.fullmatch(r"[^\W\d]+\w* ?(\d+)", text) if self.columns[column] == "identifier" else None:
                found.setdefault(number[1], column)  # Moodle's `Participant 4001`
        found.pop("", None)
        return found

    @cached_property
    def names(self) -> set[str]:
        """Keys of the name, first or last name first."""
        keys = {name_key(self.name)}
        for column in self._of(NAMES):
            words = display_name(self.row[column]).split()
            keys |= {name_key(self.row[column]), name_key(" ".join(words[-1:] + words[:-1]))}
            last, comma, first = self.row[column].partition(",")
            keys |= {name_key(f"{last} {first}")} if comma else set()
        first, last = (self.row[c[0]] if (c := self._of(kind)) else "" for kind in (FIRST, LAST))
        return {*keys, name_key(f"{last} {first}")} - {""}

    def column_of(self, student: GradedStudent) -> str:
        """The column that names this student."""
        found = (self.ids.get(text.casefold()) for text in (student.id, student.name))
        return next(filter(None, found), "") or next(iter(self._of((*NAMES, *LAST))), "")

    @cached_property
    def identity(self) -> tuple[str, ...]:
        """The same for two lines about one person, who may be in two sections."""
        return (*sorted(self.ids), name_key(self.name))

    def _of(self, kinds: Collection[str]) -> list[str]:
        return [column for column, kind in self.columns.items() if kind in kinds and self.row.get(column)]


@dataclass(frozen=True)
class Roster:
    """A table of a class.

    Attributes
    ----------
    rows
        By the line on which each ends.
    """

    columns: tuple[str, ...]
    rows: Mapping[int, dict[str, str]]
    delimiter: str = ","

    @classmethod
    def read(cls, text: str, file: str = "the roster") -> Roster:
        """Read a table, and see that it names people.

        Raises
        ------
        ValueError
            If it has no column that names a student, or a line cannot be read.
        """
        columns, rows, delimiter = read_table(text, file)
        known = {column.strip().casefold() for column in columns}
        if not known & {*NAMES, *LAST, *IDS}:
            what = "a name or an id, such as `Student`, `Full name`, `Email address` or `id`"
            raise ValueError(f"{file} has no column `Student`, nor another of people: it needs {what}")
        return cls(tuple(columns), rows, delimiter)

    @cached_property
    def people(self) -> dict[int, Person]:
        """By line."""
        kinds = {column: column.strip().casefold() for column in self.columns}
        people = {line: Person(line, row, kinds) for line, row in self.rows.items()}
        return {line: one for line, one in people.items() if one.name not in _NOBODY and (one.names or one.ids)}

    def lines_of(self, student: GradedStudent) -> list[int]:
        """The lines that can be about a student: by id and name together, or else by either."""
        id, name = student.id.casefold(), student.name.removesuffix(f" ({student.id})").casefold()
        by_id = [line for line, one in self.people.items() if id and id in one.ids]
        by_name = [line for line, one in self.people.items() if name in one.ids or name_key(name) in one.names]
        both = [line for line in by_id if line in by_name]
        if not (by_id or by_name) and "@" not in name:
            return [line for line, one in self.people.items() if {id, name} & _before_at(one.ids)]
        return both or by_id + [line for line in by_name if line not in by_id]

    def owners(self, students: Iterable[GradedStudent]) -> tuple[dict[int, GradedStudent], tuple[str, ...]]:
        """The student that each line is about, and the lines of which nobody can say it, with reasons."""
        lines = {student: self.lines_of(student) for student in students}
        named: dict[int, list[GradedStudent]] = {}
        for student, found in lines.items():
            for line in found:
                named.setdefault(line, []).append(student)
        owners, ambiguous = {}, []
        for line, here in sorted(named.items()):
            about = f"{self.people[line].row.get(self.columns[0], '')} (line {line})"
            student, places = here[0], sorted(lines[here[0]])
            if len(here) > 1:
                shown = ", ".join(sorted(one.name for one in here))
                ambiguous.append(f"{about}: its columns name several students of the gradebook: {shown}")
            elif len({self.people[other].identity for other in places}) > 1:
                rows = ", ".join(f"line {other} by {self.people[other].column_of(student)}" for other in places)
                what = f"several rows of the roster name the student {student.name} of the gradebook"
                ambiguous.append(f"{about}: {what}: {rows}")
            else:
                owners[line] = student
        return owners, tuple(ambiguous)


def _before_at(ids: Iterable[str]) -> set[str]:
    return {id.partition("@")[0] for id in ids if "@" in id}


def decoded(data: bytes) -> str:
    """The text of a table, as spreadsheets write it: in UTF-8, UTF-16 or the code page of Western Europe."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")


def read_table(text: str, file: str) -> tuple[list[str], dict[int, dict[str, str]], str]:
    """Columns and rows of a CSV file, these by the line on which each ends, and what stands between its fields.

    Raises
    ------
    ValueError
        If a line has more fields than there are columns, or cannot be read.
    """
    text = text.lstrip("\ufeff")
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    reader = csv.DictReader(io.StringIO(text), restval="", delimiter=delimiter)
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
    return list(reader.fieldnames or ()), rows, delimiter
