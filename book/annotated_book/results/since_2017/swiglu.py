"""SwiGLU: a feed-forward network in which one product is the gate of another."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional as F

from annotated.config import ModelConfig
from annotated.model import PositionwiseFeedForward, Transformer
from annotated_book.results.since_2017.swaps import layers


class SwiGLU(PositionwiseFeedForward):
    """FFN(x) = (swish(x W_g + b_g) * (x W_1 + b_1)) W_2 + b_2, with swish(z) = z sigmoid(z).

    Three matrices in the place of two: with two thirds of the inner width there are as many parameters. The paper that
    proposed it has no biases; here they stay, so that the gate is all that changes.
    """

    def __init__(self, d_model: int, d_ff: int, dropout: float = 0.0) -> None:
        super().__init__(d_model, round(2 * d_ff / 3), dropout)
        self.gate = nn.Linear(d_model, round(2 * d_ff / 3))
        nn.init.xavier_uniform_(self.gate.weight)
        nn.init.zeros_(self.gate.bias)

    def forward(self, x: Tensor) -> Tensor:
        """`[..., D]` to the same."""
        hidden = F.silu(self.gate(x)) * self.inner(x)
        return self.outer(F.dropout(hidden, self.dropout, self.training))


class SwiGLUTransformer(Transformer):
    """A `Transformer` with SwiGLU in every layer."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        for layer in layers(self):
            layer.feed_forward = SwiGLU(config.d_model, config.d_ff, config.feed_forward_dropout)
