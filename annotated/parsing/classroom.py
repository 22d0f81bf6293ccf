"""Treebank of the classroom: trees of the English sentences that the grammar makes, free where Penn's are licensed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from annotated.classroom import bracketed_pairs, join_words
from annotated.classroom.corpus import Split
from annotated.parsing.tree import Tree, read_tree


def classroom_trees(split: Split, count: int, seed: int = 0) -> list[Tree]:
    """The trees of the English sentences of `classroom_pairs`, in the same order: tree k is that of pair k.

    The grammar that makes a sentence also says how it is built, so a phrase hangs on what it belongs to: *on the
    table* on the verb in 'Tom puts a book on the table', on the noun in 'There is a book on the table'.

    Parameters
    ----------
    split
        'train', 'valid' and 'test' share no sentence; 'constructions' has combinations that the others never contain.
    count
        Number of trees. The paper trained on about 40,000 sentences.
    seed
        Another seed, another sample.

    Raises
    ------
    ValueError
        If there is no such split, or `count` is negative.

    Paper: section 6.3
    """
    return [read_tree(brackets) for _, brackets in bracketed_pairs(split, count, seed)]


def penn_words(text: str) -> tuple[str, ...]:
    """The words of a classroom sentence as its tree has them: *Anna's*, *cannot* and marks apart.

    Examples
    --------
    >>> penn_words("Anna's dog cannot sleep.")
    ('Anna', "'s", 'dog', 'can', 'not', 'sleep', '.')
    """
    text = re.sub(r",(?=\s)|[.?!]$", r" \g<0>", text.strip())
    return tuple(re.sub(r"\b([Cc]an)not\b", r"\1 not", text.replace("'s ", " 's ")).split())


def sentence(words: Sequence[str]) -> str:
    """The text of a tree's words; inverse of `penn_words`."""
    text = join_words(tuple(words)).replace(" 's", "'s")
    return re.sub(r"\b([Cc]an) not\b", r"\1not", text)
