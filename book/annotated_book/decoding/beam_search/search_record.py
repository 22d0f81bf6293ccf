"""Search record, complete enough to run a search again with any smaller beam, without the model."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from annotated_book.decoding.beam_search.search_tree import SearchTree

_NOTHING = 0xFFFF


@dataclass
class Continuations:
    """A tree of beginnings: everything that some recorded search ranked. Node 0 is the empty beginning.

    The log-probabilities are float32, of the whole beginning up to each node, as the search had them.
    """

    parents: list[int] = field(default_factory=lambda: [-1])
    tokens: list[int] = field(default_factory=lambda: [-1])
    log_probabilities: list[float] = field(default_factory=lambda: [0.0])
    children: list[dict[int, int]] = field(default_factory=lambda: [{}])

    def add(self, tree: SearchTree) -> None:
        """Add the candidates of a search; one that is there already keeps its number and its log-probability."""
        here: dict[int | None, int] = {None: 0}
        for node in tree.nodes:
            here[node.id] = self.child(here[node.parent], node.token, node.log_probability)

    def child(self, parent: int, token: int, log_probability: float) -> int:
        """The node that continues a node with a token, new if need be."""
        known = self.children[parent]
        if token not in known:
            known[token] = len(self.parents)
            self.parents.append(parent)
            self.tokens.append(token)
            self.log_probabilities.append(log_probability)
            self.children.append({})
        return known[token]

    def find(self, tokens: Iterable[int]) -> int | None:
        """The node of a beginning, None if no search ranked it."""
        node = 0
        for token in tokens:
            if token not in self.children[node]:
                return None
            node = self.children[node][token]
        return node

    def path(self, node: int) -> list[int]:
        """The tokens from the beginning to a node."""
        tokens: list[int] = []
        while node:
            tokens.append(self.tokens[node])
            node = self.parents[node]
        return tokens[::-1]


@dataclass
class Forced:
    """The best that was found when a beginning was forced: the path to node `base`, then `suffix`."""

    base: int
    suffix: list[int]
    log_probability: float


@dataclass
class SearchRecord:
    """Everything about the searches for one sentence that a page needs."""

    tree: Continuations
    forced: list[Forced | None]
    """For each node of the tree; None for one that ends in eos."""
    reference: list[int]
    """With its eos."""
    steps: list[float]
    """The model's log-probability of each token of the reference, after those before it."""
    ranks: list[int]
    """The rank of each, from 1, among all tokens at its place."""

    def to_bytes(self) -> bytes:
        """Plain arrays, little-endian, each after its length; `search.js` beside this file reads them too."""
        tree, known = self.tree, [one for one in self.forced if one]
        suffixes = [token for one in known for token in one.suffix]
        parts: list[tuple[Sequence[float], str]] = [
            ([len(tree.parents) - 1], "<u4"),
            (tree.log_probabilities[1:], "<f4"),
            (tree.parents[1:], "<u2"),
            (tree.tokens[1:], "<u2"),
            ([one.base if one else _NOTHING for one in self.forced], "<u2"),
            ([len(known), len(suffixes)], "<u4"),
            ([one.log_probability for one in known], "<f4"),
            ([len(one.suffix) for one in known], "<u2"),
            (suffixes, "<u2"),
            ([len(self.reference)], "<u4"),
            (self.steps, "<f4"),
            (self.ranks, "<u2"),
            (self.reference, "<u2"),
        ]
        return b"".join(np.array(values).astype(kind).tobytes() for values, kind in parts)

    @classmethod
    def from_bytes(cls, data: bytes) -> SearchRecord:
        """What `to_bytes` wrote."""
        at = 0

        def take(kind: str, count: int) -> list[int]:
            nonlocal at
            values = np.frombuffer(data, kind, count, at)
            at += values.nbytes
            return list(values.tolist())

        (count,) = take("<u4", 1)
        log_probabilities, parents, tokens = take("<f4", count), take("<u2", count), take("<u2", count)
        tree = Continuations()
        for parent, token, log_probability in zip(parents, tokens, log_probabilities, strict=True):
            tree.child(parent, token, log_probability)
        bases, (known, tail) = take("<u2", count + 1), take("<u4", 2)
        best, lengths, suffixes = iter(take("<f4", known)), iter(take("<u2", known)), iter(take("<u2", tail))
        forced = [
            None if base == _NOTHING else Forced(base, [next(suffixes) for _ in range(next(lengths))], next(best))
            for base in bases
        ]
        (length,) = take("<u4", 1)
        steps, ranks = take("<f4", length), take("<u2", length)
        return cls(tree, forced, take("<u2", length), [float(x) for x in steps], ranks)


def pack(records: Sequence[SearchRecord]) -> str:
    """All sentences' records as compressed text: their number, their lengths, themselves."""
    chunks = [record.to_bytes() for record in records]
    lengths = struct.pack(f"<{len(chunks) + 1}I", len(chunks), *map(len, chunks))
    return base64.b64encode(zlib.compress(lengths + b"".join(chunks), 9)).decode()


def unpack(text: str) -> list[SearchRecord]:
    """What `pack` wrote."""
    data = zlib.decompress(base64.b64decode(text))
    (count,) = struct.unpack_from("<I", data)
    start, records = 4 * (count + 1), []
    for length in struct.unpack_from(f"<{count}I", data, 4):
        records.append(SearchRecord.from_bytes(data[start : start + length]))
        start += length
    return records
