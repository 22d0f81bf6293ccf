"""`annotated exercise`: list, start, check, progress and build, for learners; the rest stands beside this file."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from annotated_grader.commands.exercise_export import Similarity, export_commands
from annotated_grader.commands.exercise_grade import Grade
from annotated_grader.commands.exercise_verify import Verify


@dataclass
class List:
    """List the exercises, and how far you are with each."""

    chapter: int | None = None
    """Only those of this chapter."""

    def run(self) -> int:
        """Print one line for each."""
        from annotated_grader.exercise.catalogue import all_exercises
        from annotated_grader.exercise.markdown import without_marks
        from annotated_grader.learner.overview import state
        from annotated_grader.learner.record import ProgressRecord

        record = ProgressRecord()
        for exercise in all_exercises():
            if self.chapter in (None, exercise.number):
                facts = f"{exercise.kind:<8}{exercise.minutes:>3} min{exercise.points_public:>4} points"
                done = state(record.entry(exercise.id))
                print(f"{exercise.id:<8}{facts}  {done:<10}{without_marks(exercise.title)}")
        return 0


@dataclass
class Start:
    """Put an exercise's notebook into a folder. Nothing that is there already is overwritten."""

    exercise: tyro.conf.Positional[str]
    """Such as ex05-1."""
    folder: tyro.conf.Positional[Path] = Path(".")
    """Where to put it."""

    def run(self) -> int:
        """Write the notebook."""
        from annotated_grader.exercise.build import student_notebook
        from annotated_grader.exercise.catalogue import find

        chosen = find(self.exercise)
        place = self.folder / f"{chosen.id}.ipynb"
        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            with place.open("x", encoding="utf-8", newline="\n") as file:
                file.write(student_notebook(chosen))
        except FileExistsError:
            advice = "rename it, or name another folder to begin anew"
            raise FileExistsError(f"{place} is there already and may hold your work; {advice}") from None
        print(place)
        return 0


@dataclass
class CheckAnswer:
    """Check your own answer: the score first, its reason, and the smallest counterexample.

    The code of the file runs here, without a sandbox; for answers of strangers there is `annotated exercise grade`.
    """

    file: tyro.conf.Positional[Path]
    """The notebook that `start` wrote, or a .py file; `ex05-1` is `ex05-1.ipynb`."""
    exercise: str | None = None
    """Such as ex05-1; only needed if the file does not say it."""
    seconds: float | None = None
    """Time for one case of a check, and for a cell; by default 10, as in grading."""

    def run(self) -> int:
        """Print the report; the exit status is 1 while public points are missing."""
        from annotated_grader.learner import grade_local
        from annotated_grader.learner.record import ProgressRecord
        from annotated_grader.sandbox.cells import CALL_SECONDS

        chosen, answer = grade_local.in_file(self.file, self.exercise)
        report = grade_local.examine(chosen, answer, ProgressRecord(), self.seconds or CALL_SECONDS)
        print(report.text(), end="")
        return int(report.result.score < report.result.maximum)


@dataclass
class Progress:
    """Show points, attempts and hints of every exercise."""

    def run(self) -> int:
        """Print the table."""
        from annotated_grader.exercise.catalogue import all_exercises
        from annotated_grader.learner import overview
        from annotated_grader.learner.record import ProgressRecord

        print(overview.text(all_exercises(), ProgressRecord()), end="")
        return 0


@dataclass
class Build:
    """Write the student's and the solution notebook of every exercise; two builds give the same bytes.

    A notebook that is there and differs, because somebody works in it, is never replaced: all is refused.
    """

    out: tyro.conf.Positional[Path]
    """Folder for student/ and solution/."""
    exercise: str | None = None
    """Only this one."""

    def run(self) -> int:
        """Write them, and print their paths."""
        from annotated_grader.exercise.build import write_notebooks
        from annotated_grader.exercise.catalogue import all_exercises, find

        chosen = [find(self.exercise)] if self.exercise else all_exercises()
        for place in write_notebooks(chosen, self.out):
            print(place)
        return 0


@dataclass
class New:
    """Begin an exercise of your own: a folder with one that works, to be changed file by file."""

    id: tyro.conf.Positional[str]
    """Its number, such as ex99-1."""
    title: tyro.conf.Positional[str]
    """What it is called, in a few words."""
    folder: tyro.conf.Positional[Path]
    """The folder of exercises: `exercises` in a checkout, or one of your own."""

    def run(self) -> int:
        """Write it, and say how to go on."""
        from annotated_grader.exercise.scaffold import write_exercise

        place = write_exercise(self.id, self.title, self.folder)
        print(place)
        at = shlex.quote(str(self.folder))
        print(f"change its files; then: ANNOTATED_EXERCISES={at} annotated exercise verify {self.id}", file=sys.stderr)
        return 0


def command() -> Any:
    """`annotated exercise`, for the command line of the library."""
    return Annotated[commands(), tyro.conf.subcommand("exercise", description="Graded exercises: start one, check it.")]


def commands() -> Any:
    """All subcommands of `annotated exercise`."""
    sub = tyro.conf.subcommand
    return (
        Annotated[List, sub("list")]
        | Annotated[Start, sub("start")]
        | Annotated[CheckAnswer, sub("check")]
        | Annotated[New, sub("new")]
        | Annotated[Progress, sub("progress")]
        | Annotated[Build, sub("build")]
        | Annotated[Grade, sub("grade")]
        | Annotated[export_commands(), sub("export", description="Exercises and grades for other systems.")]
        | Annotated[Similarity, sub("similarity")]
        | Annotated[Verify, sub("verify")]
    )
