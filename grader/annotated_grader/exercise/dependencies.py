"""Selection of the statements that an answer needs: those that bind, or may change, what it uses, and so on from there.

The rest is run as well, in less time: no reading of code can be sure that a statement does not matter. Where it seems
that it may, it is selected.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from annotated_grader.exercise.scopes import Statement

_SETTING = re.compile(r"set_|manual_seed$|seed$")
_SETTING_OF = frozenset({"torch", "random", "np", "numpy"})
_BINDS_ANYTHING = frozenset({"exec", "globals", "setattr"})


def required_statements(statements: Sequence[Statement], wanted: Iterable[str]) -> list[Statement]:
    """Those of a program's statements that the wanted names need, in their order."""
    return _Selection(statements, frozenset(wanted)).kept()


class _Selection:
    """A search from the wanted names to the statements that make them, each visited once."""

    def __init__(self, statements: Sequence[Statement], wanted: frozenset[str]) -> None:
        self.statements, self.wanted = statements, wanted
        self.chosen = set[int]()
        self.names, self.others, self.callers = set[str](), set[str](), set[str]()
        self.open: list[tuple[set[str], str]] = []
        self.index()

    def index(self) -> None:
        """By name: who binds it, changes it, is another name for it, changes it when called, and mentions it."""
        self.binders, self.changers = defaultdict[str, list[int]](list), defaultdict[str, list[int]](list)
        self.aliases, self.effectors = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
        self.users, self.bodies = defaultdict[str, list[int]](list), defaultdict[str, list[int]](list)
        code = {name for s in self.statements if s.defines_code for name in s.binds}
        values = {name for s in self.statements if not s.defines_code for name in s.binds}
        self.only_code = code - values
        for number, one in enumerate(self.statements):
            for name in one.binds:
                self.binders[name].append(number)
            # To call an answer is to try it out: it is not to change what it is given.
            touched = {name for called, name in one.touches if called not in self.wanted} - self.only_code
            for name in one.changes | touched:
                self.changers[name].append(number)
            for name, other in one.aliases:
                self.aliases[name].append(other)
            for name in one.at_once:
                self.users[name].append(number)
            for name in one.reads if one.effects or one.reads - one.at_once else ():
                self.bodies[name].append(number)
            for name in one.effects - self.only_code:
                for function in one.binds - self.wanted:
                    self.effectors[name].append(function)

    def kept(self) -> list[Statement]:
        """Follow names until there are no more."""
        for number, one in enumerate(self.statements):
            if _always(one):
                self.choose(number)
        for name in self.wanted:
            self.meet(self.names, name)
        while self.open:
            kind, name = self.open.pop()
            if kind is self.names:
                self.need(name)
            elif kind is self.others:
                self.follow(name)
            else:
                self.called(name)
        return [self.statements[number] for number in sorted(self.chosen)]

    def meet(self, kind: set[str], name: str) -> None:
        """Put a name on the list, once."""
        if name not in kind:
            kind.add(name)
            self.open.append((kind, name))

    def choose(self, number: int) -> None:
        """Keep a statement, and what it mentions."""
        if number not in self.chosen:
            self.chosen.add(number)
            for name in self.statements[number].reads:
                self.meet(self.names, name)

    def need(self, name: str) -> None:
        """A name is needed: whoever binds it, and whatever may change what it stands for."""
        for number in self.binders[name]:
            self.choose(number)
        self.follow(name)

    def follow(self, name: str) -> None:
        """What may change the object of a name, under this name or another."""
        for number in self.changers[name]:
            self.choose(number)
        for other in self.aliases[name] if name not in self.only_code else ():
            self.meet(self.others, other)
        for function in self.effectors[name]:
            self.meet(self.callers, function)

    def called(self, function: str) -> None:
        """A function changes what is needed: whoever calls it at once, and functions that may call it."""
        for number in self.users[function]:
            self.choose(number)
        for number in self.bodies[function]:
            for name in self.statements[number].binds - self.wanted:
                self.meet(self.callers, name)


def _always(statement: Statement) -> bool:
    """Statements that count for whatever follows: settings, star imports, names made from text, a docstring."""
    node = statement.node
    if isinstance(node, ast.ImportFrom):
        return node.module == "__future__" or node.names[0].name == "*"
    if not isinstance(node, ast.Expr):
        return bool(statement.at_once & _BINDS_ANYTHING)
    if isinstance(node.value, ast.Constant):
        return isinstance(node.value.value, str)
    call = node.value.func if isinstance(node.value, ast.Call) else None
    setting = isinstance(call, ast.Attribute) and _SETTING.match(call.attr) is not None
    return bool(statement.at_once & (_SETTING_OF if setting else _BINDS_ANYTHING))


def first_line(node: ast.stmt) -> int:
    """The number of the line on which a statement begins, with its decorators."""
    return min([node.lineno, *(part.lineno for part in getattr(node, "decorator_list", []))])


def starts_of_lines(data: bytes) -> list[int]:
    """Where each line begins, as Python counts lines: a form feed ends none."""
    starts = [0]
    for line in data.split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)
    return starts


def span(node: ast.stmt | ast.expr, starts: list[int]) -> tuple[int, int]:
    """Where a node stands, in bytes, from where each line starts."""
    assert node.end_lineno is not None and node.end_col_offset is not None
    return starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset
