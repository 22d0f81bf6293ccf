"""Exercises of the chapter on parsing: what a learner is shown is small."""

from __future__ import annotations

from typing import Any

import pytest

from annotated_grader.exercise.catalogue import find
from annotated_grader.exercise.run import run_checks
from annotated_grader.exercise.student import LocalStudent


def lost(id: str, code: str) -> dict[str, Any]:
    """The public checks that an answer loses, with their failures."""
    exercise = find(id)
    result = run_checks(exercise, LocalStudent.of_code(code))
    return {one.name: one.failure for one in result.checks if one.failure is not None}


def leaves(tree: Any) -> int:
    """How many words a tree has."""
    return sum(map(leaves, tree[1:])) if isinstance(tree, list) and isinstance(tree[1], list) else 1


@pytest.mark.parametrize("entry", find("ex29-2").bank, ids=lambda entry: entry.name)
def test_a_wrong_f1_is_shown_on_two_short_sentences_at_most(entry: Any) -> None:
    found = lost("ex29-2", entry.code)
    assert found
    for name, failure in found.items():
        trees = failure.inputs.get("gold") or [failure.inputs["tree"]]
        assert len(trees) <= 2 and sum(map(leaves, trees)) <= 5, name
