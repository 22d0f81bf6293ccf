"""Tiles of attention that hold several sentences: PyTorch's FlexAttention over rows, with a document mask.

A GPU computes attention in tiles of 128 queries. The kernel that treats each sentence by itself fills a tile with one
sentence, 28 rows of 128 in English-German; this one lets the rows run on, and hides other sentences inside the tile.
Which tiles of keys a tile of queries must visit follows from where the sentences begin: the list is worked out with
a few small tensor operations wherever the rows are, so that a compiled or recorded step makes it itself.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

if TYPE_CHECKING:
    from annotated.config import ModelConfig, TrainingConfig
    from annotated.speed.layouts.static import FixedRows

TILE = 128
"""Rows of a tile, of queries and of keys."""

flex_attention: Callable[..., Any] | None = None
"""PyTorch's function of this name, once `load_flex_attention` has found one."""
_block_mask: Callable[..., Any] | None = None


def load_flex_attention() -> bool:
    """True if this torch has a FlexAttention whose lists of tiles can be given; imported where it is first needed."""
    global flex_attention, _block_mask
    if flex_attention is None:
        try:
            from torch.nn.attention import flex_attention as module
        except ImportError:
            return False
        if "seq_lengths" in inspect.signature(module.BlockMask.__init__).parameters:  # since 2.6
            flex_attention, _block_mask = module.flex_attention, module.BlockMask
    return flex_attention is not None


def require_flex_attention(model: ModelConfig, training: TrainingConfig, device: torch.device) -> None:
    """Refuse FlexAttention where it would not run, or only as slowly as attention of all rows to all rows.

    Raises
    ------
    ValueError
        If the release, the device, or one of the options does not fit.
    """
    reasons = {
        "a GPU": device.type == "cuda",
        "compile=True, without which it compares all rows with each other": training.compile,
        "torch 2.6 or newer": load_flex_attention(),
        "no attention_dropout": model.attention_dropout == 0,
        "d_k and d_v of at least 16": min(model.d_k, model.d_v) >= 16,
    }
    if missing := [reason for reason, met in reasons.items() if not met]:
        raise ValueError(
            f"attention_kernel 'flex' needs {'; '.join(missing)}. Use attention_kernel 'auto' for the same updates"
        )


@dataclass  # not frozen: in torch 2.11 a compiled step loses the fields of a frozen object that is made inside it
class Tiled:
    """Attention of rows to rows within segments, by FlexAttention; what `Segmented` computes without dropout."""

    mask: Any
    """PyTorch's `BlockMask`; one for all layers."""

    @classmethod
    def of(cls, queries: FixedRows, keys: FixedRows, causal: bool) -> Tiled:
        """Attention of these queries to the keys of their own segments, and if `causal` not to later ones."""
        if not torch.compiler.is_compiling():
            load_flex_attention()
        # Made here and not at the first call: a compiler lost what a call wrote into its object, and masked nothing.
        return cls(block_mask(queries, keys, causal))

    def __call__(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """`[M, H, K]`, `[N, H, K]`, `[N, H, d_v]` to `[M, H, d_v]`."""
        assert flex_attention is not None
        q, k, v = (x.transpose(0, 1)[None] for x in (q, k, v))  # [N, H, K] -> [1, H, N, K]
        return flex_attention(q, k, v, block_mask=self.mask)[0].transpose(0, 1)


def block_mask(queries: FixedRows, keys: FixedRows, causal: bool) -> Any:
    """PyTorch's `BlockMask` of the segments, made from their starts; see `tiles_to_visit`.

    No tile is announced as fully visible, for which a sentence must fill a tile on both sides: the mask is asked in
    every tile, which costs little beside the product.
    """
    assert _block_mask is not None
    forward = tiles_to_visit(queries, keys, last_is_own=causal and queries is keys)
    backward = tiles_to_visit(keys, queries, first_is_own=causal and queries is keys)
    (count, tiles), (count_back, tiles_back) = ([x[None, None] for x in both] for both in (forward, backward))
    lengths, none = (queries.positions.size(0), keys.positions.size(0)), (None, None)
    mask_mod = mask_of_rows(queries, keys, causal)
    return _block_mask(lengths, count, tiles, *none, count_back, tiles_back, *none, (TILE, TILE), mask_mod)


def mask_of_rows(queries: FixedRows, keys: FixedRows, causal: bool) -> Callable[..., Tensor]:
    """FlexAttention's `mask_mod`: of row numbers q and k, whether the two may see each other."""
    own, other = queries.segment_of_rows(), keys.segment_of_rows()

    def visible(batch: Tensor, head: Tensor, q: Tensor, k: Tensor) -> Tensor:
        same = own[q] == other[k]
        return same & (keys.positions[k] <= queries.positions[q]) if causal else same

    return visible


def tiles_to_visit(
    rows: FixedRows, others: FixedRows, first_is_own: bool = False, last_is_own: bool = False
) -> tuple[Tensor, Tensor]:
    """The tiles of the other side that hold rows of a tile's segments: they stand one after the other.

    Parameters
    ----------
    rows, others
        Where the segments of both sides begin; equally many.
    first_is_own, last_is_own
        The list begins, or ends, with the tile of the same number: the causal order within one side.

    Returns
    -------
    count, tiles
        int32 `[tiles of rows]`, how many; and `[tiles of rows, tiles of others]`, which: only the first `count` matter.
    """
    length, other_length = rows.positions.size(0), others.positions.size(0)
    starts, device = rows.cu_seqlens, rows.cu_seqlens.device
    own = torch.arange(-(-length // TILE), device=device, dtype=starts.dtype)
    # Of equal boundaries (empty segments) the last one counts: the row belongs to what follows it.
    first_segment = torch.searchsorted(starts, own * TILE, right=True) - 1
    last_segment = torch.searchsorted(starts, (own * TILE + TILE - 1).clamp(max=length - 1), right=True) - 1
    first = own if first_is_own else others.cu_seqlens[first_segment] // TILE
    last = own if last_is_own else (others.cu_seqlens[last_segment + 1] - 1) // TILE
    every = torch.arange(-(-other_length // TILE), device=device, dtype=starts.dtype)
    tiles = (first[:, None] + every).clamp(max=len(every) - 1)
    return (last - first + 1).to(torch.int32), tiles.to(torch.int32)
