"""Grouped queries (GQA): several heads of queries share one head of keys and values."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from annotated.config import ModelConfig
from annotated.model import MultiHeadAttention, Transformer
from annotated_book.results.since_2017.swaps import shape

KEY_HEADS = 2


class GroupedQueryAttention(MultiHeadAttention):
    """Multi-head attention with `key_heads` heads of keys and values; d_k and d_v must be equal.

    Each is repeated for its group of query heads after the projection, so that every path of the library takes it. A
    server keeps the few heads as they are: its cache is smaller by num_heads / key_heads.
    """

    def __init__(self, *, key_heads: int = KEY_HEADS, **shape: Any) -> None:
        super().__init__(**shape)
        if self.d_k != self.d_v or self.num_heads % key_heads:
            raise ValueError(f"{key_heads} key heads must divide {self.num_heads}, and d_k and d_v must be equal")
        self.widths = (self.num_heads * self.d_k, key_heads * self.d_k, key_heads * self.d_v)
        self.in_projection = nn.Parameter(torch.empty(sum(self.widths), self.d_model))
        self.in_bias = None if self.in_bias is None else nn.Parameter(torch.zeros(sum(self.widths)))
        self.reset_parameters()

    def _split_heads(self, x: Tensor) -> Tensor:
        heads = x.unflatten(-1, (-1, self.d_k))  # as many as the projection is wide
        return heads.repeat_interleave(self.num_heads // heads.size(-2), dim=-2)


class GroupedQueryTransformer(Transformer):
    """A `Transformer` with grouped queries in both attentions of the decoder, whose keys and values are cached."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        decoder: Any = self.decoder.layers
        for layer in decoder:
            layer.self_attention = GroupedQueryAttention(**shape(config))
            layer.cross_attention = GroupedQueryAttention(**shape(config))
