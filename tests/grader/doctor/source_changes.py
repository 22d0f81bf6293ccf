"""Changes of source code by rule: each function of a module with one expression changed, or one statement less."""

from __future__ import annotations

import ast
import copy
import importlib
import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

_OTHER_COMPARISON: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_OTHER_OPERATION: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
_PAIRS = "tril triu, sum mean, any all, min max, zeros ones, sin cos, softmax log_softmax, keys values, d_k d_v"
_OTHER_NAME = {a: b for pair in _PAIRS.split(", ") for x, y in [pair.split()] for a, b in ((x, y), (y, x))}


@dataclass(frozen=True)
class Change:
    """One function of the library with one change in it."""

    module: str
    function: str
    """`name` or `Class.name`."""
    before: str
    """The statement that is changed, its first line."""
    after: str
    code: ast.FunctionDef

    def __str__(self) -> str:
        return f"{self.module}.{self.function}: {self.before}  ->  {self.after}"


def changes(name: str) -> list[Change]:
    """All changes of one module of the library, each once."""
    tree = ast.parse(inspect.getsource(importlib.import_module(f"annotated.{name}")))
    found: dict[tuple[str, str], Change] = {}
    holders: list[ast.Module | ast.ClassDef] = [tree, *(node for node in tree.body if isinstance(node, ast.ClassDef))]
    for holder in holders:
        for function in holder.body:
            if isinstance(function, ast.FunctionDef):
                qualified = f"{holder.name}.{function.name}" if isinstance(holder, ast.ClassDef) else function.name
                for before, after, code in _changed(function):
                    found.setdefault((qualified, ast.unparse(code)), Change(name, qualified, before, after, code))
    return list(found.values())


def _changed(function: ast.FunctionDef) -> Iterator[tuple[str, str, ast.FunctionDef]]:
    """Every statement with one expression changed, and what is left without it."""
    original = ast.unparse(function)
    for path, statement in _statements(function, ()):
        for new in _without(statement):
            yield _head(statement), _head(new), _put(function, path, new)
        own = copy.copy(statement)
        for field in ("body", "orelse", "finalbody", "handlers"):
            if hasattr(own, field):
                setattr(own, field, [])
        for place, node in _expressions(own, ()):
            for other in _others(node):
                new = _put(statement, place, other)
                code = _put(function, path, new)
                if ast.unparse(code) != original:
                    yield _head(statement), _head(new), code


def _statements(node: ast.AST, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], ast.stmt]]:
    for field in ("body", "orelse", "finalbody", "handlers"):
        for i, child in enumerate(getattr(node, field, [])):
            if isinstance(child, ast.stmt) and not isinstance(child, ast.Raise | ast.Import | ast.ImportFrom):
                is_text = isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)
                if not is_text:
                    yield (*path, (field, i)), child
            yield from _statements(child, (*path, (field, i)))


def _expressions(node: ast.AST, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], ast.AST]]:
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "targets", "ctx") or isinstance(value, ast.JoinedStr):
            continue
        children = [(i, x) for i, x in enumerate(value)] if isinstance(value, list) else [(None, value)]
        for i, child in children:
            if isinstance(child, ast.AST) and not isinstance(child, ast.stmt):
                yield (*path, (field, i)), child
                yield from _expressions(child, (*path, (field, i)))


def _put(root: Any, path: Sequence[Any], new: ast.AST) -> Any:
    """A copy of the tree with another node at this place."""
    if not path:
        return new
    (field, i), *rest = path
    root = copy.copy(root)
    if i is None:
        setattr(root, field, _put(getattr(root, field), rest, new))
    else:
        part = list(getattr(root, field))
        part[i] = _put(part[i], rest, new)
        setattr(root, field, part)
    return root


def _head(statement: ast.AST) -> str:
    return ast.unparse(ast.fix_missing_locations(copy.deepcopy(statement))).splitlines()[0]


def with_fields(node: Any, **fields: Any) -> Any:
    """A copy of a node with other values of some fields."""
    new = copy.copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def _without(statement: ast.stmt) -> Iterator[ast.stmt]:
    if isinstance(statement, ast.Assign | ast.AugAssign | ast.Expr):
        yield ast.Pass()
    if isinstance(statement, ast.If):
        yield with_fields(statement, test=ast.Constant(True))
        yield with_fields(statement, test=ast.Constant(False))


def _others(node: ast.AST) -> Iterator[ast.AST]:
    """What may be in an expression's place."""
    match node:
        case ast.Compare(ops=[op], left=_):
            yield with_fields(node, ops=[_OTHER_COMPARISON[type(op)]()])
        case ast.BoolOp():
            yield with_fields(node, op=ast.And() if isinstance(node.op, ast.Or) else ast.Or())
            yield from node.values
        case ast.BinOp():
            yield from (node.left, node.right)
            if type(node.op) in _OTHER_OPERATION:
                yield with_fields(node, op=_OTHER_OPERATION[type(node.op)]())
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
            yield from (ast.Constant(1 - value), ast.Constant(-1 - value))
        case ast.UnaryOp():
            yield node.operand
        case ast.IfExp():
            yield from (node.body, node.orelse)
        case ast.Constant():
            yield from _other_values(node.value)
        case ast.Call():
            yield from _other_calls(node)
        case ast.Slice():
            yield from (with_fields(node, **{bound: None}) for bound in ("lower", "upper") if getattr(node, bound))
        case ast.Attribute() | ast.Name():
            name = node.attr if isinstance(node, ast.Attribute) else node.id
            if name in _OTHER_NAME:
                yield with_fields(node, **{"attr" if isinstance(node, ast.Attribute) else "id": _OTHER_NAME[name]})


def _other_values(value: Any) -> Iterator[ast.AST]:
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, int):
        yield from (ast.Constant(value + 1), ast.Constant(value - 1))
    elif isinstance(value, float):
        yield ast.Constant(value * 1.5 or 0.5)


def _other_calls(node: ast.Call) -> Iterator[ast.AST]:
    if len(node.args) == 1 or isinstance(node.func, ast.Attribute):
        yield from node.args  # a layer, a norm or a residual is missing
    if isinstance(node.func, ast.Attribute):
        yield node.func.value  # no transpose, no mask
    for i in range(len(node.args) - 1):
        yield with_fields(node, args=[*node.args[:i], node.args[i + 1], node.args[i], *node.args[i + 2 :]])
    if len(node.args) > 1:
        yield with_fields(node, args=node.args[:-1])
    yield from (
        with_fields(node, keywords=node.keywords[:i] + node.keywords[i + 1 :]) for i in range(len(node.keywords))
    )
    if isinstance(node.func, ast.Attribute) and node.func.attr == "tril":
        yield from (with_fields(node, args=[ast.Constant(k)]) for k in (1, -1))
