"""Convolutions over a sequence: contiguous, dilated, separable."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Convolution(nn.Module):
    """Every position from the k positions around it, or from itself and the k - 1 before it.

    Parameters
    ----------
    width
        D, of inputs and outputs.
    kernel
        k; odd unless causal.
    dilation
        Distance between two neighbours that the kernel reads; 1 for neighbours that touch.
    causal
        Look back only, as a decoder must.

    Raises
    ------
    ValueError
        If the kernel has no middle.

    Paper: section 4, Table 1
    """

    def __init__(self, width: int, kernel: int, *, dilation: int = 1, causal: bool = False) -> None:
        super().__init__()
        _check_kernel(kernel, causal)
        self.kernel, self.dilation, self.causal = kernel, dilation, causal
        self.weight = nn.Parameter(torch.empty(width, kernel * width))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        """k neighbours of each position side by side, then one matrix for all positions: `[B, S, D]`."""
        span = (self.kernel - 1) * self.dilation
        left = span if self.causal else span // 2
        padded = F.pad(x, (0, 0, left, span - left))
        shifts = range(0, span + 1, self.dilation)
        neighbours = [padded[:, shift : shift + x.size(1)] for shift in shifts]
        return torch.cat(neighbours, dim=-1) @ self.weight.T


class SeparableConvolution(nn.Module):
    """A convolution of each channel for itself, and then a mixture of channels at each position.

    Parameters
    ----------
    width
        D, of inputs and outputs.
    kernel, causal
        As in `Convolution`.

    Paper: section 4
    """

    def __init__(self, width: int, kernel: int, *, causal: bool = False) -> None:
        super().__init__()
        _check_kernel(kernel, causal)
        self.kernel, self.causal = kernel, causal
        self.depthwise = nn.Conv1d(width, width, kernel, groups=width, bias=False)
        self.pointwise = nn.Linear(width, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """k products a channel and position, then d of them: `[B, S, D]`."""
        left = self.kernel - 1 if self.causal else self.kernel // 2
        padded = F.pad(x, (0, 0, left, self.kernel - 1 - left))
        return self.pointwise(self.depthwise(padded.transpose(1, 2)).transpose(1, 2))


def _check_kernel(kernel: int, causal: bool) -> None:
    if kernel < 1 or (kernel % 2 == 0 and not causal):
        raise ValueError(f"a centred kernel has a middle: k must be odd, not {kernel}")


def dilations(kernel: int, layers: int) -> list[int]:
    """1, k, k^2, ...: with these, every layer multiplies by k what the stack can see."""
    return [kernel**layer for layer in range(layers)]
