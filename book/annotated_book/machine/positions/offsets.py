"""Offsets in a trained model: sentences moved to later positions, and attention scores from positions alone."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from annotated.model import MultiHeadAttention, Transformer, sinusoidal_encoding


class MovedPositions(nn.Module):
    """Sinusoids for a text that starts at a later position than 0; or zeros, for one that has no positions."""

    def __init__(self, d_model: int, start: int | None) -> None:
        super().__init__()
        self.d_model, self.start = d_model, start

    def forward(self, length: int) -> Tensor:
        """`[length, D]`: the encodings of positions start..start + length - 1."""
        if self.start is None:
            return torch.zeros(length, self.d_model)
        return sinusoidal_encoding(self.start + length, self.d_model)[self.start :]


@contextmanager
def moved(model: Transformer, start: int | None) -> Iterator[Transformer]:
    """The model, for a while, with every source and target starting at position `start`; None for no positions."""
    if start is not None and start < 0:
        raise ValueError(f"positions start at 0 or later, not at {start}")
    own: nn.Module = model.positions
    model.positions = MovedPositions(model.config.d_model, start)  # type: ignore[assignment]
    try:
        yield model
    finally:
        model.positions = own  # type: ignore[assignment]


@torch.no_grad()
def position_scores(attention: MultiHeadAttention, length: int) -> Tensor:
    """The scores of each head between positions alone, as if words added nothing: `[H, length, length]`.

    Queries and keys are the sinusoids themselves, so this is exact for the part of a first layer's scores that stems
    from places only. The mean of each row is taken off, for a softmax does not see it.
    """
    heads, d_k = attention.num_heads, attention.d_k
    places = sinusoidal_encoding(length, attention.d_model).to(attention.in_projection)
    w_q, w_k = attention.in_projection[: 2 * heads * d_k].chunk(2)
    q, k = ((places @ w.T).unflatten(1, (heads, d_k)).transpose(0, 1) for w in (w_q, w_k))
    scores = q @ k.transpose(-2, -1) / math.sqrt(d_k)
    return scores - scores.mean(dim=-1, keepdim=True)


def explained_by_offset(scores: Tensor) -> Tensor:
    """Share of the squares of `[..., n, n]` scores that their mean for each offset explains; 1 if only it matters."""
    n = scores.size(-1)
    fit = torch.zeros_like(scores)
    for offset in range(1 - n, n):
        mean = scores.diagonal(offset, -2, -1).mean(-1, keepdim=True)
        fit.diagonal(offset, -2, -1).copy_(mean.expand_as(fit.diagonal(offset, -2, -1)))
    return 1 - (scores - fit).square().sum((-2, -1)) / scores.square().sum((-2, -1))
