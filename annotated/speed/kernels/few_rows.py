"""Matrix products of few rows on a CPU, as a decoder's steps are full of: one row for each hypothesis.

MKL shares a product out by the rows of its first matrix. `F.linear(x, weight)` puts x first, and with 16 sentences that
is 16 rows; the same product with its sides exchanged, `weight @ x.T`, has hundreds. For 16 to 32 rows and a matrix of
the base model's size that is faster; with fewer rows or more, or with a small model's matrices, it is not:
`python -m benchmarks few_rows` measures both.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

FEW = range(16, 33)
"""Rows."""
WIDE = 512
"""Least width in and out."""


class Linear(nn.Linear):
    """`nn.Linear` by `linear`."""

    def forward(self, x: Tensor) -> Tensor:
        """`[..., D]` to `[..., E]`."""
        return linear(x, self.weight, self.bias)


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`F.linear`; of few rows and a wide matrix, in inference mode on a CPU with MKL, by `exchanged_linear`.

    Parameters
    ----------
    x
        `[..., D]`.
    weight
        `[E, D]`.
    bias
        `[E]`.

    Returns
    -------
    Tensor
        `[..., E]`.
    """
    if _is_inference() and min(weight.shape) >= WIDE and x.numel() // x.size(-1) in FEW and _is_multiplied_by_mkl(x):
        return exchanged_linear(x, weight, bias)
    return F.linear(x, weight, bias)


def exchanged_linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`F.linear`, computed as `(weight @ x.T).T`: the same values but for rounding; shapes as in `linear`."""
    columns = x.reshape(-1, x.size(-1)).t()
    y = weight @ columns if bias is None else torch.addmm(bias.unsqueeze(1), weight, columns)
    return y.t().contiguous().view(*x.shape[:-1], weight.size(0))


def _is_inference() -> bool:
    return not torch.compiler.is_compiling() and torch.is_inference_mode_enabled()  # which a compiler cannot read


def _is_multiplied_by_mkl(x: Tensor) -> bool:
    return x.dtype is torch.float32 and x.device.type == "cpu" and torch.backends.mkl.is_available()
