"""Static layout: rows of one fixed number, which a compiler and a CUDA graph want.

`RaggedRows` has as many rows as the batch has tokens, so every batch is another shape. Here N is fixed: the real tokens
come first, padding fills the rest, and every matrix product of every batch has the same shape. The padding is cut into
segments that look like sentences and see only each other, so no row is left out by attention and none disturbs another.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from annotated.model.masks import order_mask, segment_mask
from annotated.speed.kernels.fused import fused_attention, has_varlen_kernel, segment_attention
from annotated.speed.layouts.tiles import Tiled


@dataclass(frozen=True)
class FixedRows:
    """Where the segments of N rows begin, and each row's place in its segment.

    It stands where `RaggedRows` stands.
    """

    positions: Tensor
    """[N] integer: each row's place in its segment."""
    cu_seqlens: Tensor
    """[segments + 1] int32: where each segment begins, and N at the end; segments after the last one are empty."""
    width: int
    """No segment is longer."""
    reach: Tensor | None = None
    """`[width]`, of which only the size is read: a compiler can keep the size of a tensor open, so that segments of
    another length need no compilation of their own. None where `width` is the same for all batches."""
    tiles: bool = False
    """Attention lets several segments share a tile; see `annotated.speed.layouts.tiles`."""

    @property
    def longest(self) -> int:
        """As `width`, which a compiler would take for a constant."""
        return self.width if self.reach is None else self.reach.size(0)

    def segment_of_rows(self) -> Tensor:
        """The number of each row's segment, int64 `[N]`."""
        rows = torch.arange(self.positions.size(0), device=self.cu_seqlens.device, dtype=self.cu_seqlens.dtype)
        # Of equal boundaries (empty segments) the last one counts: the row belongs to what follows it.
        return torch.searchsorted(self.cu_seqlens, rows, right=True) - 1

    def attend_to(self, keys: FixedRows, causal: bool = False, dropout: float = 0.0) -> Segmented | Tiled:
        """Attention of these queries to the keys of their own segments, and if `causal` not to later ones."""
        if self.tiles and dropout == 0:
            return Tiled.of(self, keys, causal)
        return Segmented(self, keys, causal, dropout)


@dataclass
class Segmented:
    """Attention of rows to rows within segments: by the kernel made for that where there is one, else by a mask."""

    queries: FixedRows
    keys: FixedRows
    causal: bool
    dropout: float
    _mask: Tensor | None = None

    def __call__(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """`[M, H, K]`, `[N, H, K]`, `[N, H, d_v]` to `[M, H, d_v]`."""
        queries, keys = self.queries, self.keys
        if self.dropout == 0 and has_varlen_kernel(q.device, q.dtype, q.size(-1), v.size(-1)):
            cu_seqlens, widths = (queries.cu_seqlens, keys.cu_seqlens), (queries.longest, keys.longest)
            return segment_attention(q, k, v, cu_seqlens, widths, self.causal)
        q, k, v = (x.transpose(0, 1)[None] for x in (q, k, v))  # [N, H, K] -> [1, H, N, K]
        return fused_attention(q, k, v, self.mask(), dropout=self.dropout)[0].transpose(0, 1)

    def mask(self) -> Tensor:
        """Boolean `[1, 1, M, N]`; made once for all layers."""
        if self._mask is None:
            self._mask = segment_mask(self.queries.segment_of_rows(), self.keys.segment_of_rows())
            if self.causal:
                self._mask = self._mask & order_mask(self.queries.positions, self.keys.positions)
        return self._mask
