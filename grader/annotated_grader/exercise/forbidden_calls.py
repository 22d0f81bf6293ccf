"""Gate: what an exercise asks to be written by hand, and an answer calls all the same. A reminder, not security.

Only calls count, and references that are passed on, and only where an answer reaches them: not in cells for trying, not
in helpers that nobody uses. A name that the answer binds itself is its own, however it is spelled.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

from annotated_grader.exercise.checks import Check
from annotated_grader.exercise.exercise import Exercise
from annotated_grader.exercise.scopes import Statement, is_main_guard, statement_of
from annotated_grader.sandbox.names import bound_by, parsed

_IMPORTERS = frozenset({"__import__", "import_module"})
_TESTS_OF_KIND = frozenset({"isinstance", "issubclass"})


@dataclass(frozen=True)
class ForbiddenCall:
    """A call that an exercise rules out.

    Attributes
    ----------
    name, line
        What is called, and the line where it stands.
    check
        The check whose points it costs, with those of its hidden twin.
    message
        One sentence or two for the learner.
    """

    name: str
    line: str
    check: str
    message: str


def find_forbidden_call(exercise: Exercise, source: str) -> ForbiddenCall | None:
    """The first forbidden call that an answer reaches; None if there is none, or the code is not Python.

    It costs one check: the one worth most among those that ask for an answer which reaches the call.
    """
    tree = parsed(source) if exercise.forbidden else None
    if tree is None:
        return None
    program = _Program(tree, frozenset(exercise.forbidden))
    found = {answer: calls for answer in exercise.answers if (calls := program.reached_from(answer))}
    if not found:
        return None
    check = _check_of(exercise, found)
    (name, number), *_ = sorted(next(iter(found.values())), key=lambda call: call[1])
    line = f"line {number}: {source.split(chr(10))[number - 1].strip()}"
    asks = "is for pencil and paper" if exercise.kind == "predict" else "asks you to write it yourself"
    hidden = f" and {check.hidden} hidden" if check.hidden else ""
    message = (
        f"this exercise {asks}, and your code uses `{name}` ({line}). "
        f'This costs the points of one check, {check.points}{hidden}: "{check.title.rstrip(".")}"'
    )
    return ForbiddenCall(name, line, check.name, message)


def _check_of(exercise: Exercise, answers: Iterable[str]) -> Check:
    """The check worth most among those that ask for one of these answers; among equals the first."""
    wanted = set(answers)
    asking = [check for check in exercise.checks if wanted & _texts_in(check.function)]
    return max(asking or exercise.checks, key=lambda check: check.points + check.hidden)


def _texts_in(function: Any) -> set[str]:
    """Texts that a check, or a function beside it that it calls, mentions: the answers that it asks for among them."""
    texts, seen = set[str](), set[int]()
    waiting: list[Any] = [function.__code__]
    names = {name: value for name, value in function.__globals__.items() if isinstance(value, FunctionType)}
    while waiting:
        part = waiting.pop()
        if isinstance(part, CodeType) and id(part) not in seen:
            seen.add(id(part))
            waiting.extend(part.co_consts)
            waiting.extend(names[name].__code__ for name in part.co_names if name in names)
        elif isinstance(part, str):
            texts.add(part)
        elif isinstance(part, tuple | frozenset):
            waiting.extend(part)
    return texts


class _Program:
    """An answer's code, as far as the search asks: who binds a name last, and which calls stand there."""

    def __init__(self, tree: ast.Module, forbidden: frozenset[str]) -> None:
        self.forbidden = forbidden
        self.makers: dict[str, list[Statement]] = {}
        self.modules = set[str]()
        self.parts_of_own = _attributes_bound(tree)
        self.has_star = False
        self.inside: dict[int, set[str]] = {}
        for node, sure in _leaves(tree.body):
            self.add(statement_of(node), sure)
        self.found: dict[int, list[tuple[str, int]]] = {}

    def add(self, one: Statement, sure: bool) -> None:
        """Note what one statement makes; what came before it no longer counts, unless it builds on that."""
        is_import = isinstance(one.node, ast.Import | ast.ImportFrom)
        self.has_star = self.has_star or (is_import and one.node.names[0].name == "*")  # type: ignore[attr-defined]
        for name in one.binds:
            if sure and one.binds_surely and name not in one.at_once:
                self.makers[name] = []
            self.makers.setdefault(name, []).append(one)
            (self.modules.add if is_import else self.modules.discard)(name)
        for name in one.changes:
            self.makers.setdefault(name, []).append(one)

    def reached_from(self, answer: str) -> list[tuple[str, int]]:
        """Forbidden calls, with their lines, in what an answer is made of."""
        names, seen, calls = [answer], {answer}, list[tuple[str, int]]()
        visited = set[int]()
        while names:
            name = names.pop()
            for one in self.makers.get(name, []):
                if isinstance(one.node, ast.Import | ast.ImportFrom):
                    calls += [(found, one.node.lineno) for found in _imported(one.node, name) & self.forbidden]
                elif id(one) not in visited:
                    visited.add(id(one))
                    calls += self.calls_in(one)
                    names += one.reads - seen
                    seen |= one.reads
        return calls

    def calls_in(self, one: Statement) -> list[tuple[str, int]]:
        """Forbidden calls and references in a statement."""
        if id(one) not in self.found:
            nodes = list(_code_in(one.node))
            called = {part.func.id for part in nodes if isinstance(part, ast.Call) and isinstance(part.func, ast.Name)}
            hits = [(name, line) for part in nodes for name, line in self.hits(part, one, called)]
            self.found[id(one)] = hits
        return self.found[id(one)]

    def hits(self, node: ast.AST, one: Statement, called: set[str]) -> Iterator[tuple[str, int]]:
        """What is forbidden in a single node."""
        line = getattr(node, "lineno", 1)
        if isinstance(node, ast.Import | ast.ImportFrom):
            for name in _imported(node, "") & self.forbidden:
                yield name, line
        elif isinstance(node, ast.Name) and id(node) in one.own and node.id in self.forbidden - self.makers.keys():
            if self.has_star:
                yield node.id, line
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and node.attr in self.forbidden:
            if self.is_of_module(node, one):
                yield node.attr, line
        elif isinstance(node, ast.Call):
            for name in self.called(node, one) & self.forbidden:
                yield name, line
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute):  # f = x.softmax; f(-1)
            targets = {target.id for target in node.targets if isinstance(target, ast.Name)}
            if targets & called and node.value.attr in self.forbidden - self.parts_of_own:
                yield node.value.attr, line

    def called(self, node: ast.Call, one: Statement) -> set[str]:
        """Names under which a call is known: a method's, or the text given to `getattr` or `import_module`."""
        function = node.func
        name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
        texts = [part.value for part in node.args if isinstance(part, ast.Constant) and isinstance(part.value, str)]
        if name in _IMPORTERS and texts:
            return {texts[0].split(".")[0], texts[0].split(".")[-1]}
        if name == "getattr" and isinstance(function, ast.Name) and texts and len(node.args) > 1:
            return {texts[0]}
        if isinstance(function, ast.Attribute) and function.attr not in self.parts_of_own:
            return {function.attr}
        return set()

    def imported_inside(self, one: Statement) -> set[str]:
        """Names that imports inside the statement bind."""
        if id(one) not in self.inside:
            self.inside[id(one)] = _imported_inside(one.node)
        return self.inside[id(one)]

    def is_of_module(self, node: ast.Attribute, one: Statement) -> bool:
        """Whether an attribute is one of an imported module, and not of an object."""
        inner: ast.expr = node
        while isinstance(inner, ast.Attribute):
            inner = inner.value
        if isinstance(inner, ast.Call):
            function = inner.func
            return (getattr(function, "id", "") or getattr(function, "attr", "")) in _IMPORTERS
        return isinstance(inner, ast.Name) and (
            inner.id in self.modules if id(inner) in one.own else inner.id in self.imported_inside(one)
        )


def _leaves(body: list[ast.stmt], sure: bool = True) -> Iterator[tuple[ast.stmt, bool]]:
    """Statements that bind something, also those inside of `if`, `for`, `try` and `with`; whether they surely run."""
    stack = [(node, sure) for node in reversed(body)]
    while stack:
        node, sure = stack.pop()
        if isinstance(node, ast.If) and is_main_guard(node):
            continue
        inner = [part for name in ("body", "orelse", "finalbody") for part in getattr(node, name, [])]
        inner += [part for handler in getattr(node, "handlers", []) for part in handler.body]
        inner += [part for case in getattr(node, "cases", []) for part in case.body]
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) or not inner:
            yield node, sure
            continue
        if isinstance(node, ast.For | ast.AsyncFor):
            yield ast.copy_location(ast.Assign([node.target], node.iter), node), False
        for item in getattr(node, "items", []):
            if item.optional_vars is not None:
                yield ast.copy_location(ast.Assign([item.optional_vars], item.context_expr), node), False
        always = isinstance(node, ast.With | ast.AsyncWith) and sure
        stack.extend((part, always) for part in reversed(inner))


def _code_in(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes of a statement but annotations and questions about an object's class: neither calls anything."""
    stack = [node]
    while stack:
        part = stack.pop()
        yield part
        left_out: set[int] = set()
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.arg | ast.AnnAssign):
            left_out = {id(getattr(part, name, None)) for name in ("annotation", "returns")}
        elif isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id in _TESTS_OF_KIND:
            left_out = {id(argument) for argument in part.args[1:]}
        stack.extend(child for child in ast.iter_child_nodes(part) if id(child) not in left_out)


def _imported(node: ast.Import | ast.ImportFrom, bound: str) -> set[str]:
    """What an import brings in under a name, or altogether: by its own spelling, and the package that it comes from."""
    aliases = [alias for alias in node.names if not bound or bound == (alias.asname or alias.name.split(".")[0])]
    paths = [alias.name.split(".") for alias in aliases]
    package = {(node.module or "").split(".")[0]} if isinstance(node, ast.ImportFrom) else {path[0] for path in paths}
    return package | {path[-1] for path in paths}


def _imported_inside(node: ast.stmt) -> set[str]:
    """Names that imports inside a function bind."""
    imports = [part for part in ast.walk(node) if isinstance(part, ast.Import | ast.ImportFrom)]
    return {(alias.asname or alias.name).split(".")[0] for part in imports for alias in part.names}


def _attributes_bound(tree: ast.Module) -> set[str]:
    """Attributes that the code gives to its own classes and objects: methods, fields, `self.linear = ...`."""
    bound = set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            bound.add(node.attr)
        elif isinstance(node, ast.ClassDef):
            for part in node.body:
                if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign):
                    bound.update(bound_by(part))
    return bound
