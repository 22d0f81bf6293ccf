"""Trees of constituents: a label and its children; read from and written to Penn brackets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass


class BracketError(ValueError):
    """Text that is not a tree in brackets, with the place of the fault.

    Attributes
    ----------
    line, column
        Of the character at which the fault is, both counted from 1.
    """

    def __init__(self, fault: str, line: int, column: int, name: str = "") -> None:
        super().__init__(f"{name + ', ' if name else ''}line {line}, column {column}: {fault}")
        self.line, self.column = line, column


@dataclass(frozen=True, slots=True)
class Tree:
    """A constituent with its parts, or a part of speech with its word.

    Parameters
    ----------
    label
        'NP', or the part of speech. Empty only for the nameless outer bracket of Penn's files.
    children
        Trees, at least one; or a single word, which makes the node a part of speech.

    Raises
    ------
    ValueError
        If there are no children, if a word stands beside another child, or if a label or word is empty or holds
        white space or a parenthesis (Penn writes a parenthesis as -LRB- or -RRB-).

    Examples
    --------
    >>> tree = Tree("NP", (Tree("DT", ("the",)), Tree("NN", ("dog",))))
    >>> print(tree)
    (NP (DT the) (NN dog))
    >>> tree.words()
    ('the', 'dog')
    """

    label: str
    children: tuple[Tree | str, ...]

    def __post_init__(self) -> None:
        if not self.children:
            raise ValueError(f"the constituent {self.label!r} has nothing in it")
        words = [child for child in self.children if isinstance(child, str)]
        if words and len(self.children) > 1:
            raise ValueError(f"the word {words[0]!r} has no part of speech: it stands in {self.label!r} beside others")
        for text in (self.label, *words):
            if re.search(r"[\s()]", text):
                raise ValueError(f"{text!r} holds white space or a parenthesis; Penn writes -LRB- and -RRB-")
        if words and not (words[0] and self.label):
            raise ValueError("a word or its part of speech is empty")

    @property
    def is_tag(self) -> bool:
        """Whether this is a part of speech with its word."""
        return isinstance(self.children[0], str)

    def parts(self) -> tuple[Tree, ...]:
        """The children that are trees: none for a part of speech."""
        return tuple(child for child in self.children if not isinstance(child, str))

    def subtrees(self) -> Iterator[Tree]:
        """This tree and all below it, parts of speech too, from the left, each before its children."""
        waiting = [self]
        while waiting:
            tree = waiting.pop()
            yield tree
            waiting += reversed(tree.parts())

    def tagged(self) -> tuple[tuple[str, str], ...]:
        """The words, each with its part of speech: (('the', 'DT'), ('dog', 'NN'))."""
        return tuple((str(tree.children[0]), tree.label) for tree in self.subtrees() if tree.is_tag)

    def words(self) -> tuple[str, ...]:
        return tuple(word for word, _ in self.tagged())

    def spans(self) -> list[tuple[str, int, int]]:
        """Label, first word and end of each constituent, parts of speech left out; inner ones before outer ones."""
        found: list[tuple[str, int, int]] = []
        waiting: list[tuple[Tree, int]] = [(self, -1)]
        position = 0
        while waiting:
            tree, start = waiting.pop()
            if start >= 0:
                found.append((tree.label, start, position))
            elif tree.is_tag:
                position += 1
            else:
                waiting.append((tree, position))
                waiting += [(part, -1) for part in reversed(tree.parts())]
        return found

    def depth(self) -> int:
        """Constituents above the deepest word: 1 for (NP (DT the) (NN dog))."""
        deepest, waiting = 0, [(self, 0)]
        while waiting:
            tree, above = waiting.pop()
            deepest = max(deepest, above)
            waiting += [(part, above + 1) for part in tree.parts()]
        return deepest

    def __str__(self) -> str:
        """Penn brackets on one line."""
        text: list[str] = []
        waiting: list[Tree | str] = [self]
        while waiting:
            one = waiting.pop()
            if isinstance(one, str):
                text.append(one)
            elif one.is_tag:
                text.append(f" ({one.label} {one.children[0]})")
            else:
                text.append(f" ({one.label}")
                waiting += [")", *reversed(one.parts())]
        return "".join(text).lstrip()

    def indented(self, width: int = 100, start: int = 0) -> str:
        """Penn brackets with a constituent on a line of its own wherever `width` characters do not suffice."""
        line = str(self)
        if self.is_tag or start + len(line) <= width:
            return " " * start + line
        parts = "\n".join(part.indented(width, start + 2) for part in self.parts())
        return f"{' ' * start}({self.label}\n{parts})"


_TOKEN = re.compile(r"[()]|[^\s()]+")


def read_trees(text: str, name: str = "") -> Iterator[Tree]:
    """All trees of a text in Penn brackets, one after another, over as many lines as they take.

    Parameters
    ----------
    text
        Brackets, such as '(NP (DT the) (NN dog))'. A bracket may lack its label if only trees are in it.
    name
        What the text is, for messages: a file's name.

    Raises
    ------
    BracketError
        If a bracket is never closed or never opened, empty or without the children that a tree needs.
    """

    def fault(message: str, at: int) -> BracketError:
        return BracketError(message, text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at), name)

    opened: list[tuple[int, str, list[Tree | str]]] = []
    is_label = False
    for token in _TOKEN.finditer(text):
        piece, at = token.group(), token.start()
        if piece == "(":
            opened.append((at, "", []))
        elif piece == ")":
            if not opened:
                raise fault("a bracket is closed that was never opened", at)
            start, label, children = opened.pop()
            try:
                tree = Tree(label, tuple(children))
            except ValueError as error:
                raise fault(str(error), start) from None
            if opened:
                opened[-1][2].append(tree)
            else:
                yield tree
        elif not opened:
            raise fault(f"{piece!r} stands outside of all brackets", at)
        elif is_label:
            opened[-1] = (opened[-1][0], piece, [])
        else:
            opened[-1][2].append(piece)
        is_label = piece == "("
    if opened:
        start, label, _ = opened[-1]
        raise fault(f"the bracket {'(' + label!r} is never closed", start)


def read_tree(text: str) -> Tree:
    """The one tree of a text.

    Raises
    ------
    BracketError
        As `read_trees`, and if there is no tree or a second one.
    """
    trees = list(read_trees(text))
    if len(trees) != 1:
        raise BracketError(f"there should be one tree, not {len(trees)}", 1, 1)
    return trees[0]
