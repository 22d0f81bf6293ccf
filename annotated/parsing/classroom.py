"""Treebank of the classroom: trees of the English sentences that the grammar makes, free where Penn's are licensed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, get_args

from annotated.classroom import bracketed_pairs, join_words
from annotated.classroom.corpus import split_of
from annotated.parsing.attachments import attachment_sentences
from annotated.parsing.tree import Tree, read_tree

TreeSplit = Literal["train", "valid", "test", "constructions", "attachments"]
ATTACHMENT_EVERY = 5
"""One sentence in so many of 'train', 'valid' and 'test' is an attachment that only meaning decides."""


def classroom_trees(split: TreeSplit, count: int, seed: int = 0) -> list[Tree]:
    """Trees of English sentences: four in five are those of `classroom_pairs`, in their order.

    The grammar that makes a sentence also says how it is built, so a phrase hangs on what it belongs to: *on the
    table* on the verb in 'Tom puts a book on the table', on the noun in 'There is a book on the table'. Every fifth
    sentence has an attachment that only meaning decides (`annotated.parsing.attachments`). A smaller number of trees is
    the beginning of a larger one.

    Parameters
    ----------
    split
        'train', 'valid' and 'test' share no sentence. The other two hold combinations that those never contain:
        'constructions' of what `classroom_pairs` keeps out, with no attachments between; 'attachments' of verb,
        preposition and noun, with nothing else between.
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
    if split not in get_args(TreeSplit):
        raise ValueError(f"there is no split {split!r}; there are {', '.join(get_args(TreeSplit))}")
    if count < 0:
        raise ValueError(f"count must not be negative, not {count}")
    if split == "attachments":
        return list(_attachments(split, count, seed))
    attached = 0 if split == "constructions" else count // ATTACHMENT_EVERY
    ours = _attachments(split, attached, seed)
    others = (read_tree(brackets) for _, brackets in bracketed_pairs(split, count - attached, seed))
    return [next(ours if attached and n % ATTACHMENT_EVERY == 0 else others) for n in range(1, count + 1)]


def _attachments(split: str, count: int, seed: int) -> Iterator[Tree]:
    """Distinct sentences of a split: which one a sentence belongs to is decided by itself, as in the corpus."""
    seen: set[str] = set()
    for brackets, _ in attachment_sentences(split == "attachments", f"{split} {seed}"):
        if len(seen) == count:
            return
        tree = read_tree(brackets)
        text = sentence(tree.words())
        if text not in seen and split in ("attachments", split_of(text)):
            seen.add(text)
            yield tree


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
