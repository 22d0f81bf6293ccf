"""Attention written out as equation 1, in two parts that a mutant can exchange: the scores, and the weights."""

from __future__ import annotations

import math
from collections.abc import Callable

from torch import Tensor
from torch.nn import functional as F

from annotated.model.attention import scaled_dot_product_attention
from annotated.model.masks import causal_mask
from annotated.speed.kernels.fused import fused_attention
from annotated_grader.doctor.mutants.patching import Patches

Scores = Callable[[Tensor, Tensor], Tensor]
Weights = Callable[[Tensor, Tensor | None], Tensor]


def right_scores(q: Tensor, k: Tensor) -> Tensor:
    """Q K^T / sqrt(d_k), `[..., T, S]`."""
    return q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))


def right_weights(scores: Tensor, mask: Tensor | None) -> Tensor:
    """The softmax over the keys that the mask allows; a query that may see nothing gets zeros."""
    if mask is None:
        return scores.softmax(dim=-1)
    empty = ~mask.any(dim=-1, keepdim=True)
    return scores.masked_fill(~(mask | empty), -math.inf).softmax(dim=-1).masked_fill(empty, 0.0)


def attention_from(patches: Patches, scores: Scores = right_scores, weights: Weights = right_weights) -> None:
    """Let the whole library compute attention from these scores and weights; what is not given is right."""

    def explicit(
        q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, dropout: float = 0.0
    ) -> tuple[Tensor, Tensor]:
        shares = weights(scores(q, k), mask)
        return F.dropout(shares, dropout, training=dropout > 0) @ v, shares

    attention_is(patches, explicit)


def attention_is(patches: Patches, explicit: Callable[..., tuple[Tensor, Tensor]]) -> None:
    """Let the whole library compute attention by this function, which replaces `scaled_dot_product_attention`."""

    def fused(
        q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, causal: bool = False, dropout: float = 0.0
    ) -> Tensor:
        return explicit(q, k, v, causal_mask(q.size(-2), q.device) if causal else mask, dropout)[0]

    patches.function(scaled_dot_product_attention, lambda _: explicit)
    patches.function(fused_attention, lambda _: fused)
