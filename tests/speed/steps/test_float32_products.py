"""Vocabulary's gradients written in float32: calls as PyTorch declares them, and less rounding than in 16 bits.

A CPU has no such kernel. Here an emulation answers the two operators, in float32; their declarations are PyTorch's own.
"""

from __future__ import annotations

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from annotated.speed.steps import loss as loss_module
from annotated.speed.steps.loss import projected_cross_entropy, writes_float32

BF16, ATEN = torch.bfloat16, torch.ops.aten
pytestmark = pytest.mark.skipif(
    not all(hasattr(operator, "dtype_out") for operator in (ATEN.mm, ATEN.addmm)),
    reason="this torch has no product with a type of its own for the result",
)


class Emulated(TorchDispatchMode):
    """Products of 16-bit operands in float32, straight into `out`, as a GPU makes them; counted."""

    def __init__(self) -> None:
        super().__init__()
        self.written = self.added = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if function is ATEN.mm.dtype_out:
            a, b, dtype = args
            self.written += 1
            assert {a.dtype, b.dtype} == {BF16} and dtype is kwargs["out"].dtype is torch.float32
            return kwargs["out"].copy_(a.float() @ b.float())
        if function is ATEN.addmm.dtype_out:
            addend, a, b, dtype = args
            self.added += 1
            assert addend is kwargs["out"] and {a.dtype, b.dtype} == {BF16} and dtype is addend.dtype is torch.float32
            return addend.add_(a.float() @ b.float())
        return function(*args, **(kwargs or {}))


def gradients(hidden: torch.Tensor, weight: torch.Tensor, gold: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    hidden, weight = (x.clone().requires_grad_() for x in (hidden, weight))
    projected_cross_entropy(hidden, weight, gold, 0.1, chunk=64).backward()
    return hidden.grad, weight.grad


def test_gradients_lose_nothing_between_product_and_sum(monkeypatch):
    torch.manual_seed(0)
    # 16-bit inputs, so that only what is made of them is rounded.
    hidden, weight = (torch.randn(*size).to(BF16).float() for size in ((256, 16), (100, 16)))
    gold = torch.randint(1, 100, (256,))
    exact = gradients(hidden.double(), weight.double(), gold)
    with torch.autocast("cpu", BF16):
        rounded = gradients(hidden, weight, gold)
        monkeypatch.setattr(loss_module, "writes_float32", lambda *_: True)
        with Emulated() as products:
            ours = gradients(hidden, weight, gold)
    assert (products.written, products.added) == (4 + 1, 3), "hidden's of each chunk; weight's first, then added to"
    for one, before, other in zip(ours, rounded, exact, strict=True):
        assert one.dtype == torch.float32
        errors = [float((x - other).norm() / other.norm()) for x in (one, before)]
        assert errors[0] < errors[1] < 0.02


def test_pytorchs_own_declaration_takes_the_calls():
    """On tensors without data: names, types, and a result that is the addend too."""
    a, out = torch.ones(16, 16, dtype=BF16, device="meta"), torch.ones(16, 16, device="meta")
    assert torch.addmm(out, a, a, out_dtype=torch.float32, out=out).dtype == torch.float32
    assert torch.mm(a, a, out_dtype=torch.float32, out=out).dtype == torch.float32


class Gpu:
    """Stands for a device without one here: tensors for it are made on the CPU."""

    type = "cuda"


@pytest.mark.parametrize("error", [RuntimeError, TypeError, NotImplementedError, None])
def test_it_is_tried_once(monkeypatch, error):
    assert not writes_float32(BF16, torch.device("cpu"))
    tried, true_ones = [], torch.ones

    def addmm(*_, **__):
        tried.append(1)
        if error is not None:
            raise error("self and mat2 must have the same dtype, but got Float and BFloat16")

    monkeypatch.setattr(torch, "ones", lambda *size, dtype=None, device=None: true_ones(*size, dtype=dtype))
    monkeypatch.setattr(torch, "addmm", addmm)
    monkeypatch.setattr(torch, "mm", lambda *_, **__: None)
    device = Gpu()
    answers = [writes_float32(BF16, device) for _ in range(2)]  # type: ignore[arg-type]
    assert answers == [error is None] * 2 and len(tried) == 1
