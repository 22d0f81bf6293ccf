"""Similarity of answers to one exercise: a list to look at, never a score.

Answers to a small exercise are alike by nature. So each pair is compared twice, once by its structure alone (names and
comments removed, as a copy with new names would look) and once as it is written, and both are set beside what is usual
in this class. What the stub gave to everybody does not count. Where nearly the same text is what is usual, no pair
stands out: then there is one group of answers, and no pairs.
"""

from __future__ import annotations

import ast
import io
import keyword
import statistics
import tokenize
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import combinations

SAME_TEXT, SAME_STRUCTURE = 0.9, 0.97
FEWEST_TOKENS = 20
"""Shorter answers say nothing."""
MOST_TOKENS = 3000
"""Of an answer, the longest solution has some 400; the rest is not looked at."""
_MOST_EQUAL = 200_000
"""Pairs of equal tokens in two answers, beyond which only their numbers of tokens are compared."""
MOST_USUAL = 0.8
"""As written, no more than this counts as usual: in a folder of two, a copy is all that there is."""


@dataclass(frozen=True)
class Pair:
    """Two answers that somebody should look at.

    Attributes
    ----------
    text, structure
        How alike they are as written, and without names and comments; from 0 to 1.
    usual_text, usual_structure
        The medians over all pairs of this exercise.
    """

    first: str
    second: str
    text: float
    structure: float
    usual_text: float
    usual_structure: float


@dataclass(frozen=True)
class SimilarAnswers:
    """What somebody should look at.

    Attributes
    ----------
    pairs
        Those that are far more alike than is usual here, the most alike first.
    group
        Where most pairs are nearly the same as written: the answers of such pairs, instead of `pairs`.
    usual_text
        The median over all pairs, as written.
    """

    pairs: tuple[Pair, ...] = ()
    group: tuple[str, ...] = ()
    usual_text: float = 0.0


def similar(answers: Mapping[str, str], stub: str = "") -> SimilarAnswers:
    """Compare all answers to an exercise with each other.

    Parameters
    ----------
    answers
        Code by student.
    stub
        The code that everybody started from.
    """
    common = set(_lines(stub))
    written = {name: tokens for name, code in answers.items() if len(tokens := _tokens(code, common)) >= FEWEST_TOKENS}
    bare = {name: _structure(tokens) for name, tokens in written.items()}
    pairs = list(combinations(sorted(written), 2))
    text = {pair: _ratio(written[pair[0]], written[pair[1]]) for pair in pairs}
    structure = {pair: _ratio(bare[pair[0]], bare[pair[1]]) for pair in pairs}
    if not pairs:
        return SimilarAnswers()
    usual_text, usual_structure = statistics.median(text.values()), statistics.median(structure.values())
    if usual_text >= SAME_TEXT and len(pairs) > 1:
        group = {name for pair in pairs if text[pair] >= SAME_TEXT for name in pair}
        return SimilarAnswers(group=tuple(sorted(group)), usual_text=usual_text)
    flagged = [
        Pair(*pair, text[pair], structure[pair], usual_text, usual_structure)
        for pair in pairs
        if _stands_out(text[pair], min(usual_text, MOST_USUAL), SAME_TEXT)
        or _stands_out(structure[pair], usual_structure, SAME_STRUCTURE)
    ]
    flagged.sort(key=lambda pair: (-pair.text, -pair.structure, pair.first, pair.second))
    return SimilarAnswers(tuple(flagged), usual_text=usual_text)


def _stands_out(value: float, usual: float, limit: float) -> bool:
    """Above the limit, and nearer to identical than half of what is usual."""
    return value >= limit and 1 - value < (1 - usual) / 2


def _lines(code: str) -> list[str]:
    return [line.strip() for line in code.splitlines() if line.strip()]


def _tokens(code: str, common: set[str]) -> list[str]:
    kept = "\n".join(line for line in code.splitlines() if line.strip() not in common)
    found = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(kept).readline):
            if token.string.strip():
                found.append(token.string)
            if len(found) >= MOST_TOKENS:
                break
    except (tokenize.TokenError, IndentationError, SyntaxError, RecursionError):
        pass  # half a file is compared as far as it goes
    return found


def _structure(tokens: list[str]) -> list[str]:
    def bare(token: str) -> str:
        if token.isidentifier() and not keyword.iskeyword(token):
            return "name"
        try:
            return type(ast.literal_eval(token)).__name__
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return token

    return [bare(token) for token in tokens if not token.startswith("#")]


def _ratio(a: list[str], b: list[str]) -> float:
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    counts = Counter(b)
    far = matcher.quick_ratio() < 0.5 or sum(counts[token] for token in a) > _MOST_EQUAL
    return matcher.quick_ratio() if far else matcher.ratio()
