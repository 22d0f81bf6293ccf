"""`annotated exercise export` and `annotated exercise similarity`: what instructors do before and after grading."""

from __future__ import annotations

import secrets
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from annotated.storage import atomic_write

PACKAGES = ("annotated_attention", "annotated_grader")
"""How the names of the wheels begin that grade on Gradescope."""


@dataclass
class Notebook:
    """Write the source notebook of an exercise for nbgrader or otter, which make the student's version from it."""

    format: tyro.conf.Positional[Literal["nbgrader", "otter"]]
    """nbgrader: for `nbgrader generate_assignment`. otter: for `otter assign`."""
    exercise: tyro.conf.Positional[str]
    """Such as ex05-1."""
    out: tyro.conf.Positional[Path]
    """The .ipynb file to write."""
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
    """The .zip file to write."""
    wheel: tuple[Path, Path]
    """Those of library and grader: `pip wheel . ./grader --no-deps`, or what the built book has in _static/wheel."""
    salt_file: Path | None = None
    """Seeds the hidden checks; by default one is drawn."""
    trust: bool = False
    """Grade also in a container where nothing can isolate the answer, which could then write its own result."""

    def run(self) -> int:
        """Write it."""
        from annotated_grader.exercise.catalogue import find
        from annotated_grader.instructor.exports.gradescope import autograder_zip

        for package, wheel in zip(PACKAGES, sorted(self.wheel, key=lambda one: one.name), strict=True):
            if wheel.suffix != ".whl" or not wheel.is_file() or not wheel.name.startswith(package):
                raise ValueError(f"{wheel} is no wheel of {package}; make both with: pip wheel . ./grader --no-deps")
        _write(self.out, autograder_zip(find(self.exercise), _salt(self.salt_file), self.wheel, self.trust))
        return 0


@dataclass
class Canvas:
    """Put the scores of a gradebook into the columns that Canvas imports."""

    gradebook: tyro.conf.Positional[Path]
    """The gradebook.csv that `annotated exercise grade` wrote."""
    roster: tyro.conf.Positional[Path]
    """The CSV that Canvas exports under Grades."""
    out: tyro.conf.Positional[Path]
    """The .csv file to write."""
    exercises: tuple[str, ...] = ()
    """Only these."""

    def run(self) -> int:
        """Write it, and say who is missing on either side."""
        from annotated_grader.instructor.exports.canvas import canvas_table

        table = canvas_table(
            self.gradebook.read_text(encoding="utf-8"), self.roster.read_text(encoding="utf-8"), self.exercises,
            gradebook_file=str(self.gradebook), roster_file=str(self.roster),
        )  # fmt: skip
        _write(self.out, table.text.encode())
        for names, what in ((table.unknown, "graded, but not on the roster"), (table.without, "without a grade")):
            if names:
                print(f"{what}: {'; '.join(names)}")
        for reason in table.ambiguous:
            print(f"no new grade: {reason}")
        return 0


@dataclass
class Similarity:
    """List answers that are far more alike than is usual in this folder: to be looked at, never a score."""

    folder: tyro.conf.Positional[Path]
    """The folder of submissions, as for `annotated exercise grade`."""
    exercise: str = ""
    """Only this one; needed where neither file nor folder names it."""

    def run(self) -> int:
        """Print the pairs."""
        from annotated_grader.exercise.catalogue import find
        from annotated_grader.instructor.answers import read_answers
        from annotated_grader.instructor.gradebook import clean
        from annotated_grader.instructor.similarity import similar

        answers, skipped = read_answers(self.folder, self.exercise)
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
    )


def _salt(file: Path | None) -> str:
    return file.read_text(encoding="utf-8").strip() if file else secrets.token_hex(16)


def _write(out: Path, data: bytes) -> None:
    if out.is_dir():
        raise ValueError(f"{out} is a folder; give the name of a file")
    with atomic_write(out, "wb") as file:
        file.write(data)
    print(out)
