"""Catalogue of the exercises: where their folders are, all of them by number, and one by its number."""

from __future__ import annotations

import difflib
import os
import re
from functools import cache
from pathlib import Path

import yaml

from annotated_grader.exercise.exercise import ID, Exercise, ExerciseError, parse

PLACE = "ANNOTATED_EXERCISES"
"""Environment variable that names another folder of exercises."""


def exercises_folder() -> Path:
    """Where the exercises are: `$ANNOTATED_EXERCISES`, or the checkout's folder, or the installed package's.

    Raises
    ------
    ExerciseError
        If there is none.
    """
    package = Path(__file__).resolve().parents[1]
    own = [package.parents[1] / "exercises", package / "exercises"]
    # Whole, for the code of an answer runs in a folder of its own.
    places = [Path(os.environ[PLACE]).absolute()] if os.environ.get(PLACE) else own
    for place in places:
        if place.is_dir() and any(place.glob("ex*/exercise.md")):
            return place
    raise ExerciseError(
        f"there are no exercises in {' or '.join(map(str, places))}; install the grader again, or set {PLACE}"
    )


def all_exercises(folder: Path | None = None) -> list[Exercise]:
    """Every exercise, by number."""
    place = folder or exercises_folder()
    found = [_read(file.parent) for file in sorted(place.glob("ex*/exercise.md"))]
    return sorted(found, key=lambda exercise: tuple(map(int, ID.fullmatch(exercise.id).groups())))  # type: ignore[union-attr]


def find(id: str, folder: Path | None = None) -> Exercise:
    """The exercise with this number, such as ex05-1; 5.1, as the book numbers it, is the same.

    Raises
    ------
    ExerciseError
        If there is none; the message lists those of its chapter.
    """
    found = all_exercises(folder)
    numbers = re.fullmatch(r"(?:ex)?0*(\d+)[-.]0*(\d+)", str(id).strip(), re.IGNORECASE)
    wanted = f"ex{numbers[1]:>02}-{numbers[2]}" if numbers else str(id)
    for exercise in found:
        if exercise.id == wanted:
            return exercise
    if near := [exercise.id for exercise in found if exercise.id[:4] == wanted[:4]]:
        raise ExerciseError(f"there is no exercise {id!r}; there are {', '.join(near)}")
    close = difflib.get_close_matches(wanted, [exercise.id for exercise in found], n=1)
    hint = f"did you mean {close[0]}? They" if close else "they"
    ends = f"{hint} run from {found[0].id} to {found[-1].id}" if found else "there are none"
    raise ExerciseError(f"there is no exercise {id!r}: {ends}; annotated exercise list names them")


@cache
def _read(folder: Path) -> Exercise:
    file = folder / "exercise.md"
    try:
        return parse(file.read_text(encoding="utf-8"), folder)
    except (yaml.YAMLError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise ExerciseError(f"{file}: {error}") from error
