"""Classes as platforms and people deliver them: each file is whose it is, and nobody's file replaces another's."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotated_grader.instructor.platforms import time_of
from annotated_grader.instructor.roster import Roster
from annotated_grader.instructor.submissions import Looking, choose, look
from tests.grader.instructor.classes import PLATFORMS, Class, build, rows_of

pytestmark = pytest.mark.process


@pytest.mark.parametrize("name", PLATFORMS)
def test_a_class_has_the_rows_that_its_platform_says(tmp_path: Path, name: str) -> None:
    one = PLATFORMS[name]
    folder = build(tmp_path / "in", one.files)
    found = look(folder / one.top, looking(one))
    wanted = sorted(" ".join(line.split()) for line in one.rows.splitlines())
    assert rows_of(found, choose(found)) == wanted
    assert found.summary.partition(":")[0] == one.layout


def looking(one: Class) -> Looking:
    """The options of a class."""
    roster = Roster.read(one.roster) if one.roster else None
    return Looking(one.exercise, "", one.how, roster, time_of(one.before) if one.before else None)
