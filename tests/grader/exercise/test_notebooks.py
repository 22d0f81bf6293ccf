"""What an honest notebook says is what the grade says: a few of the bank; `make exercises` has all of them."""

from __future__ import annotations

from pathlib import Path

from tests.grader.exercise.notebook_bank import notebooks, verdicts


def test_notebook_file_and_grade_agree(tmp_path: Path) -> None:
    quick = tuple(one for one in notebooks() if one.quick)
    found = verdicts(quick, tmp_path)
    assert len(quick) >= 8
    for one in quick:
        got = found[one.name]
        assert (got.in_notebook, got.from_file, got.graded) == (one.points,) * 3, (one.name, got)
        assert one.points < 10 or got.total == got.maximum, (one.name, got)
