"""Remote grading: to a check an answer in the sandbox is a `Student` like any other, but it runs in another process."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from operator import itemgetter
from typing import Any, Literal

from annotated_grader.exercise.checks import Check
from annotated_grader.exercise.exercise import Exercise
from annotated_grader.exercise.run import (
    ExerciseResult,
    missing_answer,
    missing_modules,
    not_run,
    note_on_others,
    notes_on,
    run_checks,
)
from annotated_grader.exercise.student import Student
from annotated_grader.exercise.submission import CodeCell, Submission
from annotated_grader.exercise.versions import Version, best_version, versions_of
from annotated_grader.sandbox.cells import MOST_OUTPUT, SHORTEST_SECONDS
from annotated_grader.sandbox.codec import CodecError, decode, encode
from annotated_grader.sandbox.interpreter import AnswerError
from annotated_grader.sandbox.isolation import best_level
from annotated_grader.sandbox.process import Died, Level, OutOfTime, Process, SandboxLimits

Status = Literal["ok", "student_error", "timeout", "died", "not_available", "grader_error"]
_MOST_SKIPPED = 4
"""Cells that may end the process without costing a restart."""
_OTHERS_LOST = 2
"""How often cells that the answer does not seem to need may end it so; after the second time none of them is run."""


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
    files
        Modules of the student's own, by their paths in the folder in which the answer runs.

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
        files: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(submission.code)
        self.limits = limits or SandboxLimits()
        self.status: Status = "ok"
        self.status_of_cells: Status = "student_error"
        self.problems: dict[str, AnswerError] = {}
        """What went wrong in cells that the answer needs, by their titles."""
        self._cells, self._given, self._files = submission.cells, given, dict(files or {})
        self._start_process: Callable[[], Process] = lambda: Process(level, self.limits, library, hidden)
        self._process: Process | None = None
        self.printed = ""
        """What `keep_output` found."""
        self._ended_by: dict[int, AnswerError] = {}
        """Cells that ended a process, by number: they are skipped from then on."""
        self._others_end = len(self._cells)
        """The number of the cell from which on none is run that the answer does not seem to need."""
        self._others_left = self.limits.call_seconds
        self._restarts = self._lost_in_cells = self._lost_in_others = 0
        self._last = AnswerError(["ProcessDied"], "the process ended")
        self._used = 0.0
        """Seconds that its processes have been waited for; their start, and the grader's own work, are not counted."""
        self._begin()

    @classmethod
    def of_exercise(
        cls,
        exercise: Exercise,
        submission: Submission,
        level: Level,
        limits: SandboxLimits | None = None,
        files: Mapping[str, str] | None = None,
    ) -> RemoteStudent:
        """The answer to an exercise, cut into what it needs and the rest."""
        hidden = (str(exercise.folder / "checks.py"), str(exercise.folder / "exercise.md"))
        return cls(submission, exercise.answers, exercise.given_code, exercise.library, level, limits, hidden, files)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on the cells that did not run, or not to their end."""
        left_out = sum(not cell.needed for cell in self._cells[self._others_end :])
        others = (note_on_others(self.limits.call_seconds, left_out),) if left_out else ()
        return (*notes_on(self.problems), *others)

    def perform(self, operation: Mapping[str, Any]) -> Any:
        """See `Student.perform`; the process is started again if the last operation ended it."""
        if self._process is None:
            self._restart()
        return self._ask(operation)

    def keep_output(self) -> None:
        """Take over the beginning of what it has printed until now, as far as it is still there to say."""
        if self._process is not None:
            with suppress(AnswerError):
                printed = self._ask({"op": "output"})
                self.printed = printed[:MOST_OUTPUT] if isinstance(printed, str) else ""

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
        self._process = self._start_process()
        self._others_left = self.limits.call_seconds
        self._process.waited = 0.0  # the start is ours, not the answer's
        try:
            if self._files:
                self._ask({"op": "files", "files": self._files})
            if self._given:
                self._ask({"op": "given_code", "code": self._given})
            for number, cell in enumerate(self._cells):
                (self._run_needed if cell.needed else self._run_other)(number, cell)
                if self._process is None:
                    return
        except BaseException:
            self.close()
            raise

    def _run_needed(self, number: int, cell: CodeCell) -> None:
        known, before = self._ended_by.get(number), self.status
        try:
            self._ask(_to_run(cell, known))
        except AnswerError as error:
            self.problems.setdefault(cell.title, error)
            if self._process is None:  # a cell is skipped, and costs none of the restarts
                self._lost_in_cells += known is None
                self._ended_by[number] = error
                self.status_of_cells, self.status = self.status, before

    def _run_other(self, number: int, cell: CodeCell) -> None:
        """Run what the answer does not seem to need: nothing that fails there is said, and all of it has one budget."""
        before = self.status
        if self._others_left < SHORTEST_SECONDS:
            self._others_end = min(self._others_end, number)
        try:
            if number >= self._others_end:
                self._ask(_to_run(cell, AnswerError(["TimeoutError"], "the cell was not run: there was no time left")))
            else:
                self._ask(_to_run(cell), of_others=True)
        except AnswerError:
            if self._process is None:
                self._lost_in_others += 1
                self._others_end = min(self._others_end, number if self._lost_in_others < _OTHERS_LOST else 0)
                self.status = before

    def _restart(self) -> None:
        while self._process is None:
            free = min(self._lost_in_cells, _MOST_SKIPPED) + min(self._lost_in_others, _OTHERS_LOST)
            if self._restarts >= self.limits.restarts + free:
                raise self._last
            if self._used > self.limits.total_seconds:
                raise self._too_late()
            self._restarts += 1
            self._begin()

    def _ask(self, operation: Mapping[str, Any], of_others: bool = False) -> Any:
        """Ask the process; `of_others` says whose budget the time is taken from."""
        assert self._process is not None
        left = self._others_left if of_others else self.limits.total_seconds - self._used
        if left <= 0:
            raise self._too_late()
        seconds = min(self.limits.call_seconds, left)
        request, before, process = encode(operation), self._process.waited, self._process
        try:
            try:
                process.send(request, seconds)
                reply = process.receive(seconds)
            finally:
                took = process.waited - before
                self._others_left -= took if of_others else 0.0
                self._used += 0.0 if of_others else took
            value, error = _opened(decode(reply))
        except OutOfTime:
            text = f"it took longer than {seconds:.3g} seconds; does a loop never end?"
            raise self._lost("timeout", "TimeoutError", text) from None
        except Died as reason:
            raise self._lost("died", "ProcessDied", str(reason)) from None
        except CodecError:
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


def _to_run(cell: CodeCell, instead: AnswerError | None = None) -> dict[str, Any]:
    """The request to run a cell, or to take an error for it."""
    skip = [instead.kinds[0], instead.message] if instead else None
    return {"op": "cell", "code": cell.code, "skip": skip, "needed": cell.needed, "ends": cell.ends}


def _opened(reply: Any) -> tuple[Any, AnswerError | None]:
    """The value of a reply, or its error; a reply of another form is as good as none."""
    if isinstance(reply, dict) and reply.keys() == {"value"}:
        return reply["value"], None
    if not isinstance(reply, dict) or reply.keys() != {"error", "message", "where"}:
        raise CodecError("this is no reply")
    kinds, message, where = reply["error"], reply["message"], reply["where"]
    parts = (*kinds[:20], message, where) if isinstance(kinds, list) else (None,)
    if not all(isinstance(part, str) for part in parts):
        raise CodecError("this is no reply")
    return None, AnswerError([kind[:100] for kind in kinds[:20]] or ["Exception"], message[:2000], where[:500])


def grade_code(
    exercise: Exercise,
    submission: Submission | str,
    salt: str | None = None,
    level: Level | None = None,
    limits: SandboxLimits | None = None,
    more: Iterable[Check] = (),
    files: Mapping[str, str] | None = None,
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
    files
        Modules of the student's own, by their paths.

    Returns
    -------
    ExerciseResult, how the run ended, and the beginning of what the answer printed before the first hidden check: later
    it could print what that check asked.

    Raises
    ------
    GraderBroken
        If the sandbox does not start.
    """
    whole = Submission((CodeCell(submission),)) if isinstance(submission, str) else submission
    more = tuple(more)
    closed = level or best_level()
    undecided = []

    def grade(version: Version) -> tuple[ExerciseResult, Status, str]:
        with RemoteStudent.of_exercise(exercise, version.submission, closed, limits, files=files) as student:
            outcome = _graded(exercise, student, salt, more)
        undecided.extend([outcome] if outcome[1] == "not_available" else [])
        return outcome

    _, (result, status, printed), note = best_version(versions_of(exercise, whole), grade, itemgetter(0))
    if result.lost and undecided:  # the version without a score could have been the better one
        result, status, printed = undecided[0]
    return replace(result, notes=(*result.notes, *filter(None, [note]))), status, printed


def _graded(
    exercise: Exercise, student: RemoteStudent, salt: str | None, more: tuple[Check, ...]
) -> tuple[ExerciseResult, Status, str]:
    # A first question to each answer: if none is there, the reason is that of the cell that should have made it.
    reason = missing_answer(exercise, student, student.problems)
    if reason:
        student.keep_output()
        result = not_run(exercise, reason, salt, more)
    else:
        result = run_checks(exercise, student, salt, more=more, before_hidden=student.keep_output)
        result = replace(result, notes=(*result.notes, *student.notes))
    status = student.status_of_cells if reason and student.status == "ok" else student.status
    if result.lost and (missing := missing_modules(result, student.problems)):
        listed, one = " and ".join(f"`{name}`" for name in missing), len(missing) == 1
        note = f"{listed} {'is' if one else 'are'} not available to the grader"
        note += f"; without {'it' if one else 'them'} the answer earns {result.score} of {result.maximum}"
        result, status = replace(result, notes=(note, *result.notes)), "not_available"
    return result, status, student.printed
