"""Rotary positions (RoPE): queries and keys are turned by angles that grow with their places; nothing is added."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from annotated.config import ModelConfig
from annotated.model import MultiHeadAttention, SinusoidalPositions, Transformer
from annotated_book.results.since_2017.swaps import layers, shape


def turned(x: Tensor, table: Tensor) -> Tensor:
    """Each pair of numbers of x `[..., H, K]` turned by its angle, whose sines and cosines alternate in `[..., K]`."""
    sin, cos = table.unsqueeze(-2).unflatten(-1, (-1, 2)).unbind(-1)  # one angle for all heads: [..., 1, K / 2]
    a, b = x.unflatten(-1, (-1, 2)).unbind(-1)
    return torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten(-2)


class Places:
    """The sines and cosines of the tokens that are being read, `[..., K]`, for all layers at once."""

    table: Tensor


class RotaryAttention(MultiHeadAttention):
    """Self-attention whose scores see places as offsets only.

    Paper: section 3.5 (RoPE, which has replaced it)
    """

    def __init__(self, *, places: Places, **shape: Any) -> None:
        super().__init__(**shape)
        self.places = places

    def project(self, query: Any, key: Any, value: Any) -> tuple[Any, Any, Any]:
        """Queries and keys `[..., H, K]`, turned, and values as they are."""
        q, k, v = super().project(query, key, value)
        return turned(q, self.places.table), turned(k, self.places.table), v


class RotaryTransformer(Transformer):
    """A `Transformer` with rotary positions in both self-attentions, and none in cross-attention."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.positions = SinusoidalPositions(config.d_k)  # the same waves, of the width of a head
        self.places = Places()
        for layer in layers(self):
            layer.self_attention = RotaryAttention(places=self.places, **shape(config))

    def embed(self, ids: Tensor, positions: Tensor | None = None, *, target: bool = False) -> Tensor:
        """Token vectors alone, `[..., D]`: every path asks here first, and says which places it reads."""
        self.places.table = self.positions(ids.size(1)) if positions is None else positions
        return self.dropout(self._table(target)(ids))
