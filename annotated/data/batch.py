"""Batch of sentence pairs as rectangles, shifted for teacher forcing."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray

from annotated.config import BOS, PAD
from annotated.data.buckets import Indices
from annotated.data.store import TokenStore


class BatchingError(ValueError):
    """Pairs cannot be batched as asked, or a saved position belongs to other data; the message says what to do."""


@dataclass(frozen=True)
class Batch:
    """Some sentence pairs as padded rectangles, shifted for teacher forcing.

    For the target "y1 y2": `target_in` is [bos, y1, y2] and `target_out` is [y1, y2, eos], so that at each
    position the model sees what came before and is asked for what comes next.

    Paper: section 3.1 (outputs shifted right), section 5.1
    """

    source: torch.Tensor
    """[B, S] int64: tokens and eos, then padding."""
    target_in: torch.Tensor
    """[B, T] int64: bos and tokens, then padding."""
    target_out: torch.Tensor
    """[B, T] int64: tokens and eos, then padding."""
    source_lengths: list[int]
    """Real length of each source row, eos included."""
    target_lengths: list[int]
    """Real length of each target row (of `target_in` with bos, of `target_out` with eos: the same)."""
    indices: list[int]
    """Positions of the pairs in the store."""

    @property
    def source_tokens(self) -> int:
        """Real source tokens, eos included."""
        return sum(self.source_lengths)

    @property
    def target_tokens(self) -> int:
        """Real target tokens: the terms of the loss."""
        return sum(self.target_lengths)

    def __len__(self) -> int:
        return len(self.indices)

    def to(self, device: torch.device | str) -> Self:
        """The same batch with its tensors on a device; a GPU copies them while the processor goes on."""
        tensors = {name: getattr(self, name) for name in ("source", "target_in", "target_out")}
        if torch.device(device).type == "cuda" and self.source.device.type == "cpu":
            tensors = {name: tensor.pin_memory() for name, tensor in tensors.items()}
        return dataclasses.replace(self, **{name: x.to(device, non_blocking=True) for name, x in tensors.items()})


class Shard(NamedTuple):
    """What one process computes of an update's batch, and what it divides by."""

    batches: list[Batch]
    """The micro-batches of this process; empty if there are more processes than the batch has pairs for."""
    target_tokens: int
    """Real target tokens of the *whole* batch, over all processes: the terms of the update's loss."""


def collate(store: TokenStore, indices: Sequence[int] | Indices) -> Batch:
    """Pad the pairs of a store at `indices` to one batch."""
    indices = np.asarray(indices, dtype=np.int64)
    if not len(indices):
        raise BatchingError("a batch needs at least one pair")
    source, source_lengths = _rectangle(store.source_tokens, store.source_offsets, indices)
    target_out, target_lengths = _rectangle(store.target_tokens, store.target_offsets, indices)
    target_in = np.full_like(target_out, PAD)
    target_in[:, 0] = BOS
    real = np.arange(1, target_out.shape[1]) < target_lengths[:, None]
    target_in[:, 1:][real] = target_out[:, :-1][real]  # shifted right, so that eos falls away
    return Batch(
        torch.from_numpy(source),
        torch.from_numpy(target_in),
        torch.from_numpy(target_out),
        source_lengths.tolist(),
        target_lengths.tolist(),
        indices.tolist(),
    )


def collate_ids(pairs: Sequence[tuple[Sequence[int], Sequence[int]]]) -> Batch:
    """Pad pairs of id lists (no bos, no eos) to one batch; `indices` counts them from 0."""
    return collate(TokenStore.from_ids(pairs), np.arange(len(pairs)))


def pad(rows: Sequence[Sequence[int]], device: torch.device | str | None = None) -> torch.Tensor:
    """Rows of token ids as one tensor `[B, longest]`, filled up with padding."""
    width = max(map(len, rows))
    return torch.tensor([[*row, *[PAD] * (width - len(row))] for row in rows], device=device)


def _rectangle(tokens: NDArray, offsets: NDArray[np.int64], indices: Indices) -> tuple[NDArray, NDArray[np.int64]]:
    """Rows [B, longest] of the sentences at `indices`, and their lengths, without a loop over the pairs."""
    starts = offsets[indices]
    lengths = offsets[indices + 1] - starts
    real = np.arange(lengths.max()) < lengths[:, None]
    # Where each real token lies: its row's start plus how far into the row it is.
    where = np.arange(lengths.sum()) + np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
    rows = np.full(real.shape, PAD, dtype=np.int64)
    rows[real] = tokens[where]
    return rows, lengths
