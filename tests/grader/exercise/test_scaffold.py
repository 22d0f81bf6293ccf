"""A new exercise of an author's own: it works before anything is changed, and replaces nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotated_grader.exercise.catalogue import find
from annotated_grader.exercise.exercise import ExerciseError
from annotated_grader.exercise.scaffold import write_exercise
from annotated_grader.exercise.survivors import survival
from annotated_grader.exercise.verify import verify
from annotated_grader.learner.timeout import time_limit


def test_it_keeps_all_rules_as_it_is_written(tmp_path: Path) -> None:
    folder = write_exercise("ex99-1", "Mean: words, not padding", tmp_path / "own")
    assert folder.name == "ex99_1_mean_words_not_padding"
    exercise = find("ex99-1", tmp_path / "own")
    assert exercise.title == "Mean: words, not padding"
    assert verify(exercise).problems == []
    assert survival(exercise, time_limit).problems == []


def test_a_number_that_is_taken_is_refused_and_nothing_changed(tmp_path: Path) -> None:
    first = write_exercise("ex99-1", "Mean", tmp_path)
    (first / "checks.py").write_text("mine")
    for title in ("Mean", "Other"):
        with pytest.raises(FileExistsError, match="ex99-1 is taken"):
            write_exercise("ex99-1", title, tmp_path)
    assert (first / "checks.py").read_text() == "mine" and list(tmp_path.iterdir()) == [first]
    with pytest.raises(ExerciseError, match="'99.1' is no number"):
        write_exercise("99.1", "Mean", tmp_path)
