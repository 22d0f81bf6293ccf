"""One update, and the short training made of updates."""

from __future__ import annotations

import math

import pytest
import torch

from annotated.config import ModelConfig, TrainingConfig
from annotated.data.batching import collate_ids
from annotated.model import Transformer
from annotated.speed.steps import FastStep, packed_loss
from annotated.training import batch_loss, learning_rate, validation_loss
from annotated.training.update import Step, fit, update

CONFIG = ModelConfig(
    vocab_size=20, d_model=16, d_ff=32, num_heads=2, d_k=8, d_v=8, num_encoder_layers=1, num_decoder_layers=1,
    dropout=0.1,
)  # fmt: skip
PAIRS = [([5, 6, 7], [8, 9]), ([4], [10, 11, 12, 13]), ([7] * 5, [5]), ([9, 8], [4, 4, 4])]
TRAINING = TrainingConfig(label_smoothing=0.1)


def new(kind: type[Step] = Step, dropout: float = 0.0, **changes) -> Step:
    """A step of a new model."""
    torch.manual_seed(0)
    return kind(Transformer(CONFIG.replace(dropout=dropout)), TRAINING.replace(**changes))


def parameters(model: Transformer) -> list[torch.Tensor]:
    return [parameter.detach().clone() for parameter in model.parameters()]


STEPS = pytest.mark.parametrize("kind", [Step, FastStep])


@STEPS
def test_micro_batches_make_the_update_of_the_whole_batch(kind):
    results, norms = [], []
    for cut in ([PAIRS], [PAIRS[:1], PAIRS[1:]], [[pair] for pair in PAIRS]):
        step = new(kind)
        batches = [collate_ids(pairs) for pairs in cut]
        made = update(step, batches, sum(b.target_tokens for b in batches), 0.01)
        results.append(parameters(step.model))
        norms.append(float(made.gradient_norm))
        assert made.tokens == 14 and made.rate == 0.01 and len(made.losses) == len(cut)
    assert norms == pytest.approx([norms[0]] * 3, rel=1e-5)
    for other in results[1:]:
        torch.testing.assert_close(other, results[0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("layout", ["padded", "packed", "static"])
@pytest.mark.parametrize("clip_norm", [None, 0.1])
def test_the_fast_step_makes_the_updates_of_the_plain_one(layout, clip_norm):
    plain, fast = new(clip_norm=clip_norm), new(FastStep, clip_norm=clip_norm, layout=layout)
    for number, cut in enumerate(([PAIRS], [PAIRS[:1], PAIRS[1:]], [PAIRS[2:]]), 1):
        batches = [collate_ids(pairs) for pairs in cut]
        tokens = sum(b.target_tokens for b in batches)
        expected, made = (update(step, batches, tokens, 0.01 * number) for step in (plain, fast))
        assert float(made.loss_sum) == pytest.approx(float(expected.loss_sum), rel=1e-5)
        assert float(made.gradient_norm) == pytest.approx(float(expected.gradient_norm), rel=1e-4)
        assert validation_loss(fast, batches) == pytest.approx(validation_loss(plain, batches), rel=1e-5)
    # Adam divides by the root of the second moment, which makes much of a small difference where gradients are tiny.
    torch.testing.assert_close(parameters(fast.model), parameters(plain.model), rtol=1e-3, atol=1e-4)


@STEPS
def test_the_rate_is_that_of_this_update_and_old_gradients_have_no_part(kind):
    step = new(kind)
    batch, before = collate_ids(PAIRS), parameters(step.model)
    batch_loss(step.model, batch, 0.1)[0].backward()
    made = update(step, [batch], batch.target_tokens, 0.0)
    assert all(map(torch.equal, parameters(step.model), before)), "at a rate of 0 nothing moves"
    again = update(step, [batch], batch.target_tokens, 0.5)
    assert float(made.gradient_norm) == float(again.gradient_norm)
    assert step.optimizer.param_groups[0]["lr"] == 0.5
    assert not any(map(torch.equal, parameters(step.model), before))


@STEPS
def test_clipping_limits_the_gradient_and_reports_its_norm_before(kind):
    step = new(kind, clip_norm=0.1)
    batch = collate_ids(PAIRS)
    made = update(step, [batch], batch.target_tokens, 0.01)
    left = math.sqrt(sum(float(p.grad.square().sum()) for p in step.model.parameters()))
    assert float(made.gradient_norm) > 0.2 and left == pytest.approx(0.1, rel=1e-3)


@STEPS
def test_the_observer_is_called_before_the_parameters_change(kind):
    step = new(kind)
    batch, before = collate_ids(PAIRS), parameters(step.model)

    def refuse(metrics):
        assert math.isfinite(float(metrics.loss_sum))
        raise ArithmeticError("not this one")

    with pytest.raises(ArithmeticError):
        update(step, [batch], batch.target_tokens, 0.5, refuse)
    assert all(map(torch.equal, parameters(step.model), before))
    if kind is Step or step.optimizer.param_groups[0].get("fused"):
        for number, moves in ((math.nan, False), (1.0, True)):
            numbers = torch.tensor([2.0, number])
            update(step, [batch], batch.target_tokens, 0.5, lambda _, n=numbers: n)
            assert all(map(torch.equal, parameters(step.model), before)) is not moves


@pytest.mark.parametrize(("kind", "loss"), [(Step, batch_loss), (FastStep, packed_loss)])
def test_fit_is_the_loop_that_one_would_write(kind, loss):
    def rate(number: int) -> float:
        return learning_rate(number, 16, 4)

    batches = [collate_ids(PAIRS[i % 3 :]) for i in range(6)]
    mine = new(dropout=0.1)
    torch.manual_seed(3)
    expected = []
    for number, batch in enumerate(batches, 1):
        for group in mine.optimizer.param_groups:
            group["lr"] = rate(number)
        mine.optimizer.zero_grad()
        total, count = loss(mine.model, batch, 0.1)
        (total / count).backward()
        mine.optimizer.step()
        expected.append(total.item() / count)
    other, seen = new(kind, dropout=0.1), []
    other.model.eval()
    torch.manual_seed(3)
    losses = fit(other, iter([*batches, batches[0]]), 6, rate, lambda number, loss: seen.append((number, loss)))
    assert losses == expected and seen == list(enumerate(expected, 1)) and other.model.training
    assert all(map(torch.equal, parameters(mine.model), parameters(other.model)))
