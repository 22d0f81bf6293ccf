"""Names that code defines at its top level, read from its syntax tree; nothing is run.

This file stands alone: it lies beside the worker in the sandbox too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

_DEFINITIONS = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Assign,
    ast.AnnAssign,
    ast.Import,
    ast.ImportFrom,
)

_TRIES = 5


def parse(code: str, filename: str = "<unknown>") -> ast.Module:
    """`ast.parse`, which in early releases of Python 3.11 and 3.12 fails when garbage is collected meanwhile.

    Those count a tree's depth in one place for all parsing that goes on (python/cpython#106905): an object's end, or
    another thread that runs because of it, and parses too, spoils the count, and the parser raises SystemError.
    """
    for _ in range(_TRIES - 1):
        try:
            return ast.parse(code, filename)
        except SystemError:
            continue
    return ast.parse(code, filename)


def parsed(code: str) -> ast.Module | None:
    """The syntax tree; None if Python does not understand the code, or its parser gives up."""
    try:
        return parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def definitions(tree: ast.Module | None) -> dict[str, ast.AST]:
    """For each name that code defines, the statement that defines it last; nothing for code that did not parse."""
    statements = tree.body if tree else []
    return {name: node for node in statements if isinstance(node, _DEFINITIONS) for name in bound_by(node)}


def names_in_text(code: str) -> set[str]:
    """Names that text which is not Python seems to define, from how its lines begin."""
    return set(re.findall(r"^(?:(?:async +)?def +|class +)?(\w+) *(?:[(:]|=(?!=))", code, re.M))


def bound_by(node: ast.AST) -> Iterator[str]:
    """Names that a statement of the top level gives a value."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from ((alias.asname or alias.name).split(".")[0] for alias in node.names)
    elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Delete):
        targets = [node.target] if isinstance(node, ast.AnnAssign | ast.AugAssign) else node.targets
        for target in targets:
            yield from (part.id for part in ast.walk(target) if isinstance(part, ast.Name))
    else:
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                yield part.id
            elif isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield part.name
