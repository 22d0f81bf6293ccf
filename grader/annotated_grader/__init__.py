"""Graded exercises: an answer gets a score and the reason for it, in a notebook or from a sandbox.

Learners use `check`, `hint`, `solution`, `answer` and `progress`. Authors of exercises use `graded`, `remembered`,
`expect`, `Case` and `Student`; see `exercises/README.md`.

Five rooms. Each imports only those above it in this list, and `learner` and `instructor` know nothing of each other:

`sandbox`
    A process that can compute and hardly anything else. Its worker, interpreter and codec stand alone, because they
    run inside it; in a notebook the same interpreter works on the notebook's own names.
`exercise`
    An exercise and its checks, an answer and what it earns: parse, build, check, diagnose, verify.
`feedback`
    A result as text and as HTML.
`learner`
    In a learner's notebook or terminal: their own answer, hints, the record of their progress.
`instructor`
    A folder of strangers' submissions, each graded in the sandbox; gradebook, exports, similarity.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from annotated_grader.exercise import expect
    from annotated_grader.exercise.checks import Case, graded, remembered
    from annotated_grader.exercise.student import Handle, Student
    from annotated_grader.learner.notebook import answer, check, hint, progress, solution

__all__ = [
    "Case",
    "Handle",
    "Student",
    "answer",
    "check",
    "expect",
    "graded",
    "hint",
    "progress",
    "remembered",
    "solution",
]


_LATER = {
    "exercise.checks": ("Case", "graded", "remembered"),
    "exercise.student": ("Handle", "Student"),
    "learner.notebook": ("answer", "check", "hint", "progress", "solution"),
}
"""Modules and the names in them that are imported when first asked for: `annotated --help` needs no torch."""


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "expect":
        return import_module("annotated_grader.exercise.expect")
    for module, names in _LATER.items():
        if name in names:
            return getattr(import_module(f"annotated_grader.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
