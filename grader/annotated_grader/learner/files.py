"""Files of a learner: all cells of one, run in this process as the sandbox runs them."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import annotated_grader
from annotated_grader.exercise.run import note_on_others, notes_on
from annotated_grader.exercise.submission import Submission
from annotated_grader.learner.timeout import TimeBudget, time_limit
from annotated_grader.sandbox.cells import SHORTEST_SECONDS
from annotated_grader.sandbox.interpreter import AnswerError, Interpreter

_COMMANDS = ("check", "hint", "progress", "solution")


@dataclass
class FileRun:
    """How the cells of a file ran.

    Attributes
    ----------
    problems
        What went wrong in cells that the answer needs, by their titles.
    left_out
        How many statements that it does not seem to need there was no time for.
    seconds
        That those had together.
    """

    seconds: float
    problems: dict[str, AnswerError] = field(default_factory=dict)
    left_out: int = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on the cells that did not run, or not to their end."""
        others = (note_on_others(self.seconds, self.left_out),) if self.left_out else ()
        return (*notes_on(self.problems), *others)


def run_file(interpreter: Interpreter, submission: Submission, seconds: float) -> FileRun:
    """Run every cell, in the order of the file.

    Parameters
    ----------
    seconds
        For each piece that the answer needs, and for all others together.
    """
    ran, budget = FileRun(seconds), TimeBudget(seconds)  # not that of the checks: a cell that hangs takes none of it
    left = seconds
    for cell in submission.cells:
        if cell.needed:
            try:
                with budget():
                    interpreter.run_cell(cell.code, ends=cell.ends)
            except AnswerError as error:
                ran.problems.setdefault(cell.title, error)
            continue
        skip = ("TimeoutError", "the cell was not run: there was no time left") if left < SHORTEST_SECONDS else None
        begun = time.monotonic()
        with _silence(), contextlib.suppress(AnswerError), time_limit(max(left, SHORTEST_SECONDS)):
            interpreter.run_cell(cell.code, skip, cell.ends)
        left -= 0.0 if skip else time.monotonic() - begun
        ran.left_out += left < SHORTEST_SECONDS
    return ran


@contextlib.contextmanager
def as_in_the_sandbox(files: Mapping[str, str]) -> Iterator[list[tuple[Any, Any]]]:
    """For a while: a folder with these files only, no input, no windows, and commands such as `check` that do nothing.

    What comes back fills with the questions of the quiz that the file answers, each with the letter.
    """
    answered: list[tuple[Any, Any]] = []
    before, folder = os.getcwd(), tempfile.TemporaryDirectory(prefix="annotated-answer-", ignore_cleanup_errors=True)
    kept = sys.stdin, sys.argv, [*sys.path], dict(os.environ)
    sys.stdin, sys.argv = io.StringIO(), ["answer"]
    sys.path.insert(0, "")  # as in a notebook: a module of the learner's own comes before an installed one
    loaded = set(sys.modules)
    os.environ.setdefault("MPLBACKEND", "agg")
    vars(annotated_grader).update(
        dict.fromkeys(_COMMANDS, _nothing),
        answer=lambda question=0, choice="", *_, **__: answered.append((question, choice)),
    )
    os.chdir(folder.name)
    for path, text in files.items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text, encoding="utf-8")
    try:
        yield answered
    finally:
        os.chdir(before)
        for name in (*_COMMANDS, "answer"):
            vars(annotated_grader).pop(name, None)
        for name in set(sys.modules) - loaded:
            if str(getattr(sys.modules[name], "__file__", "")).startswith(folder.name):
                del sys.modules[name]
        sys.stdin, sys.argv, sys.path[:], environment = kept
        os.environ.clear()
        os.environ.update(environment)
        folder.cleanup()


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    nowhere = _Nowhere()
    with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        yield


class _Nowhere(io.StringIO):
    """Keeps nothing of what is written."""

    def write(self, text: str) -> int:
        return len(text)


def _nothing(*args: object, **kwargs: object) -> None:
    """A command of the notebook, which the check that runs now stands for."""
