"""Scaled dot-product attention and multi-head attention.

Paper: sections 3.2, 3.2.1, 3.2.2, 3.2.3; figure 2; equation 1
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from annotated.model.cache import AttentionCache
from annotated.model.packing import Packing
from annotated.model.static_rows import StaticRows, has_varlen_kernel, segment_attention

Layout = Callable[[Tensor], Tensor]


def _as_is(x: Tensor) -> Tensor:
    return x


# Releases before 2.5 return NaN for a query that may attend to nothing.
_CPU_ZEROES_EMPTY_ROWS = tuple(int(n) for n in torch.__version__.split(".")[:2]) >= (2, 5)


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
        Boolean, broadcastable to `[..., T, S]`; True where a query may attend to a key. A query that
        may attend to nothing gets zero weights and a zero output.
    dropout
        Probability of dropping a weight on its way to the output; the weights returned are not dropped.

    Returns
    -------
    output, weights
        `[..., T, d_v]` and `[..., T, S]`; each row of weights sums to one, or to zero if nothing may
        be attended to.

    Paper: section 3.2.1, equation 1, figure 2
    """
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is None:
        weights = scores.softmax(dim=-1)
    else:
        empty = ~mask.any(dim=-1, keepdim=True)
        # An empty row is left unmasked until after the softmax: minus infinity throughout would give NaN.
        weights = scores.masked_fill(~(mask | empty), -math.inf).softmax(dim=-1)
        weights = weights.masked_fill(empty, 0.0)
    return F.dropout(weights, dropout, training=dropout > 0) @ v, weights


def fused_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, causal: bool = False, dropout: float = 0.0
) -> Tensor:
    """The output of `scaled_dot_product_attention` from PyTorch's fused kernel, without the weights.

    Parameters
    ----------
    q, k, v, mask, dropout
        As in `scaled_dot_product_attention`, with four dimensions `[B, H, T, K]`.
    causal
        True lets query t see keys 0..t only; cheaper than the mask that says the same.

    Returns
    -------
    Tensor
        `[B, H, T, d_v]`

    Paper: section 3.2.1, equation 1
    """
    if mask is None or causal:
        return F.scaled_dot_product_attention(q, k, v, is_causal=causal, dropout_p=dropout)
    if _CPU_ZEROES_EMPTY_ROWS and q.device.type == "cpu":
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=dropout)
    empty = ~mask.any(dim=-1, keepdim=True)  # left unmasked for the kernel: else NaN, also in the gradient
    output = F.scaled_dot_product_attention(q, k, v, attn_mask=mask | empty, dropout_p=dropout)
    return output.masked_fill(empty, 0.0)


def _packed_attention(q: Tensor, k: Tensor, v: Tensor, packing: Packing, dropout: float) -> Tensor:
    """`fused_attention` of unpacked rows; where it is a static layout on a GPU, the kernel made for that."""
    queries, keys = packing.queries, packing.keys
    if not (isinstance(queries, StaticRows) and isinstance(keys, StaticRows)):
        return fused_attention(q, k, v, packing.mask, packing.causal, dropout)
    if has_varlen_kernel(q.device, q.dtype, q.size(-1), v.size(-1)) and dropout == 0:
        return segment_attention(q, k, v, queries, keys, packing.causal)
    return fused_attention(q, k, v, packing.mask, dropout=dropout)  # this mask knows the order too


class MultiHeadAttention(nn.Module):
    """h attentions over projections of the same queries, keys and values, concatenated and projected.

    W_Q, W_K and W_V of all heads live in one matrix, so that self-attention needs one product instead of
    3h; `w_q`, `w_k` and `w_v` are the paper's matrices, as views of it.

    Parameters
    ----------
    d_model
        D, width of inputs and output.
    num_heads
        H.
    d_k, d_v
        Width of one head's queries and keys, and of its values; None for d_model / num_heads.
    dropout
        On the attention weights while training; the paper has none.
    bias
        Add biases to the four projections; the paper has none.

    Raises
    ------
    ValueError
        If d_k or d_v is None and num_heads does not divide d_model.

    Paper: section 3.2.2, figure 2
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_k: int | None = None,
        d_v: int | None = None,
        *,
        dropout: float = 0.0,
        bias: bool = False,
    ) -> None:
        super().__init__()
        if (d_k is None or d_v is None) and d_model % num_heads:
            raise ValueError(f"{num_heads} heads do not divide d_model {d_model}: give d_k and d_v")
        self.d_model, self.num_heads, self.dropout = d_model, num_heads, dropout
        self.d_k = d_k or d_model // num_heads
        self.d_v = d_v or d_model // num_heads
        width_k, width_v = num_heads * self.d_k, num_heads * self.d_v
        self._widths = (width_k, width_k, width_v)
        self.in_projection = nn.Parameter(torch.empty(sum(self._widths), d_model))
        self.in_bias = nn.Parameter(torch.zeros(sum(self._widths))) if bias else None
        self.out_projection = nn.Linear(width_v, d_model, bias=bias)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Glorot-uniform matrices, each of W_Q, W_K, W_V on its own fan-out, and zero biases.

        The paper does not give its initialisation; this is the one of its released code.
        """
        for matrix in (*self.in_projection.split(self._widths), self.out_projection.weight):
            nn.init.xavier_uniform_(matrix)
        for vector in (self.in_bias, self.out_projection.bias):
            if vector is not None:
                nn.init.zeros_(vector)

    @property
    def w_q(self) -> Tensor:
        """W_Q of all heads, `[H * K, D]`."""
        return self.in_projection.split(self._widths)[0]

    @property
    def w_k(self) -> Tensor:
        """W_K of all heads, `[H * K, D]`."""
        return self.in_projection.split(self._widths)[1]

    @property
    def w_v(self) -> Tensor:
        """W_V of all heads, `[H * d_v, D]`."""
        return self.in_projection.split(self._widths)[2]

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | Packing | None = None,
        *,
        return_weights: bool = False,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """MultiHead(Q, K, V).

        Parameters
        ----------
        query, key, value
            `[B, T, D]`, `[B, S, D]`, `[B, S, D]`; or, with a `Packing`, rows of real tokens `[N, D]`.
        mask
            Boolean, broadcastable to `[B, H, T, S]`, True where attention is allowed; a `Packing`,
            which knows where sentences begin and end; or None.
        return_weights
            Return the weights too (not with a `Packing`); this takes the path written out as equation 1.

        Returns
        -------
        output or (output, weights)
            Like `query`; and `[B, H, T, S]`, before dropout.
        """
        dropout = self.dropout if self.training else 0.0
        if isinstance(mask, Packing):
            q, k, v = self._project(query, key, value, mask.queries.unpack, mask.keys.unpack)
            output = _packed_attention(q, k, v, mask, dropout)
            return self.out_projection(mask.queries.pack(self._join_heads(output)))
        q, k, v = self._project(query, key, value)
        if not return_weights:
            return self.out_projection(self._join_heads(fused_attention(q, k, v, mask, dropout=dropout)))
        output, weights = scaled_dot_product_attention(q, k, v, mask, dropout)
        return self.out_projection(self._join_heads(output)), weights

    def project_memory(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values of a memory `[B, S, D]` as `[B, H, S, K]` and `[B, H, S, d_v]`, once a sentence."""
        _, width_k, width_v = self._widths
        keys, values = self._linear(memory, 1, 3).split((width_k, width_v), dim=-1)
        return self._split_heads(keys).contiguous(), self._split_heads(values).contiguous()

    def step_self(self, x: Tensor, cache: AttentionCache) -> Tensor:
        """Self-attention for one new position `[R, D]` of each row; its key and value join the cache."""
        q, k, v = self._linear(x, 0, 3).split(self._widths, dim=-1)
        q, k, v = (part.unflatten(-1, (self.num_heads, 1, -1)) for part in (q, k, v))
        keys, values = cache.append(k, v)
        return self.out_projection(fused_attention(q, keys, values).flatten(1))

    def step_cross(self, x: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> Tensor:
        """Attention of one new position `[R, D]` to the memory's keys and values `[B, H, S, K]`.

        The R / B hypotheses of a sentence ask as so many query positions of that sentence, so the
        memory's keys and values are never copied for each hypothesis.
        """
        q = self._linear(x, 0, 1).view(keys.size(0), -1, self.num_heads, self.d_k).transpose(1, 2)
        return self.out_projection(fused_attention(q, keys, values, mask).transpose(1, 2).reshape(len(x), -1))

    def _linear(self, x: Tensor, first: int, last: int) -> Tensor:
        """Apply some of W_Q, W_K, W_V (numbered 0 to 2) at once."""
        start, stop = sum(self._widths[:first]), sum(self._widths[:last])
        bias = None if self.in_bias is None else self.in_bias[start:stop]
        return F.linear(x, self.in_projection[start:stop], bias)

    def _project(
        self, query: Tensor, key: Tensor, value: Tensor, lay_out_queries: Layout = _as_is, lay_out_keys: Layout = _as_is
    ) -> tuple[Tensor, ...]:
        """Queries, keys and values of all heads, `[B, H, T, K]`, from as few products as the inputs allow."""
        width_q, width_k, width_v = self._widths
        if query is key and key is value:
            together = lay_out_queries(F.linear(query, self.in_projection, self.in_bias))
            return tuple(map(self._split_heads, together.split(self._widths, dim=-1)))
        if key is value:
            # Splitting once keeps the gradient of the shared matrix a single concatenation.
            weights = self.in_projection.split((width_q, width_k + width_v))
            biases = (None, None) if self.in_bias is None else self.in_bias.split((width_q, width_k + width_v))
            q = lay_out_queries(F.linear(query, weights[0], biases[0]))
            k, v = lay_out_keys(F.linear(key, weights[1], biases[1])).split((width_k, width_v), dim=-1)
        else:
            q = lay_out_queries(self._linear(query, 0, 1))
            k, v = lay_out_keys(self._linear(key, 1, 2)), lay_out_keys(self._linear(value, 2, 3))
        return self._split_heads(q), self._split_heads(k), self._split_heads(v)

    def _split_heads(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)  # [B, T, H * K] -> [B, H, T, K]

    def _join_heads(self, x: Tensor) -> Tensor:
        return x.transpose(1, 2).flatten(2)  # [B, H, T, K] -> [B, T, H * K]
