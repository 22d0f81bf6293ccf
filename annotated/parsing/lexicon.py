"""Parts of speech of words, with their probabilities: of words that a treebank has, and of words that it lacks."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from annotated.parsing.tree import Tree

TagScores = Mapping[str, float]
"""For each part of speech that a word may have, the logarithm of the probability that it is this word."""


def word_class(word: str) -> str:
    """What of an unknown word says something about its part of speech: a digit, a capital, or its last two letters."""
    if any(character.isdigit() for character in word):
        return "digit"
    return "capital" if word[:1].isupper() else "-" + word[-2:]


@dataclass(frozen=True)
class Lexicon:
    """The probability of each word, given its part of speech.

    Parameters
    ----------
    known
        For each known word its parts of speech.
    unknown
        The same for each class of unknown words (`word_class`); '' has those of all classes together.

    Notes
    -----
    The rule for a word that is not known: its class stands for it, with the share that the treebank's rare words of
    this class have of each part of speech; if no rare word is of its class, all rare words together stand for it.
    A capitalised word at the beginning of a sentence that is not known, but is in small letters, counts as that word.
    If the treebank has no rare words, an unknown word has no part of speech.
    """

    known: Mapping[str, TagScores]
    unknown: Mapping[str, TagScores] = field(default_factory=dict)

    def tags(self, word: str, first: bool = False) -> TagScores:
        """Logarithms of P(word | tag) for the tags that the word may have; empty if there are none.

        Parameters
        ----------
        word
            As it stands in the sentence.
        first
            Whether it is the sentence's first word, which is capitalised whatever it is.
        """
        if word not in self.known and first and word.lower() in self.known:
            word = word.lower()
        if word in self.known:
            return self.known[word]
        return self.unknown.get(word_class(word)) or self.unknown.get("", {})


def read_lexicon(trees: Iterable[Tree], known_from: int = 2) -> Lexicon:
    """Count the words of a treebank under their parts of speech.

    Parameters
    ----------
    trees
        The treebank.
    known_from
        How often a word must occur to be known; rarer ones count for their class only, and stand for all the words
        that the treebank lacks. With 1 all its words are known, and no others.

    Raises
    ------
    ValueError
        If `known_from` is not positive.
    """
    if known_from < 1:
        raise ValueError(f"known_from must be positive, not {known_from}")
    pairs = Counter(pair for tree in trees for pair in tree.tagged())
    words: Counter[str] = Counter()
    tags: Counter[str] = Counter()
    for (word, tag), count in pairs.items():
        words[word] += count
        tags[tag] += count
    known: dict[str, Counter[str]] = {}
    unknown: dict[str, Counter[str]] = {}
    for (word, tag), count in pairs.items():
        if words[word] >= known_from:
            known.setdefault(word, Counter())[tag] += count
        else:
            for kind in (word_class(word), ""):
                unknown.setdefault(kind, Counter())[tag] += count

    def logarithms(counts: Mapping[str, Counter[str]]) -> dict[str, TagScores]:
        return {one: {t: math.log(n / tags[t]) for t, n in found.items()} for one, found in counts.items()}

    return Lexicon(logarithms(known), logarithms(unknown))
