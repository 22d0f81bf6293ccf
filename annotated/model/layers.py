"""Encoder and decoder layers: sub-layers, each with a residual connection, dropout and LayerNorm."""

from __future__ import annotations

from torch import Tensor, nn

from annotated.config import ModelConfig
from annotated.model.attention import EVERY_KEY, Attend, MultiHeadAttention
from annotated.model.feed_forward import PositionwiseFeedForward
from annotated.speed.kernels.dropout import Dropout
from annotated.speed.kernels.residual import MixedLayerNorm


class SublayerConnection(nn.Module):
    """The residual connection around a sub-layer: `after(x, sublayer(before(x)))`.

    As printed (post-norm), LayerNorm(x + Dropout(Sublayer(x))). As later released (pre-norm),
    x + Dropout(Sublayer(LayerNorm(x))). There is no `forward`: the sub-layers take different inputs, so a layer calls
    them itself between `before` and `after`.

    Paper: sections 3.1, 5.4
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.norm = MixedLayerNorm(config.d_model, eps=config.norm_epsilon)
        self.dropout = Dropout(config.dropout)
        self.pre = config.norm == "pre"

    def before(self, x: Tensor) -> Tensor:
        """What the sub-layer reads, `[..., D]`."""
        return self.norm(x) if self.pre else x

    def after(self, x: Tensor, y: Tensor) -> Tensor:
        """What the next sub-layer gets, from the input x and the sub-layer's output y, `[..., D]`."""
        total = self.dropout.add(x, y)
        return total if self.pre else self.norm(total)


def _attention(config: ModelConfig) -> MultiHeadAttention:
    return MultiHeadAttention(config.d_model, config.num_heads, config.d_k, config.d_v, bias=config.attention_bias)


def _feed_forward(config: ModelConfig) -> PositionwiseFeedForward:
    return PositionwiseFeedForward(config.d_model, config.d_ff, config.feed_forward_dropout)


class EncoderLayer(nn.Module):
    """Self-attention, then the feed-forward network.

    Paper: section 3.1, figure 1 (left)
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.self_attention = _attention(config)
        self.self_attention_residual = SublayerConnection(config)
        self.feed_forward = _feed_forward(config)
        self.feed_forward_residual = SublayerConnection(config)

    def forward(self, x: Tensor, attend: Attend = EVERY_KEY) -> Tensor:
        """`[B, S, D]`, or another layout that `attend` is made for, to the same."""
        y = self.self_attention_residual.before(x)
        x = self.self_attention_residual.after(x, self.self_attention(y, y, y, attend))
        y = self.feed_forward_residual.before(x)
        return self.feed_forward_residual.after(x, self.feed_forward(y))


class DecoderLayer(nn.Module):
    """Masked self-attention, attention to the encoder's output, then the feed-forward network.

    Paper: section 3.1, figure 1 (right)
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.self_attention = _attention(config)
        self.self_attention_residual = SublayerConnection(config)
        self.cross_attention = _attention(config)
        self.cross_attention_residual = SublayerConnection(config)
        self.feed_forward = _feed_forward(config)
        self.feed_forward_residual = SublayerConnection(config)

    def forward(
        self, x: Tensor, memory: Tensor | None, attend: Attend = EVERY_KEY, attend_memory: Attend = EVERY_KEY
    ) -> Tensor:
        """`[B, T, D]`, or another layout, to the same.

        Parameters
        ----------
        memory
            The encoder's output, `[B, S, D]`; None if `attend_memory` holds its keys and values.
        attend, attend_memory
            Mix the values of the decoder's own positions, and of the memory's.
        """
        y = self.self_attention_residual.before(x)
        x = self.self_attention_residual.after(x, self.self_attention(y, y, y, attend))
        y = self.cross_attention_residual.before(x)
        x = self.cross_attention_residual.after(x, self.cross_attention(y, memory, memory, attend_memory))
        y = self.feed_forward_residual.before(x)
        return self.feed_forward_residual.after(x, self.feed_forward(y))


class Encoder(nn.Module):
    """A stack of N encoder layers; with pre-norm, one more LayerNorm at the top.

    Paper: section 3.1, figure 1 (left)
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.num_encoder_layers))
        self.final_norm = _final_norm(config)

    def forward(self, x: Tensor, attend: Attend = EVERY_KEY) -> Tensor:
        """The memory, shaped like x; `attend` mixes the values in every layer."""
        for layer in self.layers:
            x = layer(x, attend)
        return self.final_norm(x)


class Decoder(nn.Module):
    """A stack of N decoder layers; with pre-norm, one more LayerNorm at the top.

    Paper: section 3.1, figure 1 (right)
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(DecoderLayer(config) for _ in range(config.num_decoder_layers))
        self.final_norm = _final_norm(config)

    def forward(
        self, x: Tensor, memory: Tensor | None, attend: Attend = EVERY_KEY, attend_memory: Attend = EVERY_KEY
    ) -> Tensor:
        """What the projection to the vocabulary reads, shaped like x; the arguments are those of `DecoderLayer`."""
        for layer in self.layers:
            x = layer(x, memory, attend, attend_memory)
        return self.final_norm(x)


def _final_norm(config: ModelConfig) -> nn.Module:
    # Post-norm layers end in a LayerNorm already; a pre-norm stack would hand on an unnormalised sum.
    wanted = config.norm == "pre" or config.final_norm
    return MixedLayerNorm(config.d_model, eps=config.norm_epsilon) if wanted else nn.Identity()
