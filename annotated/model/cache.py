"""What a decoder remembers between two steps: keys and values, in one structure that moves as one.

Paper: sections 3.1 (auto-regression), 6.1 (beam search); caching is practice, not in the paper
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

FIRST_CAPACITY = 32


class AttentionCache:
    """Keys and values of all positions decoded so far, for one layer: `[R, H, capacity, K]`.

    R = B * beam rows. Space is reserved ahead and doubled when it is full, never beyond `limit`.
    """

    def __init__(self, rows: int, num_heads: int, d_k: int, d_v: int, limit: int, like: Tensor) -> None:
        self.limit, self.length = limit, 0
        capacity = min(limit, FIRST_CAPACITY)
        self.keys = like.new_empty(rows, num_heads, capacity, d_k)
        self.values = like.new_empty(rows, num_heads, capacity, d_v)
        self._spare: list[Tensor] = []

    def append(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Add one position `[R, H, 1, K]`; return the keys and values up to and with it."""
        if self.length == self.keys.size(2):
            if self.length == self.limit:
                raise ValueError(f"the decoder state was made for {self.limit} positions and all are used")
            self.keys, self.values = self._grown(self.keys), self._grown(self.values)
        t, self.length = self.length, self.length + 1
        self.keys[:, :, t : t + 1] = k
        self.values[:, :, t : t + 1] = v
        return self.keys[:, :, : t + 1], self.values[:, :, : t + 1]

    def take(self, rows: Tensor) -> None:
        """Keep these rows, in this order; a row may come more than once."""
        before = self.keys, self.values
        spare = self._spare if [x.shape for x in self._spare] == [x.shape for x in before] else [None, None]
        self.keys, self.values = (self._taken(x, rows, place) for x, place in zip(before, spare, strict=True))
        self._spare = list(before)  # the next reordering writes here: memory just read is memory at hand

    def _grown(self, x: Tensor) -> Tensor:
        grown = x.new_empty(*x.shape[:2], min(self.limit, 2 * x.size(2)), x.size(3))
        grown[:, :, : self.length] = x[:, :, : self.length]
        return grown

    def _taken(self, x: Tensor, rows: Tensor, place: Tensor | None) -> Tensor:
        if place is None or len(rows) != x.size(0):
            place = x.new_empty(len(rows), *x.shape[1:])
        if x.requires_grad and torch.is_grad_enabled():
            place = place.clone()  # what a graph refers to is never written again
            place[:, :, : self.length] = x[:, :, : self.length].index_select(0, rows)
        else:
            torch.index_select(x[:, :, : self.length], 0, rows, out=place[:, :, : self.length])
        return place


@dataclass
class LayerState:
    """One decoder layer's memory: its own past, and the encoder's output as keys and values `[B, H, S, K]`."""

    own: AttentionCache
    cross_keys: Tensor
    cross_values: Tensor


@dataclass
class DecoderState:
    """Everything that a decoder carries from step to step, for B sentences with `beam_size` rows each.

    Row r belongs to sentence r // beam_size. `reorder` and `select` move all layers together, so that no
    part can be forgotten.
    """

    layers: list[LayerState]
    source_mask: Tensor | None
    beam_size: int
    position: int = 0

    @property
    def rows(self) -> int:
        """R: hypotheses being decoded."""
        return self.layers[0].own.keys.size(0) if self.layers else 0

    def reorder(self, parents: Tensor) -> None:
        """Let row r continue what row `parents[r]` has decoded.

        Parameters
        ----------
        parents
            int64 `[R]`, row numbers; each must belong to the same sentence as the row that it goes to, for
            the encoder's keys and values stay where they are.
        """
        for layer in self.layers:
            layer.own.take(parents)

    def select(self, sentences: Tensor) -> None:
        """Keep only these sentences (int64 `[b]`, in this order), with all their rows."""
        offsets = torch.arange(self.beam_size, device=sentences.device)
        rows = (sentences[:, None] * self.beam_size + offsets).flatten()
        for layer in self.layers:
            layer.own.take(rows)
            layer.cross_keys = layer.cross_keys.index_select(0, sentences)
            layer.cross_values = layer.cross_values.index_select(0, sentences)
        if self.source_mask is not None:
            self.source_mask = self.source_mask.index_select(0, sentences)
