"""Overlay: a private folder of an instructor's own hidden checks, as EXERCISE/checks.py."""

from __future__ import annotations

from pathlib import Path

from annotated_grader.exercise.catalogue import all_exercises
from annotated_grader.exercise.checks import load_checks
from annotated_grader.exercise.exercise import Exercise, ExerciseError


def validate_overlay(overlay: Path) -> None:
    """Refuse an overlay that would be passed over in silence: it is an instructor's mistake.

    Raises
    ------
    ExerciseError
        If it has no checks, or checks for no exercise, or some that would count nothing.
    """
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


def overlay_files(overlay: Path, exercise: Exercise) -> list[Path]:
    """The files of an overlay with checks for an exercise, whose folder may be named like ex05-1 or in full."""
    files = [overlay / name / "checks.py" for name in (exercise.folder.name, exercise.id)]
    return [file for file in files if file.is_file()]
