"""Cache of a decoder's keys and values between two steps, in one structure that moves as one.

The paper does not speak of caches; they change how fast a sentence is written, not what is written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from annotated.speed.kernels.fused import fused_attention
from annotated.speed.layouts.packed import RaggedRows, encode_rows

if TYPE_CHECKING:
    from annotated.model.transformer import Transformer

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
        """Add one position `[R, H, K]`; return the keys and values up to and with it, `[R, H, t, K]`."""
        if self.length == self.keys.size(2):
            if self.length == self.limit:
                raise ValueError(f"the decoder state was made for {self.limit} positions and all are used")
            self.keys, self.values = self._grown(self.keys), self._grown(self.values)
        t, self.length = self.length, self.length + 1
        self.keys.select(2, t).copy_(k)  # like keys[:, :, t] = k, which takes longer
        self.values.select(2, t).copy_(v)
        return self.keys.narrow(2, 0, t + 1), self.values.narrow(2, 0, t + 1)

    def take(self, rows: Tensor) -> None:
        """Keep these rows, in this order; a row may come more than once."""
        before = self.keys, self.values
        spare = self._spare if [x.shape for x in self._spare] == [x.shape for x in before] else [None, None]
        self.keys, self.values = (self._taken(x, rows, room) for x, room in zip(before, spare, strict=True))
        self._spare = list(before)  # the next reordering writes here: memory just read is memory at hand

    def _grown(self, x: Tensor) -> Tensor:
        grown = x.new_empty(*x.shape[:2], min(self.limit, 2 * x.size(2)), x.size(3))
        grown[:, :, : self.length] = x[:, :, : self.length]
        return grown

    def _taken(self, x: Tensor, rows: Tensor, room: Tensor | None) -> Tensor:
        if room is None or len(rows) != x.size(0):
            room = x.new_empty(len(rows), *x.shape[1:])
        if x.requires_grad and torch.is_grad_enabled():
            room = room.clone()  # what a graph refers to is never written again
            room[:, :, : self.length] = x[:, :, : self.length].index_select(0, rows)
        else:
            torch.index_select(x[:, :, : self.length], 0, rows, out=room[:, :, : self.length])
        return room


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

    def attend(self) -> Cached:
        """Attention of one new position to its past, for one step through all layers."""
        return Cached(iter(self.layers))

    def attend_memory(self) -> CachedMemory:
        """Attention of one new position to the encoder's output, for one step through all layers."""
        return CachedMemory(iter(self.layers), self.source_mask)

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


@dataclass
class Cached:
    """Self-attention of one new position of each row; called once a layer, whose cache its key and value join."""

    layers: Iterator[LayerState]

    def __call__(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """`[R, H, K]`, `[R, H, K]`, `[R, H, d_v]` to `[R, H, d_v]`."""
        keys, values = next(self.layers).own.append(k, v)
        return fused_attention(q.unsqueeze(2), keys, values).squeeze(2)  # one query each: [R, H, 1, K]


@dataclass
class CachedMemory:
    """Attention of one new position of each row to its sentence's memory; called once a layer.

    The hypotheses of a sentence ask as so many query positions of that sentence, so the memory's keys and values are
    never copied for each hypothesis.
    """

    layers: Iterator[LayerState]
    mask: Tensor | None

    def __call__(self, q: Tensor, *_: Any) -> Tensor:
        """`[R, H, K]` to `[R, H, d_v]`."""
        layer = next(self.layers)
        keys, values = layer.cross_keys, layer.cross_values
        q = q.view(keys.size(0), -1, *q.shape[1:]).transpose(1, 2)  # [R, H, K] -> [B, H, R / B, K]
        return fused_attention(q, keys, values, self.mask).transpose(1, 2).flatten(0, 1)


def start_state(model: Transformer, source: Tensor, beam_size: int, max_new_tokens: int) -> DecoderState:
    """Encode `[B, S]` source ids and make ready to decode `beam_size` hypotheses of each sentence.

    Each layer's keys and values of the memory are computed here, once.

    Parameters
    ----------
    max_new_tokens
        Steps that the state can take at most.

    Raises
    ------
    ValueError
        If ids lie outside the vocabulary, or padding stands before a real token.
    """
    rows = RaggedRows.from_ids(source)
    memory = rows.unpack(encode_rows(model, rows.pack_ids(source), rows))
    config, hypotheses, layers = model.config, len(source) * beam_size, []
    for layer in model.decoder.layers:
        own = AttentionCache(hypotheses, config.num_heads, config.d_k, config.d_v, limit=max_new_tokens, like=memory)
        _, keys, values = layer.cross_attention.project(None, memory, memory)
        layers.append(LayerState(own, *(x.transpose(1, 2).contiguous() for x in (keys, values))))
    return DecoderState(layers, rows.mask, beam_size)
