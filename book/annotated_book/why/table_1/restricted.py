"""Restricted self-attention: each position attends to its neighbourhood only."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class RestrictedSelfAttention(nn.Module):
    """Each position attends to the r positions centred on it, or to the last r up to itself, and to no other.

    A mask would give the same weights and save nothing: all n^2 scores would be computed, and most thrown away. Here
    each query meets its own r keys only, so the work is r n d.

    Parameters
    ----------
    d_model
        Width of the vectors, D.
    num_heads
        H; divides `d_model`.
    size
        r; odd unless causal.
    causal
        Look back only, as a decoder must.

    Raises
    ------
    ValueError
        If the neighbourhood has no middle, or the heads do not divide the width.

    Paper: section 4, Table 1
    """

    def __init__(self, d_model: int, num_heads: int, size: int, *, causal: bool = False) -> None:
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{num_heads} heads do not divide d_model {d_model}")
        if size < 1 or (size % 2 == 0 and not causal):
            raise ValueError(f"a centred neighbourhood has a middle: r must be odd, not {size}")
        self.num_heads, self.size, self.causal = num_heads, size, causal
        self.in_projection = nn.Linear(d_model, 3 * d_model, bias=False)
        self.out_projection = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x: Tensor, *, return_weights: bool = False) -> Tensor | tuple[Tensor, Tensor]:
        """Attention within the neighbourhood.

        Parameters
        ----------
        x
            `[B, S, D]`
        return_weights
            Return the weights too, `[B, H, S, r]`: zero where the neighbourhood leaves the sequence.

        Returns
        -------
        output or (output, weights)
            `[B, S, D]`
        """
        back = self.size - 1 if self.causal else self.size // 2
        ahead = self.size - 1 - back
        parts = self.in_projection(x).chunk(3, dim=-1)
        q, k, v = (self._split_heads(part) for part in parts)
        # A window of keys and values for each query: [B, H, S, K, r].
        k, v = (
            F.pad(part, (0, 0, back, ahead)).unfold(2, self.size, 1)
            for part in (k, v)  # places beyond the ends are zeros, and get no weight
        )
        scores = (q[..., None, :] @ k).squeeze(-2) / math.sqrt(q.size(-1))
        outside = ~_inside(x.size(1), back, ahead, x.device)
        weights = scores.masked_fill(outside, -math.inf).softmax(dim=-1)
        output = (v @ weights[..., None]).squeeze(-1)  # [B, H, S, K]
        output = self.out_projection(output.transpose(1, 2).flatten(2))
        return (output, weights) if return_weights else output

    def _split_heads(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)  # [B, S, H * K] -> [B, H, S, K]


def _inside(length: int, back: int, ahead: int, device: torch.device) -> Tensor:
    """Which places of each position's window lie in the sequence: `[S, r]`."""
    steps = torch.arange(-back, ahead + 1, device=device)
    places = torch.arange(length, device=device)[:, None] + steps
    return (places >= 0) & (places < length)
