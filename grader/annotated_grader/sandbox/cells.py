"""Cells: an answer's statements, run as IPython runs them: `await` is allowed, `_` is what the cell before gave.

This file stands alone: it lies beside the worker in the sandbox too.
"""

from __future__ import annotations
import __future__

import ast
import asyncio
import inspect
import linecache
import sys
from collections.abc import Awaitable
from types import ModuleType
from typing import Any

try:
    from annotated_grader.sandbox.names import parse
except ImportError:
    from names import parse  # type: ignore[no-redef,import-not-found]

CALL_SECONDS = 10.0
"""For one thing that a check asks, for one cell that an answer needs, and for all other cells together: for learners
and for instructors alike, by default."""
SHORTEST_SECONDS = 0.05
"""With less time left, a cell is not started."""
MOST_OUTPUT = 20_000
"""Characters of what an answer prints that are kept; the rest is dropped as it comes."""
ANSWER = "<answer>"
"""The file name under which an answer's code is compiled."""
_FUTURES = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)


def answer_names() -> dict[str, Any]:
    """The names that an answer starts with: those of a module, as dataclasses ask for, and what a notebook adds."""
    module = ModuleType("answer")
    sys.modules[module.__name__] = module
    module.__dict__.update(display=_nothing, get_ipython=_nothing)
    return module.__dict__


def _nothing(*args: Any, **kwargs: Any) -> None:
    """Outside a notebook nothing is displayed, and no kernel answers."""


class CellRunner:
    """Runs the statements of cells one by one, and remembers what later cells need of earlier ones.

    Parameters
    ----------
    namespace
        The answer's names.
    """

    def __init__(self, namespace: dict[str, Any]) -> None:
        self.namespace = namespace
        self._lines: list[str] = []
        self._flags = 0
        self._shown: Any = None

    def parse(self, code: str) -> ast.Module:
        """A cell's statements; lines are counted through all cells, and a form feed ends none."""
        before = len(self._lines)
        self._lines += [line + "\n" for line in code.removesuffix("\n").split("\n")]
        linecache.cache[ANSWER] = (len(self._lines), None, self._lines, ANSWER)
        return ast.increment_lineno(parse(code, ANSWER), before)

    def run(self, node: ast.stmt, last: bool) -> None:
        """Run one statement; `last` says whether it ends its cell, whose value `_` then is."""
        shown = node.value if last and isinstance(node, ast.Expr) else None
        tree = ast.Module([node], []) if shown is None else ast.Expression(shown)
        flags = self._flags | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        code = compile(tree, ANSWER, "exec" if shown is None else "eval", flags=flags, dont_inherit=True)
        self._flags |= code.co_flags & _FUTURES
        value = eval(code, self.namespace)
        if code.co_flags & inspect.CO_COROUTINE:
            value = asyncio.run(_awaited(value))
        if shown is not None and value is not None and self.namespace.get("_") is self._shown:
            self.namespace["_"] = self._shown = value


async def _awaited(value: Awaitable[Any]) -> Any:
    return await value
