"""Grading of one submission, in a limited child: from its bytes to plain data, and its page of feedback."""

from __future__ import annotations

import hashlib
import json
import time
import warnings
from dataclasses import asdict, dataclass
from typing import Any

from annotated_grader.exercise.checks import Check
from annotated_grader.exercise.diagnosis import Diagnosis, diagnose
from annotated_grader.exercise.exercise import Exercise
from annotated_grader.exercise.own_modules import among, own_modules
from annotated_grader.exercise.run import ExerciseResult, not_run
from annotated_grader.exercise.submission import BadSubmission, read
from annotated_grader.feedback.report import Feedback
from annotated_grader.instructor.files import SubmissionFile
from annotated_grader.instructor.gradebook import (
    STATUSES,
    UNDECIDED,
    Graded,
    clean,
    described_checks,
    hidden_messages,
    page,
    shown_name,
)
from annotated_grader.instructor.limited import Ended
from annotated_grader.instructor.remote import grade_code
from annotated_grader.sandbox.process import GraderBroken, Level, SandboxLimits

PUBLIC_ONLY = "passes every public check and no hidden one: it may be written for the public inputs alone"
"""Noted in the gradebook, not on the student's page: it is a reason to look, and no proof."""


@dataclass(frozen=True)
class Task:
    """One submission that is to be graded.

    Attributes
    ----------
    more
        An instructor's own hidden checks.
    digest
        Of all that the grade depends on, but for the submission.
    known
        The digest of an earlier result; the submission is not graded again if it is still the same.
    """

    file: SubmissionFile
    exercise: Exercise
    more: tuple[Check, ...]
    digest: str
    known: str = ""


@dataclass(frozen=True)
class GradedPage:
    """A grade with its page of feedback, and lines for the instructor's log."""

    graded: Graded
    page: str
    log: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Outcome:
    result: ExerciseResult
    status: str
    output: str = ""
    note: str = ""


def grade_one(task: Task, salt: str, level: Level, limits: SandboxLimits) -> dict[str, Any] | None:
    """In a child: read a submission once, and grade what was read; None if an earlier grade of it is still good.

    Raises
    ------
    GraderBroken
        If the sandbox does not work.
    """
    start, content = time.perf_counter(), b""
    try:
        content, refused = task.file.read(), ""
    except BadSubmission as error:
        refused = str(error)
    own = f"refused: {refused}".encode(errors="replace") if refused else content
    path = task.file.path.encode(errors="surrogateescape")
    files = {} if refused else _files(task, content)
    beside = json.dumps(sorted(files.items())).encode() if files else b""
    digest = hashlib.sha256(task.digest.encode() + path + b"\0" + own + beside).hexdigest()
    if digest == task.known:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # of the parser, about strangers' code
        outcome = _refused(task, salt, refused) if refused else _outcome(task, content, files, salt, level, limits)
        return asdict(_written(task, outcome, level, digest, time.perf_counter() - start))


def without_answer(task: Task, ended: Ended, salt: str, level: Level) -> GradedPage:
    """In the parent: the row of a submission whose child came to no end of its own."""
    if ended.how == "failed":
        outcome = _failed(task, salt, f"the grader failed: {ended.reason}")
    else:
        outcome = _refused(task, salt, ended.reason)
    return _written(task, outcome, level, digest="", seconds=0.0)


def from_child(task: Task, value: dict[str, Any]) -> GradedPage:
    """In the parent: what a child gave back.

    Raises
    ------
    ValueError
        If it is not the grade of this task.
    """
    graded = Graded(**{**value["graded"], "checks": tuple(value["graded"]["checks"])})
    right = graded.exercise == task.exercise.id and graded.student == shown_name(task.file.student)
    scored = graded.score is None or 0 <= graded.score <= graded.maximum
    if not right or not scored or graded.status not in STATUSES:
        raise ValueError(f"{task.file.path}: this is no grade")
    return GradedPage(graded, str(value["page"]), tuple(map(str, value["log"])))


def _files(task: Task, content: bytes) -> dict[str, str]:
    """The student's own modules that what was read imports."""
    try:
        return own_modules(read(content, task.file.path), among(task.file.beside)) if task.file.beside else {}
    except BadSubmission:  # it is told when it is graded
        return {}


def _outcome(
    task: Task, content: bytes, files: dict[str, str], salt: str, level: Level, limits: SandboxLimits
) -> _Outcome:
    """Grade what was read. Only a broken grader, and what the submission exhausts, raise."""
    try:
        submission = read(content, task.file.path)
        result, status, output = grade_code(task.exercise, submission, salt, level, limits, task.more, files)
        return _Outcome(result, status, output, "; ".join((*submission.notes, *result.notes)))
    except BadSubmission as error:
        return _refused(task, salt, str(error))
    except (GraderBroken, MemoryError, RecursionError):
        raise
    except Exception as error:  # in a check, or here: it must not stop the others, and it is not the student's fault
        return _failed(task, salt, f"the grader failed: {type(error).__name__}: {error}")


def _refused(task: Task, salt: str, reason: str) -> _Outcome:
    return _Outcome(not_run(task.exercise, reason, salt, task.more), "student_error", note=reason)


def _failed(task: Task, salt: str, reason: str) -> _Outcome:
    return _Outcome(not_run(task.exercise, reason, salt, task.more), "grader_error", note=reason)


def _written(task: Task, outcome: _Outcome, level: Level, digest: str, seconds: float) -> GradedPage:
    """Diagnose, and describe."""
    result, undecided, log = outcome.result, outcome.status in UNDECIDED, hidden_messages(outcome.result)
    diagnosis: Diagnosis | None = None
    if result.lost and not result.gate and not undecided:
        try:
            diagnosis = diagnose(result)
        except Exception as error:  # a broken bank takes nothing from the score
            log.append(f"no diagnosis: {type(error).__name__}: {clean(str(error))}")
    note = clean(outcome.note)
    public_only = PUBLIC_ONLY if result.is_public_only else ""
    said = note if undecided else clean(result.gate) or note
    for_instructor = (said, "" if result.gate else public_only, task.file.note)
    graded = Graded(
        student=shown_name(task.file.student), exercise=task.exercise.id, file=clean(task.file.path),
        status=outcome.status, score=None if undecided else result.score, maximum=result.maximum,
        note="; ".join(filter(None, for_instructor)), checks=described_checks(result),
        misconception=diagnosis.name if diagnosis else "", says=diagnosis.says if diagnosis else "",
        output=outcome.output, seconds=round(seconds, 2), level=level, digest=digest,
    )  # fmt: skip
    feedback = Feedback(result, diagnosis, outcome.output, (note,) if note else ())
    log = [] if result.gate else log
    return GradedPage(graded, "" if undecided else page(graded, feedback), tuple(log))
