from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F

from annotated.config import ModelConfig
from annotated.data.batching import collate_ids
from annotated.model import Transformer
from annotated.speed.steps import layout_loss, packed_loss
from annotated.speed.steps.loss import projected_cross_entropy
from annotated.training.loss import batch_loss, label_smoothed_cross_entropy, smoothed_target

pytestmark = pytest.mark.oldest_torch


def test_by_hand():
    # Logits log 5, log 3, log 1, log 1 are probabilities 0.5, 0.3, 0.1, 0.1.
    logits = torch.tensor([[5.0, 3.0, 1.0, 1.0]]).log()
    loss, count = label_smoothed_cross_entropy(logits, torch.tensor([1]), 0.3)
    # The right token gets 0.7; the three others share 0.3.
    expected = -(0.7 * math.log(0.3) + 0.1 * (math.log(0.5) + 2 * math.log(0.1)))
    assert count == 1
    assert loss.item() == pytest.approx(expected, rel=1e-6)


def test_the_papers_smoothing_is_the_default():
    logits, gold = torch.randn(3, 7), torch.tensor([4, 5, 6])
    assert torch.equal(
        label_smoothed_cross_entropy(logits, gold)[0], label_smoothed_cross_entropy(logits, gold, 0.1)[0]
    )


def test_the_smoothed_target_is_a_distribution():
    right, others = smoothed_target(0.1, 37_000)
    assert right == pytest.approx(0.9)
    assert right + 36_999 * others == pytest.approx(1.0)


@given(
    st.integers(0, 10_000),
    st.integers(1, 5),
    st.integers(1, 6),
    st.integers(4, 30),
    st.sampled_from([0.0, 0.1, 0.4]),
)
def test_against_torch_in_its_own_convention(seed, rows, columns, vocabulary, smoothing):
    torch.manual_seed(seed)
    logits = torch.randn(rows, columns, vocabulary, dtype=torch.float32, requires_grad=True)
    target = torch.randint(0, vocabulary, (rows, columns))  # some are 0, the padding
    other = logits.detach().clone().requires_grad_()
    loss, count = label_smoothed_cross_entropy(logits, target, smoothing)
    expected = F.cross_entropy(
        other.flatten(0, 1),
        target.flatten(),
        ignore_index=0,
        reduction="sum",
        label_smoothing=smoothing * vocabulary / (vocabulary - 1),
    )
    assert count == (target != 0).sum()
    torch.testing.assert_close(loss, expected, rtol=1e-5, atol=1e-5)
    loss.backward()
    expected.backward()
    torch.testing.assert_close(logits.grad, other.grad, rtol=1e-5, atol=1e-6)


def test_without_smoothing_it_is_the_negative_log_likelihood():
    torch.manual_seed(0)
    logits, target = torch.randn(3, 4, 9), torch.randint(1, 9, (3, 4))
    loss, _ = label_smoothed_cross_entropy(logits, target, 0.0)
    probabilities = logits.double().exp() / logits.double().exp().sum(-1, keepdim=True)
    likelihood = sum(probabilities[b, t, target[b, t]].log() for b in range(3) for t in range(4))
    assert loss.item() == pytest.approx(-float(likelihood), rel=1e-6)


def test_padding_counts_for_nothing_whatever_its_logits():
    torch.manual_seed(0)
    logits, target = torch.randn(1, 4, 9), torch.tensor([[3, 2, 0, 0]])
    short = label_smoothed_cross_entropy(logits[:, :2], target[:, :2], 0.1)
    logits[0, 2:] = 1e4
    assert label_smoothed_cross_entropy(logits, target, 0.1) == short


def test_the_least_value_is_the_entropy_of_the_smoothed_target():
    right, others = smoothed_target(0.1, 8)
    logits = torch.full((1, 8), math.log(others))
    logits[0, 5] = math.log(right)
    loss, _ = label_smoothed_cross_entropy(logits, torch.tensor([5]), 0.1)
    assert loss.item() == pytest.approx(-(right * math.log(right) + 7 * others * math.log(others)), rel=1e-6)


@given(st.integers(0, 10_000), st.integers(1, 40), st.sampled_from([0.0, 0.1]), st.sampled_from([1, 7, 16, 1024]))
def test_projected_is_projection_then_loss_with_the_same_gradients(seed, rows, smoothing, chunk):
    torch.manual_seed(seed)
    hidden, weight = torch.randn(rows, 6, requires_grad=True), torch.randn(11, 6, requires_grad=True)
    gold = torch.randint(1, 11, (rows,))
    copies = hidden.detach().clone().requires_grad_(), weight.detach().clone().requires_grad_()
    loss = projected_cross_entropy(hidden, weight, gold, smoothing, chunk)
    expected, _ = label_smoothed_cross_entropy(copies[0] @ copies[1].T, gold, smoothing)
    torch.testing.assert_close(loss, expected, rtol=1e-5, atol=1e-4)
    (loss / 3).backward()
    (expected / 3).backward()
    torch.testing.assert_close(hidden.grad, copies[0].grad, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(weight.grad, copies[1].grad, rtol=1e-4, atol=1e-4)


def test_projected_gradient_against_finite_differences():
    torch.manual_seed(0)
    hidden, weight = torch.randn(3, 4), torch.randn(6, 4)
    gold = torch.tensor([1, 5, 2])
    hidden.requires_grad_()
    projected_cross_entropy(hidden, weight, gold, 0.1).backward()
    step = 1e-3
    for row, column in ((0, 0), (1, 3), (2, 2)):
        shift = torch.zeros(3, 4)
        shift[row, column] = step
        up, down = (projected_cross_entropy(hidden.detach() + s, weight, gold, 0.1).item() for s in (shift, -shift))
        assert hidden.grad[row, column].item() == pytest.approx((up - down) / (2 * step), abs=5e-3)


def test_projected_without_gradients_gives_the_same_number():
    torch.manual_seed(0)
    hidden, weight, gold = torch.randn(5, 4), torch.randn(7, 4, requires_grad=True), torch.randint(1, 7, (5,))
    with torch.no_grad():
        plain = projected_cross_entropy(hidden, weight, gold, 0.1)
    assert not plain.requires_grad
    torch.testing.assert_close(plain, projected_cross_entropy(hidden, weight, gold, 0.1).detach())


PAIRS = [([5, 6, 7], [8, 9]), ([4], [10, 11, 12, 13]), ([7, 7, 7, 7, 7], [5])]


@pytest.mark.parametrize("changes", [{}, {"norm": "pre"}, {"positions": "learned"}, {"tie_embeddings": False}])
def test_packed_and_padded_give_the_same_loss_and_gradients(changes):
    torch.manual_seed(0)
    config = ModelConfig(
        vocab_size=20, d_model=16, d_ff=32, num_heads=2, d_k=8, d_v=8, num_encoder_layers=2, num_decoder_layers=2,
        dropout=0.0,
    )  # fmt: skip
    model, batch = Transformer(config.replace(**changes)), collate_ids(PAIRS)
    results = {}
    for layout in ("packed", "padded"):
        model.zero_grad(set_to_none=True)
        loss, count = layout_loss(model, batch, 0.1, layout)
        loss.backward()
        results[layout] = loss.detach(), count, {name: p.grad for name, p in model.named_parameters()}
    packed, padded = results["packed"], results["padded"]
    assert packed[1] == padded[1] == 3 + 5 + 2
    torch.testing.assert_close(packed[0], padded[0], rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(packed[2], padded[2], rtol=1e-4, atol=1e-5)


def test_the_loss_of_a_batch_is_the_sum_over_its_sentences():
    torch.manual_seed(0)
    config = ModelConfig(vocab_size=20, d_model=16, d_ff=32, num_heads=2, d_k=8, d_v=8, dropout=0.0)
    model = Transformer(config.replace(num_encoder_layers=1, num_decoder_layers=1))
    whole, count = packed_loss(model, collate_ids(PAIRS), 0.1)
    parts = [batch_loss(model, collate_ids([pair]), 0.1) for pair in PAIRS]
    assert count == sum(part[1] for part in parts)
    torch.testing.assert_close(whole, sum(part[0] for part in parts), rtol=1e-5, atol=1e-5)
