"""Masks: boolean, True = may attend, broadcastable to `[B, H, queries, keys]`; built here and nowhere else.

Paper: sections 3.2.3, 3.1
"""

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
