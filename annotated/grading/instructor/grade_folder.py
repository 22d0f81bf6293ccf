"""Grading of a folder of submissions: several at a time, again from where it stopped, whatever they hold."""

from __future__ import annotations

import hashlib
import secrets
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from annotated.grading.exercise.catalogue import find
from annotated.grading.exercise.checks import Check, load_checks
from annotated.grading.exercise.diagnosis import diagnose
from annotated.grading.exercise.exercise import Exercise, ExerciseError
from annotated.grading.exercise.run import ExerciseResult, not_run
from annotated.grading.exercise.submission import BadSubmission, read
from annotated.grading.feedback.report import Feedback
from annotated.grading.instructor.gradebook import FORMAT, Gradebook, Graded, clean, described_checks, write_whole
from annotated.grading.instructor.overlay import overlay_files, validate_overlay
from annotated.grading.instructor.remote import grade_code
from annotated.grading.instructor.submissions import SubmissionFile, collect
from annotated.grading.sandbox.process import GraderBroken, Level, SandboxLimits


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
    """

    level: Level
    exercise: str = ""
    salt: str = ""
    overlay: Path | None = None
    jobs: int = 2
    limits: SandboxLimits = SandboxLimits()
    fresh: bool = False


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


@dataclass(frozen=True)
class _Task:
    file: SubmissionFile
    exercise: Exercise
    more: tuple[Check, ...]
    digest: str


@dataclass(frozen=True)
class _Outcome:
    result: ExerciseResult
    status: str
    output: str
    seconds: float
    note: str = ""


ResultCallback = Callable[[Graded, int, int], None]
"""Is told of each result: the result, how many are done, and how many there are."""


def grade_folder(
    folder: Path, out: Path, options: GradingOptions, on_result: ResultCallback = lambda graded, done, of: None
) -> GradingRun:
    """Grade all submissions of a folder.

    Parameters
    ----------
    folder
        Of submissions; `submissions` says how it may be laid out.
    out
        For `results/`, `gradebook.csv` and `run.log`. Results in it that are still good are kept.

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
    found = collect(folder, options.exercise)
    tasks, unknown = _tasks(found.submissions, options)
    skipped = (*found.skipped, *unknown)
    first = f"{len(tasks)} submissions in {folder}, isolation: {options.level}"
    book.log(first, *(f"set aside: {path}: {why}" for path, why in skipped))
    done: list[Graded] = []
    waiting = []
    for task in tasks:
        known = None if options.fresh else book.load(task.file.student, task.exercise.id, task.digest)
        done.append(known) if known else waiting.append(task)
    reused, start = len(done), time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # of the parser, about strangers' code
            for task, outcome in _outcomes(waiting, options):
                graded = _write_down(book, task, outcome, options.level)
                done.append(graded)
                on_result(graded, len(done), len(tasks))
    except GraderBroken as error:
        book.log(f"GRADER BROKEN, stopped: {error}")
        raise
    finally:
        book.write_table(done)
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


def _tasks(submissions: Iterable[SubmissionFile], options: GradingOptions) -> tuple[list[_Task], list[tuple[str, str]]]:
    """What is to be graded, and what cannot be because nobody knows the exercise. Checks are loaded here, once."""
    known: dict[str, tuple[Exercise, tuple[Check, ...], str]] = {}
    tasks, unknown = [], []
    for file in submissions:
        id = file.exercise
        try:
            if id not in known:
                known[id] = _prepared(find(id), options)
        except ExerciseError as error:
            unknown.append((file.path, str(error)))
            continue
        exercise, more, digest = known[id]
        try:
            content = file.read()
        except BadSubmission as error:
            content = f"refused: {error}".encode()
        own = hashlib.sha256(digest.encode() + file.path.encode(errors="replace") + b"\0" + content).hexdigest()
        tasks.append(_Task(file, exercise, more, own))
    return tasks, unknown


def _prepared(exercise: Exercise, options: GradingOptions) -> tuple[Exercise, tuple[Check, ...], str]:
    """An exercise with an instructor's own checks, and a digest of all but the submission."""
    own = overlay_files(options.overlay, exercise) if options.overlay else []
    more = tuple(check for file in own for check in load_checks(file))
    files = sorted(file for file in exercise.folder.iterdir() if file.is_file())
    digest = hashlib.sha256(f"{FORMAT}|{options.salt}|{sorted(asdict(options.limits).items())}".encode())
    for file in (*files, *own):
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    exercise.checks  # noqa: B018  loaded now, because loading is not for several threads at once
    return exercise, more, digest.hexdigest()


def _grade(task: _Task, options: GradingOptions) -> _Outcome:
    """Grade one submission. Only a broken grader raises."""
    start, salt = time.perf_counter(), options.salt
    try:
        submission = read(task.file.read(), task.file.path)
        result, status, output = grade_code(task.exercise, submission, salt, options.level, options.limits, task.more)
        note = "; ".join(submission.notes)
    except BadSubmission as error:
        result, status, output = not_run(task.exercise, str(error), salt, task.more), "student_error", ""
        note = str(error)
    except GraderBroken:
        raise
    except Exception as error:  # in a check, or here: it must not stop the others, and it is not the student's fault
        note = f"the grader failed: {type(error).__name__}: {error}"
        result, status, output = not_run(task.exercise, note, salt, task.more), "grader_error", ""
    return _Outcome(result, status, output, time.perf_counter() - start, clean(note))


def _outcomes(tasks: list[_Task], options: GradingOptions) -> Iterator[tuple[_Task, _Outcome]]:
    """Outcomes as they come. Each task runs in a thread whose work is mostly waiting for its sandbox."""
    with _pool(options.jobs) as pool:
        running: dict[Future[_Outcome], _Task] = {pool.submit(_grade, task, options): task for task in tasks}
        for future in as_completed(running):
            yield running.pop(future), future.result()


@contextmanager
def _pool(jobs: int) -> Iterator[ThreadPoolExecutor]:
    """A pool that does not begin what is still waiting when something has gone wrong."""
    pool = ThreadPoolExecutor(max(1, jobs))
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def _write_down(book: Gradebook, task: _Task, outcome: _Outcome, level: Level) -> Graded:
    """Diagnose, and write the result."""
    result, broken = outcome.result, outcome.status == "grader_error"
    misconception = None
    if result.lost and not result.gate and not broken:
        misconception = _diagnosis(book, task, result)
    graded = Graded(
        student=clean(task.file.student, 100), exercise=task.exercise.id, file=clean(task.file.path),
        status=outcome.status, score=None if broken else result.score, maximum=result.maximum,
        note=clean(result.gate) or outcome.note, checks=described_checks(result),
        misconception=misconception.name if misconception else "", says=misconception.says if misconception else "",
        output=outcome.output, seconds=round(outcome.seconds, 2), level=level, digest=task.digest,
    )  # fmt: skip
    notes = (outcome.note,) if outcome.note else ()
    book.save(graded, None if broken else Feedback(result, misconception, outcome.output, notes))
    score = "-" if graded.score is None else graded.score
    book.log(f"{graded.student} {graded.exercise} {score}/{graded.maximum} {graded.status} {graded.note}")
    return graded


def _diagnosis(book: Gradebook, task: _Task, result: ExerciseResult) -> Any:
    try:
        return diagnose(result)
    except Exception as error:  # a broken bank takes nothing from the score
        book.log(f"no diagnosis for {task.file.path}: {type(error).__name__}: {error}")
        return None
