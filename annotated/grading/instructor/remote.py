"""Remote grading: to a check an answer in the sandbox is a `Student` like any other, but it runs in another process."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from typing import Any, Literal

from annotated.grading.exercise.checks import Check
from annotated.grading.exercise.exercise import Exercise
from annotated.grading.exercise.run import ExerciseResult, not_run, run_checks
from annotated.grading.exercise.student import Student
from annotated.grading.exercise.submission import CodeCell, Submission
from annotated.grading.sandbox.codec import CodecError, decode, encode
from annotated.grading.sandbox.interpreter import AnswerError
from annotated.grading.sandbox.isolation import best_level
from annotated.grading.sandbox.process import Died, Level, OutOfTime, Process, SandboxLimits

Status = Literal["ok", "student_error", "timeout", "died", "grader_error"]


class RemoteStudent(Student):
    """An answer in a process of its own, which is started again when it dies, a few times.

    Parameters
    ----------
    submission
        Its code.
    answers
        The names that count.
    given
        The code of the exercise's `given.py`, if it has one.
    library
        Whether it may import `annotated`.
    level, limits
        How it is closed in, and what it may use.
    hidden
        Further paths that it must not be able to read.

    Raises
    ------
    GraderBroken
        If the sandbox does not start. The answer has then not been looked at.
    """

    def __init__(
        self,
        submission: Submission,
        answers: Collection[str] = (),
        given: str = "",
        library: bool = False,
        level: Level = "bubblewrap",
        limits: SandboxLimits | None = None,
        hidden: tuple[str, ...] = (),
    ) -> None:
        super().__init__(submission.source_of(answers) if answers else submission.code)
        self.limits = limits or SandboxLimits()
        self.status: Status = "ok"
        self.problems: dict[str, AnswerError] = {}
        """What went wrong in cells, by their titles."""
        self._cells, self._given = submission.cells, given
        self._start_process: Callable[[], Process] = lambda: Process(level, self.limits, library, hidden)
        self._process: Process | None = None
        self._printed = ""
        self._restarts = 0
        self._last = AnswerError(["ProcessDied"], "the process ended")
        self._end = time.monotonic() + self.limits.total_seconds
        self._begin()

    @classmethod
    def of_exercise(
        cls, exercise: Exercise, submission: Submission, level: Level, limits: SandboxLimits | None = None
    ) -> RemoteStudent:
        """The answer to an exercise."""
        hidden = (str(exercise.folder / "checks.py"), str(exercise.folder / "exercise.md"))
        chosen = submission.for_answers(exercise.answers)
        return cls(chosen, exercise.answers, exercise.given_code, exercise.library, level, limits, hidden)

    def perform(self, operation: Mapping[str, Any]) -> Any:
        """See `Student.perform`; the process is started again if the last operation ended it."""
        if self._process is None:
            self._restart()
        return self._ask(operation)

    def output(self) -> str:
        """The beginning of what it has printed, as far as it is still there to say."""
        if self._process is not None:
            with suppress(AnswerError):
                self._printed = str(self._ask({"op": "output"}))
        return self._printed

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.close()
            self._process = None

    def __enter__(self) -> RemoteStudent:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _begin(self) -> None:
        """Start a process and run the cells in it, each by itself; one that ended a process is skipped later."""
        started = time.monotonic()
        self._process = self._start_process()
        self._end += time.monotonic() - started  # the start is ours, not the answer's
        try:
            if self._given:
                self._ask({"op": "given_code", "code": self._given})
            for cell in self._cells:
                self._run_cell(cell)
                if self._process is None:
                    return
        except BaseException:
            self.close()
            raise

    def _run_cell(self, cell: CodeCell) -> None:
        known = self.problems.get(cell.title)
        skip = [known.kinds[0], known.message] if known and known.kinds[0] in ("TimeoutError", "ProcessDied") else None
        try:
            self._ask({"op": "cell", "code": cell.code, "skip": skip})
        except AnswerError as error:
            self.problems[cell.title] = error

    def _restart(self) -> None:
        while self._process is None:
            if self._restarts >= self.limits.restarts:
                raise self._last
            if time.monotonic() > self._end:
                raise self._too_late()
            self._restarts += 1
            self._begin()

    def _ask(self, operation: Mapping[str, Any]) -> Any:
        assert self._process is not None
        left = self._end - time.monotonic()
        if left <= 0:
            raise self._too_late()
        seconds = min(self.limits.call_seconds, left)
        request = encode(operation)
        try:
            self._process.send(request, seconds)
            reply = decode(self._process.receive(seconds))
            value, error = _opened(reply)
        except OutOfTime:
            text = f"it took longer than {seconds:.3g} seconds; does a loop never end?"
            raise self._lost("timeout", "TimeoutError", text) from None
        except Died as reason:
            raise self._lost("died", "ProcessDied", str(reason)) from None
        except (CodecError, TypeError, ValueError, KeyError, AttributeError):
            text = "the process no longer answers in a form that can be read"
            raise self._lost("died", "ProcessDied", text) from None
        if error is not None:
            raise error
        return value

    def _lost(self, status: Status, kind: str, message: str) -> AnswerError:
        """Note how the process was lost, and end it; the error to raise."""
        self.status = status if self.status == "ok" else self.status
        self.close()
        self._last = AnswerError([kind], message)
        return self._last

    def _too_late(self) -> AnswerError:
        seconds = self.limits.total_seconds
        return self._lost("timeout", "TimeoutError", f"all of it together took longer than {seconds:g} seconds")


def _opened(reply: Any) -> tuple[Any, AnswerError | None]:
    if "value" in reply:
        return reply["value"], None
    kinds = [str(kind)[:100] for kind in reply["error"][:20]] or ["Exception"]
    return None, AnswerError(kinds, str(reply["message"])[:2000], str(reply["where"])[:500])


def grade_code(
    exercise: Exercise,
    submission: Submission | str,
    salt: str | None = None,
    level: Level | None = None,
    limits: SandboxLimits | None = None,
    more: Iterable[Check] = (),
) -> tuple[ExerciseResult, Status, str]:
    """Grade one answer in a sandbox.

    Parameters
    ----------
    salt
        With a salt the hidden checks run as well.
    level
        The strongest that works here, by default.
    more
        Further hidden checks.

    Returns
    -------
    ExerciseResult, how the run ended, and the beginning of what the answer printed.

    Raises
    ------
    GraderBroken
        If the sandbox does not start.
    """
    whole = Submission((CodeCell(submission),)) if isinstance(submission, str) else submission
    more = tuple(more)
    with RemoteStudent.of_exercise(exercise, whole, level or best_level(), limits) as student:
        # A first question to each answer: if none is there, the reason is that of the cell that should have made it.
        reason = _nothing_there(exercise, student)
        result = not_run(exercise, reason, salt, more) if reason else run_checks(exercise, student, salt, more=more)
        status: Status = "student_error" if reason and student.status == "ok" else student.status
        return result, status, student.output()


def grader(level: Level | None = None) -> Callable[[Exercise, str, str], ExerciseResult]:
    """A function that grades code under a salt in a sandbox, for `verify`."""
    return lambda exercise, code, salt: grade_code(exercise, code, salt, level)[0]


def _nothing_there(exercise: Exercise, student: RemoteStudent) -> str:
    """Why not one of the answers exists; empty if one does."""
    missing = []
    for name in exercise.answers:
        try:
            student.perform({"op": "has", "name": name})
            return ""
        except AnswerError as error:
            missing.append(_in_words(error))
    broken = [f"{title}: {_in_words(error)}" for title, error in student.problems.items()]
    return "; ".join(broken[:3] or missing[:1]) if missing else ""


def _in_words(error: AnswerError) -> str:
    return f"{error} ({error.where})" if error.where else str(error)
