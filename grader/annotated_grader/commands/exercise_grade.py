"""`annotated exercise grade`: a folder of strangers' submissions, each in a sandbox."""

from __future__ import annotations

import contextlib
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

if TYPE_CHECKING:
    from annotated_grader.instructor.files import LayoutDoubt
    from annotated_grader.instructor.grade_folder import GradingRun
    from annotated_grader.instructor.gradebook import Graded
    from annotated_grader.instructor.submissions import ClassFiles
    from annotated_grader.sandbox.process import Level


@dataclass
class Grade:
    """Grade a class: what a learning platform downloads, or notebooks, Python files and zips in folders.

    Canvas, Gradescope, Moodle, Blackboard, Brightspace, Sakai, GitHub Classroom and nbgrader are recognised, zipped or
    not. Elsewhere: STUDENT/ex05-1.ipynb, STUDENT_ex05-1.ipynb, ex05-1_STUDENT.ipynb, or with --exercise STUDENT.ipynb.
    Of several files of a student for one exercise the last one counts in which something is written. A run that was
    stopped goes on where it stood.
    """

    folder: tyro.conf.Positional[Path]
    """The folder of submissions, a platform's zip, or one file."""
    out: Annotated[Path, tyro.conf.arg(aliases=["-o"])]
    """Folder for gradebook.csv, results/*.json, results/*.html and run.log."""
    exercise: str = ""
    """Only this one, such as ex05-1; files that name no exercise are taken to be for it."""
    layout: str = "auto"
    """Where it cannot be seen: a platform, such as canvas, or the level of the students: STUDENT, */STUDENT."""
    roster: Path | None = None
    """A CSV file of the class, such as a platform exports; before grading, names are compared with it."""
    before: str = ""
    """Such as "2026-10-05 23:59": what came later is late, where the platform says when it came."""
    late_penalty: float = 0.0
    """The percentage of its points that a late answer loses in gradebook.csv; the feedback has all."""
    dry_run: bool = False
    """Say what was understood, row by row, and grade nothing."""
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
        if not 0 <= self.late_penalty <= 100:
            raise ValueError(f"--late-penalty {self.late_penalty:g}: it is a percentage, from 0 to 100")
        found = self._look()
        _print_class(found, self.before)
        if self.dry_run:
            return _print_rows(found, self.jobs)
        if not found.files and not found.roster:
            first = "".join(f"; {path}: {why}" for path, why in found.skipped[:1])
            raise ValueError(f"{self.folder}: no submission to grade{first}")
        import torch

        from annotated_grader.instructor.grade_folder import GradingOptions, grade_folder
        from annotated_grader.sandbox.process import SandboxLimits

        torch.set_num_threads(1)
        seconds = self.seconds or SandboxLimits.call_seconds
        limits = SandboxLimits(call_seconds=seconds, total_seconds=9 * seconds)
        level, salt = self._level(), self._salt()
        print(f"isolation: {level}{_WARNINGS.get(level, '')}", file=sys.stderr)
        options = GradingOptions(
            level, self.exercise, salt, self.overlay, self.jobs, limits, self.fresh, late_penalty=self.late_penalty
        )
        with _progress() as on_result:
            run = grade_folder(self.folder, self.out, options, on_result, found)
        _print(run, self.out)
        return int(any(one.status == "grader_error" for one in run.graded))

    def _look(self) -> ClassFiles:
        """See what the folder holds, before anything that takes seconds; where it is in doubt, ask."""
        from annotated_grader.instructor.files import LayoutDoubt
        from annotated_grader.instructor.platforms import time_of
        from annotated_grader.instructor.roster import Roster, decoded
        from annotated_grader.instructor.submissions import Looking, look

        roster = Roster.read(decoded(self.roster.read_bytes()), str(self.roster)) if self.roster else None
        try:
            before = time_of(self.before) if self.before else None
        except ValueError:
            raise ValueError(f"--before {self.before!r} is no time such as 2026-10-05 23:59") from None
        looking = Looking(self.exercise, layout=self.layout, roster=roster, before=before)
        try:
            found = look(self.folder, looking, self.jobs)
        except LayoutDoubt as doubt:
            if not sys.stdin.isatty():
                raise
            found = look(self.folder, replace(looking, layout=_asked(doubt)), self.jobs)
        if found.roster and found.files and len(found.roster.unknown) == len({file.student for file in found.files}):
            raise ValueError(f"nobody of {self.folder} is on {self.roster}; {found.summary}")
        return found

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


def _asked(doubt: LayoutDoubt) -> str:
    """The layout that somebody at the terminal chooses."""
    print(f"{doubt.message}:", file=sys.stderr)
    for number, (layout, meaning) in enumerate(doubt.choices, 1):
        print(f"  {number}  {meaning} (--layout '{layout}')", file=sys.stderr)
    while True:
        print("which? ", end="", file=sys.stderr, flush=True)
        if not (answer := sys.stdin.readline()):
            raise doubt
        if answer.strip() in map(str, range(1, len(doubt.choices) + 1)):
            return doubt.choices[int(answer) - 1][0]


def _print_class(found: ClassFiles, before: str) -> None:
    """The first lines: how the folder was understood, and who is missing."""
    from annotated_grader.instructor.strangers_text import clean

    lines = [found.summary, *found.warnings]
    untimed = len({file.path for file in found.files if not file.submitted})
    if before and untimed:
        lines.append(f"{untimed} of these files have no time that the platform tells; --before says nothing of them")
    if found.roster:
        told = (("not on the roster", found.roster.unknown), ("on the roster, nothing handed in", found.roster.missing))
        lines += [f"{what}: {'; '.join(names)}" for what, names in told if names]
        lines += found.roster.ambiguous
    for line in lines:
        print(clean(line, _LONGEST_LINE), file=sys.stderr, flush=True)


def _print_rows(found: ClassFiles, jobs: int) -> int:
    """The rows that grading would have."""
    from annotated_grader.instructor.strangers_text import clean
    from annotated_grader.instructor.submissions import choose

    collected = choose(found, jobs)
    for file in sorted(collected.submissions, key=lambda file: (file.student, file.exercise)):
        late = "  late" if file.late else ""
        note = f"  {note}" if (note := file.refused or file.note) else ""
        print(clean(f"{file.student:<24} {file.id:<10} {file.exercise:<7} {file.path}{late}{note}"))
    for path, why in collected.skipped:
        print(clean(f"set aside: {path}: {why}"))
    return 0


_LONGEST_LINE = 2000
_WARNINGS = {
    "landlock": ", the weaker level: submissions see files' names, sizes and times, and other processes are not hidden",
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
    status += "  late" if graded.late == "yes" else ""
    note = f"  {graded.notes}" if graded.notes else ""
    return f"{graded.student:<24} {graded.exercise:<7} {score:>3}/{graded.maximum:<3}{status}{known}{note}"


def _print(run: GradingRun, out: Path) -> None:
    from annotated_grader.instructor.strangers_text import clean

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
