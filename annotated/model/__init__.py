"""The model. Read attention, then masks, feed_forward, embeddings, positional_encoding, layers, transformer.

Paper: section 3
"""

from annotated.model.attention import MultiHeadAttention, fused_attention, scaled_dot_product_attention
from annotated.model.cache import AttentionCache, DecoderState, LayerState
from annotated.model.dropout import Dropout
from annotated.model.embeddings import TokenEmbedding
from annotated.model.feed_forward import PositionwiseFeedForward
from annotated.model.layers import Decoder, DecoderLayer, Encoder, EncoderLayer, Residual
from annotated.model.masks import causal_mask, padding_mask, target_mask
from annotated.model.packing import PackedRows, Packing
from annotated.model.positional_encoding import LearnedPositions, SinusoidalPositions, sinusoidal_encoding
from annotated.model.static_rows import StaticRows
from annotated.model.transformer import AttentionMaps, Transformer

__all__ = [
    "AttentionCache",
    "AttentionMaps",
    "Decoder",
    "DecoderLayer",
    "DecoderState",
    "Dropout",
    "Encoder",
    "EncoderLayer",
    "LayerState",
    "LearnedPositions",
    "MultiHeadAttention",
    "PackedRows",
    "Packing",
    "PositionwiseFeedForward",
    "Residual",
    "SinusoidalPositions",
    "StaticRows",
    "TokenEmbedding",
    "Transformer",
    "causal_mask",
    "fused_attention",
    "padding_mask",
    "scaled_dot_product_attention",
    "sinusoidal_encoding",
    "target_mask",
]
