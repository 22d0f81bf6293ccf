"""Linear form of trees, which a sequence model can write: (S (NP XX XX )NP (VP XX )VP XX )S.

As in Vinyals et al. (2015), "Grammar as a Foreign Language": brackets with their labels, closing ones too, and in the
place of each word the same symbol, because neither words nor parts of speech count in the score.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from annotated.parsing.tree import Tree

Leaves = Literal["XX", "tag", "word"]
LinearFault = Literal["empty", "no label", "no bracket", "unopened", "mismatched", "nothing inside", "after the end",
                      "unclosed", "words"]  # fmt: skip
SYMBOL = "XX"
"""What stands for a word, and for the part of speech that a linear form does not tell."""


class LinearFormError(ValueError):
    """A sequence that is not the linear form of a tree.

    Attributes
    ----------
    fault
        'empty', 'no label' (a bracket alone), 'no bracket' (a word before the first), 'unopened', 'mismatched' (closed
        under another label), 'nothing inside', 'after the end', 'unclosed', or 'words' (too many or too few).
    position
        Index of the token at which it shows, from 0; the number of tokens if it shows at the end. The message counts
        tokens from 1.
    """

    def __init__(self, fault: LinearFault, position: int, message: str) -> None:
        super().__init__(f"token {position + 1}: {message}")
        self.fault, self.position = fault, position


def _check(leaves: str) -> None:
    if leaves not in get_args(Leaves):
        raise ValueError(f"leaves must be one of {', '.join(get_args(Leaves))}, not {leaves!r}")


def linear_form(tree: Tree, leaves: Leaves = "XX") -> list[str]:
    """The tokens of a tree, depth first.

    Parameters
    ----------
    tree
        A constituent; the parts of speech in it become one token each.
    leaves
        What stands for a word: 'XX' always the same symbol, 'tag' its part of speech, 'word' itself.

    Raises
    ------
    ValueError
        If the tree is a part of speech alone, or `leaves` is none of the three.

    Examples
    --------
    >>> from annotated.parsing.tree import read_tree
    >>> " ".join(linear_form(read_tree("(S (NP (NNP Anna)) (VP (VBZ sleeps)) (. .))")))
    '(S (NP XX )NP (VP XX )VP XX )S'

    Paper: section 6.3
    """
    _check(leaves)
    if tree.is_tag:
        raise ValueError(f"{tree} is a part of speech, not a constituent")
    tokens: list[str] = []
    waiting: list[Tree | str] = [tree]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            tokens.append(one)
        elif one.is_tag:
            tokens.append({"XX": SYMBOL, "tag": one.label, "word": str(one.children[0])}[leaves])
        else:
            tokens.append("(" + one.label)
            waiting += [")" + one.label, *reversed(one.parts())]
    return tokens


def tree_from_linear(tokens: Sequence[str], words: Sequence[str] | None = None, leaves: Leaves = "XX") -> Tree:
    """The tree of a linear form. What is malformed is never mended.

    Parameters
    ----------
    tokens
        What `linear_form` gives, or a model wrote.
    words
        The sentence's words, one for each leaf. Without them a leaf's own token is its word.
    leaves
        What the leaves are, as in `linear_form`; unless they are parts of speech, these become 'XX'.

    Raises
    ------
    LinearFormError
        If the tokens are not the linear form of one tree with as many leaves as there are words.

    Notes
    -----
    Leaves are counted, not compared: a leaf with another word than the sentence has is no fault.

    Paper: section 6.3
    """
    _check(leaves)
    opened: list[tuple[str, list[Tree]]] = []
    root: Tree | None = None
    count = 0
    for at, token in enumerate(tokens):
        if root is not None:
            raise LinearFormError("after the end", at, f"{token!r} stands after the end of the tree")
        if token in ("(", ")"):
            raise LinearFormError("no label", at, f"the bracket {token!r} has no label")
        if token.startswith("("):
            opened.append((token[1:], []))
        elif token.startswith(")"):
            root = _close(opened, token, at)
        elif not opened:
            raise LinearFormError("no bracket", at, f"{token!r} stands before the first bracket")
        elif words is not None and count == len(words):
            raise LinearFormError("words", at, f"there are more leaves than the sentence's {len(words)} words")
        else:
            word = words[count] if words is not None else token
            opened[-1][1].append(Tree(token if leaves == "tag" else SYMBOL, (word,)))
            count += 1
    if root is None and not opened:
        raise LinearFormError("empty", 0, "there are no tokens")
    if root is None:
        label, count_open = opened[-1][0], len(opened)
        still = f"{count_open} brackets are open, the last is" if count_open > 1 else "one bracket is open,"
        raise LinearFormError("unclosed", len(tokens), f"{still} {label!r}")
    if words is not None and count != len(words):
        raise LinearFormError("words", len(tokens), f"there are {count} leaves for {len(words)} words")
    return root


def _close(opened: list[tuple[str, list[Tree]]], token: str, at: int) -> Tree | None:
    """Close the innermost bracket; the tree if it was the outermost one."""
    if not opened:
        raise LinearFormError("unopened", at, f"{token!r} closes nothing")
    label, children = opened.pop()
    if label != token[1:]:
        raise LinearFormError("mismatched", at, f"{token!r} closes {'(' + label!r}")
    if not children:
        raise LinearFormError("nothing inside", at, f"the constituent {label!r} has nothing in it")
    tree = Tree(label, tuple(children))
    if not opened:
        return tree
    opened[-1][1].append(tree)
    return None
