"""Grade a folder of submissions: several at a time, again from where it stopped, whatever they hold."""

from __future__ import annotations

import hashlib
import secrets
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from annotated.grading.checks import Check
from annotated.grading.diagnosis import diagnose
from annotated.grading.exercise import Exercise, ExerciseError, all_exercises, find, load_checks
from annotated.grading.folder import HandedIn, look_into
from annotated.grading.gradebook import FORMAT, Gradebook, Graded, clean, described_checks, write_whole
from annotated.grading.remote import grade_code
from annotated.grading.report import Feedback
from annotated.grading.run import Result, not_run
from annotated.grading.sandbox import GraderBroken, Level, Limits
from annotated.grading.submission import BadSubmission, read


@dataclass(frozen=True)
class Batch:
    """What came of a folder.

    Attributes
    ----------
    graded
        By student and exercise.
    aside
        Files that were not graded, with the reason.
    reused
        How many results of an earlier run were still good.
    seconds
        Wall time of grading the others.
    """

    graded: tuple[Graded, ...]
    aside: tuple[tuple[str, str], ...]
    reused: int
    seconds: float


@dataclass(frozen=True)
class _Task:
    handed_in: HandedIn
    exercise: Exercise
    more: tuple[Check, ...]
    digest: str


@dataclass(frozen=True)
class _Outcome:
    result: Result
    status: str
    output: str
    seconds: float
    note: str = ""


Watcher = Callable[[Graded, int, int], None]
"""Is told of each result: the result, how many are done, and how many there are."""


def grade_folder(
    place: Path,
    out: Path,
    *,
    level: Level,
    exercise: str = "",
    salt: str = "",
    overlay: Path | None = None,
    jobs: int = 2,
    limits: Limits | None = None,
    fresh: bool = False,
    watch: Watcher = lambda graded, done, of: None,
) -> Batch:
    """Grade all submissions of a folder.

    Parameters
    ----------
    place
        The folder; `folder` says how it may be laid out.
    out
        For `results/`, `gradebook.csv` and `run.log`. Results in it that are still good are kept.
    level
        How strangers' code is closed in; see `sandbox.best_level`.
    salt
        Seeds the hidden checks; by default one is drawn and kept in `out`.
    overlay
        A folder with further hidden checks, as EXERCISE/checks.py.
    fresh
        Grade everything again.

    Raises
    ------
    GraderBroken
        If the sandbox does not work. What is graded so far is kept.
    ExerciseError
        If the overlay has no checks, or checks for no exercise, or some that would count nothing.
    """
    if overlay:
        _hold_overlay(overlay)
    book, limits = Gradebook(out), limits or Limits()
    salt = salt or _own_salt(out)
    found = look_into(place, exercise)
    tasks, unknown = _tasks(found.submissions, salt, overlay, limits)
    aside = (*found.aside, *unknown)
    book.log(
        f"{len(tasks)} submissions in {place}, isolation: {level}", *(f"set aside: {p}: {why}" for p, why in aside)
    )
    done: list[Graded] = []
    waiting = []
    for task in tasks:
        known = None if fresh else book.load(task.handed_in.student, task.exercise.id, task.digest)
        done.append(known) if known else waiting.append(task)
    reused, start = len(done), time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # of the parser, about strangers' code
            for task, outcome in _outcomes(waiting, jobs, lambda task: _grade(task, salt, level, limits)):
                graded = _write_down(book, task, outcome, level)
                done.append(graded)
                watch(graded, len(done), len(tasks))
    except GraderBroken as error:
        book.log(f"GRADER BROKEN, stopped: {error}")
        raise
    finally:
        book.write_table(done)
    seconds = time.perf_counter() - start
    book.log(f"{len(done)} results, {reused} of them from before, {seconds:.1f} s")
    return Batch(tuple(sorted(done, key=lambda one: (one.student, one.exercise))), aside, reused, seconds)


def _own_salt(out: Path) -> str:
    """The salt that this folder of results was graded with; drawn once."""
    place = out / "salt.txt"
    if not place.is_file():
        write_whole(place, secrets.token_hex(16) + "\n")
        place.chmod(0o600)
    return place.read_text(encoding="utf-8").strip()


def _tasks(
    submissions: Iterable[HandedIn], salt: str, overlay: Path | None, limits: Limits
) -> tuple[list[_Task], list[tuple[str, str]]]:
    """What is to be graded, and what cannot be because nobody knows the exercise. Checks are loaded here, once."""
    known: dict[str, tuple[Exercise, tuple[Check, ...], str]] = {}
    tasks, unknown = [], []
    for handed_in in submissions:
        id = handed_in.exercise
        try:
            if id not in known:
                known[id] = _prepared(find(id), overlay, salt, limits)
        except ExerciseError as error:
            unknown.append((handed_in.path, str(error)))
            continue
        exercise, more, digest = known[id]
        try:
            content = handed_in.read()
        except BadSubmission as error:
            content = f"refused: {error}".encode()
        own = hashlib.sha256(digest.encode() + handed_in.path.encode(errors="replace") + b"\0" + content).hexdigest()
        tasks.append(_Task(handed_in, exercise, more, own))
    return tasks, unknown


def _hold_overlay(overlay: Path) -> None:
    """An overlay that would be passed over in silence is an instructor's mistake, and is said at once."""
    known = {name for exercise in all_exercises() for name in (exercise.id, exercise.folder.name)}
    files = sorted(overlay.glob("*/checks.py"))
    if not files:
        raise ExerciseError(f"{overlay} has no checks: expected files such as {overlay / 'ex05-1' / 'checks.py'}")
    for file in files:
        if file.parent.name not in known:
            raise ExerciseError(f"{file}: there is no exercise {file.parent.name!r}; name the folder like ex05-1")
        try:
            checks = load_checks(file)
        except Exception as error:
            raise ExerciseError(f"{file}: {type(error).__name__}: {error}") from error
        if not checks or not all(check.hidden for check in checks):
            raise ExerciseError(f"{file}: each check runs as a hidden one, so it needs hidden points: hidden=1 or more")


def _prepared(
    exercise: Exercise, overlay: Path | None, salt: str, limits: Limits
) -> tuple[Exercise, tuple[Check, ...], str]:
    """An exercise with an instructor's own checks, and a digest of all but the submission."""
    places = [overlay / name / "checks.py" for name in (exercise.folder.name, exercise.id)] if overlay else []
    more = tuple(check for place in places if place.is_file() for check in load_checks(place))
    files = sorted(file for file in exercise.folder.iterdir() if file.is_file())
    digest = hashlib.sha256(f"{FORMAT}|{salt}|{sorted(asdict(limits).items())}".encode())
    for file in (*files, *(place for place in places if place.is_file())):
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    exercise.checks  # noqa: B018  loaded now, because loading is not for several threads at once
    return exercise, more, digest.hexdigest()


def _grade(task: _Task, salt: str, level: Level, limits: Limits) -> _Outcome:
    """Grade one submission. Only a broken grader raises."""
    start = time.perf_counter()
    try:
        submission = read(task.handed_in.read(), task.handed_in.path)
        result, status, output = grade_code(task.exercise, submission, salt, level, limits, task.more)
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


def _outcomes(tasks: list[_Task], jobs: int, grade: Callable[[_Task], _Outcome]) -> Iterator[tuple[_Task, _Outcome]]:
    """Outcomes as they come. Each task runs in a thread whose work is mostly waiting for its sandbox."""
    with _pool(jobs) as pool:
        running: dict[Future[_Outcome], _Task] = {pool.submit(grade, task): task for task in tasks}
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
        student=clean(task.handed_in.student, 100), exercise=task.exercise.id, file=clean(task.handed_in.path),
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


def _diagnosis(book: Gradebook, task: _Task, result: Result) -> Any:
    try:
        return diagnose(result)
    except Exception as error:  # a broken bank takes nothing from the score
        book.log(f"no diagnosis for {task.handed_in.path}: {type(error).__name__}: {error}")
        return None
