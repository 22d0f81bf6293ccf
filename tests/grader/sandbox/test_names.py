"""Names that code defines, and binds are read from it without running it."""

from __future__ import annotations

import ast
import gc

import pytest

from annotated_grader.sandbox.names import bound_by, definitions, names_in_text, parsed

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


def test_a_statement_binds_names_also_from_inside_of_a_block() -> None:
    block = "for i in range(3):\n    total += 1\n    def f(): pass\nelse:\n    class C: pass"
    assert {"i", "total", "f", "C"} <= set(bound_by(ast.parse(block).body[0]))
    assert not definitions(parsed(block))


@pytest.mark.parametrize("code", ["def f(:\n  pass\nclass C(\nx = (\ny == 1\n", "(" * 100_000])
def test_code_that_does_not_parse_binds_what_its_lines_begin_with(code: str) -> None:
    assert parsed(code) is None and not definitions(parsed(code))
    assert names_in_text(code) == ({"f", "C", "x"} if "def" in code else set())


class Parses:
    """Garbage whose end parses code: in early releases of Python 3.11 that spoils the parser's count of depth."""

    def __init__(self) -> None:
        self.me = self

    def __del__(self) -> None:
        ast.parse("a = b + 1")


def test_code_is_parsed_although_garbage_is_collected_meanwhile() -> None:
    before = gc.get_threshold()
    for _ in range(20):
        Parses()
        gc.set_threshold(50)
        try:
            tree = parsed(CODE * 50)
        finally:
            gc.set_threshold(*before)
        assert tree is not None and len(tree.body) == 50 * len(ast.parse(CODE).body)
