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

from annotated.grading.exercise import expect
from annotated.grading.exercise.checks import Case, graded, remembered
from annotated.grading.exercise.student import Handle, Student

if TYPE_CHECKING:
    from annotated.grading.learner.notebook import answer, check, hint, progress, solution

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


def __getattr__(name: str) -> Any:
    if name in ("answer", "check", "hint", "progress", "solution"):
        from annotated.grading.learner import notebook

        return getattr(notebook, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
