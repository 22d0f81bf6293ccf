"""Scaled dot-product attention and multi-head attention.

A layer projects, and an `attend` object mixes: `MultiHeadAttention` makes queries, keys and values, and the object that
it is given turns them into outputs. `Masked` and `Recorded` are here; `annotated.speed.layouts` has others.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from annotated.checked import require_sizes
from annotated.speed.kernels.few_rows import Linear, linear
from annotated.speed.kernels.fused import fused_attention, require_boolean

Attend = Callable[..., Tensor]
"""Returns the outputs `[..., H, d_v]` for queries and keys `[..., H, K]` and values `[..., H, d_v]`.

The leading axes are `[B, T]` with padding, and `[N]` in rows without padding.
"""


def scaled_dot_product_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, dropout: float = 0.0
) -> tuple[Tensor, Tensor]:
    """Attention as equation 1 writes it: softmax(Q K^T / sqrt(d_k)) V.

    Parameters
    ----------
    q
        Queries, `[..., T, K]`.
    k, v
        Keys `[..., S, K]` and values `[..., S, d_v]`.
    mask
        Boolean, broadcastable to `[..., T, S]`; True where a query may attend to a key, as in PyTorch's function of
        this name. In `torch.nn.MultiheadAttention` True has the opposite meaning: the key is hidden. A query that may
        attend to no key gets zero weights and a zero output.
    dropout
        Probability of dropping a weight on its way to the output; the weights returned are not dropped.

    Returns
    -------
    output, weights
        `[..., T, d_v]` and `[..., T, S]`; each row of weights sums to one, or to zero if nothing may
        be attended to.

    Raises
    ------
    TypeError
        If the mask is not Boolean.

    Paper: section 3.2.1, equation 1, figure 2
    """
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is None:
        weights = scores.softmax(dim=-1)
    else:
        require_boolean(mask)
        empty = ~mask.any(dim=-1, keepdim=True)
        # An empty row is left unmasked until after the softmax: minus infinity throughout would give NaN.
        weights = scores.masked_fill(~(mask | empty), -math.inf).softmax(dim=-1)
        weights = weights.masked_fill(empty, 0.0)
    return F.dropout(weights, dropout, training=dropout > 0) @ v, weights


@dataclass(frozen=True)
class Masked:
    """Attention of every head under one mask: equation 1, from PyTorch's fused kernel, which stores no weights.

    Paper: section 3.2.3
    """

    mask: Tensor | None = None
    """Boolean, broadcastable to `[B, H, T, S]`, True where a query may attend to a key; None hides nothing.

    In `torch.nn.MultiheadAttention` True has the opposite meaning: the key is hidden."""
    dropout: float = 0.0
    """On the weights; the paper has none."""

    def __call__(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """`[B, T, H, K]`, `[B, S, H, K]`, `[B, S, H, d_v]` to `[B, T, H, d_v]`."""
        q, k, v = (x.transpose(1, 2) for x in (q, k, v))  # [B, T, H, K] -> [B, H, T, K]
        return self.mix(q, k, v).transpose(1, 2)

    def mix(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Attend with the heads in front: `[B, H, T, K]`, `[B, H, S, K]` and `[B, H, S, d_v]` give `[B, H, T, d_v]`."""
        return fused_attention(q, k, v, self.mask, dropout=self.dropout)


@dataclass(frozen=True)
class Recorded(Masked):
    """`Masked` as equation 1 is written, which keeps the weights of every call."""

    weights: list[Tensor] = field(default_factory=list)
    """`[B, H, T, S]` of each call, in order, before dropout."""

    def mix(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """`[B, H, T, K]`, `[B, H, S, K]`, `[B, H, S, d_v]` to `[B, H, T, d_v]`."""
        output, weights = scaled_dot_product_attention(q, k, v, self.mask, self.dropout)
        self.weights.append(weights)
        return output


EVERY_KEY = Masked()


class MultiHeadAttention(nn.Module):
    """h attentions over projections of the same queries, keys and values, concatenated and projected.

    W_Q, W_K and W_V of all heads live in one matrix, so that self-attention needs one product instead of
    3h. `w_q`, `w_k` and `w_v` are views of its rows: the paper's matrices of all heads, each transposed, one below
    the other.

    Device and dtype are chosen as for any module: `with torch.device("cuda"):` around the call, or `.to(...)` after it.

    Parameters
    ----------
    d_model
        D, width of inputs and output.
    num_heads
        Number of heads, H.
    d_k, d_v
        Width of one head's queries and keys, and of its values; None for d_model / num_heads.
    bias
        Add biases to the four projections; the paper has none.

    Raises
    ------
    ValueError
        If a width or the number of heads is below 1, or if d_k or d_v is None and num_heads does not divide d_model.

    Paper: section 3.2.2, figure 2
    """

    def __init__(
        self, d_model: int, num_heads: int, d_k: int | None = None, d_v: int | None = None, *, bias: bool = False
    ) -> None:
        super().__init__()
        require_sizes(d_model=d_model, num_heads=num_heads, d_k=d_k, d_v=d_v)
        if (d_k is None or d_v is None) and d_model % num_heads:
            raise ValueError(f"{num_heads} heads do not divide d_model {d_model}: give d_k and d_v")
        self.d_model, self.num_heads = d_model, num_heads
        self.d_k = d_k or d_model // num_heads
        self.d_v = d_v or d_model // num_heads
        self.widths = (num_heads * self.d_k, num_heads * self.d_k, num_heads * self.d_v)
        self.in_projection = nn.Parameter(torch.empty(sum(self.widths), d_model))
        self.in_bias = nn.Parameter(torch.zeros(sum(self.widths))) if bias else None
        self.out_projection = Linear(num_heads * self.d_v, d_model, bias=bias)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Glorot-uniform matrices, each of W_Q, W_K, W_V on its own fan-out, and zero biases.

        The paper does not give its initialisation. The released code is Glorot-uniform, too, but until November 2017 it
        drew the three of a self-attention as one matrix; in the base model its bound is smaller by the root of 2.
        """
        for matrix in (self.w_q, self.w_k, self.w_v, self.out_projection.weight):
            nn.init.xavier_uniform_(matrix)
        for vector in (self.in_bias, self.out_projection.bias):
            if vector is not None:
                nn.init.zeros_(vector)

    @property
    def w_q(self) -> Tensor:
        """W_Q of all heads, `[H * K, D]`."""
        return self.in_projection.split(self.widths)[0]

    @property
    def w_k(self) -> Tensor:
        """W_K of all heads, `[H * K, D]`."""
        return self.in_projection.split(self.widths)[1]

    @property
    def w_v(self) -> Tensor:
        """W_V of all heads, `[H * d_v, D]`."""
        return self.in_projection.split(self.widths)[2]

    def forward(
        self, query: Tensor, key: Tensor | None, value: Tensor | None, attend: Attend | Tensor = EVERY_KEY
    ) -> Tensor:
        """MultiHead(Q, K, V).

        Parameters
        ----------
        query, key, value
            `[B, T, D]`, `[B, S, D]`, `[B, S, D]`, or any other layout `[..., D]` that `attend` is made for; key and
            value are None if it holds the keys and values of all heads already.
        attend
            Mixes the values: `Masked(mask)`, `Recorded(mask)`; left out, every query sees every key. A mask alone
            stands for `Masked(mask)`.

        Returns
        -------
        Tensor
            Like `query`.

        Raises
        ------
        TypeError
            If a mask is not Boolean.
        """
        if isinstance(attend, Tensor):
            attend = Masked(attend)
        q, k, v = self.project(query, key, value)
        return self.out_projection(self._join_heads(attend(q, k, v)))

    def project(self, query: Any, key: Any, value: Any) -> tuple[Any, Any, Any]:
        """Queries, keys and values of all heads, `[..., H, K]`; None of what is None.

        What reads the same sequence is one product: all three in self-attention, keys and values of a memory.
        """
        if query is key and key is value:
            q, k, v = linear(query, self.in_projection, self.in_bias).split(self.widths, dim=-1)
            return self._split_heads(q), self._split_heads(k), self._split_heads(v)
        width, bias = self.widths[0], self.in_bias
        if key is None:
            q = linear(query, self.in_projection[:width], None if bias is None else bias[:width])
            return self._split_heads(q), None, None
        # Splitting once keeps the gradient of the shared matrix a single concatenation.
        sizes = width, self.widths[1] + self.widths[2]
        w_q, w_kv = self.in_projection.split(sizes)
        b_q, b_kv = (None, None) if bias is None else bias.split(sizes)
        q = None if query is None else self._split_heads(linear(query, w_q, b_q))
        k, v = linear(key, w_kv, b_kv).split(self.widths[1:], dim=-1)
        if value is not key:
            v = linear(value, w_kv, b_kv).split(self.widths[1:], dim=-1)[1]
        return q, self._split_heads(k), self._split_heads(v)

    def _split_heads(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.num_heads, -1))  # [..., H * K] -> [..., H, K]

    def _join_heads(self, x: Tensor) -> Tensor:
        return x.flatten(-2)  # Concat(head_1, ..., head_h): [..., H, K] -> [..., H * K]
