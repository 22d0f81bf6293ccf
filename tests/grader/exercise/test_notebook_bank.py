"""What an honest notebook says is what the grade says: all notebooks of the bank, in IPython and in the sandbox."""

from __future__ import annotations

import pytest

from tests.grader.exercise.notebook_bank import HonestNotebook, Verdicts, notebooks, verdicts

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Verdicts]:
    """The verdicts on all of them."""
    return verdicts(notebooks(), tmp_path_factory.mktemp("notebooks"))


def test_the_bank_is_wide() -> None:
    assert len(notebooks()) >= 60
    assert len({one.exercise for one in notebooks()}) >= 15
    assert len({one.name for one in notebooks()}) == len(notebooks())


@pytest.mark.parametrize("one", notebooks(), ids=lambda one: one.name)
def test_notebook_file_and_grade_agree(found: dict[str, Verdicts], one: HonestNotebook) -> None:
    got = found[one.name]
    assert (got.in_notebook, got.from_file, got.graded) == (one.points,) * 3, got
    assert not one.whole or got.total == got.maximum, got
