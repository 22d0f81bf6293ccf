"""QK-norm: the query and the key of each head are normalised before they meet."""

from __future__ import annotations

from typing import Any

from annotated.config import ModelConfig
from annotated.model import MultiHeadAttention, Transformer
from annotated_book.results.since_2017.rms_norm import RMSNorm
from annotated_book.results.since_2017.swaps import layers, shape


class QKNormAttention(MultiHeadAttention):
    """Multi-head attention whose scores cannot grow with the length of queries and keys, but only with two gains."""

    def __init__(self, **shape: Any) -> None:
        super().__init__(**shape)
        self.q_norm, self.k_norm = RMSNorm(self.d_k), RMSNorm(self.d_k)

    def project(self, query: Any, key: Any, value: Any) -> tuple[Any, Any, Any]:
        """Queries and keys `[..., H, K]` of one length each, and values as they are; None of what is None."""
        q, k, v = super().project(query, key, value)
        return q if q is None else self.q_norm(q), k if k is None else self.k_norm(k), v


class QKNormTransformer(Transformer):
    """A `Transformer` with QK-norm in every attention."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        for layer in layers(self):
            layer.self_attention = QKNormAttention(**shape(config))
            if hasattr(layer, "cross_attention"):
                layer.cross_attention = QKNormAttention(**shape(config))
