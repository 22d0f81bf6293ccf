"""Constituents of the English sentences: words carry their part of speech and the brackets that begin or end at them.

An English word is a token (a word and its alignment key) like a German one, so whatever reads tokens need not know
that there are trees. A constituent is a list of such words of which the first opens a bracket and the last closes it:
lists are joined as before, and the tree falls out at the end, as the alignment falls out of the keys.

Labels and parts of speech are those of the Penn Treebank (Bies et al. 1995, "Bracketing Guidelines for Treebank II
Style"; Santorini 1990, "Part-of-Speech Tagging Guidelines"), without function tags and without empty elements.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

Token = tuple[str, int]
"""A word and its alignment key, in either language."""


class Word(tuple[str, int]):
    """A token that knows its part of speech, the labels of the brackets opened before it and how many end after it."""

    tag = ""
    opens: tuple[str, ...] = ()
    closes = 0


def word(text: str, key: int, tag: str) -> Word:
    """A word with its part of speech; two of them, as 'NNP POS', for a word that Penn writes as two (*Anna 's*)."""
    made = Word((text, key))
    made.tag = tag
    return made


def _bracketed(token: Token, opens: tuple[str, ...], closes: int) -> Word:
    """A copy with the given labels before those of the token, and that many more closing brackets behind it."""
    made = Word(token)
    if isinstance(token, Word):
        made.tag, made.opens, made.closes = token.tag, opens + token.opens, token.closes + closes
    else:
        made.opens, made.closes = opens, closes
    return made


def constituent(label: str, tokens: Sequence[Token]) -> list[Token]:
    """The tokens as one constituent."""
    made = list(tokens)
    made[0] = _bracketed(made[0], (label,), 0)
    made[-1] = _bracketed(made[-1], (), 1)
    return made


def inside(tokens: Sequence[Token]) -> list[Token]:
    """The tokens of a constituent without its own bracket, so that others can join them in it."""
    made = list(tokens)
    first = made[0]
    if isinstance(first, Word) and first.opens:
        bare = _bracketed(first, (), 0)
        bare.opens = first.opens[1:]
        made[0] = bare
        made[-1] = _bracketed(made[-1], (), -1)
    return made


def extended(tokens: Sequence[Token], end: Sequence[Token]) -> list[Token]:
    """The constituent with more at its end, inside its bracket."""
    return [*tokens[:-1], _bracketed(tokens[-1], (), -1), *end[:-1], _bracketed(end[-1], (), 1)]


def possessive(tokens: Sequence[Token]) -> list[Token]:
    """The noun phrase with *'s* on its last word, which is one word here and two in the tree."""
    old = tokens[-1]
    last = Word((old[0] + "'s", old[1]))
    if isinstance(old, Word):
        last.tag, last.opens, last.closes = old.tag + " POS", old.opens, old.closes
    return [*tokens[:-1], last]


@cache
def _shape(pattern: str) -> tuple[tuple[str, tuple[str, ...], int], ...]:
    """Part of speech, labels opened and brackets closed of each word of a pattern."""
    words: list[tuple[str, tuple[str, ...], int]] = []
    opens: tuple[str, ...] = ()
    for label, tag, close in re.findall(r"\((\S+)|([^\s()]+)|(\))", pattern):
        if label:
            opens += (label,)
        elif tag:
            words.append((tag, opens, 0))
            opens = ()
        elif close:
            words[-1] = (*words[-1][:2], words[-1][2] + 1)
    return tuple(words)


def shaped(pattern: str, tokens: Sequence[Token], rest: Sequence[Token] = ()) -> list[Token]:
    """Tokens with the tree of a pattern such as '(ADVP (NP CD NNS) RB)': a part of speech for each, in their order.

    In '(PP IN _)' the constituents of `rest` stand at the underscore.
    """
    made: list[Token] = []
    following = iter(tokens)
    for tag, opens, closes in _shape(pattern):
        if tag == "_":
            made += rest
            made[-len(rest)] = _bracketed(made[-len(rest)], opens, 0)
            made[-1] = _bracketed(made[-1], (), closes)
        else:
            one = Word(next(following))
            one.tag, one.opens, one.closes = tag, opens, closes
            made.append(one)
    return made


_ENDINGS = {"POS": "'s", "RB": "not"}
"""Second part of speech of a word that Penn writes as two -> how that part is written."""


def brackets(tokens: Sequence[Token], words: Sequence[str]) -> str:
    """The tree of a sentence in Penn brackets, on one line; `words` are its words as they are written there.

    Raises
    ------
    ValueError
        If a word has no part of speech, or the brackets do not make one tree.
    """
    parts: list[str] = []
    depth = 0
    for token, text in zip(tokens, words, strict=True):
        if not isinstance(token, Word) or not token.tag:
            raise ValueError(f"the word {text!r} of {' '.join(words)!r} has no part of speech")
        if not depth and parts:
            raise ValueError(f"the tree of {' '.join(words)!r} ends before {text!r}")
        tag, _, second = token.tag.partition(" ")
        leaves = f"({tag} {text})"
        if second:
            ending = _ENDINGS[second]
            leaves = f"({tag} {text.removesuffix(ending)}) ({second} {ending})"
        parts.append("".join(f"({label} " for label in token.opens) + leaves + ")" * token.closes)
        depth += len(token.opens) - token.closes
    if depth:
        raise ValueError(f"the tree of {' '.join(words)!r} leaves {depth} brackets open")
    return " ".join(parts)
