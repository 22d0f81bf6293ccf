"""Duplicates and overlap: training pairs that stood in the text before, or stand in the validation or test sets.

Duplicates are found by 64-bit hashes, in one pass, without a list of the lines. A pair takes 8 bytes while the text is
read and 20 while the hashes are sorted: 0.7 GB for 36 million pairs. Two different pairs of so many share a hash with a
probability of 36e6 ** 2 / 2 ** 65 = 4e-5, and then one of them is lost.

Overlap with the evaluation sets is found whatever the case and the punctuation.
A model that has seen a test sentence translates it from memory. A pair counts as seen if both its sides are a test
pair's, whatever their length, or one side is and has enough words that it is no common phrase.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from annotated.text.scripts import count_words

_NO_WORD = re.compile(r"[\W_]+")


def hash_lines(lines: Iterable[bytes]) -> NDArray[np.uint64]:
    """The first 64 bits of BLAKE2b of each line."""
    blake = hashlib.blake2b
    return np.frombuffer(b"".join([blake(line, digest_size=8).digest() for line in lines]), dtype=np.uint64)


def first_of_each(hashes: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """True where a hash occurs for the first time."""
    order = np.argsort(hashes, kind="stable")  # stable: among equals the first stays first
    ordered = hashes[order]
    keep = np.ones(len(hashes), dtype=np.bool_)
    keep[order[1:][ordered[1:] == ordered[:-1]]] = False
    return keep


def folded(text: str) -> str:
    """A sentence's letters and digits in lower case: what two copies of it share when they are written differently."""
    return _NO_WORD.sub("", text.casefold())


@dataclass(frozen=True)
class Seen:
    """The sentences of one evaluation set, folded."""

    name: str
    pairs: frozenset[tuple[str, str]]
    sources: frozenset[str]
    targets: frozenset[str]

    @classmethod
    def of(cls, name: str, pairs: Iterable[tuple[str, str]], words: int) -> Seen:
        """From an evaluation set; single sides count from `words` words on."""
        pairs = list(pairs)
        sides = [
            frozenset(folded(p[side]) for p in pairs if count_words(" ".join(p[side].split())) >= words)
            for side in (0, 1)
        ]
        both = frozenset((folded(source), folded(target)) for source, target in pairs)
        return cls(name, both, sides[0] - {""}, sides[1] - {""})

    def how(self, source: str, target: str) -> str | None:
        """'pair', 'source' or 'target' of a folded training pair in the set; None if it is not there."""
        if source in self.sources:
            return "pair" if (source, target) in self.pairs else "source"
        if target in self.targets:
            return "pair" if (source, target) in self.pairs else "target"
        return "pair" if (source, target) in self.pairs else None


@dataclass
class CheckedBlock:
    """A block of training text after the check."""

    text: bytes = b""
    size: int = 0
    """Of the block, before."""
    kept: int = 0
    duplicates: int = 0
    overlap: Counter[str] = field(default_factory=Counter)
    """By '<set> <pair, source or target>', the first set that a pair stands in."""


def split_block(block: tuple[bytes, NDArray[np.bool_]], seen: tuple[Seen, ...], remove: bool) -> CheckedBlock:
    """The lines of a block to train on.

    Parameters
    ----------
    block
        Lines of a TSV file, each with its line end, and which of them to keep (the others are duplicates).
    remove
        Leave out pairs that an evaluation set holds; they are counted in any case.
    """
    result, kept = CheckedBlock(size=len(block[0])), []
    for line, keep in zip(block[0].decode().split("\n")[:-1], block[1], strict=True):
        if not keep:
            result.duplicates += 1
            continue
        source, _, target = line.partition("\t")
        found = _found(folded(source), folded(target), seen)
        if found is not None:
            result.overlap[found] += 1
            if remove:
                continue
        kept.append(line)
    result.kept = len(kept)
    result.text = "".join(f"{line}\n" for line in kept).encode()
    return result


def _found(source: str, target: str, seen: tuple[Seen, ...]) -> str | None:
    for one in seen:
        if how := one.how(source, target):
            return f"{one.name} {how}"
    return None
