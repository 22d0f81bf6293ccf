"""The classroom corpus: English-German pairs drawn from the grammar, split by their source sentence."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from annotated.classroom.constituents import brackets
from annotated.classroom.constructions import HELD_OUT, SHARES, TEMPLATES, Construction, held_out
from annotated.classroom.phrases import Draw, Token

Split = Literal["train", "valid", "test", "constructions"]


@dataclass(frozen=True, slots=True)
class ClassroomPair:
    """A sentence, its translation, and which word translates which.

    `alignment` holds pairs (index in `source_words`, index in `target_words`), sorted; punctuation marks are words
    of their own there. `features` names the constructions used, alone ('modal') and with the kind of clause that
    they stand in ('because:modal').
    """

    source: str
    target: str
    alignment: tuple[tuple[int, int], ...]
    source_words: tuple[str, ...]
    target_words: tuple[str, ...]
    features: frozenset[str]


def join_words(words: list[str] | tuple[str, ...]) -> str:
    """Words to text: spaces between, except before a mark; inverse of the splitting in `ClassroomPair`."""
    return " ".join(words).replace(" ,", ",").replace(" .", ".").replace(" ?", "?").replace(" !", "!")


def _words(tokens: list[Token]) -> list[str]:
    words = [word for word, _ in tokens]
    words[0] = words[0][0].upper() + words[0][1:]
    return words


def align(source: list[Token], target: list[Token]) -> tuple[tuple[int, int], ...]:
    """Pairs of indices of words whose keys share a bit."""
    german = [(j, key) for j, (_, key) in enumerate(target)]
    return tuple([(i, j) for i, (_, key) in enumerate(source) if key for j, other in german if key & other])


def split_of(source: str) -> str:
    """A tenth of all source sentences is for validation, a tenth for testing: decided by the sentence alone."""
    return _split_of(_digest(source))


def _digest(source: str) -> int:
    return int.from_bytes(hashlib.blake2b(source.encode(), digest_size=8).digest(), "big")


def _split_of(digest: int) -> str:
    bucket = digest % 10
    return "valid" if bucket == 0 else "test" if bucket == 1 else "train"


def classroom_pairs(split: Split, count: int, seed: int = 0) -> Iterator[ClassroomPair]:
    """Draw `count` pairs with distinct sources from one split, always the same ones for the same seed.

    Parameters
    ----------
    split
        'train', 'valid' and 'test' share no source sentence, whatever their seeds; 'constructions' holds only
        sentences with a combination of constructions that the other three never contain (`HELD_OUT`).
    count
        Number of pairs.
    seed
        Another seed, another sample.

    Raises
    ------
    ValueError
        If there is no such split, or `count` is negative.
    """
    _check(split, count)
    return (pair for pair, _ in _generate(split, count, seed))


def bracketed_pairs(split: Split, count: int, seed: int = 0) -> Iterator[tuple[ClassroomPair, str]]:
    """The pairs of `classroom_pairs`, each with the tree of its source in Penn brackets.

    Penn writes *Anna's* and *cannot* as two words; otherwise the leaves are the pair's `source_words`.

    Raises
    ------
    ValueError
        If there is no such split, or `count` is negative.
    """
    _check(split, count)
    return ((pair, brackets(english, pair.source_words)) for pair, english in _generate(split, count, seed))


def _check(split: str, count: int) -> None:
    if split not in get_args(Split):
        raise ValueError(f"the classroom corpus has no split {split!r}; its splits are {', '.join(get_args(Split))}")
    if count < 0:
        raise ValueError(f"count must not be negative, not {count}")


def _generate(split: Split, count: int, seed: int) -> Iterator[tuple[ClassroomPair, list[Token]]]:
    source_of_chance = random.Random(f"classroom {split} {seed}").random
    seen: set[int] = set()
    while len(seen) < count:
        draw = Draw(source_of_chance)
        wanted: Construction | None = None
        if split == "constructions":
            wanted = HELD_OUT[len(seen) % len(HELD_OUT)]
            name, template = wanted.template, SHARES[wanted.template][0]
        else:
            name, template = draw.pick(TEMPLATES)
        english, german = template(draw)
        draw.features.add(name)
        if held_out(draw.features) is not wanted:
            continue
        words = _words(english)
        source = join_words(words)
        digest = _digest(source)
        if digest in seen or (wanted is None and _split_of(digest) != split):
            continue
        seen.add(digest)
        yield _pair(source, words, english, german, draw), english


def _pair(source: str, words: list[str], english: list[Token], german: list[Token], draw: Draw) -> ClassroomPair:
    target_words = _words(german)
    features = frozenset(draw.features)
    return ClassroomPair(source, join_words(target_words), align(english, german), tuple(words), tuple(target_words),
                         features)  # fmt: skip
