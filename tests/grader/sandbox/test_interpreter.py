"""Cells run one by one and statement by statement, and each failure takes only what it should have made."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator

import pytest

from annotated_grader.sandbox.cells import answer_names
from annotated_grader.sandbox.interpreter import AnswerError, Interpreter


@pytest.fixture
def interpreter() -> Iterator[Interpreter]:
    """Without a running event loop, as in the worker; a browser that an earlier test opened keeps one."""
    loop = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    yield Interpreter(answer_names())
    asyncio._set_running_loop(loop)


def value(interpreter: Interpreter, name: str) -> object:
    """What a name stands for."""
    return interpreter.perform({"op": "value", "name": name})


def test_a_statement_that_fails_takes_only_what_it_binds(interpreter: Interpreter) -> None:
    with pytest.raises(AnswerError, match="division by zero"):
        interpreter.run_cell("a = 1\nb = 1 / 0\nc = missing\nd = 4")
    assert (value(interpreter, "a"), value(interpreter, "d")) == (1, 4)
    for name, reason in (("b", "division by zero"), ("c", "missing"), ("e", "there is no `e` yet")):
        with pytest.raises(AnswerError, match=reason):
            interpreter.perform({"op": "has", "name": name})
    interpreter.run_cell("b = 2")
    assert value(interpreter, "b") == 2 and interpreter.perform({"op": "has", "name": "b"})


def test_a_cell_that_is_not_python_takes_what_it_seems_to_define(interpreter: Interpreter) -> None:
    with pytest.raises(AnswerError, match="SyntaxError"):
        interpreter.run_cell("def f(:\n")
    with pytest.raises(AnswerError, match="SyntaxError"):
        value(interpreter, "f")


def test_a_cell_that_is_skipped_says_why(interpreter: Interpreter) -> None:
    with pytest.raises(AnswerError, match="too long"):
        interpreter.run_cell("a = 1", skip=["TimeoutError", "too long"])
    with pytest.raises(AnswerError, match="too long"):
        value(interpreter, "a")


def test_lines_are_counted_through_all_cells_and_a_form_feed_ends_none(interpreter: Interpreter) -> None:
    interpreter.run_cell("a = 'x\x0c\u2028'\n\n")
    interpreter.run_cell("def f():\n    return 1 / 0")
    with pytest.raises(AnswerError) as error:
        interpreter.perform({"op": "call", "name": "f"})
    assert error.value.where == "line 4: return 1 / 0"


def test_await_the_last_output_and_display(interpreter: Interpreter) -> None:
    interpreter.run_cell("import asyncio\nasync def two():\n    await asyncio.sleep(0)\n    return 2")
    interpreter.run_cell("a = await two()\n3 + a")
    interpreter.run_cell("b = _\ndisplay(b)\nNone")
    interpreter.run_cell("c = _")
    assert (value(interpreter, "a"), value(interpreter, "b"), value(interpreter, "c")) == (2, 5, 5)
    interpreter.run_cell("_ = 'mine'\n7")
    interpreter.run_cell("8")
    assert value(interpreter, "_") == "mine"


def test_a_future_import_counts_in_later_cells_and_dataclasses_find_their_module(interpreter: Interpreter) -> None:
    interpreter.run_cell("from __future__ import annotations\nfrom dataclasses import dataclass")
    interpreter.run_cell("@dataclass\nclass A:\n    x: int\n    y: Missing = 3\nz = A(2).x")
    assert value(interpreter, "z") == 2
    assert sys.modules["answer"].__dict__ is interpreter.namespace
