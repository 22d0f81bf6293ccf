"""Untouched stubs: whether anything that an exercise asks for has been written."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from annotated_grader.sandbox.names import definitions, parsed

if TYPE_CHECKING:
    from annotated_grader.exercise.exercise import Exercise


def is_untouched(exercise: Exercise, source: str) -> bool:
    """Whether everything that the exercise asks for is still as the stub has it; layout and comments do not count."""
    stub, mine = _normal_forms(exercise.stub_code), _normal_forms(source)
    return bool(mine) and all(mine.get(name, stub.get(name)) == stub.get(name) for name in exercise.answers)


def _normal_forms(code: str) -> dict[str, str]:
    """What code defines at its top level, each in a form that knows neither layout nor comments."""
    return {name: ast.dump(node) for name, node in definitions(parsed(code)).items()}
