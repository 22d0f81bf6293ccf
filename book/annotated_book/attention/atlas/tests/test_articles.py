"""The commonest form of an article, counted by hand."""

from __future__ import annotations

import torch

from annotated.analysis.heads import HeadCorpus, PairTokens
from annotated.classroom import ClassroomPair
from annotated_book.attention.atlas.articles import commonest_form

NO_ROWS = torch.zeros(0, 0, dtype=torch.long)
DER, DIE, EIN, E, NOUN = 10, 11, 12, 13, 20


def one(english: str, article: list[int]) -> PairTokens:
    """An article, in one piece or more, and a noun in one; the German words are not looked at."""
    words = tuple(english.split())
    pair = ClassroomPair(english, "? ?", ((0, 0), (1, 1)), words, ("?", "?"), frozenset())
    return PairTokens(pair, [5, 6, 3], [*article, NOUN], [0, 1], [0] * len(article) + [1])


def test_the_commonest_after_the_same_word_and_the_same_beginning() -> None:
    items = [
        one("the dog", [DER]), one("The man", [DER]), one("the cat", [DIE]),  # two of three: der
        one("a dog", [EIN]), one("a cat", [EIN, E]), one("a woman", [EIN, E]),  # ein, three of three; e, two of two
    ]  # fmt: skip
    assert commonest_form(HeadCorpus(items, NO_ROWS, NO_ROWS, NO_ROWS)) == (2 + 3 + 2) / (3 + 3 + 2)
