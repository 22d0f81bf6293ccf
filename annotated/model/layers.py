"""Encoder and decoder layers: sub-layers, each with a residual connection, dropout and LayerNorm.

Paper: sections 3.1, 5.4; figure 1
"""

from __future__ import annotations

from torch import Tensor, nn

from annotated.config import ModelConfig
from annotated.model.attention import MultiHeadAttention
from annotated.model.cache import LayerState
from annotated.model.dropout import Dropout
from annotated.model.feed_forward import PositionwiseFeedForward
from annotated.model.packing import Packing


class Residual(nn.Module):
    """The residual connection around a sub-layer: `leave(x, sublayer(enter(x)))`.

    As printed (post-norm), LayerNorm(x + Dropout(Sublayer(x))). As later released (pre-norm),
    x + Dropout(Sublayer(LayerNorm(x))).

    Paper: sections 3.1, 5.4
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(config.d_model, eps=config.norm_epsilon)
        self.dropout = Dropout(config.dropout)
        self.pre = config.norm == "pre"

    def enter(self, x: Tensor) -> Tensor:
        """What the sub-layer reads, `[..., D]`."""
        return self.norm(x) if self.pre else x

    def leave(self, x: Tensor, y: Tensor) -> Tensor:
        """What the next sub-layer gets, from the input x and the sub-layer's output y, `[..., D]`."""
        total = self.dropout.add(x, y)
        return total if self.pre else self.norm(total)


def _attention(config: ModelConfig) -> MultiHeadAttention:
    return MultiHeadAttention(
        config.d_model,
        config.num_heads,
        config.d_k,
        config.d_v,
        dropout=config.attention_dropout,
        bias=config.attention_bias,
    )


def _feed_forward(config: ModelConfig) -> PositionwiseFeedForward:
    return PositionwiseFeedForward(config.d_model, config.d_ff, config.feed_forward_dropout)


class EncoderLayer(nn.Module):
    """Self-attention, then the feed-forward network.

    Paper: section 3.1, figure 1 (left)
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.self_attention = _attention(config)
        self.self_attention_residual = Residual(config)
        self.feed_forward = _feed_forward(config)
        self.feed_forward_residual = Residual(config)

    def forward(
        self, x: Tensor, mask: Tensor | Packing | None, return_weights: bool = False
    ) -> tuple[Tensor, Tensor | None]:
        """`[B, S, D]` (or packed rows `[N, D]`) to the same, and the weights `[B, H, S, S]` if asked for."""
        y = self.self_attention_residual.enter(x)
        y, weights = _attend(self.self_attention, y, y, mask, return_weights)
        x = self.self_attention_residual.leave(x, y)
        y = self.feed_forward(self.feed_forward_residual.enter(x))
        return self.feed_forward_residual.leave(x, y), weights


class DecoderLayer(nn.Module):
    """Masked self-attention, attention to the encoder's output, then the feed-forward network.

    Paper: section 3.1, figure 1 (right)
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.self_attention = _attention(config)
        self.self_attention_residual = Residual(config)
        self.cross_attention = _attention(config)
        self.cross_attention_residual = Residual(config)
        self.feed_forward = _feed_forward(config)
        self.feed_forward_residual = Residual(config)

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        mask: Tensor | Packing | None,
        memory_mask: Tensor | Packing | None,
        return_weights: bool = False,
    ) -> tuple[Tensor, Tensor | None, Tensor | None]:
        """`[B, T, D]` (or rows `[N, D]`) to the same; weights `[B, H, T, T]` and `[B, H, T, S]` if asked for."""
        y = self.self_attention_residual.enter(x)
        y, own = _attend(self.self_attention, y, y, mask, return_weights)
        x = self.self_attention_residual.leave(x, y)
        y = self.cross_attention_residual.enter(x)
        y, cross = _attend(self.cross_attention, y, memory, memory_mask, return_weights)
        x = self.cross_attention_residual.leave(x, y)
        y = self.feed_forward(self.feed_forward_residual.enter(x))
        return self.feed_forward_residual.leave(x, y), own, cross

    def step(self, x: Tensor, state: LayerState, source_mask: Tensor | None) -> Tensor:
        """The same for one new position `[R, D]`, with everything before it in the state."""
        y = self.self_attention.step_self(self.self_attention_residual.enter(x), state.own)
        x = self.self_attention_residual.leave(x, y)
        y = self.cross_attention_residual.enter(x)
        y = self.cross_attention.step_cross(y, state.cross_keys, state.cross_values, source_mask)
        x = self.cross_attention_residual.leave(x, y)
        y = self.feed_forward(self.feed_forward_residual.enter(x))
        return self.feed_forward_residual.leave(x, y)


def _attend(
    attention: MultiHeadAttention, x: Tensor, memory: Tensor, mask: Tensor | Packing | None, return_weights: bool
) -> tuple[Tensor, Tensor | None]:
    """Attend from x to memory, with the weights or None in second place."""
    result = attention(x, memory, memory, mask, return_weights=return_weights)
    return result if return_weights else (result, None)


class Encoder(nn.Module):
    """A stack of N encoder layers; with pre-norm, one more LayerNorm at the top.

    Paper: section 3.1, figure 1 (left)
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.num_encoder_layers))
        self.final_norm = _final_norm(config)

    def forward(
        self, x: Tensor, mask: Tensor | Packing | None, return_weights: bool = False
    ) -> tuple[Tensor, list[Tensor]]:
        """The memory, shaped like x, and the layers' weights (an empty list unless asked for)."""
        maps = []
        for layer in self.layers:
            x, weights = layer(x, mask, return_weights)
            maps.append(weights)
        return self.final_norm(x), maps if return_weights else []


class Decoder(nn.Module):
    """A stack of N decoder layers; with pre-norm, one more LayerNorm at the top.

    Paper: section 3.1, figure 1 (right)
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(DecoderLayer(config) for _ in range(config.num_decoder_layers))
        self.final_norm = _final_norm(config)

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        mask: Tensor | Packing | None,
        memory_mask: Tensor | Packing | None,
        return_weights: bool = False,
    ) -> tuple[Tensor, list[Tensor], list[Tensor]]:
        """What the projection to the vocabulary reads, shaped like x, and both kinds of weights if asked for."""
        own_maps, cross_maps = [], []
        for layer in self.layers:
            x, own, cross = layer(x, memory, mask, memory_mask, return_weights)
            own_maps.append(own)
            cross_maps.append(cross)
        return self.final_norm(x), own_maps if return_weights else [], cross_maps if return_weights else []

    def step(self, x: Tensor, states: list[LayerState], source_mask: Tensor | None) -> Tensor:
        """One new position `[R, D]` through all layers."""
        for layer, state in zip(self.layers, states, strict=True):
            x = layer.step(x, state, source_mask)
        return self.final_norm(x)


def _final_norm(config: ModelConfig) -> nn.Module:
    # Post-norm layers end in a LayerNorm already; a pre-norm stack would hand on an unnormalised sum.
    wanted = config.norm == "pre" or config.final_norm
    return nn.LayerNorm(config.d_model, eps=config.norm_epsilon) if wanted else nn.Identity()
