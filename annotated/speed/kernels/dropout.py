"""Dropout, and its sum with the residual: PyTorch's on a GPU, three times faster than PyTorch's on a CPU.

On a CPU, drawing one random float for each element takes longer than LayerNorm and the sum together. Here
16 random bits decide over an element, and the mask is kept as one byte, not four.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

_LEVELS = 2**16


def keep_mask(shape: torch.Size, p: float) -> tuple[Tensor, float]:
    """A random CPU mask that is True with probability 1 - p, and the factor that makes up for the dropped.

    p is rounded to a multiple of 2^-16 (0.1 becomes 0.10000610); the factor is that of the rounded p.
    """
    drop = round(p * _LEVELS)
    words = torch.empty((shape.numel() + 3) // 4, dtype=torch.int64).random_(-(2**63), None)
    bits = words.view(torch.int16)[: shape.numel()].view(shape)
    return bits >= drop - _LEVELS // 2, _LEVELS / (_LEVELS - drop)


class _AddDropped(torch.autograd.Function):
    """residual + keep * y * factor, in one sum; the gradient needs the byte mask only."""

    @staticmethod
    def forward(ctx, residual: Tensor, y: Tensor, p: float) -> Tensor:
        keep, ctx.factor = keep_mask(y.shape, p)
        ctx.save_for_backward(keep)
        return torch.add(residual, y * keep, alpha=ctx.factor)

    @staticmethod
    def backward(ctx, grad: Tensor):
        (keep,) = ctx.saved_tensors
        return grad, (grad * keep).mul_(ctx.factor), None


def _pytorch_is_better(x: Tensor) -> bool:
    return x.device.type != "cpu" or torch.compiler.is_compiling()


class Dropout(nn.Module):
    """Zero each element with probability p while training, and scale the others by 1 / (1 - p).

    Paper: section 5.4
    """

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        """`[...]` to `[...]`."""
        if not self.training or self.p == 0 or _pytorch_is_better(x):
            return F.dropout(x, self.p, self.training)
        keep, factor = keep_mask(x.shape, self.p)
        return x * keep * factor

    def add(self, residual: Tensor, x: Tensor) -> Tensor:
        """residual + dropout(x)."""
        if not self.training or self.p == 0:
            return residual + x
        if _pytorch_is_better(x):
            return residual + F.dropout(x, self.p, True)
        return _AddDropped.apply(residual, x, self.p)

    def extra_repr(self) -> str:
        """The probability, as `print` shows it."""
        return f"p={self.p}"
