"""Batches by tokens: bucketed by length, seeded, resumable in mid-epoch, cut into pieces for any number of devices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Self, get_args

import numpy as np

from annotated.config import DataConfig
from annotated.data.batch import Batch, BatchingError, Shard, collate, collate_ids
from annotated.data.buckets import Indices, Layout, LengthTies, by_length, cut, fill, pieces, pool_members, pools
from annotated.data.store import TokenStore

__all__ = [
    "Batch",
    "BatchingError",
    "DataPosition",
    "Shard",
    "TokenBatches",
    "collate",
    "collate_ids",
    "evaluation_batches",
    "padding_report",
]

_SCAN_PAIRS = 1 << 20


class DataPosition(NamedTuple):
    """Where an iterator over batches stands."""

    epoch: int
    """From 0."""
    pool: int = 0
    """Of the epoch, from 0."""
    position: int = 0
    """Batches taken of the pool."""
    taken: int = 0
    """Batches taken of the epoch."""


class TokenBatches:
    """Endless batches of a store, epoch after epoch, each pair at most once in an epoch.

    A batch is what one update of the parameters sees, however many devices share the work: `next_shard` cuts it into
    their pieces. So the updates, and a position among them, do not depend on the number of devices.

    An epoch shuffles the corpus in blocks of neighbours, takes `pool_pairs` pairs at a time, sorts them by length,
    cuts them at the budget and shuffles the batches. All of it follows from `seed` and the epoch's number, so a
    position is a few numbers (`state_dict`), and a resumed iterator goes on with exactly the batches that an
    uninterrupted one would have given.

    Parameters
    ----------
    store
        The encoded corpus.
    batch_tokens
        Budget of one batch, on each side by itself.
    seed
        Another seed is another order.
    pool_pairs
        Pairs shuffled and sorted together; memory grows with it, not with the corpus.
    shuffle
        False keeps the corpus's order of pools, each sorted by length.
    layout
        What the budget counts. 'padded': pairs times the longest. 'packed' and 'static': real tokens.
    length_ties
        As in `by_length`: 'random' fills both sides of a batch, 'sorted' leaves less padding. The layout 'padded'
        always sorts.

    Raises
    ------
    BatchingError
        If a pair alone exceeds the budget.

    Paper: section 5.1
    """

    def __init__(
        self,
        store: TokenStore,
        batch_tokens: int,
        *,
        seed: int,
        pool_pairs: int,
        shuffle: bool = True,
        layout: Layout = "packed",
        length_ties: LengthTies = DataConfig.length_ties,
    ) -> None:
        if layout not in get_args(Layout):
            raise BatchingError(f"layout must be one of {', '.join(get_args(Layout))}, not {layout!r}")
        if pool_pairs < 1:
            raise BatchingError(f"pool_pairs must be at least 1, not {pool_pairs}")
        _check_budget(store, batch_tokens)
        self.store = store
        self.batch_tokens, self.seed, self.pool_pairs = batch_tokens, seed, pool_pairs
        self.shuffle, self.layout = shuffle, layout
        self.length_ties: LengthTies = "sorted" if layout == "padded" else length_ties
        self._move_to(DataPosition(epoch=0))

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Batch:
        return self.next_shard().batches[0]

    def next_shard(self, rank: int = 0, world_size: int = 1, micro_batches: int = 1) -> Shard:
        """Take the next batch, and of its `world_size` times `micro_batches` pieces those of one process.

        A piece is a run of neighbours in the order by length, and all have about as many tokens. Piece
        `i * world_size + rank` is the process's micro-batch `i`, so that all processes have sentences of much the same
        length at a time. Every process takes every batch, and plans the same pieces.

        Returns
        -------
        Shard
            At most `micro_batches` pieces, for empty ones, which a batch of few long pairs has, are left out; and the
            target tokens of all processes, which each can count for itself.

        Raises
        ------
        BatchingError
            If there is no such process.

        Paper: section 5.2 (8 GPUs share each batch)
        """
        if not 0 <= rank < world_size:
            raise BatchingError(f"rank must lie between 0 and world_size - 1 = {world_size - 1}, not {rank}")
        batch = self.next_pairs()
        own = self._pieces(batch, rank, world_size, micro_batches)
        return Shard([collate(self.store, piece) for piece in own], int(self.store.lengths(batch)[1].sum()))

    def planned_pieces(self, rank: int = 0, world_size: int = 1, micro_batches: int = 1) -> list[Indices]:
        """All micro-batches of one process in the current pool, as positions in the store; nothing is taken."""
        planned = self._plan(self._pool) if self._planned is None else self._planned
        own = (self._pieces(batch, rank, world_size, micro_batches) for batch in planned)
        return [piece for batch in own for piece in batch]

    def _pieces(self, batch: Indices, rank: int, world_size: int, micro_batches: int) -> list[Indices]:
        source, target = self.store.lengths(batch)
        own = (batch[part] for part in pieces(source + target, world_size * micro_batches)[rank::world_size])
        return [piece for piece in own if len(piece)]

    def next_pairs(self) -> Indices:
        """Take the next batch as positions in the store, for who lays it out by other means than `collate`."""
        while self._planned is None or self._position == len(self._planned):
            self._next_pool()
        batch = self._planned[self._position]
        self._position += 1
        self.taken += 1
        return batch

    def _move_to(self, place: DataPosition) -> None:
        self.epoch: int = place.epoch
        """Number of the current epoch, from 0."""
        self.taken: int = place.taken
        """Batches taken in the current epoch."""
        self._pool, self._position = place.pool, place.position
        self._planned: list[Indices] | None = None
        self._pools = pools(len(self.store), self.pool_pairs, self._rng())

    def _next_pool(self) -> None:
        if self._planned is not None:
            if self._pool + 1 < len(self._pools):
                self._pool, self._position = self._pool + 1, 0
            else:
                self._move_to(DataPosition(self.epoch + 1))
        self._planned = self._plan(self._pool)

    def _rng(self, *more: int) -> np.random.Generator | None:
        return np.random.default_rng([self.seed, self.epoch, *more]) if self.shuffle else None

    def _plan(self, pool: int) -> list[Indices]:
        """The batches of one pool of the current epoch, as positions in the store."""
        rng = self._rng(pool + 1)
        members = pool_members(self._pools[pool], len(self.store), self.pool_pairs)
        source, target = self.store.lengths(members)
        order = by_length(source, target, rng, self.length_ties)
        batches = [members[order[part]] for part in cut(source[order], target[order], self.batch_tokens, self.layout)]
        return batches if rng is None else [batches[index] for index in rng.permutation(len(batches))]

    @property
    def position(self) -> DataPosition:
        """Where the iterator stands: the next batch is the first one not yet given."""
        return DataPosition(self.epoch, self._pool, self._position, self.taken)

    def state_dict(self, position: DataPosition | None = None) -> dict[str, Any]:
        """A position as plain numbers for JSON, and what it is a position in.

        Parameters
        ----------
        position
            Where this iterator stood earlier; None for where it stands.
        """
        return {**(position or self.position)._asdict(), "data": self._data()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where `state_dict` was taken, by whatever number of processes.

        The saved `length_ties` replace this object's, for a position counts batches of one order. Positions saved
        before there was a choice name none: all pairs were sorted then.

        Raises
        ------
        BatchingError
            If the state belongs to another corpus, seed or budget: the message says which.
        """
        try:
            saved, position = state["data"], DataPosition(*(int(state[name]) for name in DataPosition._fields))
        except (KeyError, TypeError, ValueError) as error:
            raise BatchingError(f"not a data position: {error!r}") from None
        ties = saved.get("length_ties", "sorted")
        if ties not in get_args(LengthTies):
            raise BatchingError(f"not a data position that this version knows: length_ties is {ties!r}")
        now = self._data()
        del now["length_ties"]
        different = [
            f"{name} was {saved.get(name)!r}, is {now[name]!r}" for name in now if saved.get(name) != now[name]
        ]
        if different:
            raise BatchingError(
                f"this data position belongs to another training: {'; '.join(different)}. "
                "Resume with the same data and settings, or start the data from the beginning"
            )
        self.length_ties = ties
        self._move_to(position)

    def _data(self) -> dict[str, Any]:
        settings = {name: getattr(self, name) for name in ("batch_tokens", "seed", "pool_pairs", "shuffle")}
        layout = "padded" if self.layout == "padded" else "packed"  # static batches are cut like packed ones
        data = {"store": self.store.identity, "pairs": len(self.store), **settings, "layout": layout}
        return {**data, "length_ties": self.length_ties}

    def statistics(self) -> dict[str, float]:
        """What the current epoch holds: pairs, batches, tokens, and their padding.

        Returns
        -------
        dict
            'pairs', 'batches', 'source_tokens', 'target_tokens' (real, eos included), 'fill' (real tokens over the
            cells of padded batches, both sides together) and 'padding' (1 - fill).
        """
        counts = dict.fromkeys(("pairs", "batches", "source_tokens", "target_tokens"), 0)
        cells = 0
        for pool in range(len(self._pools)):
            for batch in self._plan(pool):
                source, target = self.store.lengths(batch)
                sums = (len(batch), 1, int(source.sum()), int(target.sum()))
                counts = {name: counts[name] + more for name, more in zip(counts, sums, strict=True)}
                cells += len(batch) * int(source.max() + target.max())
        real = counts["source_tokens"] + counts["target_tokens"]
        return {**counts, "fill": real / cells, "padding": 1 - real / cells}


def evaluation_batches(store: TokenStore, batch_tokens: int, layout: Layout = "packed") -> Iterator[Batch]:
    """Every pair once, sorted by length, nothing random; `Batch.indices` says which is which.

    Raises
    ------
    BatchingError
        If a pair alone exceeds the budget.
    """
    _check_budget(store, batch_tokens)
    source, target = store.source_lengths, store.target_lengths
    order = by_length(source, target, None)
    for part in cut(source[order], target[order], batch_tokens, layout):
        yield collate(store, order[part])


def padding_report(store: TokenStore, batch_tokens: int, *, pool_pairs: int) -> dict[str, float]:
    """How much of a batch is real under four ways of batching: real tokens over computed cells, both sides together.

    Each way cuts at `batch_tokens` padded tokens a side. Measured on the store's first `pool_pairs` pairs.

    Returns
    -------
    dict
        'arrival' (the corpus's order), 'sorted' (by source length alone), 'bucketed' (by the longer side, as
        `TokenBatches` does) and 'packed' (no padding is computed: 1).
    """
    _check_budget(store, batch_tokens)
    source, target = store.lengths(np.arange(min(len(store), pool_pairs)))
    orders = {
        "arrival": np.arange(len(source)),
        "sorted": np.argsort(source, kind="stable"),
        "bucketed": by_length(source, target, None),
    }
    report = {}
    for name, order in orders.items():
        lengths = source[order], target[order]
        report[name] = fill(*lengths, cut(*lengths, batch_tokens, "padded"))
    return {**report, "packed": 1.0}


def _check_budget(store: TokenStore, batch_tokens: int) -> None:
    if not len(store):
        raise BatchingError("the store holds no pairs: there is nothing to batch")
    for first in range(0, len(store), _SCAN_PAIRS):
        source, target = store.lengths(np.arange(first, min(first + _SCAN_PAIRS, len(store))))
        worst = int(np.argmax(np.maximum(source, target)))
        if max(source[worst], target[worst]) > batch_tokens:
            raise BatchingError(
                f"pair {first + worst} has {source[worst]} source and {target[worst]} target tokens (eos included), "
                f"more than a batch of {batch_tokens} may hold; raise batch_tokens or lower max_length"
            )
