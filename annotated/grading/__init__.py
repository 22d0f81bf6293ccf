"""Graded exercises: an answer gets a score and the reason for it, in a notebook or from a sandbox.

Learners use `check`, `hint`, `solution`, `answer` and `progress`. Authors of exercises use `graded`, `expect`, `Case`
and `Student`; see `exercises/README.md`.
"""

from typing import TYPE_CHECKING, Any

from annotated.grading import expect
from annotated.grading.checks import Case, graded
from annotated.grading.student import Handle, Student

if TYPE_CHECKING:
    from annotated.grading.notebook import answer, check, hint, progress, solution

__all__ = ["Case", "Handle", "Student", "answer", "check", "expect", "graded", "hint", "progress", "solution"]


def __getattr__(name: str) -> Any:
    if name in ("answer", "check", "hint", "progress", "solution"):
        from annotated.grading import notebook

        return getattr(notebook, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
