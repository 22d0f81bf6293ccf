"""The model. Read attention, then masks, feed_forward, embeddings, positional_encoding, layers, transformer.

What speed needs is in `annotated.speed`, and may stay closed at first: the layers take some operations from its
`kernels`, and `start_state` the cache from its `layouts`.
"""

from annotated.model.attention import Masked, MultiHeadAttention, Recorded, scaled_dot_product_attention
from annotated.model.embeddings import TokenEmbedding
from annotated.model.feed_forward import PositionwiseFeedForward
from annotated.model.layers import Decoder, DecoderLayer, Encoder, EncoderLayer, SublayerConnection
from annotated.model.masks import causal_mask, padding_mask, target_mask
from annotated.model.positional_encoding import LearnedPositions, SinusoidalPositions, sinusoidal_encoding
from annotated.model.transformer import AttentionMaps, Transformer
from annotated.speed.kernels.dropout import Dropout
from annotated.speed.kernels.fused import fused_attention

__all__ = [
    "AttentionMaps",
    "Decoder",
    "DecoderLayer",
    "Dropout",
    "Encoder",
    "EncoderLayer",
    "LearnedPositions",
    "Masked",
    "MultiHeadAttention",
    "PositionwiseFeedForward",
    "Recorded",
    "SinusoidalPositions",
    "SublayerConnection",
    "TokenEmbedding",
    "Transformer",
    "causal_mask",
    "fused_attention",
    "padding_mask",
    "scaled_dot_product_attention",
    "sinusoidal_encoding",
    "target_mask",
]
