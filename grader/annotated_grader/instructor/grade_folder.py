"""Grading of a folder of submissions: several at a time, again from where it stopped, whatever they hold."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

from annotated_grader.exercise.catalogue import find
from annotated_grader.exercise.checks import Check, load_checks
from annotated_grader.exercise.exercise import STRANGERS_ANSWERS, Exercise, ExerciseError
from annotated_grader.instructor.files import SubmissionFile
from annotated_grader.instructor.grade_one import GradedPage, Task, from_child, grade_one, without_answer
from annotated_grader.instructor.gradebook import FORMAT, Gradebook, Graded, clean, shown_name, write_whole
from annotated_grader.instructor.limited import Bounds, Ended, Work, in_children
from annotated_grader.instructor.overlay import overlay_files, validate_overlay
from annotated_grader.instructor.submissions import ClassFiles, Looking, choose, look
from annotated_grader.sandbox.lending import started_once
from annotated_grader.sandbox.process import GraderBroken, Level, SandboxLimits


@dataclass(frozen=True)
class GradingOptions:
    """How a folder is graded.

    Attributes
    ----------
    level
        How strangers' code is closed in; see `isolation.best_level`.
    exercise
        Only this one; files that name no exercise are then taken to be for it.
    salt
        Seeds the hidden checks; by default one is drawn and kept with the results.
    overlay
        A folder with further hidden checks, as EXERCISE/checks.py.
    jobs
        Submissions at a time.
    limits
        What one submission may use.
    fresh
        Grade everything again; by default results that are still good are kept.
    bounds
        What the grader may use for one submission, beside the sandbox.
    student
        All files are this one's; by default the folder's layout says whose they are.
    late_penalty
        The percentage of its points that an answer loses in the table which came late.
    """

    level: Level
    exercise: str = ""
    salt: str = ""
    overlay: Path | None = None
    jobs: int = 2
    limits: SandboxLimits = SandboxLimits()
    fresh: bool = False
    bounds: Bounds = Bounds()
    student: str = ""
    late_penalty: float = 0.0


@dataclass(frozen=True)
class GradingRun:
    """Result of grading a folder.

    Attributes
    ----------
    graded
        By student and exercise.
    skipped
        Files that were not graded, with the reason.
    reused
        How many results of an earlier run were still good.
    seconds
        Wall time of grading the others.
    """

    graded: tuple[Graded, ...]
    skipped: tuple[tuple[str, str], ...]
    reused: int
    seconds: float


ResultCallback = Callable[[Graded, int, int], None]
"""Is told of each result: the result, how many are done, and how many there are."""


def grade_folder(
    folder: Path,
    out: Path,
    options: GradingOptions,
    on_result: ResultCallback = lambda graded, done, of: None,
    found: ClassFiles | None = None,
) -> GradingRun:
    """Grade all submissions of a folder.

    Parameters
    ----------
    folder
        Of submissions; `submissions` says how it may be laid out.
    out
        For `results/`, `gradebook.csv` and `run.log`. Results in it that are still good are kept; those of a student
        who is no longer there are moved to `removed/`.
    found
        What `look` saw in the folder; by default it is looked into now.

    Raises
    ------
    GraderBroken
        If the sandbox does not work. What is graded so far is kept.
    ExerciseError
        If the overlay has no checks, or checks for no exercise, or some that would count nothing.
    """
    if options.overlay:
        validate_overlay(options.overlay)
    book = Gradebook(out)
    options = replace(options, salt=options.salt or _own_salt(out))
    looking = Looking(options.exercise, options.student)
    found = found or look(folder, looking, options.jobs, options.bounds)
    collected = choose(found, options.jobs, options.bounds)
    tasks, unknown = _tasks(collected.submissions, options, book)
    skipped = (*collected.skipped, *unknown)
    first = f"{len(tasks)} submissions in {folder}, {found.summary}, isolation: {options.level}"
    book.log(first, *(f"set aside: {path}: {why}" for path, why in skipped))
    done: list[Graded] = []
    start, reused = time.perf_counter(), 0
    try:
        for task, graded_page in _results(tasks, options):
            if graded_page is None:
                earlier = book.load(shown_name(task.file.student), task.exercise.id)
                assert earlier is not None
                graded = _of_file(earlier, task.file)
                if graded != earlier:
                    book.save(graded, "")
                reused += 1
            else:
                graded = _write_down(book, graded_page, task.file)
            done.append(graded)
            if graded_page is not None:
                on_result(graded, len(done), len(tasks))
    except GraderBroken as error:
        book.log(f"GRADER BROKEN, stopped: {error}")
        raise
    finally:
        book.write_table(done, options.late_penalty)
    book.log(*(f"moved to removed/: {name}" for name in book.set_aside(done)))
    seconds = time.perf_counter() - start
    book.log(f"{len(done)} results, {reused} of them from before, {seconds:.1f} s")
    return GradingRun(tuple(sorted(done, key=lambda one: (one.student, one.exercise))), skipped, reused, seconds)


def _own_salt(out: Path) -> str:
    """The salt that this folder of results was graded with; drawn once."""
    place = out / "salt.txt"
    if not place.is_file():
        write_whole(place, secrets.token_hex(16) + "\n")
        place.chmod(0o600)
    return place.read_text(encoding="utf-8").strip()


def _tasks(
    submissions: Iterable[SubmissionFile], options: GradingOptions, book: Gradebook
) -> tuple[list[Task], list[tuple[str, str]]]:
    """What is to be graded, and what cannot be because nobody knows the exercise. Checks are loaded here, once."""
    known: dict[str, tuple[Exercise, tuple[Check, ...], str] | str] = {}
    tasks, unknown = [], []
    for file in submissions:
        if file.exercise not in known:
            try:
                known[file.exercise] = _prepared(find(file.exercise), options)
            except ExerciseError as error:
                known[file.exercise] = str(error)
        prepared = known[file.exercise]
        if isinstance(prepared, str):
            unknown.append((file.path, prepared))
            continue
        earlier = None if options.fresh else book.load(shown_name(file.student), prepared[0].id)
        tasks.append(Task(file, *prepared, known=earlier.digest if earlier else ""))
    return tasks, unknown


def _prepared(exercise: Exercise, options: GradingOptions) -> tuple[Exercise, tuple[Check, ...], str]:
    """An exercise with an instructor's own checks, and a digest of all but the submission."""
    own = overlay_files(options.overlay, exercise) if options.overlay else []
    more = tuple(check for file in own for check in load_checks(file))
    files = sorted(file for file in exercise.folder.iterdir() if file.is_file() and file.name != STRANGERS_ANSWERS)
    digest = hashlib.sha256(f"{FORMAT}|{options.salt}|{sorted(asdict(options.limits).items())}".encode())
    for file in (*files, *own):
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    exercise.checks  # noqa: B018  loaded now, and so in every child
    return exercise, more, digest.hexdigest()


def _results(tasks: list[Task], options: GradingOptions) -> Iterator[tuple[Task, GradedPage | None]]:
    """Results as they come, each from a child of its own; None where an earlier one is still good."""
    settings = (options.salt, options.level, options.limits)
    works: list[tuple[Task, Work]] = [(task, partial(grade_one, _bare(task), *settings)) for task in tasks]
    is_new = any(not task.known for task in tasks)
    with started_once(options.level) if is_new else nullcontext():
        for task, ended in in_children(works, options.jobs, options.bounds):
            if ended.how == "broken":
                raise GraderBroken(ended.reason)
            if ended.how != "done":
                yield task, without_answer(_bare(task), ended, options.salt, options.level)
            else:
                yield task, None if ended.value is None else _checked(task, ended, options)


def _bare(task: Task) -> Task:
    """Without what there is to say of the file, which is noted apart: `_of_file`."""
    return replace(task, file=replace(task.file, note=""))


def _checked(task: Task, ended: Ended, options: GradingOptions) -> GradedPage:
    try:
        return from_child(task, ended.value)
    except (ValueError, TypeError, KeyError) as error:
        return without_answer(_bare(task), Ended("failed", reason=str(error)), options.salt, options.level)


def _of_file(graded: Graded, file: SubmissionFile) -> Graded:
    """A grade with what is known of the file; this may change, and the grade be as good as before."""
    late = "" if file.late is None else ("no", "yes")[file.late]
    submitted = file.submitted.isoformat(" ", "minutes") if file.submitted else ""
    return replace(graded, id=clean(file.id, 100), late=late, submitted=submitted, about=clean(file.note))


def _write_down(book: Gradebook, graded_page: GradedPage, file: SubmissionFile) -> Graded:
    """Write the result."""
    graded = _of_file(graded_page.graded, file)
    book.save(graded, graded_page.page)
    score = "-" if graded.score is None else graded.score
    about = f"{graded.student} {graded.exercise}"
    book.log(f"{about} {score}/{graded.maximum} {graded.status} {graded.notes}")
    book.log(*(f"{about}: {line}" for line in graded_page.log))
    return graded
