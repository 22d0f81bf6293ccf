"""Scopes: which of a program's own names each statement reads, binds and changes, by Python's rules; nothing is run.

A program's own names are those of its top level. A function's parameter or a comprehension's variable of the same name
is another name, so every mention is looked up from the scope it stands in.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass, field

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_HARMLESS = (frozenset(dir(builtins)) - {"setattr", "delattr", "next"}) | {"display", "check", "hint", "answer"}
"""Functions that change nothing that is passed to them."""
MAIN_GUARD = ("__name__", "__main__")


@dataclass(eq=False)
class Statement:
    """A statement of the top level, and what it does with the program's own names.

    Attributes
    ----------
    binds
        Names that it gives a value, or takes one from.
    reads
        Names that it mentions anywhere; `at_once` those that it needs when it runs, and not in a function's body.
    changes
        Names whose objects it changes by assigning to a part of them.
    touches
        Pairs of a function, or the empty text for a method, and a name whose object a call of it may change.
    effects
        Names that functions defined in it bind or change when they are called.
    aliases
        Pairs of a name and of another that may stand for the same object, or for a part of it.
    own
        The `ast.Name` nodes, by `id`, that mean a name of the top level.
    """

    node: ast.stmt
    binds: set[str] = field(default_factory=set)
    reads: set[str] = field(default_factory=set)
    at_once: set[str] = field(default_factory=set)
    changes: set[str] = field(default_factory=set)
    touches: set[tuple[str, str]] = field(default_factory=set)
    effects: set[str] = field(default_factory=set)
    aliases: set[tuple[str, str]] = field(default_factory=set)
    own: set[int] = field(default_factory=set)

    @property
    def defines_code(self) -> bool:
        """Whether it is an import or a function's definition: what it binds is not changed by being called."""
        return isinstance(self.node, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.AsyncFunctionDef)

    @property
    def binds_surely(self) -> bool:
        """Whether what the names meant before no longer counts."""
        return self.defines_code or isinstance(self.node, ast.Assign | ast.AnnAssign | ast.ClassDef)


class _Scope:
    """The names of a function, a class or a comprehension; the top level has no parent."""

    def __init__(self, parent: _Scope | None = None, kind: str = "module") -> None:
        self.parent, self.kind = parent, kind
        self.bound, self.outer, self.nonlocals = set[str](), set[str](), set[str]()
        self.deferred: bool = kind == "function" or (parent is not None and parent.deferred)

    def is_own(self, name: str) -> bool:
        """Whether a name that is mentioned here is one of the top level."""
        scope, here = self, True
        while scope.parent is not None:
            if name in scope.outer:
                return True
            if name in scope.bound and name not in scope.nonlocals and (here or scope.kind != "class"):
                return False
            scope, here = scope.parent, False
        return True


def statement_of(node: ast.stmt) -> Statement:
    """Look at one statement of the top level."""
    return _Walk(node).statement


class _Walk:
    """One statement, visited without recursion: code nests deeper than Python's stack."""

    def __init__(self, node: ast.stmt) -> None:
        self.statement = Statement(node)
        self.loads: list[tuple[ast.Name, _Scope]] = []
        self.stores: list[tuple[str, _Scope]] = []
        self.changed: list[tuple[str, _Scope, str | None]] = []
        self.alias_pairs: list[tuple[str, str, _Scope]] = []
        self.stack: list[tuple[ast.AST, _Scope]] = [(node, _Scope())]
        while self.stack:
            self.visit(*self.stack.pop())
        self.resolve()

    def visit(self, node: ast.AST, scope: _Scope) -> None:
        """Note what one node does, and put what it consists of on the stack."""
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load):
                self.loads.append((node, scope))
            else:
                self.bind(node.id, scope)
            return
        if isinstance(node, _FUNCTIONS):
            return self.function(node, scope)
        if isinstance(node, _COMPREHENSIONS):
            return self.comprehension(node, scope)
        if isinstance(node, ast.ClassDef):
            return self.class_(node, scope)
        if isinstance(node, ast.NamedExpr):
            self.stack.append((node.value, scope))
            return self.bind(node.target.id, _outside(scope))
        self.names_in_fields(node, scope)
        self.changes(node, scope)
        self.stack.extend((child, scope) for child in ast.iter_child_nodes(node))

    def bind(self, name: str, scope: _Scope) -> None:
        """Note that a scope binds a name."""
        scope.bound.add(name)
        self.stores.append((name, scope))

    def names_in_fields(self, node: ast.AST, scope: _Scope) -> None:
        """Names that stand in a node as text."""
        if isinstance(node, ast.Global):
            scope.outer.update(node.names)
        elif isinstance(node, ast.Nonlocal):
            scope.nonlocals.update(node.names)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                self.bind(alias.asname or alias.name.split(".")[0], scope)
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            self.bind(node.name, scope)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            self.bind(node.rest, scope)

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, scope: _Scope) -> None:
        """Defaults, decorators and annotations belong to the scope around a function; its body is another."""
        inner = _Scope(scope, "function")
        arguments = node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        around: list[ast.AST | None] = [*arguments.defaults, *arguments.kw_defaults]
        for argument in filter(None, every):
            inner.bound.add(argument.arg)
            around.append(argument.annotation)
        if isinstance(node, ast.Lambda):
            self.stack.append((node.body, inner))
        else:
            self.bind(node.name, scope)
            around += [*node.decorator_list, node.returns]
            self.stack.extend((part, inner) for part in node.body)
            self.type_parameters(node, inner)
        self.stack.extend((part, scope) for part in around if part is not None)

    def class_(self, node: ast.ClassDef, scope: _Scope) -> None:
        """A class: its body is a scope that its methods do not see."""
        self.bind(node.name, scope)
        inner = _Scope(scope, "class")
        self.type_parameters(node, inner)
        self.stack.extend((part, inner) for part in node.body)
        self.stack.extend((part, scope) for part in (*node.bases, *node.keywords, *node.decorator_list))

    def type_parameters(self, node: ast.AST, scope: _Scope) -> None:
        """Of Python 3.12: `def first[T](values: list[T])`."""
        scope.bound.update(str(part.name) for part in getattr(node, "type_params", ()))

    def comprehension(self, node: ast.AST, scope: _Scope) -> None:
        """A comprehension: its first iterable is evaluated outside."""
        inner = _Scope(scope, "comprehension")
        generators = node.generators  # type: ignore[attr-defined]
        for number, generator in enumerate(generators):
            self.stack.append((generator.iter, inner if number else scope))
            self.stack.extend((part, inner) for part in (generator.target, *generator.ifs))
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]  # type: ignore[attr-defined]
        self.stack.extend((part, inner) for part in parts)

    def changes(self, node: ast.AST, scope: _Scope) -> None:
        """Objects that a node changes, or may change, and other names for them."""
        if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            self.changed += [(name, scope, None) for name in _sources(node)]
        elif isinstance(node, ast.Call) and not (isinstance(node.func, ast.Name) and node.func.id in _HARMLESS):
            inside = [node.func.value] if isinstance(node.func, ast.Attribute) else []
            inside += [*node.args, *(keyword.value for keyword in node.keywords)]
            called = node.func.id if isinstance(node.func, ast.Name) else ""
            self.changed += [(name, scope, called) for part in inside for name in _sources(part, calls=False)]
        pairs: list[tuple[ast.AST, ast.AST | None]] = []
        if isinstance(node, ast.Assign):
            pairs = [(target, node.value) for target in node.targets]
        elif isinstance(node, ast.For | ast.AsyncFor):
            pairs = [(node.target, node.iter)]
        elif isinstance(node, ast.AnnAssign):
            pairs = [(node.target, node.value)]
        for target, value in pairs:
            sources = set(_sources(value)) if value is not None else set()
            others = {part.id for part in ast.walk(target) if isinstance(part, ast.Name)} if sources else set()
            self.alias_pairs += [(name, other, scope) for name in sources for other in others if len(others) <= 20]

    def resolve(self) -> None:
        """Look every name up, now that all scopes are known."""
        made = self.statement
        for node, scope in self.loads:
            if scope.is_own(node.id):
                made.own.add(id(node))
                made.reads.add(node.id)
                if not scope.deferred:
                    made.at_once.add(node.id)
        for name, scope in self.stores:
            if scope.is_own(name):
                (made.effects if scope.deferred else made.binds).add(name)
        for name, scope, called in self.changed:
            if not scope.is_own(name):
                continue
            if scope.deferred:
                made.effects.add(name)
            elif called is None:
                made.changes.add(name)
            else:
                made.touches.add((called, name))
        made.aliases = {(a, b) for a, b, scope in self.alias_pairs if scope.is_own(a) and scope.is_own(b)}


def _outside(scope: _Scope) -> _Scope:
    """The scope that a walrus inside comprehensions binds in."""
    while scope.kind == "comprehension" and scope.parent is not None:
        scope = scope.parent
    return scope


def _sources(node: ast.AST, calls: bool = True) -> Iterator[str]:
    """Names at the root of `model.layers[0]`, `zip(a, b)` or `(a, b.c)`."""
    stack = [node]
    while stack:
        part = stack.pop()
        if isinstance(part, ast.Name):
            yield part.id
        elif isinstance(part, ast.Attribute | ast.Subscript | ast.Starred):
            stack.append(part.value)
        elif isinstance(part, ast.Tuple | ast.List):
            stack.extend(part.elts)
        elif isinstance(part, ast.Call) and calls:
            stack.extend([*part.args, *([part.func] if isinstance(part.func, ast.Attribute) else [])])


def is_main_guard(node: ast.AST) -> bool:
    """Whether this is `if __name__ == "__main__":`."""
    if not (isinstance(node, ast.If) and isinstance(node.test, ast.Compare) and len(node.test.comparators) == 1):
        return False
    left, right = node.test.left, node.test.comparators[0]
    found = [getattr(side, "id", getattr(side, "value", None)) for side in (left, right)]
    return isinstance(node.test.ops[0], ast.Eq) and sorted(map(str, found)) == sorted(MAIN_GUARD)
