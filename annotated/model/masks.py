"""Masks: boolean, True = may attend, broadcastable to `[B, H, queries, keys]`; built here and nowhere else."""

from __future__ import annotations

import torch
from torch import Tensor

from annotated.config import PAD


def padding_mask(ids: Tensor, pad_id: int = PAD) -> Tensor:
    """Keys that are real tokens.

    Parameters
    ----------
    ids
        Token ids, `[B, S]`.

    Returns
    -------
    Tensor
        Boolean `[B, 1, 1, S]`

    Paper: section 3.2.3
    """
    return (ids != pad_id)[:, None, None, :]


def causal_mask(length: int, device: torch.device | str | None = None) -> Tensor:
    """Keys at or before the query's own position: the sequence mask of the decoder.

    Returns
    -------
    Tensor
        Boolean `[1, 1, T, T]`, lower triangular

    Paper: sections 3.1, 3.2.3
    """
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()[None, None]


def target_mask(ids: Tensor, pad_id: int = PAD) -> Tensor:
    """Keys that are real target tokens and not later than the query: `[B, T]` to `[B, 1, T, T]`.

    Paper: section 3.2.3
    """
    return padding_mask(ids, pad_id) & causal_mask(ids.size(1), ids.device)


def length_mask(lengths: Tensor, width: int) -> Tensor:
    """`padding_mask` of sentences padded on the right, from their lengths `[B]`: boolean `[B, 1, 1, width]`."""
    return (torch.arange(width, device=lengths.device) < lengths[:, None])[:, None, None, :]


def segment_mask(queries: Tensor, keys: Tensor) -> Tensor:
    """Keys of the query's own sentence, where sentences stand in one row: boolean `[1, 1, M, N]`.

    Parameters
    ----------
    queries, keys
        The number of the sentence that each query `[M]` and each key `[N]` belongs to.
    """
    return (queries[:, None] == keys)[None, None]


def order_mask(queries: Tensor, keys: Tensor) -> Tensor:
    """`causal_mask` by positions: keys whose place `[N]` is not after the query's place `[M]`, `[1, 1, M, N]`."""
    return (keys <= queries[:, None])[None, None]
