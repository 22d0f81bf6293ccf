"""RMSNorm: LayerNorm without the mean and without the bias."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from annotated.config import ModelConfig
from annotated.model import Transformer


class RMSNorm(nn.Module):
    """x / sqrt(mean(x^2) + epsilon), times a gain."""

    bias = None

    def __init__(self, width: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        """`[..., width]` to the same."""
        return x * (x.square().mean(dim=-1, keepdim=True) + self.eps).rsqrt() * self.weight


class RMSNormTransformer(Transformer):
    """A `Transformer` with RMSNorm in the place of every LayerNorm."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        for parent in list(self.modules()):
            for name, child in list(parent.named_children()):
                if isinstance(child, nn.LayerNorm):
                    setattr(parent, name, RMSNorm(config.d_model, config.norm_epsilon))
