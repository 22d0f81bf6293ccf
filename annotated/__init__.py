"""annotated: "Attention Is All You Need", whole, readable and fast.

Shapes are named by one letter throughout: B batch, S source length, T target length, H heads, D d_model,
K d_k, F d_ff, V vocabulary, L layers, and N rows of real tokens where padding is left out. Tensors are
batch-first; masks are boolean, True = may attend. Token ids: pad 0, bos 1, eos 2, unk 3.

Where to start reading: `annotated.model.attention`, and then down the list in `annotated.model`.
"""

from annotated.config import (
    DataConfig,
    DecodingConfig,
    ModelConfig,
    TrainingConfig,
    base,
    big,
    preset,
    table_3,
    table_3_training,
    tiny,
)
from annotated.model import (
    AttentionMaps,
    MultiHeadAttention,
    Transformer,
    causal_mask,
    padding_mask,
    scaled_dot_product_attention,
    sinusoidal_encoding,
)

__version__ = "0.1.0"
__all__ = [
    "AttentionMaps",
    "DataConfig",
    "DecodingConfig",
    "ModelConfig",
    "MultiHeadAttention",
    "TrainingConfig",
    "Transformer",
    "base",
    "big",
    "causal_mask",
    "padding_mask",
    "preset",
    "scaled_dot_product_attention",
    "sinusoidal_encoding",
    "table_3",
    "table_3_training",
    "tiny",
]
