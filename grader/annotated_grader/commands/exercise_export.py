"""`annotated exercise export` and `annotated exercise similarity`: what instructors do before and after grading."""

from __future__ import annotations

import secrets
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from annotated.ownership import IsOurs, require_our_file
from annotated.storage import atomic_write

if TYPE_CHECKING:
    from annotated_grader.instructor.exports.roster_table import ExportedTable

PACKAGES = ("annotated_attention", "annotated_grader")
"""How the names of the wheels begin that grade on Gradescope."""


@dataclass
class Notebook:
    """Write an exercise for nbgrader or otter; they make the student's version from it."""

    format: tyro.conf.Positional[Literal["nbgrader", "otter"]]
    """nbgrader: for `nbgrader generate_assignment`. otter: for `otter assign`."""
    exercise: tyro.conf.Positional[str]
    """Such as ex05-1."""
    out: tyro.conf.Positional[Path]
    """The .ipynb file to write; one that is there and differs is never replaced."""
    salt_file: Path | None = None
    """Seeds the hidden checks; by default one is drawn."""

    def run(self) -> int:
        """Write it."""
        from annotated_grader.exercise.catalogue import find
        from annotated_grader.instructor.exports import notebooks

        make = {"nbgrader": notebooks.nbgrader, "otter": notebooks.otter}[self.format]
        _write(self.out, notebooks.as_text(make(find(self.exercise), _salt(self.salt_file))).encode())
        return 0


@dataclass
class Gradescope:
    """Write the autograder zip of an exercise for Gradescope."""

    exercise: tyro.conf.Positional[str]
    """Such as ex05-1."""
    out: tyro.conf.Positional[Path]
    """The .zip file to write; an earlier one is replaced, any other file never."""
    wheel: tuple[Path, Path]
    """Those of library and grader: `pip wheel . ./grader --no-deps`, or what the built book has in _static/wheel."""
    salt_file: Path | None = None
    """Seeds the hidden checks; by default one is drawn."""
    trust: bool = False
    """Grade also in a container where nothing can isolate the answer, which could then write its own result."""

    def run(self) -> int:
        """Write it."""
        from annotated_grader.exercise.catalogue import find
        from annotated_grader.instructor.exports.gradescope import autograder_zip, is_autograder

        for package, wheel in zip(PACKAGES, sorted(self.wheel, key=lambda one: one.name), strict=True):
            if wheel.suffix != ".whl" or not wheel.is_file() or not wheel.name.startswith(package):
                raise ValueError(f"{wheel} is no wheel of {package}; make both with: pip wheel . ./grader --no-deps")
        _write(
            self.out, autograder_zip(find(self.exercise), _salt(self.salt_file), self.wheel, self.trust), is_autograder
        )
        return 0


@dataclass
class Canvas:
    """Put the scores of a gradebook into the columns that Canvas imports."""

    gradebook: tyro.conf.Positional[Path]
    """The gradebook.csv that `annotated exercise grade` wrote."""
    roster: tyro.conf.Positional[Path]
    """The CSV that Canvas exports under Grades."""
    out: tyro.conf.Positional[Path]
    """The .csv file to write; one that is there and differs is never replaced."""
    exercises: tuple[str, ...] = ()
    """Only these."""

    def run(self) -> int:
        """Write it, and say who is missing on either side."""
        from annotated_grader.instructor.exports.canvas import canvas_table

        gradebook, roster = _table(self.gradebook), _table(self.roster)
        files = {"gradebook_file": str(self.gradebook), "roster_file": str(self.roster)}
        return _write_table(self.out, canvas_table(gradebook, roster, self.exercises, **files))


@dataclass
class Moodle:
    """Put the scores of a gradebook into a grading worksheet of Moodle: that of one assignment."""

    gradebook: tyro.conf.Positional[Path]
    """The gradebook.csv that `annotated exercise grade` wrote."""
    worksheet: tyro.conf.Positional[Path]
    """The CSV that Moodle gives under Download grading worksheet."""
    out: tyro.conf.Positional[Path]
    """The .csv file to write; one that is there and differs is never replaced."""
    exercises: tuple[str, ...] = ()
    """Those of the assignment; needed if the gradebook has several. Their points are added."""

    def run(self) -> int:
        """Write it, and say who is missing on either side."""
        from annotated_grader.instructor.exports.moodle import moodle_table

        gradebook, worksheet = _table(self.gradebook), _table(self.worksheet)
        files = {"gradebook_file": str(self.gradebook), "worksheet_file": str(self.worksheet)}
        return _write_table(self.out, moodle_table(gradebook, worksheet, self.exercises, **files))


@dataclass
class Table:
    """Put the scores of a gradebook into any table of people; a column for each exercise."""

    gradebook: tyro.conf.Positional[Path]
    """The gradebook.csv that `annotated exercise grade` wrote."""
    roster: tyro.conf.Positional[Path]
    """A CSV file whose columns name people, such as Username, Email or Last Name and First Name."""
    out: tyro.conf.Positional[Path]
    """The .csv file to write; one that is there and differs is never replaced."""
    exercises: tuple[str, ...] = ()
    """Only these."""

    def run(self) -> int:
        """Write it, and say who is missing on either side."""
        from annotated_grader.instructor.exports.roster_table import Grades, table_of
        from annotated_grader.instructor.roster import Roster

        grades = Grades.read(_table(self.gradebook), str(self.gradebook), self.exercises)
        columns = {exercise: exercise for exercise in grades.exercises}
        return _write_table(self.out, table_of(Roster.read(_table(self.roster), str(self.roster)), grades, columns))


@dataclass
class Similarity:
    """List answers that are far more alike than is usual in this folder: to be looked at, never a score."""

    folder: tyro.conf.Positional[Path]
    """The folder of submissions, as for `annotated exercise grade`."""
    exercise: str = ""
    """Only this one; needed where neither file nor folder names it."""
    layout: str = "auto"
    """How the folder is laid out, as for `annotated exercise grade`."""

    def run(self) -> int:
        """Print the pairs."""
        from annotated_grader.exercise.catalogue import find
        from annotated_grader.instructor.answers import read_answers
        from annotated_grader.instructor.similarity import similar
        from annotated_grader.instructor.strangers_text import clean

        answers, skipped = read_answers(self.folder, self.exercise, self.layout)
        for path, why in skipped:
            print(clean(f"set aside: {path}: {why}"), file=sys.stderr)
        print("exercise  as written  by structure  pair  (the usual values of this folder in brackets)")
        for exercise, codes in sorted(answers.items()):
            found = similar(codes, find(exercise).stub_code)
            if found.group:
                alike = f"{len(found.group)} of {len(codes)} answers are nearly the same as written"
                print(f"{exercise}    most answers are alike, so no pair stands out: {alike}: {', '.join(found.group)}")
            for pair in found.pairs:
                text, structure = (
                    f"{pair.text:.2f} ({pair.usual_text:.2f})",
                    f"{pair.structure:.2f} ({pair.usual_structure:.2f})",
                )
                print(f"{exercise}    {text}  {structure}   {pair.first}, {pair.second}")
        return 0


def export_commands() -> Any:
    """The forms of `annotated exercise export`."""
    sub = tyro.conf.subcommand
    return (
        Annotated[Notebook, sub("notebook")]
        | Annotated[Gradescope, sub("gradescope")]
        | Annotated[Canvas, sub("canvas")]
        | Annotated[Moodle, sub("moodle")]
        | Annotated[Table, sub("table")]
    )


def _table(file: Path) -> str:
    from annotated_grader.instructor.roster import decoded

    return decoded(file.read_bytes())


def _write_table(out: Path, table: ExportedTable) -> int:
    _write(out, table.text.encode())
    for names, what in ((table.unknown, "graded, but not on the roster"), (table.without, "without a grade")):
        if names:
            print(f"{what}: {'; '.join(names)}")
    for reason in table.ambiguous:
        print(f"no new grade: {reason}")
    return 0


def _salt(file: Path | None) -> str:
    return file.read_text(encoding="utf-8").strip() if file else secrets.token_hex(16)


def _write(out: Path, data: bytes, is_ours: IsOurs = lambda file: False) -> None:
    """Write a file; one that holds something else is never replaced, unless it is ours."""
    require_our_file(out, lambda file: is_ours(file) or file.read_bytes() == data)
    with atomic_write(out, "wb") as file:
        file.write(data)
    print(out)
