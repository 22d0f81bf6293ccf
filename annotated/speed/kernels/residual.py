"""Residual stream in 16 bits: what sub-layers add to and what LayerNorm hands on; its statistics stay float32.

Under autocast the matrix products read and write 16 bits, but the residual sum stays float32, and so does what
LayerNorm makes of it: on a GPU most of the time between two products goes to reading and writing these. Inside
`residual_stream` the embedded tokens enter a stack in 16 bits, and everything that is added to them follows.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch
from torch import Tensor, nn
from torch.nn import functional as F

_stream: torch.dtype | None = None


@contextlib.contextmanager
def residual_stream(dtype: torch.dtype | None) -> Iterator[None]:
    """While it lasts, rows without padding enter a stack of layers in this type; None leaves them as they are.

    For use together with autocast, which lets float32 matrices be multiplied by what is in the stream.
    """
    global _stream
    before, _stream = _stream, dtype
    try:
        yield
    finally:
        _stream = before


def entering(x: Tensor) -> Tensor:
    """Embedded tokens `[..., D]` in the type of the residual stream."""
    return x if _stream is None else x.to(_stream)


class MixedLayerNorm(nn.LayerNorm):
    """LayerNorm whose output has the type of its input, also under autocast; mean and variance are float32 at least.

    Autocast on a GPU counts LayerNorm among the functions to compute in float32, and would turn 16 bits into 32 again.
    """

    def forward(self, x: Tensor) -> Tensor:
        """`[..., D]` to the same."""
        if x.dtype == self.weight.dtype:
            return super().forward(x)
        weight: Tensor = self.weight
        bias: Tensor = self.bias
        if x.device.type != "cpu":  # only a CPU's kernel takes float32 gains for 16-bit rows
            weight, bias = weight.to(x.dtype), bias.to(x.dtype)
        with torch.autocast(x.device.type, enabled=False):
            return F.layer_norm(x, self.normalized_shape, weight, bias, self.eps)
