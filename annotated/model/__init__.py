"""The model. Read attention, then masks, feed_forward, embeddings, positional_encoding, layers, transformer.

What speed needs is in `annotated.model.fast`, and may stay closed at first.
"""

from annotated.model.attention import Masked, MultiHeadAttention, Recorded, scaled_dot_product_attention
from annotated.model.embeddings import TokenEmbedding
from annotated.model.fast.cache import AttentionCache, DecoderState, LayerState
from annotated.model.fast.dropout import Dropout
from annotated.model.fast.fused import fused_attention
from annotated.model.fast.packed import RaggedRows, encode_rows, forward_rows
from annotated.model.fast.static import FixedRows
from annotated.model.feed_forward import PositionwiseFeedForward
from annotated.model.layers import Decoder, DecoderLayer, Encoder, EncoderLayer, SublayerConnection
from annotated.model.masks import causal_mask, padding_mask, target_mask
from annotated.model.positional_encoding import LearnedPositions, SinusoidalPositions, sinusoidal_encoding
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
    "FixedRows",
    "LayerState",
    "LearnedPositions",
    "Masked",
    "MultiHeadAttention",
    "PositionwiseFeedForward",
    "RaggedRows",
    "Recorded",
    "SinusoidalPositions",
    "SublayerConnection",
    "TokenEmbedding",
    "Transformer",
    "causal_mask",
    "encode_rows",
    "forward_rows",
    "fused_attention",
    "padding_mask",
    "scaled_dot_product_attention",
    "sinusoidal_encoding",
    "target_mask",
]
