"""Grading of a learner's own answer, from the notebook they work in or from a file of theirs.

This code is trusted: it is the learner's, on their own machine. Strangers' submissions go through the sandbox.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from operator import itemgetter
from pathlib import Path
from typing import Any

from annotated_grader.exercise.catalogue import all_exercises, find
from annotated_grader.exercise.diagnosis import diagnose
from annotated_grader.exercise.exercise import Exercise, ExerciseError
from annotated_grader.exercise.markdown import terminal
from annotated_grader.exercise.own_modules import beside_file, own_modules
from annotated_grader.exercise.run import ExerciseResult, missing_answer, not_run, run_checks
from annotated_grader.exercise.student import LocalStudent
from annotated_grader.exercise.submission import BadSubmission, Submission, read, read_bytes
from annotated_grader.exercise.versions import Version, best_version, versions_of
from annotated_grader.feedback.report import Feedback
from annotated_grader.learner import quiz
from annotated_grader.learner.files import as_in_the_sandbox, run_file
from annotated_grader.learner.record import ProgressRecord
from annotated_grader.learner.timeout import TimeBudget
from annotated_grader.sandbox.cells import MOST_OUTPUT, answer_names
from annotated_grader.sandbox.interpreter import AnswerError


@dataclass(frozen=True)
class LocalAnswer:
    """An answer that was found.

    Attributes
    ----------
    names
        Where its functions, classes and values are; None where its code has still to run.
    source
        The code that defines them, as far as it can be known.
    missing
        What the exercise asks for and nobody has defined.
    versions, notes, files
        Of a file: what is to run, what there is to say about the file, and the learner's own modules by their paths.
    """

    names: dict[str, Any] | None
    source: str
    missing: tuple[str, ...] = ()
    versions: tuple[Version, ...] = ()
    notes: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)


def in_notebook(exercise: Exercise, names: dict[str, Any]) -> LocalAnswer:
    """The answer among a notebook's names, with the code of the cells that define it."""
    missing = tuple(name for name in exercise.answers if name not in names)
    cells = [cell for cell in names.get("In") or [] if isinstance(cell, str)]
    source = Submission.of_cells(cells).source_of(exercise.answers) if cells else _source_of(exercise, names)
    return LocalAnswer(names, source, missing)


def in_file(path: Path, named: str | None = None) -> tuple[Exercise, LocalAnswer]:
    """The exercise that a notebook or a Python file is for, and the answer in it, which runs when it is examined.

    Parameters
    ----------
    path
        The file. Where there is none and the name has no suffix, the notebook of this name: `ex05-1` is `ex05-1.ipynb`.
    named
        The exercise, for a file that does not say it.

    Raises
    ------
    ExerciseError
        If the file cannot be read, or nobody says which exercise it is for.
    """
    asked, also = path, ""
    if not path.suffix and not path.exists():
        path = path.with_name(f"{path.name}.ipynb")
        also = f", and no {path}"
    try:
        with path.open("rb") as file:
            submission = read(read_bytes(file, path.name), path.name)
    except FileNotFoundError:
        raise ExerciseError(f"there is no file {asked}{also}") from None
    except IsADirectoryError:
        raise ExerciseError(f"{path} is a folder: name the notebook or the .py file inside it") from None
    except (OSError, BadSubmission) as error:
        raise ExerciseError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    id = named or submission.exercise
    if not id:
        what = 'add a line EXERCISE = "ex05-1", or say --exercise ex05-1'
        raise ExerciseError(f"{path} does not say which exercise it answers: {what}")
    exercise = find(id)
    files = own_modules(submission, beside_file(path))
    return exercise, LocalAnswer(None, "", (), versions_of(exercise, submission), submission.notes, files)


def examine(exercise: Exercise, found: LocalAnswer, record: ProgressRecord, seconds: float, book: str = "") -> Feedback:
    """Check an answer, name its misconception, note both, and say what there is to say.

    Parameters
    ----------
    seconds
        Time for one case of a check.
    book
        The address of the book, for links to its chapters.
    """
    printed = _Capped()
    quiet = warnings.catch_warnings(action="ignore")  # of libraries: neither printed by the answer nor about it
    with quiet, contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        result, source, answered = _run(exercise, found, seconds)
    untouched = exercise.is_untouched(source) or _says_nothing(result)
    diagnosis = None
    if not untouched and result.score < result.maximum:
        with contextlib.redirect_stdout(_Capped()), contextlib.suppress(AnswerError):
            diagnosis = diagnose(result)
    with record.change(exercise.id) as entry:
        entry.maximum = float(result.maximum)
        if not untouched:
            entry.attempts += 1
            entry.best = max(entry.best, float(result.score))
            entry.solved = entry.solved or result.score == result.maximum
    chapters = {e.number: f"{book.rstrip('/')}/{e.chapter}.html" for e in all_exercises()} if book else {}
    more = "In the notebook, solution() shows our answer and what it teaches." if result.score == result.maximum else ""
    quizzed = [_about_the_quiz(exercise, question, choice, record) for question, choice in answered]
    notes = tuple(note for note in (*result.notes, *quizzed, more, record.notice) if note)
    return Feedback(result, diagnosis, printed.getvalue(), notes, chapters)


def _run(exercise: Exercise, found: LocalAnswer, seconds: float) -> tuple[ExerciseResult, str, list[tuple[Any, Any]]]:
    """The result, the code that has it, and what a file answers to the quiz; a notebook has shown that already."""
    if found.names is not None:
        student = LocalStudent(found.names, found.source, exercise.given_code)
        return run_checks(exercise, student, guard=TimeBudget(seconds)), found.source, []

    def grade(version: Version) -> tuple[ExerciseResult, list[tuple[Any, Any]]]:
        with as_in_the_sandbox(found.files) as answered:
            return _run_version(exercise, version, seconds), answered

    version, (result, answered), note = best_version(found.versions, grade, itemgetter(0))
    notes = (*found.notes, *result.notes, *filter(None, [note]))
    return replace(result, notes=notes), version.submission.code, answered


def _run_version(exercise: Exercise, version: Version, seconds: float) -> ExerciseResult:
    student = LocalStudent(answer_names(), version.submission.code, exercise.given_code)
    ran = run_file(student.interpreter, version.submission, seconds)
    if reason := missing_answer(exercise, student, ran.problems):
        result = not_run(exercise, f"your code does not run: {reason}")
    else:
        result = run_checks(exercise, student, guard=TimeBudget(seconds))
        result = replace(result, notes=(*result.notes, *ran.notes))
    run_file(student.interpreter, version.quiz, seconds)
    return result


def _about_the_quiz(exercise: Exercise, question: Any, choice: Any, record: ProgressRecord) -> str:
    """What there is to say about one answer to the quiz; nothing where none was chosen yet."""
    if not str(choice).strip():
        return ""
    try:
        return f"Question {question} of the quiz: {terminal(quiz.feedback(exercise, question, choice, record))}"
    except ExerciseError as error:
        return f"The quiz: {error}"


def _says_nothing(result: ExerciseResult) -> bool:
    """Whether nothing came back but that nothing is written."""
    messages = [check.failure.message if check.failure else "" for check in result.checks]
    return all(message.startswith(("NotImplementedError", "NameError: there is no")) for message in messages)


def _source_of(exercise: Exercise, names: dict[str, Any]) -> str:
    parts = []
    for name in exercise.answers:
        with contextlib.suppress(OSError, TypeError):
            parts.append(inspect.getsource(names[name]) if name in names else "")
    return "\n\n".join(parts)


class _Capped(io.StringIO):
    """Keeps the beginning of what is written."""

    def write(self, text: str) -> int:
        if self.tell() < MOST_OUTPUT:
            super().write(text[: MOST_OUTPUT - self.tell()])
        return len(text)
