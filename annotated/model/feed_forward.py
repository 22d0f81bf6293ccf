"""The position-wise feed-forward network."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional as F

from annotated.speed.kernels.epilogue import linear_relu
from annotated.speed.kernels.few_rows import Linear


class PositionwiseFeedForward(nn.Module):
    """FFN(x) = max(0, x W_1 + b_1) W_2 + b_2, the same at every position.

    Parameters
    ----------
    d_model, d_ff
        D and F.
    dropout
        After the ReLU while training; the paper has none.

    Paper: section 3.3, equation 2
    """

    def __init__(self, d_model: int, d_ff: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.inner = Linear(d_model, d_ff)
        self.outer = Linear(d_ff, d_model)
        self.dropout = dropout
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Glorot-uniform matrices and zero biases; the paper is silent, this is its released code."""
        for linear in (self.inner, self.outer):
            nn.init.xavier_uniform_(linear.weight)
            nn.init.zeros_(linear.bias)

    def forward(self, x: Tensor) -> Tensor:
        """`[..., D]` to `[..., D]`."""
        hidden = linear_relu(self.inner, x)  # max(0, x W_1 + b_1)
        return self.outer(F.dropout(hidden, self.dropout, self.training))
