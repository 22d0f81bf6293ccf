"""Overview of a learner's progress: every exercise with points, attempts and hints, as text and as HTML."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from annotated_grader.exercise.exercise import Exercise
from annotated_grader.exercise.markdown import without_marks
from annotated_grader.learner.record import ExerciseProgress, ProgressRecord

HEAD = ("Exercise", "Title", "Points", "Attempts", "Hints", "State")


def rows(exercises: Iterable[Exercise], record: ProgressRecord) -> list[tuple[str, ...]]:
    """One row for each exercise, in the order of `HEAD`."""
    entries = record.entries()
    found: list[tuple[str, ...]] = []
    for exercise in exercises:
        entry = entries.get(exercise.id, ExerciseProgress())
        points = f"{entry.best:g} of {exercise.points_public}"
        hints = f"{entry.hints} of {len(exercise.hints)}"
        found.append((exercise.id, without_marks(exercise.title), points, str(entry.attempts), hints, state(entry)))
    return found


def state(entry: ExerciseProgress) -> str:
    """'solved', 'begun' or 'not yet', and whether the solution was seen first."""
    if entry.solved:
        return "solved, solution seen" if entry.solution else "solved"
    begun = "begun" if entry.attempts or entry.hints else "not yet"
    return f"{begun}, solution seen" if entry.solution else begun


def summary(exercises: Iterable[Exercise], record: ProgressRecord) -> str:
    """One sentence about all of them."""
    exercises, entries = list(exercises), record.entries()
    known = [entries.get(exercise.id, ExerciseProgress()) for exercise in exercises]
    points, total = sum(entry.best for entry in known), sum(exercise.points_public for exercise in exercises)
    solved = sum(entry.solved for entry in known)
    return f"{solved} of {len(exercises)} exercises solved, {points:g} of {total} public points."


def text(exercises: Iterable[Exercise], record: ProgressRecord) -> str:
    """The table for a terminal."""
    exercises = list(exercises)
    table = [HEAD, *rows(exercises, record)]
    widths = [max(len(row[i]) for row in table) for i in range(len(HEAD))]
    lines = ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join([*lines, "", *closing(exercises, record)]) + "\n"


def html(exercises: Iterable[Exercise], record: ProgressRecord) -> str:
    """The table for a notebook."""
    exercises = list(exercises)
    head = "".join(f'<th scope="col" style="text-align: left">{name}</th>' for name in HEAD)
    body = "".join(
        "<tr>" + "".join(f'<td style="text-align: left">{escape(cell)}</td>' for cell in row) + "</tr>"
        for row in rows(exercises, record)
    )
    said = "".join(f"<p>{escape(line)}</p>" for line in closing(exercises, record))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{said}"


def closing(exercises: Iterable[Exercise], record: ProgressRecord) -> list[str]:
    """What is said under the table."""
    place = f"Kept in {record.path}, on this machine only."
    return [line for line in (summary(exercises, record), place, record.notice) if line]
