"""No biases: neither in the feed-forward networks nor in the norms; the paper's attention has none anyway."""

from __future__ import annotations

from torch import nn

from annotated.config import ModelConfig
from annotated.model import Transformer


class NoBiasTransformer(Transformer):
    """A `Transformer` of products and gains alone."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        for module in self.modules():
            if isinstance(module, nn.Linear | nn.LayerNorm):
                module.register_parameter("bias", None)
