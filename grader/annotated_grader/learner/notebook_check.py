"""Check as an assertion, for graders that run tests inside the notebook itself (nbgrader, otter).

There the student's code and the tests share a process, so this is as safe as those graders are, and no safer: for
strangers' code use `annotated exercise grade`.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

from annotated_grader.exercise.catalogue import find
from annotated_grader.exercise.run import run_checks
from annotated_grader.exercise.student import LocalStudent
from annotated_grader.learner.grade_local import in_notebook


def require(exercise_id: str, check: str, namespace: MutableMapping[str, Any], salt: str | None = None) -> None:
    """Pass silently if the notebook's answer passes this check.

    Parameters
    ----------
    namespace
        The notebook's names: `globals()`.
    salt
        With a salt the check's hidden twin runs instead.

    Raises
    ------
    AssertionError
        If it does not; the message is the reason.
    ValueError
        If the exercise has no such check.
    """
    exercise = find(exercise_id)
    names = dict(namespace)
    student = LocalStudent(names, in_notebook(exercise, names).source, exercise.given_code)
    wanted = check if salt is None else f"{check}:hidden"
    result = run_checks(exercise, student, salt, only=(wanted,))
    if not result.checks:
        raise ValueError(f"{exercise_id} has no check {wanted!r}; it has {', '.join(c.name for c in exercise.checks)}")
    (outcome,) = result.checks
    if outcome.failure is not None:
        raise AssertionError(f"{outcome.check.title} {outcome.failure.message}")
