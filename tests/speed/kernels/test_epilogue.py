"""ReLU in the product's epilogue: the same numbers and gradients as two operations, and where it is used.

PyTorch's operator runs on a CPU too, as a product and a ReLU: so its values and our gradient are tried here. That a GPU
does both in one kernel is for a GPU to show.
"""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from annotated.model import PositionwiseFeedForward
from annotated.speed.kernels import epilogue
from annotated.speed.kernels.epilogue import linear_relu

BF16 = torch.bfloat16


@pytest.fixture
def calls(monkeypatch):
    """As if this were a GPU: counts the operator's calls."""
    if epilogue._addmm_activation is None or not epilogue._autocast_tells_its_type:
        pytest.skip("this torch has no product with an epilogue, or is too old for ours")
    seen, true_operator = [], epilogue._addmm_activation
    monkeypatch.setattr(epilogue, "_has_epilogue", lambda *_: True)
    monkeypatch.setattr(epilogue, "_addmm_activation", lambda *a: seen.append(a[1].dtype) or true_operator(*a))
    return seen


def outputs(function, x: torch.Tensor, module: nn.Module) -> list[torch.Tensor]:
    module.zero_grad()
    x = x.clone().requires_grad_()
    torch.manual_seed(3)
    y = function(x)
    y.square().sum().backward()
    return [y.detach(), x.grad, *(p.grad.clone() for p in module.parameters())]


@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_the_network_is_equation_2_with_its_gradients(calls, monkeypatch, dropout):
    torch.manual_seed(0)
    network = PositionwiseFeedForward(6, 10, dropout)
    nn.init.normal_(network.inner.bias)
    x = torch.randn(2, 5, 6)
    ours = outputs(network, x, network)
    assert calls == [torch.float32]
    monkeypatch.undo()
    theirs = outputs(network, x, network)
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5)
    assert (theirs[0] != 0).any()


def test_the_gradient_by_differences(calls):
    torch.manual_seed(0)
    x, weight, bias = (torch.randn(*size, dtype=torch.float64, requires_grad=True) for size in ((5, 3), (4, 3), (4,)))
    assert torch.autograd.gradcheck(epilogue._LinearRelu.apply, (x, weight, bias))


def test_under_autocast(calls):
    torch.manual_seed(0)
    linear, x = nn.Linear(32, 64), torch.randn(3, 20, 32)
    expected = outputs(lambda x: F.relu(linear(x)), x.double(), linear.double())
    linear.float()
    with torch.autocast("cpu", BF16):
        ours = outputs(lambda x: linear_relu(linear, x), x, linear)
    assert calls == [BF16] and ours[0].dtype == BF16
    assert {gradient.dtype for gradient in ours[1:]} == {torch.float32}
    for one, other in zip(ours, expected, strict=True):
        assert (one - other).norm() < 0.01 * other.norm()


def test_one_graph_for_a_compiler(calls):
    torch._dynamo.reset()
    torch.manual_seed(0)
    linear, x = nn.Linear(8, 16), torch.randn(4, 5, 8)
    compiled = torch.compile(lambda x: linear_relu(linear, x), fullgraph=True, backend="aot_eager")
    eager = outputs(lambda x: F.relu(linear(x)), x, linear)
    for one, other in zip(outputs(compiled, x, linear), eager, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5)
    with torch.autocast("cpu", BF16):
        ours = outputs(compiled, x, linear)
    assert ours[0].dtype == BF16 and {gradient.dtype for gradient in ours[1:]} == {torch.float32}
    for one, other in zip(ours, eager, strict=True):
        assert (one - other).norm() < 0.02 * other.norm()


def test_inductor_keeps_the_operator_whole():
    if not hasattr(torch.ops.aten, "_addmm_activation"):
        pytest.skip("this torch has no product with an epilogue")
    from torch._inductor.decomposition import select_decomp_table

    assert torch.ops.aten._addmm_activation.default not in select_decomp_table()


class OnGpu:
    """What is asked of a tensor on a GPU."""

    device = torch.device("cuda")


@pytest.mark.skipif(not epilogue._autocast_tells_its_type, reason="an older torch")
def test_where_it_is_used(monkeypatch):
    assert not epilogue._has_epilogue(nn.Linear(4, 4), torch.zeros(1, 4))
    monkeypatch.setattr(epilogue, "_addmm_activation", lambda *_: None)
    assert epilogue._has_epilogue(nn.Linear(4, 4), OnGpu())
    assert not epilogue._has_epilogue(nn.Linear(4, 4, bias=False), OnGpu())
    watched = nn.Linear(4, 4)
    watched.register_forward_hook(lambda *_: None)
    assert not epilogue._has_epilogue(watched, OnGpu()), "a hook sees the output before the ReLU"
    assert not epilogue._has_epilogue(type("Adapted", (nn.Linear,), {})(4, 4), OnGpu())
    monkeypatch.setattr(epilogue, "_addmm_activation", None)
    assert not epilogue._has_epilogue(nn.Linear(4, 4), OnGpu())
