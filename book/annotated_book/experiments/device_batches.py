"""Batches of a training as rectangles of a few shapes, all of them on the device before the first update.

A recorded update reads the next batch by a counter that lies on the device, too: nobody copies anything to the GPU
while it trains.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from annotated.config import BOS, PAD, TrainingConfig
from annotated.data.buckets import by_length
from annotated.data.store import TokenStore
from annotated_book.experiments.sentences import ShortSentences

Pairs = NDArray[np.int64]
"""Positions of some pairs in a store."""
WIDTHS = (9, 14)
"""Batches up to so many tokens wide share a shape; wider ones have one more."""


@dataclass(frozen=True)
class Rectangles:
    """Batches of one shape: B pairs, S source and T target columns, what is left over being padding."""

    source: Tensor
    """Token ids, int32 `[batches, B, S]`."""
    target_in: Tensor
    """Int32 `[batches, B, T]`: as `Batch.target_in`."""
    target_out: Tensor
    """Int32 `[batches, B, T]`."""

    @classmethod
    def of(cls, store: TokenStore, batches: Sequence[Pairs], device: torch.device) -> Rectangles:
        """The smallest rectangles that hold each of these batches."""
        table = np.full((len(batches), max(map(len, batches))), -1, dtype=np.int64)
        for row, batch in zip(table, batches, strict=True):
            row[: len(batch)] = batch
        source, _ = _cells(store.source_tokens, store.source_offsets, table)
        gold, lengths = _cells(store.target_tokens, store.target_offsets, table)
        shifted = np.full_like(gold, PAD)
        shifted[..., 0] = np.where(table < 0, PAD, BOS)
        later = np.arange(1, gold.shape[-1]) < lengths[..., None]
        shifted[..., 1:] = np.where(later, gold[..., :-1], PAD)  # shifted right, so that eos falls away
        return cls(*(torch.from_numpy(cells).to(device) for cells in (source, shifted, gold)))


@dataclass(frozen=True)
class Stream:
    """All batches of one training in their order."""

    shapes: list[Rectangles]
    shape_of: list[int]
    """For each update, counted from 0, the index in `shapes` of its batch's shape; the batches of one shape stand there
    in the order of the updates."""
    target_tokens: list[int]
    """Real target tokens of each update's batch."""

    @classmethod
    def of(cls, store: TokenStore, batches: Iterable[Pairs], device: torch.device) -> Stream:
        """The batches, sorted into shapes by their wider side."""
        classes: dict[int, list[Pairs]] = {}
        order, tokens = [], []
        for batch in batches:
            source, target = store.lengths(batch)
            width = max(source.max(), target.max())
            order.append(sum(int(width > limit) for limit in WIDTHS))
            classes.setdefault(order[-1], []).append(batch)
            tokens.append(int(target.sum()))
        known = sorted(classes)
        shapes = [Rectangles.of(store, classes[number], device) for number in known]
        return cls(shapes, [known.index(number) for number in order], tokens)


def training_stream(text: ShortSentences, training: TrainingConfig, device: torch.device) -> Stream:
    """The batches of a training on a device."""
    batches = text.batches(training)
    return Stream.of(text.train, [batches.next_pairs() for _ in range(training.updates)], device)


def validation_stream(text: ShortSentences, device: torch.device) -> Stream:
    """The validation set on a device, in two large batches: nothing is kept for a gradient."""
    order = by_length(text.valid.source_lengths, text.valid.target_lengths, None)
    return Stream.of(text.valid, np.array_split(order, 2), device)


def _cells(tokens: NDArray[Any], offsets: Pairs, table: Pairs) -> tuple[NDArray[np.int32], Pairs]:
    """Sentences at the positions `[batches, B]` as `[batches, B, longest]`, and their lengths; -1 is no sentence."""
    starts = offsets[table]
    lengths = np.where(table < 0, 0, offsets[table + 1] - starts)
    columns = np.arange(lengths.max())
    places = (starts[..., None] + columns).clip(max=len(tokens) - 1)
    return np.where(columns < lengths[..., None], tokens[places], PAD).astype(np.int32), lengths
