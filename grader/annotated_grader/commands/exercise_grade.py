"""`annotated exercise grade`: a folder of strangers' submissions, each in a sandbox."""

from __future__ import annotations

import contextlib
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

if TYPE_CHECKING:
    from annotated_grader.instructor.grade_folder import GradingRun
    from annotated_grader.instructor.gradebook import Graded
    from annotated_grader.sandbox.process import Level


@dataclass
class Grade:
    """Grade a folder of submissions: notebooks, Python files or zip files, each in a sandbox of its own.

    Layouts: STUDENT/ex05-1.ipynb, STUDENT_ex05-1.ipynb, ex05-1_STUDENT.ipynb, or with --exercise STUDENT.ipynb. Of
    several files of a student for one exercise the one with the exact name counts, nearest the top; of ex05-1.ipynb,
    ex05-1 (2).ipynb and so on, the highest number. A run that was stopped goes on where it stood.
    """

    folder: tyro.conf.Positional[Path]
    """The folder of submissions, or one file."""
    out: Annotated[Path, tyro.conf.arg(aliases=["-o"])]
    """Folder for gradebook.csv, results/*.json, results/*.html and run.log."""
    exercise: str = ""
    """Only this one, such as ex05-1; files that name no exercise are taken to be for it."""
    jobs: int = 2
    """Submissions at a time."""
    salt_file: Path | None = None
    """A secret text, from which hidden checks draw their cases. By default one is drawn and kept in OUT/salt.txt."""
    overlay: Path | None = None
    """A private folder with further hidden checks, as ex05-1/checks.py."""
    trust: bool = False
    """Where nothing can isolate strangers' code, run it all the same, as you."""
    level: Literal["best", "bubblewrap", "landlock", "none"] = "best"
    """How submissions are closed in; `none` needs --trust."""
    fresh: bool = False
    """Grade everything again; by default, what is unchanged since an earlier run is kept."""
    seconds: float | None = None
    """For one question to a submission, one cell that its answer needs, or all its other cells; by default 10."""

    def run(self) -> int:
        """Grade, and print a line for each; the exit status is 1 if the grader itself failed on one."""
        if self.folder.is_dir() and not any(self.folder.iterdir()):
            raise ValueError(f"{self.folder} is empty: no submissions to grade")
        import torch

        from annotated_grader.instructor.grade_folder import GradingOptions, grade_folder
        from annotated_grader.sandbox.process import SandboxLimits

        torch.set_num_threads(1)
        seconds = self.seconds or SandboxLimits.call_seconds
        limits = SandboxLimits(call_seconds=seconds, total_seconds=9 * seconds)
        level, salt = self._level(), self._salt()
        print(f"isolation: {level}{_WARNINGS.get(level, '')}", file=sys.stderr)
        options = GradingOptions(level, self.exercise, salt, self.overlay, self.jobs, limits, self.fresh)
        with _progress() as on_result:
            run = grade_folder(self.folder, self.out, options, on_result)
        _print(run, self.out)
        return int(any(one.status == "grader_error" for one in run.graded))

    def _level(self) -> Level:
        from annotated_grader.sandbox.isolation import NotIsolated, available, best_level

        if self.level == "best":
            return best_level(self.trust)
        if self.level == "none" and not self.trust:
            raise NotIsolated("without isolation, submissions run as you, with all that you can do; --trust permits it")
        if not (found := available(self.level)).works:
            raise NotIsolated(f"{self.level} does not work here: {found.reason}")
        return self.level

    def _salt(self) -> str:
        if self.salt_file is None:
            return ""
        if not (salt := self.salt_file.read_text(encoding="utf-8").strip()):
            raise ValueError(f"{self.salt_file} is empty")
        return salt


_WARNINGS = {
    "landlock": ", the weaker level: submissions see the names of files, and other processes are not hidden from them",
    "none": ": submissions run as you, with all that you can do",
}


@contextlib.contextmanager
def _progress() -> Iterator[Callable[[Graded, int, int], None]]:
    """A bar on a terminal; plain lines elsewhere."""
    if not sys.stderr.isatty():
        yield lambda graded, done, of: print(f"{done}/{of} {_line(graded)}", file=sys.stderr, flush=True)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    # Drawn with each result, and not by a thread: the grader forks, and a fork has no room for other threads.
    with Progress(*columns, console=console, auto_refresh=False) as bar:
        task = bar.add_task("grading", total=None)
        yield lambda graded, done, of: bar.update(
            task, completed=done, total=of, description=f"{graded.student} {graded.exercise}", refresh=True
        )


def _line(graded: Graded) -> str:
    score = "-" if graded.score is None else str(graded.score)
    known = f"  {graded.misconception.replace('_', ' ')}" if graded.misconception else ""
    status = "" if graded.status == "ok" else f"  {graded.status}"
    note = f"  {graded.note}" if graded.note else ""
    return f"{graded.student:<24} {graded.exercise:<7} {score:>3}/{graded.maximum:<3}{status}{known}{note}"


def _print(run: GradingRun, out: Path) -> None:
    from annotated_grader.instructor.gradebook import clean

    for graded in run.graded:
        print(_line(graded))
    for path, why in run.skipped:
        print(clean(f"set aside: {path}: {why}"))
    for name, count in sorted(_not_available(run).items()):
        what = "submission imports" if count == 1 else "submissions import"
        print(f"{count} {what} {name}, which is not available here: install it, if it is a package, and grade again")
    new = len(run.graded) - run.reused
    pace = f", {run.seconds / new:.1f} s each" if new else ""
    print(f"{new} graded in {run.seconds:.1f} s{pace}; {run.reused} unchanged; see {out / 'gradebook.csv'}")


def _not_available(run: GradingRun) -> Counter[str]:
    """How many submissions have no score because of each module."""
    notes = [one.note.partition(" available to the grader")[0] for one in run.graded if one.status == "not_available"]
    return Counter(name for note in notes for name in set(re.findall(r"`(\w+)`", note)))
