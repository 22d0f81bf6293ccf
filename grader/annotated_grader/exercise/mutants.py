"""Mutants of an exercise's solution: the same code with one small change, made by rule.

A mutant that earns everything is either right all the same, or a wrong answer that the checks let through: `survivors`
finds out which. Only code between the marks of the solution is changed, for students write nothing else.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

from torch import Tensor

from annotated_grader.exercise.exercise import Exercise

_BEGIN, _END = "### BEGIN SOLUTION", "### END SOLUTION"
_COMPARED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_COMPUTED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
_PAIRS = "min max, sum mean, any all, argmax argmin, floor ceil, zeros ones, triu tril, softmax log_softmax"
_NAMED = {a: b for pair in _PAIRS.split(", ") for x, y in [pair.split()] for a, b in ((x, y), (y, x))}
_DROPPED = (
    ast.Assign,
    ast.AnnAssign,
    ast.AugAssign,
    ast.Raise,
    ast.Assert,
    ast.Delete,
    ast.Break,
    ast.Continue,
    ast.For,
)
_CONVERSIONS = set("item tolist float double contiguous detach bool list tuple".split())
"""Calls that change the kind of a value only: a check takes a number for a number."""
_SMALL = 1e-3
"""Numbers below it are changed by their magnitude, larger fractions by a tenth."""

Node = TypeVar("Node", bound=ast.AST)


@dataclass
class Calls:
    """What the checks call the solution's functions with.

    Attributes
    ----------
    first
        The plain values of the first calls, by the names of function and parameter.
    differentiable
        Names of functions that are given tensors of real numbers.
    """

    first: dict[tuple[str, str], Any] = field(default_factory=dict)
    differentiable: set[str] = field(default_factory=set)

    def note(self, function: str, arguments: dict[str, Any]) -> None:
        """One call."""
        for name, value in arguments.items():
            if isinstance(value, bool | int | float | str | None):
                self.first.setdefault((function, name), value)
            if isinstance(value, Tensor) and value.is_floating_point():
                self.differentiable.add(function)


@dataclass(frozen=True)
class SolutionMutant:
    """A changed solution.

    Attributes
    ----------
    line
        Where the change is in `exercise.md`.
    before, after
        The statement there (the first line of a compound one), as it was and as it is.
    code
        The whole answer.
    """

    line: int
    before: str
    after: str
    code: str


@dataclass(frozen=True)
class _Source:
    """The cells of a solution with their marks: their syntax, the place of each line, and which are the solution's."""

    tree: ast.Module
    places: tuple[int, ...]
    own: frozenset[int]

    @classmethod
    def of(cls, exercise: Exercise) -> _Source:
        file = (exercise.folder / "exercise.md").read_text(encoding="utf-8")
        text, places, position = "", list[int](), 0
        for cell in exercise.cells:
            if cell.code and {"answer", "given"} & set(cell.tags):
                position = file.index(cell.text, position)
                first = file.count("\n", 0, position) + 1
                places += range(first, first + cell.text.count("\n"))
                text += cell.text
        own, inside = set(), False
        for number, line in enumerate(text.splitlines(), 1):
            inside = (inside or line.strip().startswith(_BEGIN)) and not line.strip().startswith(_END)
            own |= {number} if inside else set()
        return cls(ast.parse(text), tuple(places), frozenset(own))

    def functions(self) -> list[ast.FunctionDef]:
        """Functions with a part of the solution in their bodies."""
        found = [node for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef)]
        return [node for node in found if any(part.lineno in self.own for part in node.body)]


@dataclass(frozen=True)
class _Change:
    """Another value for a node's field, or for one part of a field that is a list."""

    statement: ast.stmt
    parent: ast.AST
    field: str
    index: int | None
    new: Any

    def exchange(self, value: Any) -> Any:
        """Put a value there, and give back what was there."""
        if self.index is None:
            old = getattr(self.parent, self.field)
            setattr(self.parent, self.field, value)
        else:
            old = getattr(self.parent, self.field)[self.index]
            getattr(self.parent, self.field)[self.index] = value
        return old

    def mutant(self, source: _Source) -> SolutionMutant:
        """The solution with this change."""
        before = _head(self.statement)
        old = self.exchange(self.new)
        try:
            code = ast.unparse(ast.fix_missing_locations(source.tree))
            after = _head(self.new if old is self.statement else self.statement)
        finally:
            self.exchange(old)
        if isinstance(self.new, list):  # a function that begins with one statement more
            after += f" {ast.unparse(self.new[0])}"
        return SolutionMutant(source.places[self.statement.lineno - 1], before, after, code)


def mutants(exercise: Exercise, calls: Calls) -> list[SolutionMutant]:
    """All mutants of a solution, each once, in the order of their lines."""
    source = _Source.of(exercise)
    found = {ast.unparse(source.tree): SolutionMutant(0, "", "", "")}
    for change in [*_in_statements(source), *_detached(source, calls), *_of_parameters(source, calls)]:
        mutant = change.mutant(source)
        found.setdefault(mutant.code, mutant)
    return sorted([*found.values()][1:], key=lambda mutant: mutant.line)


def with_watched_parameters(exercise: Exercise) -> str:
    """The solution, in which each function first calls `__called__` with its name and its arguments."""
    tree = copy.deepcopy(_Source.of(exercise).tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.body.insert(0, *ast.parse(f"__called__({node.name!r}, dict(locals()))").body)
    return ast.unparse(tree)


def _head(statement: ast.stmt) -> str:
    """A statement's text; of a compound one its first line."""
    lines = [line for line in ast.unparse(statement).splitlines() if not line.startswith("@")]
    return lines[0] if hasattr(statement, "body") else "\n".join(lines)


def _in_statements(source: _Source) -> Iterator[_Change]:
    """Statements that are missing, and statements with one expression changed."""
    for parent in ast.walk(source.tree):
        for name, index, child in _children(parent):
            if isinstance(child, ast.stmt):
                if child.lineno in source.own:
                    yield from (_Change(child, parent, name, index, new) for new in _without(child))
                yield from _in_expressions(child, child, source)


def _in_expressions(statement: ast.stmt, parent: ast.AST, source: _Source) -> Iterator[_Change]:
    for name, index, child in _children(parent):
        if isinstance(child, ast.stmt) or isinstance(statement, ast.Raise):  # the text of an error is the answer's own
            continue
        if getattr(child, "lineno", statement.lineno) in source.own:
            yield from (_Change(statement, parent, name, index, new) for new in _others(child, parent, name))
        yield from _in_expressions(statement, child, source)


def _children(parent: ast.AST) -> Iterator[tuple[str, int | None, ast.AST]]:
    for name, value in ast.iter_fields(parent):
        if isinstance(value, ast.AST):
            yield name, None, value
        elif isinstance(value, list):
            yield from ((name, i, child) for i, child in enumerate(value) if isinstance(child, ast.AST))


def _of_parameters(source: _Source, calls: Calls) -> Iterator[_Change]:
    """Functions that ignore a parameter: they use its default, the value of the first call, or another parameter."""
    for function in source.functions():
        arguments = function.args
        positional = [*arguments.posonlyargs, *arguments.args]
        defaults = dict(zip([a.arg for a in positional][::-1], arguments.defaults[::-1], strict=False))
        defaults |= {
            a.arg: value for a, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value
        }
        names = [a.arg for a in (*positional, *arguments.kwonlyargs) if a.arg != "self"]
        for i, name in enumerate(names):
            values: list[ast.expr] = [defaults[name]] if name in defaults else []
            if (function.name, name) in calls.first:
                values.append(ast.Constant(calls.first[function.name, name]))
            values += [ast.Name(other) for other in (names[i + 1 :] + names[:i])[:1]]
            for value in values:
                ignored = ast.Assign([ast.Name(name)], value)
                yield _Change(function, function, "body", None, [ignored, *function.body])


def _detached(source: _Source, calls: Calls) -> Iterator[_Change]:
    """Results through which no gradient flows."""
    for function in source.functions():
        for node in ast.walk(function):
            if (
                function.name in calls.differentiable
                and isinstance(node, ast.Return)
                and node.value
                and node.lineno in source.own
            ):
                parts = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
                for i, part in enumerate(parts):
                    cut = ast.Call(ast.Attribute(part, "detach"), [], [])
                    new = ast.Tuple([*parts[:i], cut, *parts[i + 1 :]]) if len(parts) > 1 else cut
                    yield _Change(node, node, "value", None, new)


def _changed(node: Node, **fields: Any) -> Node:
    new = copy.copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def _without(statement: ast.stmt) -> Iterator[ast.stmt]:
    """What may be in a statement's place."""
    is_call = isinstance(statement, ast.Expr) and not isinstance(statement.value, ast.Constant)
    if is_call or isinstance(statement, _DROPPED):
        yield ast.Pass()
    if isinstance(statement, ast.With):
        yield ast.If(ast.Constant(True), statement.body, [])
    if isinstance(statement, ast.AugAssign) and type(statement.op) in _COMPUTED:
        yield _changed(statement, op=_COMPUTED[type(statement.op)]())
        yield ast.Assign([statement.target], statement.value)
    if isinstance(statement, ast.FunctionDef) and statement.decorator_list:
        yield _changed(statement, decorator_list=[])


def _others(node: ast.AST, parent: ast.AST, field: str) -> Iterator[ast.AST]:
    """What may be in an expression's place."""
    if field == "test" and isinstance(node, ast.expr) and not isinstance(node, ast.Constant):
        yield ast.Constant(False)
        yield from () if isinstance(parent, ast.While) else (ast.Constant(True),)
    rule = _RULES.get(type(node))
    if rule is not None and not isinstance(parent, ast.JoinedStr | ast.FormattedValue):
        yield from rule(node)


def _compare(node: ast.Compare) -> Iterator[ast.AST]:
    for i, op in enumerate(node.ops):
        yield _changed(node, ops=[*node.ops[:i], _COMPARED[type(op)](), *node.ops[i + 1 :]])


def _bool_op(node: ast.BoolOp) -> Iterator[ast.AST]:
    yield _changed(node, op=ast.And() if isinstance(node.op, ast.Or) else ast.Or())
    for i in range(len(node.values)):
        yield ast.BoolOp(node.op, rest) if len(rest := node.values[:i] + node.values[i + 1 :]) > 1 else rest[0]


def _bin_op(node: ast.BinOp) -> Iterator[ast.AST]:
    yield node.left
    yield node.right
    if type(node.op) in _COMPUTED:
        yield _changed(node, op=_COMPUTED[type(node.op)]())


def _unary_op(node: ast.UnaryOp) -> Iterator[ast.AST]:
    if not isinstance(node.operand, ast.Constant):  # -2 may be the axis 2
        yield node.operand


def _if_exp(node: ast.IfExp) -> Iterator[ast.AST]:
    yield node.body
    yield node.orelse


def _call(node: ast.Call) -> Iterator[ast.AST]:
    for i, keyword in enumerate(node.keywords):
        if ast.unparse(keyword.value) != "torch.float64":  # as exact as it need not be
            yield _changed(node, keywords=node.keywords[:i] + node.keywords[i + 1 :])
    if (node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)) in _CONVERSIONS:
        return
    if node.args:
        yield _changed(node, args=node.args[:-1])
        yield node.args[0]  # the function is not called
    if isinstance(node.func, ast.Attribute):
        yield node.func.value  # the method is not called
        if node.func.attr in _NAMED:
            yield _changed(node, func=_changed(node.func, attr=_NAMED[node.func.attr]))
    elif isinstance(node.func, ast.Name):
        if node.func.id in _NAMED:
            yield _changed(node, func=ast.Name(_NAMED[node.func.id]))
        if node.func.id == "range":
            yield from (_changed(node, args=[*node.args[:-1], end]) for end in _beside(node.args[-1]))


def _constant(node: ast.Constant) -> Iterator[ast.AST]:
    value = node.value
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, int):
        yield from (ast.Constant(value + 1), ast.Constant(value - 1))
    elif isinstance(value, float):
        yield ast.Constant(value * 10 if 0 < abs(value) < _SMALL else value * 1.1 or 1.0)
    elif isinstance(value, str):
        yield ast.Constant(value + "x")


def _subscript(node: ast.Subscript) -> Iterator[ast.AST]:
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    for i, part in enumerate(parts):
        for new in _other_slices(part) if isinstance(part, ast.Slice) else _beside(part):
            place = ast.Tuple([*parts[:i], new, *parts[i + 1 :]]) if isinstance(node.slice, ast.Tuple) else new
            yield _changed(node, slice=place)


def _other_slices(part: ast.Slice) -> Iterator[ast.expr]:
    for name in ("lower", "upper", "step"):
        if bound := getattr(part, name):
            yield _changed(part, **{name: None})
            yield from (_changed(part, **{name: new}) for new in _beside(bound) if name != "step")


def _beside(number: ast.expr) -> Iterator[ast.expr]:
    """One more and one less; constants are changed as such."""
    value = number.operand if isinstance(number, ast.UnaryOp) else number
    if not isinstance(value, ast.Constant | ast.List | ast.Tuple):
        yield ast.BinOp(number, ast.Add(), ast.Constant(1))
        yield ast.BinOp(number, ast.Sub(), ast.Constant(1))


def _comprehension(node: ast.comprehension) -> Iterator[ast.AST]:
    for i in range(len(node.ifs)):
        yield _changed(node, ifs=node.ifs[:i] + node.ifs[i + 1 :])


_RULES: dict[type[ast.AST], Any] = {
    ast.Compare: _compare, ast.BoolOp: _bool_op, ast.BinOp: _bin_op, ast.UnaryOp: _unary_op, ast.IfExp: _if_exp,
    ast.Call: _call, ast.Constant: _constant, ast.Subscript: _subscript, ast.comprehension: _comprehension,
}  # fmt: skip
