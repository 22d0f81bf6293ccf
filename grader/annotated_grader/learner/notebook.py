"""Notebook commands for learners: `check()`, `hint()`, `solution()`, `answer()` and `progress()`; also in plain Python.

Each shows what it has to say: as HTML where a notebook can draw it, else as text. None of them ends in a traceback of
this library; an error of the learner's own code shows the line that failed.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, TypeVar

from annotated_grader.exercise.catalogue import all_exercises, find
from annotated_grader.exercise.exercise import Exercise, ExerciseError
from annotated_grader.exercise.markdown import plain, terminal
from annotated_grader.feedback.report_html import html_of
from annotated_grader.learner import grade_local, quiz
from annotated_grader.learner.record import ProgressRecord
from annotated_grader.sandbox.cells import CALL_SECONDS

_F = TypeVar("_F", bound=Callable[..., None])


def _told(function: _F) -> _F:
    """Say what is wrong with a call, instead of a traceback."""

    @functools.wraps(function)
    def tell(*args: Any, **kwargs: Any) -> None:
        try:
            function(*args, **kwargs)
        except ExerciseError as error:
            publish(str(error))

    return tell  # type: ignore[return-value]


@_told
def check(exercise: str | None = None, seconds: float = CALL_SECONDS) -> None:
    """Check the answer that stands in this notebook, and show its score, with the reason first.

    Parameters
    ----------
    exercise
        Such as "ex05-1"; by default the notebook's own (its variable `EXERCISE`), else the one checked last.
    seconds
        Time for one case of a check; an endless loop ends after it.
    """
    record = ProgressRecord()
    chosen = which(exercise, record)
    names = namespace()
    answer_given = grade_local.in_notebook(chosen, names)
    if answer_given.missing:
        listed = ", ".join(f"`{name}`" for name in answer_given.missing)
        publish(f"{chosen.id}: there is no {listed} yet. Run the cell with your answer first, then this one again.")
        return
    report = grade_local.examine(chosen, answer_given, record, seconds, str(names.get("BOOK_URL") or ""))
    publish(report.text(), html_of(report))


@_told
def hint(exercise: str | None = None) -> None:
    """Show the next of three hints, each nearer to the answer than the one before; after the last, all of them."""
    record = ProgressRecord()
    chosen = which(exercise, record)
    total = len(chosen.hints)
    with record.change(chosen.id) as entry:
        again = entry.hints >= total
        entry.hints = min(entry.hints + 1, total)
        number = entry.hints
    shown = range(1, total + 1) if again else range(number, number + 1)
    lines = [f"**Hint {i} of {total}.** {chosen.hints[i - 1].strip()}" for i in shown]
    if again:
        lines.append("These were all hints. `solution()` shows the answer, once you have tried one of your own.")
    publish_markdown("\n\n".join([*lines, record.notice]).strip())


@_told
def solution(exercise: str | None = None, force: bool = False) -> None:
    """Show the solution and what it teaches, once an own attempt has been checked.

    Parameters
    ----------
    exercise
        As for `check`.
    force
        Show it also without an attempt. What one has tried first stays longer in memory.
    """
    record = ProgressRecord()
    chosen = which(exercise, record)
    if not (record.entry(chosen.id).attempts or force):
        hints = "`hint()` gives a nudge" if record.entry(chosen.id).hints < len(chosen.hints) else "The hints are shown"
        publish_markdown(
            f"Try it first: write an answer, however rough, and run `check()`. {hints}. "
            "What was tried first is remembered longer. (`solution(force=True)` shows it all the same.)"
        )
        return
    with record.change(chosen.id) as entry:
        entry.solution = entry.solution or not entry.solved
    publish_markdown(f"```python\n{chosen.solution_code.strip()}\n```\n\n{chosen.afterwards}")


@_told
def answer(question: int, choice: str = "", exercise: str | None = None) -> None:
    """Answer a question of the exercise's quiz by the letter of an option, and learn what choosing it means.

    Parameters
    ----------
    question
        Its number, from 1.
    choice
        "A", "B", ...
    """
    record = ProgressRecord()
    publish_markdown(quiz.feedback(which(exercise, record), question, choice, record))


@_told
def progress() -> None:
    """Show every exercise with points, attempts, hints used, and whether it is solved."""
    from annotated_grader.learner import overview

    record = ProgressRecord()
    exercises = all_exercises()
    publish(overview.text(exercises, record), overview.html(exercises, record))


def which(exercise: str | None, record: ProgressRecord) -> Exercise:
    """The exercise that is meant: the one named, else the notebook's, else the one checked last.

    Raises
    ------
    ExerciseError
        If none is, or there is none of that name.
    """
    named = exercise or namespace().get("EXERCISE") or record.last
    if not named:
        some = ", ".join(f'"{found.id}"' for found in all_exercises()[:3])
        raise ExerciseError(f"which exercise? Name it, as in check({some.split(',')[0]}); there are {some}, ...")
    return find(str(named))


def namespace() -> dict[str, Any]:
    """The notebook's names, or those of the running program."""
    shell = _shell()
    return shell.user_ns if shell else sys.modules["__main__"].__dict__


def publish(text: str, html: str = "") -> None:
    """Show text, or its HTML where that can be drawn."""
    _show({"text/plain": text, **({"text/html": html} if html else {})})


def publish_markdown(text: str) -> None:
    """Show Markdown that may hold the book's roles."""
    _show({"text/plain": terminal(text), "text/markdown": plain(text)})


def _show(bundle: dict[str, str]) -> None:
    if _shell() is None:
        print(bundle["text/plain"].rstrip())
        return
    from IPython.display import display

    display(bundle, raw=True)


def _shell() -> Any:
    """IPython's shell, if this runs in one; IPython is not imported for the sake of the question."""
    get = getattr(sys.modules.get("IPython"), "get_ipython", None)
    return get() if get else None
