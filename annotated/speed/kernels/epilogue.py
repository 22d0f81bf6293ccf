"""Epilogue of a product: bias and ReLU added while the result is still in the GPU's registers.

By itself the ReLU reads and writes the widest tensor of a layer once more. PyTorch has the product with both in one
kernel, as an operator without a gradient; the gradient is written here. It needs the output alone: where the ReLU
returned zero, nothing flows back.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from annotated.speed.kernels.few_rows import Linear

_addmm_activation = getattr(torch, "_addmm_activation", None)  # of PyTorch's own use: a release may lack it
_autocast_tells_its_type = hasattr(torch, "get_autocast_dtype")  # since 2.4


class _LinearRelu(torch.autograd.Function):
    """max(0, x W^T + b) of rows x `[N, D]`, W `[F, D]`, b `[F]`, all of one type."""

    @staticmethod
    def forward(ctx, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        assert _addmm_activation is not None
        y = _addmm_activation(bias, x, weight.t())
        ctx.save_for_backward(x, weight, y)
        return y

    @staticmethod
    def backward(ctx, grad: Tensor):
        x, weight, y = ctx.saved_tensors
        grad = torch.ops.aten.threshold_backward(grad, y, 0)  # the gradient of PyTorch's own ReLU
        return grad @ weight, grad.t() @ x, grad.sum(dim=0)


def linear_relu(linear: nn.Linear, x: Tensor) -> Tensor:
    """max(0, x W + b): `[..., D]` to `[..., F]`, by one kernel where there is one for it."""
    if not _has_epilogue(linear, x):
        return F.relu(linear(x), inplace=True)  # in place: no gradient needs the sum before it
    dtype = torch.get_autocast_dtype(x.device.type) if torch.is_autocast_enabled(x.device.type) else x.dtype
    rows, weight, bias = (part.to(dtype) for part in (x.flatten(0, -2), linear.weight, linear.bias))
    return _LinearRelu.apply(rows, weight, bias).unflatten(0, x.shape[:-1])


def _has_epilogue(linear: nn.Module, x: Tensor) -> bool:
    # Whoever watches or replaces the module is to see its output before the ReLU.
    plain = type(linear) in (nn.Linear, Linear) and not linear._forward_hooks and not linear._forward_pre_hooks
    known = _addmm_activation is not None and _autocast_tells_its_type
    return plain and known and linear.bias is not None and x.device.type == "cuda"
