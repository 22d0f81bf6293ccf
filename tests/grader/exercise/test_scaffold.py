"""A new exercise of an author's own: it works before anything is changed, and replaces nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotated_grader.exercise import catalogue
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
    with pytest.raises(FileExistsError, match="is an exercise; name the folder that holds exercises"):
        write_exercise("ex99-2", "Mean", first)
    with pytest.raises(ExerciseError, match="'99.1' is no number"):
        write_exercise("99.1", "Mean", tmp_path)
    for title in (" ", "a" * 81):
        with pytest.raises(ExerciseError, match="a title has 1 to 80 letters"):
            write_exercise("ex99-2", title, tmp_path)
    assert write_exercise("ex99-2", "Größe und Maß", tmp_path).name == "ex99_2_grosse_und_mass"


def test_a_folder_that_is_named_from_here_serves_where_an_answer_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_exercise("ex99-1", "Mean", tmp_path / "own")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ANNOTATED_EXERCISES", "own")
    exercise = find("ex99-1")
    monkeypatch.chdir("/")
    assert exercise.points_public == 5


def test_an_author_is_told_which_file_is_wrong_and_where(tmp_path: Path) -> None:
    folder = write_exercise("ex99-1", "Mean", tmp_path)

    def problems(file: str, old: str, new: str) -> str:
        text = (folder / file).read_text(encoding="utf-8")
        (folder / file).write_text(text.replace(old, new), encoding="utf-8")
        catalogue._read.cache_clear()
        found = "; ".join(verify(find("ex99-1", tmp_path)).problems)
        (folder / file).write_text(text, encoding="utf-8")
        return found

    assert "checks.py, line 12: " in problems("checks.py", "def expected", "def expected(:")
    assert "bank.yaml: while parsing" in problems("bank.yaml", "loses: [padding_is_left_out]", "loses: [")
    assert "without the other" in problems("exercise.md", "    ### END SOLUTION\n", "")
    assert "there is no such check; there are over_the_positions, padding_is_left_out" in problems(
        "bank.yaml", "loses: [padding_is_left_out]", "loses: [padding]"
    )
    catalogue._read.cache_clear()
