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


def parsed(code: str) -> ast.Module | None:
    """The syntax tree; None if Python does not understand the code, or its parser gives up."""
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def definitions(tree: ast.Module | None) -> dict[str, ast.AST]:
    """For each name that code defines, the statement that defines it last; nothing for code that did not parse."""
    statements = tree.body if tree else []
    return {name: node for node in statements if isinstance(node, _DEFINITIONS) for name in _bound_by(node)}


def bound_names(code: str) -> set[str]:
    """Names that code defines or changes; of code that does not parse, those that it seems to define."""
    tree = parsed(code)
    if tree is None:
        return names_in_text(code)
    return {name for node in tree.body for name in _bound_by(node)}


def names_in_text(code: str) -> set[str]:
    """Names that text which is not Python seems to define, from how its lines begin."""
    return set(re.findall(r"^(?:(?:async +)?def +|class +)?(\w+) *(?:[(:]|=(?!=))", code, re.M))


def used_names(code: str) -> set[str]:
    """Names that code mentions anywhere; none of code that does not parse."""
    tree = parsed(code)
    return {part.id for part in ast.walk(tree) if isinstance(part, ast.Name)} if tree else set()


def _bound_by(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from ((alias.asname or alias.name).split(".")[0] for alias in node.names)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield from _root(node.value.func)  # model.eval() changes model
    elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Delete):
        targets = [node.target] if isinstance(node, ast.AnnAssign | ast.AugAssign) else node.targets
        for target in targets:
            yield from (part.id for part in ast.walk(target) if isinstance(part, ast.Name))
    else:
        stored = (part for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store))
        yield from (part.id for part in stored)


def _root(node: ast.expr) -> Iterator[str]:
    if not isinstance(node, ast.Attribute):
        return
    inner: ast.expr = node
    while isinstance(inner, ast.Attribute | ast.Subscript):
        inner = inner.value
    if isinstance(inner, ast.Name):
        yield inner.id
