"""Residual stream in 16 bits: types, statistics in float32, errors beside the float32 stream, dropout, one graph."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from annotated.config import ModelConfig, TrainingConfig
from annotated.data.batching import collate_ids
from annotated.model import Dropout, Transformer
from annotated.speed.kernels.residual import MixedLayerNorm, entering, residual_stream
from annotated.speed.layouts import RaggedRows, forward_rows
from annotated.speed.layouts.static_batch import StaticShape
from annotated.speed.steps import layout_loss, packed_loss
from annotated.speed.steps.loss import projected_cross_entropy
from annotated.speed.steps.precision import Precision

BF16, CPU = torch.bfloat16, torch.device("cpu")
IN_BF16 = TrainingConfig(precision="bf16")
CONFIG = ModelConfig(
    vocab_size=50, d_model=32, d_ff=64, num_heads=2, d_k=16, d_v=16, num_encoder_layers=2, num_decoder_layers=2,
    dropout=0.0,
)  # fmt: skip
BATCH = collate_ids([([5, 6, 7], [8, 9]), ([4], [10, 11, 12, 13]), ([7] * 5, [5])] * 3)


def norms(width: int) -> tuple[MixedLayerNorm, nn.LayerNorm]:
    ours, theirs = MixedLayerNorm(width, eps=1e-6), nn.LayerNorm(width, eps=1e-6)
    nn.init.normal_(ours.weight, 1, 0.3)
    nn.init.normal_(ours.bias)
    theirs.load_state_dict(ours.state_dict())
    return ours, theirs


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_in_one_type_it_is_layer_norm(dtype):
    ours, theirs = (norm.to(dtype) for norm in norms(32))
    x = torch.randn(7, 32, dtype=dtype)
    assert torch.equal(ours(x), theirs(x))


def test_statistics_are_float32_and_only_the_result_is_rounded():
    torch.manual_seed(0)
    ours, reference = norms(512)
    x = (torch.randn(20, 512) + 30).to(BF16).requires_grad_()  # a mean that 16-bit sums would lose
    exact = x.detach().double().requires_grad_()
    reference.double()
    with torch.autocast("cpu", BF16):
        y = ours(x)
    expected = reference(exact)
    assert y.dtype == BF16
    half_step = 2**-8 * expected.abs() + 1e-5  # bfloat16 has 8 significant bits
    assert ((y.double() - expected).abs() <= half_step).all()
    probe = torch.randn(20, 512).to(BF16)
    y.backward(probe)
    expected.backward(probe.double())
    assert x.grad.dtype == BF16 and ours.weight.grad.dtype == torch.float32
    assert (x.grad - exact.grad).norm() < 2**-8 * exact.grad.norm()
    for one, other in ((ours.weight, reference.weight), (ours.bias, reference.bias)):
        assert (one.grad - other.grad).norm() < 2**-7 * other.grad.norm()


def test_elsewhere_than_on_a_cpu_all_arguments_have_one_type_and_autocast_is_off(monkeypatch):
    """A GPU's kernel takes no mixture, and autocast there would compute in float32 and return it."""
    norm, calls, true_norm = norms(8)[0].to("meta"), [], F.layer_norm

    def layer_norm(x, shape, weight, bias, eps):
        product = torch.ones(2, 2) @ torch.ones(2, 2)  # in autocast's type, where it is on
        calls.append((x.dtype, weight.dtype, bias.dtype, product.dtype))
        return true_norm(x, shape, weight, bias, eps)

    class OffOnMeta:
        """`torch.autocast` knows no device 'meta': the CPU's stands for it."""

        def __new__(cls, device: str, **options):
            return true_autocast("cpu", **options)

    true_autocast = torch.autocast
    monkeypatch.setattr(F, "layer_norm", layer_norm)
    monkeypatch.setattr(torch, "autocast", OffOnMeta)
    with true_autocast("cpu", BF16):
        y = norm(torch.zeros(3, 8, dtype=BF16, device="meta"))
    assert y.dtype == BF16 and calls == [(BF16, BF16, BF16, torch.float32)]


def test_the_stream_ends_with_its_context():
    x = torch.zeros(2)
    with pytest.raises(KeyError), residual_stream(BF16):
        with residual_stream(None):
            assert entering(x).dtype == torch.float32
        assert entering(x).dtype == BF16
        raise KeyError
    assert entering(x) is x


def stream_types(model: Transformer, precision: Precision) -> set[torch.dtype]:
    """Of what every LayerNorm reads and writes in a step, and of what comes out of the decoder."""
    seen = set()
    hooks = [
        module.register_forward_hook(lambda _, inputs, output: seen.update({inputs[0].dtype, output.dtype}))
        for module in model.modules()
        if isinstance(module, MixedLayerNorm)
    ]
    assert hooks
    with precision.autocast():
        packed_loss(model, BATCH, 0.1)
    for hook in hooks:
        hook.remove()
    return seen


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_types_along_the_stream(norm):
    model = Transformer(CONFIG.replace(norm=norm, dropout=0.1))
    assert stream_types(model, Precision(IN_BF16.replace(residual_precision="bf16"), CPU)) == {BF16}
    assert stream_types(model, Precision(IN_BF16, CPU)) == {torch.float32}


def step(model: Transformer, layout, precision: Precision | None = None) -> tuple[torch.Tensor, torch.Tensor]:
    """Loss, and all gradients in one vector."""
    model.zero_grad(set_to_none=True)
    with (precision or Precision(TrainingConfig(), CPU)).autocast():
        loss, _ = layout_loss(model, BATCH, 0.1, layout)
    loss.backward()
    assert all(p.grad.dtype == p.dtype for p in model.parameters())
    return loss.detach().double(), torch.cat([p.grad.flatten().double() for p in model.parameters()])


@pytest.mark.parametrize("layout", ["packed", StaticShape(64, 16)])
@pytest.mark.parametrize("norm", ["post", "pre"])
def test_loss_and_gradients_beside_float64(norm, layout):
    torch.manual_seed(0)
    model = Transformer(CONFIG.replace(norm=norm))
    loss, gradient = step(model.double(), "packed")
    model.float()
    errors = {}
    for residual in ("fp32", "bf16"):
        ours = step(model, layout, Precision(IN_BF16.replace(residual_precision=residual), CPU))
        errors[residual] = float((ours[1] - gradient).norm() / gradient.norm())
        assert abs(ours[0] - loss) < 2e-3 * loss
    # The products alone, in 16 bits, make an error of 1 to 5 %; the stream must not dominate it.
    assert errors["fp32"] < 0.06 and errors["bf16"] < min(0.08, 3 * errors["fp32"])


def test_the_loss_of_16_bit_rows_is_that_of_the_same_rows_in_float32():
    """Its gradients are summed in float32, and rounded once, at the end."""
    torch.manual_seed(0)
    rows, weight, gold = torch.randn(300, 16).to(BF16), torch.randn(30, 16), torch.randint(1, 30, (300,))
    results = []
    for hidden in (rows.clone().requires_grad_(), rows.float().requires_grad_()):
        matrix = weight.clone().requires_grad_()
        with torch.autocast("cpu", BF16):
            projected_cross_entropy(hidden, matrix, gold, 0.1, chunk=128).backward()
        results.append((hidden.grad, matrix.grad))
    (ours, matrix), (expected, expected_matrix) = results
    assert ours.dtype == BF16 and torch.equal(ours, expected.to(BF16))
    torch.testing.assert_close(matrix, expected_matrix, rtol=1e-6, atol=1e-6)


def test_the_same_elements_are_dropped():
    dropout, x, y = Dropout(0.3), torch.zeros(40, 8), torch.ones(40, 8)
    torch.manual_seed(1)
    in_float32 = dropout.add(x, y)
    torch.manual_seed(1)
    in_bfloat16 = dropout.add(x.to(BF16), y.to(BF16))
    assert in_bfloat16.dtype == BF16 and torch.equal(in_float32 == 0, in_bfloat16 == 0)


def test_a_compiler_sees_one_graph():
    torch._dynamo.reset()
    torch.manual_seed(0)
    config = CONFIG.replace(num_encoder_layers=1, num_decoder_layers=1)  # more layers are traced, and tell nothing new
    model, rows = Transformer(config), RaggedRows([3, 2])
    ids = torch.tensor([5, 6, 7, 8, 9])
    compiled = torch.compile(forward_rows, fullgraph=True, backend="aot_eager")
    with Precision(IN_BF16.replace(residual_precision="bf16"), CPU).autocast():
        expected = forward_rows(model, ids, rows, ids, rows)
        ours = compiled(model, ids, rows, ids, rows)
    assert ours.dtype == expected.dtype == BF16
    torch.testing.assert_close(ours, expected, rtol=0.02, atol=0.02)
    assert compiled(model, ids, rows, ids, rows).dtype == torch.float32, "outside the context it is compiled anew"


def test_what_it_needs():
    assert TrainingConfig(precision="bf16", residual_precision="bf16").residual_precision == "bf16"
    for changes in ({}, {"precision": "fp16"}, {"precision": "bf16", "layout": "padded"}):
        with pytest.raises(ValueError, match="residual_precision 'bf16' needs precision 'bf16' and a layout other"):
            TrainingConfig(residual_precision="bf16", **changes)
    with pytest.raises(ValueError, match="residual_precision must be one of fp32, bf16, not 'fp16'"):
        TrainingConfig(residual_precision="fp16")
