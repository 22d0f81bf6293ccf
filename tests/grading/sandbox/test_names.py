"""Names that code defines, changes and uses are read from it without running it."""

from __future__ import annotations

import ast

import pytest

from annotated.grading.sandbox.names import bound_names, definitions, parsed, used_names

CODE = """
import torch.nn as nn, os.path
from math import sqrt as root
def f(): inner = 1
async def g(): pass
class C: pass
a, (b, c) = 1, (2, 3)
d: int = 4
"""


def test_definitions_are_functions_classes_values_and_imports() -> None:
    found = definitions(parsed(CODE))
    assert set(found) == {"nn", "os", "root", "f", "g", "C", "a", "b", "c", "d"}
    assert isinstance(found["C"], ast.ClassDef) and found["a"] is found["c"]


def test_a_name_that_is_changed_is_bound_and_not_defined_anew() -> None:
    changes = "model.layers[0].eval()\ntotal += 1\nfor i in range(3): last = i\nprint(x)"
    assert bound_names(changes) == {"model", "total", "i", "last"}
    assert not definitions(parsed(changes))
    assert {"model", "total", "range", "x"} <= used_names(changes)


@pytest.mark.parametrize("code", ["def f(:\n  pass\nclass C(\nx = (\ny == 1\n", "(" * 100_000])
def test_code_that_does_not_parse_binds_what_its_lines_begin_with(code: str) -> None:
    assert parsed(code) is None and not definitions(parsed(code)) and not used_names(code)
    assert bound_names(code) == ({"f", "C", "x"} if "def" in code else set())
