"""FP8 products of the vocabulary: rounding and scales by hand, gradients within what three bits of mantissa give."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from annotated.config import TrainingConfig
from annotated.data.batching import collate_ids
from annotated.model import Transformer
from annotated.runs import read_records
from annotated.speed.layouts.static_batch import StaticShape
from annotated.speed.steps import FastStep, fp8, projected_cross_entropy
from annotated.speed.steps.fp8 import Fp8Products, fp8_logits_terms, gradient_scale, quantize, scaled_product
from annotated.speed.steps.precision import Precision
from annotated.training.loss import label_smoothed_cross_entropy, smoothed_target
from tests.training.test_update import CONFIG

CPU = torch.device("cpu")
UNIT = {fp8.WEIGHT_TYPE: 2.0**-4, fp8.GRADIENT_TYPE: 2.0**-3}
"""Half of the distance of two neighbours above a power of two, relative to it: 3 and 2 bits of mantissa."""
IN_FP8 = {"terms": fp8_logits_terms, "products": Fp8Products}


def test_rounding_and_scale_by_hand():
    """The largest, 3, is 3/4 * 2^2: times 2^7 it is 384, times 2^8 it would be 768 and beyond 448.

    Between 256 and 512 neighbours are 32 apart: 1.1 * 128 = 140.8 lies between 128 and 144 (16 apart below 256).
    """
    rounded, inverse = quantize(torch.tensor([3.0, -1.1, 0.5, 0.0, 1e-9]))
    assert inverse.item() == 2.0**-7 and rounded.dtype == torch.float8_e4m3fn
    assert rounded.float().tolist() == [384.0, -144.0, 64.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("largest", "scale"),
    [(448.0, 1.0), (449.0, 0.5), (3.5, 128.0), (3.51, 64.0), (1.0, 256.0), (2.0**-140, 2.0**109), (0.0, 2.0**9)],
)
def test_the_scale_is_the_largest_power_of_two_within_448(largest, scale):
    rounded, inverse = quantize(torch.tensor([0.0, -largest]))
    assert inverse.item() == 1 / scale
    assert abs(rounded.float()).max() <= 448


@pytest.mark.parametrize("bad", [math.inf, -math.inf, math.nan])
def test_what_is_not_finite_stays_so(bad):
    hidden, weight = torch.ones(3, 16), torch.ones(7, 16)
    hidden[1, 2] = bad
    loss = projected_cross_entropy(hidden, weight, torch.tensor([4, 5, 6]), 0.1, **IN_FP8)
    assert not math.isfinite(loss.item())


@given(st.integers(0, 10_000), st.integers(-30, 30))
def test_a_normal_number_is_rounded_by_a_sixteenth_at_most(seed, power):
    values = torch.randn(500, generator=torch.Generator().manual_seed(seed)) * 2.0**power
    rounded, inverse = quantize(values)
    back = rounded.float() * inverse
    normal = values.abs() >= 2.0**-6 * inverse
    assert ((back - values).abs() <= values.abs() * UNIT[fp8.WEIGHT_TYPE])[normal].all()
    assert ((back - values).abs() <= 2.0**-10 * inverse)[~normal].all()


def test_the_gradients_scale_by_hand():
    """0.9 - 0.1/(V - 1) becomes 2^15 itself: a right token without probability has a gradient that is not rounded."""
    right, others = smoothed_target(0.1, 8)
    logits = torch.full((1, 8), 0.0)
    logits[0, 3] = -200.0  # the right one; the others have 1/7 each
    _, difference = fp8_logits_terms(logits, torch.tensor([[3]]), right, others, 8, True)
    assert difference.dtype == torch.float8_e5m2
    scale = gradient_scale(right - others)
    assert difference[0, 3].item() == -(2.0**15) and scale == pytest.approx(2.0**15 / (0.9 - 0.1 / 7))
    # 1/7 of 36,990 = 5,284 lies between 5,120 and 6,144
    assert difference[0, 0].item() == 5120.0
    for taken in (1.0, 0.9, 0.61, 0.3, 0.0):  # a wrong token that has all the probability
        assert torch.tensor(gradient_scale(taken)).to(torch.float8_e5m2).isfinite()


def tensors(rows=96, width=64, size=203, seed=0):
    generator = torch.Generator().manual_seed(seed)
    hidden = torch.randn(rows, width, generator=generator)
    weight = torch.randn(size, width, generator=generator) * width**-0.5
    gold = torch.randint(1, size, (rows,), generator=generator)
    gold[::7] = 0  # padding
    return hidden, weight, gold


@pytest.mark.parametrize("autocast", [False, True])
@pytest.mark.parametrize("chunk", [96, 32, 25])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_loss_and_gradients_within_the_bounds_of_their_bits(smoothing, chunk, autocast):
    """By products: an error of each number of e relative makes one of sum |a||b| (e_a + e_b + e_a e_b) in theirs."""
    hidden, weight, gold = tensors()
    exact = hidden.clone().double().requires_grad_(), weight.clone().double().requires_grad_()
    logits = exact[0] @ exact[1].T
    logits.retain_grad()
    label_smoothed_cross_entropy(logits.float(), gold, smoothing)[0].backward()
    ours = hidden.clone().requires_grad_(), weight.clone().requires_grad_()
    with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
        loss = projected_cross_entropy(*ours, gold, smoothing, chunk, **IN_FP8)
    (loss / 3).backward()
    # 1/16 each in hidden and weight, and bf16's 2^-8 in logits under autocast.
    e, bf16 = UNIT[fp8.WEIGHT_TYPE], 2.0**-8 * autocast
    tiny = 2.0**-10 * (hidden.abs().max() * weight.abs().max() / 128).item()  # numbers below e4m3's normal ones
    sizes = hidden.double().abs() @ weight.double().abs().T
    logit_error = sizes * (2 * e + e * e) + tiny * 64 + bf16 * (logits.abs() + sizes * 3 * e)
    real = gold != 0
    right = label_smoothed_cross_entropy(hidden.double() @ weight.double().T, gold, smoothing)[0]
    assert abs(loss.item() - right.item()) <= 2 * logit_error[real].amax(-1).sum().item()
    assert abs(loss.item() / right.item() - 1) < 0.02  # and in practice: errors of 64 terms cancel
    for got, wanted in zip(ours, exact, strict=True):
        relative = (3 * got.grad.double() - wanted.grad).norm() / wanted.grad.norm()
        assert 0.001 < relative < 0.08, relative  # 1/8 in the gradient and 1/16 in the weight, uniform: 4 % and 2 %


def test_products_alone_are_sums_of_the_rounded_numbers():
    """Against float64 sums of the same FP8 numbers: what is left is float32's rounding."""
    hidden, weight, _ = tensors(rows=37)
    products = Fp8Products(hidden, weight, 0.9)
    (rows, rows_scale), (matrix, matrix_scale) = quantize(hidden), quantize(weight)
    rounded_rows = rows.double() * rows_scale.double()
    rounded_matrix = matrix.double() * matrix_scale.double()
    part = slice(0, 37)
    torch.testing.assert_close(
        products.logits(part)[:, :203].double(), rounded_rows @ rounded_matrix.T, rtol=1e-5, atol=1e-5
    )
    difference = (torch.randn(37, 256) * 1000).to(torch.float8_e5m2)
    difference.view(torch.uint8)[:, 203:] = 0
    grad_hidden, grad_weight = torch.empty(37, 64), torch.empty(203, 64)
    products.add_gradients(difference, part, grad_hidden, grad_weight)
    scaled = difference[:, :203].double() / gradient_scale(0.9)
    torch.testing.assert_close(grad_hidden.double(), scaled @ rounded_matrix, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(grad_weight.double(), scaled.T @ rounded_rows, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("left", [fp8.WEIGHT_TYPE, fp8.GRADIENT_TYPE])
def test_the_emulation_is_what_torchs_own_product_computes(left):
    a, b = torch.randn(32, 64).to(left), torch.randn(48, 64).to(fp8.WEIGHT_TYPE).t()
    scales = torch.tensor(0.25), torch.tensor(2.0**-7)
    try:
        expected = torch._scaled_mm(a, b, scale_a=scales[0], scale_b=scales[1], out_dtype=torch.float32)
    except (RuntimeError, NotImplementedError, TypeError, AttributeError):
        pytest.skip("this release has no FP8 product for CPUs")
    torch.testing.assert_close(scaled_product(a, b, *scales, torch.float32), expected, rtol=1e-5, atol=1e-6)


def test_what_a_gpu_is_given_keeps_the_rules_of_its_product(monkeypatch):
    """Left by rows, right by columns, inner sizes and right columns multiples of 16, scales float32 scalars."""
    seen = []

    def scaled(a, b, scale_a, scale_b, dtype):
        assert a.is_contiguous() and b.t().is_contiguous(), "layouts"
        assert a.size(1) == b.size(0) and a.size(1) % 16 == 0 and b.size(1) % 16 == 0, "sizes"
        assert scale_a.dtype == scale_b.dtype == torch.float32 and scale_a.ndim == scale_b.ndim == 0
        assert not (a.dtype == b.dtype == torch.float8_e5m2), "no such product"
        seen.append((a.dtype, b.dtype, dtype))
        return torch.zeros(a.size(0), b.size(1), dtype=dtype)

    monkeypatch.setattr(fp8, "scaled_product", scaled)
    hidden, weight, gold = tensors(rows=45)
    with torch.autocast("cpu", torch.bfloat16):
        projected_cross_entropy(hidden.requires_grad_(), weight, gold, 0.1, 20, **IN_FP8)
    one = [
        (fp8.WEIGHT_TYPE, fp8.WEIGHT_TYPE, torch.bfloat16),
        (fp8.GRADIENT_TYPE, fp8.WEIGHT_TYPE, torch.float32),
        (fp8.GRADIENT_TYPE, fp8.WEIGHT_TYPE, torch.float32),
    ]
    assert seen == 3 * one


def test_who_cannot_is_told(monkeypatch):
    hidden, weight, gold = tensors(width=24)
    with pytest.raises(ValueError, match="d_model to be a multiple of 16, and it is 24"):
        projected_cross_entropy(hidden, weight, gold, 0.1, **IN_FP8)
    gpu, training = torch.device("cuda", 0), TrainingConfig(precision="bf16", vocabulary_precision="fp8")
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (8, 0))
    with pytest.raises(
        ValueError, match=r"compute capability 8.9 or more.*this one has 8.0.*vocabulary_precision 'same'"
    ):
        Precision(training, gpu)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (8, 9))
    assert Precision(training, gpu).products is Fp8Products
    monkeypatch.setattr(torch, "__version__", "2.4.1+cu121")
    with pytest.raises(ValueError, match="torch 2.5 or newer"):
        Precision(training, gpu)
    with pytest.raises(ValueError, match="layouts 'packed' and 'static'"):
        TrainingConfig(vocabulary_precision="fp8", layout="padded")
    with pytest.raises(ValueError, match="vocabulary_precision must be one of same, fp8, not 'int8'"):
        TrainingConfig(vocabulary_precision="int8")


def test_every_layout_trains_with_it():
    """Packed and static rows: the same loss and gradients, which are not those of float32."""
    batch = collate_ids([([5, 6, 7], [8, 9]), ([4, 9], [10, 11, 12])])
    torch.manual_seed(0)
    model = Transformer(CONFIG.replace(d_model=16, dropout=0.0))
    found = {}
    for name, layout in (("plain", "packed"), ("packed", "packed"), ("static", "static")):
        training = TrainingConfig(layout=layout, vocabulary_precision="same" if name == "plain" else "fp8")
        model.zero_grad()
        step = FastStep(model, training)
        if step.static is not None:
            step.static.shape = StaticShape(64, 16)
        loss = step.micro_step(batch, 7.0).item()
        found[name] = loss, torch.cat([parameter.grad.flatten() for parameter in model.parameters()])
    assert found["static"][0] == pytest.approx(found["packed"][0], rel=1e-3) != found["plain"][0]
    norm = found["plain"][1].norm()
    assert (found["static"][1] - found["packed"][1]).norm() < 0.02 * norm
    assert 0 < (found["plain"][1] - found["packed"][1]).norm() < 0.15 * norm


def test_a_run_says_so_and_trains(small):
    small.model = small.model.replace(dropout=0.0)
    losses = {}
    for vocabulary in ("same", "fp8"):
        small.train(vocabulary, vocabulary_precision=vocabulary, log_every=8)
        losses[vocabulary] = [r["loss"] for r in read_records(small.folder / vocabulary) if r["kind"] == "train"]
    assert losses["same"] != losses["fp8"]
    assert losses["fp8"] == pytest.approx(losses["same"], rel=0.1) and losses["fp8"][-1] < losses["fp8"][0]
