"""The example folder gives what the table in INSTRUCTOR.md says, row by row."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from annotated_grader.exercise.catalogue import exercises_folder
from annotated_grader.instructor.grade_folder import GradingOptions, grade_folder
from annotated_grader.sandbox.isolation import available
from annotated_grader.sandbox.process import SandboxLimits

ROW = re.compile(r"^\| (\w+) \| (ex\d\d-\d) \| (\d+) \| (\w+) \| (\w*) ?\|", re.M)


@pytest.mark.slow
def test_the_example_is_graded_as_the_instructor_is_told(tmp_path: Path) -> None:
    if not (found := available("bubblewrap")).works:
        pytest.skip(f"bubblewrap does not work here: {found.reason}")
    folder = exercises_folder()
    table = ROW.findall((folder / "INSTRUCTOR.md").read_text(encoding="utf-8"))
    limits = SandboxLimits(call_seconds=2.0, total_seconds=18.0)
    place = folder / "example" / "submissions"
    done = grade_folder(place, tmp_path, GradingOptions("bubblewrap", salt="example", limits=limits))
    assert not done.skipped and len(table) == 10
    assert [(g.student, g.exercise, str(g.score), g.status, g.misconception) for g in done.graded] == table
    assert {graded.maximum for graded in done.graded} == {15}
