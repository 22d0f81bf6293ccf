"""The encoder-decoder of 2026: all parts that go together, in one model, and its training."""

from __future__ import annotations

from typing import Any

from torch.optim import Optimizer

from annotated.config import ModelConfig, TrainingConfig
from annotated.model import Transformer
from annotated_book.results.since_2017.biases import NoBiasTransformer
from annotated_book.results.since_2017.decay import WEIGHT_DECAY
from annotated_book.results.since_2017.grouped_queries import GroupedQueryAttention
from annotated_book.results.since_2017.muon import muon
from annotated_book.results.since_2017.qk_norm import QKNormAttention
from annotated_book.results.since_2017.rms_norm import RMSNormTransformer
from annotated_book.results.since_2017.rotary import RotaryAttention, RotaryTransformer
from annotated_book.results.since_2017.swaps import layers, shape
from annotated_book.results.since_2017.swiglu import SwiGLUTransformer


class EncoderSelf(RotaryAttention, QKNormAttention):
    """The encoder's attention: normalised, then turned."""


class DecoderSelf(RotaryAttention, QKNormAttention, GroupedQueryAttention):
    """The decoder's attention to itself: grouped, normalised, then turned."""


class Cross(QKNormAttention, GroupedQueryAttention):
    """The decoder's attention to the encoder: places of two texts have no offset, so nothing is turned."""


class Transformer2026(NoBiasTransformer, RMSNormTransformer, SwiGLUTransformer, RotaryTransformer):
    """Pre-norm, RMSNorm, SwiGLU, RoPE, QK-norm, grouped queries in the decoder, and no biases."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config.replace(norm="pre"))
        sizes: dict[str, Any] = shape(config)
        for layer in layers(self):
            if hasattr(layer, "cross_attention"):
                layer.self_attention = DecoderSelf(places=self.places, **sizes)
                layer.cross_attention = Cross(**sizes)
            else:
                layer.self_attention = EncoderSelf(places=self.places, **sizes)


def muon_with_decay(model: Transformer, training: TrainingConfig) -> Optimizer:
    """Muon for the hidden matrices and AdamW for all else, both with the decay of AdamW."""
    return muon(model, training, weight_decay=WEIGHT_DECAY)
