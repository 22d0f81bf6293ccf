"""Rows of one fixed number: what a compiler and a CUDA graph want, and attention that keeps sentences apart in them.

`PackedRows` has as many rows as the batch has tokens, so every batch is another shape. Here N is fixed: the real tokens
come first, padding fills the rest, and every matrix product of every batch has the same shape. The padding is cut into
segments that look like sentences and see only each other, so no row is left out by attention and none disturbs another.

Paper: section 5.1 (batches of 25,000 tokens); the layout itself is ours
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

varlen_attn: Callable[..., Any] | None = None
try:
    from torch.nn.attention import varlen

    if "window_size" in inspect.signature(varlen.varlen_attn).parameters:  # the first releases said causal otherwise
        varlen_attn = varlen.varlen_attn
except ImportError:
    pass

_HALF_PRECISIONS = (torch.bfloat16, torch.float16)


@dataclass(frozen=True)
class StaticRows:
    """Where the segments of N rows begin, and each row's place in its segment.

    It stands where `PackedRows` stands. To attention it is a batch of one sequence of N tokens, `[1, N, D]`, in which
    a token sees its own segment only.

    Paper: section 5.1
    """

    positions: Tensor
    """[N] integer: each row's place in its segment."""
    starts: Tensor
    """[segments + 1] int32: where each segment begins, and N at the end; segments after the last one are empty."""
    width: int
    """No segment is longer."""

    def unpack(self, x: Tensor) -> Tensor:
        """Rows `[N, D]` as `[1, N, D]`."""
        return x.unsqueeze(0)

    def pack(self, x: Tensor) -> Tensor:
        """`[1, N, D]` as rows `[N, D]`."""
        return x.squeeze(0)

    def segment_of_rows(self) -> Tensor:
        """The number of each row's segment, int64 `[N]`."""
        rows = torch.arange(self.positions.size(0), device=self.starts.device, dtype=self.starts.dtype)
        # Of equal boundaries (empty segments) the last one counts: the row belongs to what follows it.
        return torch.searchsorted(self.starts, rows, right=True) - 1


def has_varlen_kernel(device: torch.device, dtype: torch.dtype, d_k: int, d_v: int) -> bool:
    """True if PyTorch's attention over segments of different lengths can take these: a GPU, 16 bits, a new torch."""
    fits = d_k == d_v and d_k % 8 == 0 and d_k <= 256
    return varlen_attn is not None and device.type == "cuda" and dtype in _HALF_PRECISIONS and fits


def segment_attention(q: Tensor, k: Tensor, v: Tensor, queries: StaticRows, keys: StaticRows, causal: bool) -> Tensor:
    """Attention of query segment i to key segment i, by the kernel that skips all the rest; see `has_varlen_kernel`.

    The same as `fused_attention` with `segment_mask`, whose cost grows with N^2.

    Parameters
    ----------
    q, k, v
        `[1, H, M, K]`, `[1, H, N, K]`, `[1, H, N, K]`, 16 bits.
    queries, keys
        Their segments, equally many on both sides, with a key wherever there is a query.
    causal
        A query sees no later position of its segment.

    Returns
    -------
    Tensor
        `[1, H, M, K]`

    Paper: sections 3.2.1, 3.2.3
    """
    assert varlen_attn is not None
    rows = (x.squeeze(0).transpose(0, 1) for x in (q, k, v))  # [1, H, N, K] -> [N, H, K]; nothing is copied
    window = (-1, 0) if causal else (-1, -1)  # how many keys to the query's left and right: -1 for all
    output = varlen_attn(*rows, queries.starts, keys.starts, queries.width, keys.width, window_size=window)
    return output.transpose(0, 1).unsqueeze(0)


def segment_mask(queries: StaticRows, keys: StaticRows, causal: bool) -> Tensor:
    """Keys of the query's own segment, and if `causal` not later ones: boolean `[1, 1, M, N]`, True = may attend."""
    mask = queries.segment_of_rows()[:, None] == keys.segment_of_rows()
    return (mask & (keys.positions <= queries.positions[:, None]) if causal else mask)[None, None]
