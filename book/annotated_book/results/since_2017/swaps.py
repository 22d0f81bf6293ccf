"""Swaps of modules in a finished `Transformer`: its layers, and the shape that its attentions are made with."""

from __future__ import annotations

from typing import Any

from annotated.config import ModelConfig
from annotated.model import Transformer


def layers(model: Transformer) -> list[Any]:
    """The layers of both stacks, the encoder's first."""
    encoder: Any = model.encoder.layers
    decoder: Any = model.decoder.layers
    return [*encoder, *decoder]


def shape(config: ModelConfig) -> dict[str, Any]:
    """What `MultiHeadAttention` is made with."""
    return {
        "d_model": config.d_model,
        "num_heads": config.num_heads,
        "d_k": config.d_k,
        "d_v": config.d_v,
        "bias": config.attention_bias,
    }
