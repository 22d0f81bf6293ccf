"""Layouts: a batch without padding, and the cache of a decoder that writes token by token.

The model's layers are the same ones. What differs is the `attend` object that they are given: each of this folder
computes what `annotated.model.attention.Masked` computes, for another layout. Read packed, then cache; static, tiles
and static_batch are for a compiler.
"""

from annotated.speed.layouts.cache import AttentionCache, DecoderState, LayerState
from annotated.speed.layouts.packed import RaggedRows, encode_rows, forward_rows
from annotated.speed.layouts.static import FixedRows

__all__ = [
    "AttentionCache",
    "DecoderState",
    "FixedRows",
    "LayerState",
    "RaggedRows",
    "encode_rows",
    "forward_rows",
]
