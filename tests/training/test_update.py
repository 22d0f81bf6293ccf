"""One update, and the short training made of updates."""

from __future__ import annotations

import math

import pytest
import torch

from annotated.config import ModelConfig, TrainingConfig
from annotated.data.batching import collate_ids
from annotated.model import Transformer
from annotated.training import batch_loss, learning_rate, make_optimizer
from annotated.training.precision import Precision
from annotated.training.update import fit, make_micro_step, update

CONFIG = ModelConfig(
    vocab_size=20, d_model=16, d_ff=32, num_heads=2, d_k=8, d_v=8, num_encoder_layers=1, num_decoder_layers=1,
    dropout=0.1,
)  # fmt: skip
PAIRS = [([5, 6, 7], [8, 9]), ([4], [10, 11, 12, 13]), ([7] * 5, [5]), ([9, 8], [4, 4, 4])]
TRAINING = TrainingConfig(label_smoothing=0.1)


def new(dropout: float = 0.0):
    """A model, its optimiser and its micro-step."""
    torch.manual_seed(0)
    model = Transformer(CONFIG.replace(dropout=dropout))
    precision = Precision("fp32", torch.device("cpu"))
    return model, make_optimizer(model, TRAINING), make_micro_step(model, TRAINING, precision)


def parameters(model: Transformer) -> list[torch.Tensor]:
    return [parameter.detach().clone() for parameter in model.parameters()]


def test_micro_batches_make_the_update_of_the_whole_batch():
    results, norms = [], []
    for cut in ([PAIRS], [PAIRS[:1], PAIRS[1:]], [[pair] for pair in PAIRS]):
        model, optimizer, step = new()
        batches = [collate_ids(pairs) for pairs in cut]
        made = update(model, optimizer, batches, sum(b.target_tokens for b in batches), rate=0.01, micro_step=step)
        results.append(parameters(model))
        norms.append(float(made.gradient_norm))
        assert made.tokens == 14 and made.rate == 0.01 and len(made.losses) == len(cut)
    assert norms == pytest.approx([norms[0]] * 3, rel=1e-5)
    for other in results[1:]:
        torch.testing.assert_close(other, results[0], rtol=1e-4, atol=1e-5)


def test_the_rate_is_that_of_this_update_and_old_gradients_have_no_part():
    model, optimizer, step = new()
    batch, before = collate_ids(PAIRS), parameters(model)
    batch_loss(model, batch, 0.1, "packed")[0].backward()
    made = update(model, optimizer, [batch], batch.target_tokens, rate=0.0, micro_step=step)
    assert all(map(torch.equal, parameters(model), before)), "at a rate of 0 nothing moves"
    again = update(model, optimizer, [batch], batch.target_tokens, rate=0.5, micro_step=step)
    assert float(made.gradient_norm) == float(again.gradient_norm)
    assert optimizer.param_groups[0]["lr"] == 0.5
    assert not any(map(torch.equal, parameters(model), before))


def test_clipping_limits_the_gradient_and_reports_its_norm_before():
    model, optimizer, step = new()
    batch = collate_ids(PAIRS)
    made = update(model, optimizer, [batch], batch.target_tokens, rate=0.01, micro_step=step, clip_norm=0.1)
    left = math.sqrt(sum(float(p.grad.square().sum()) for p in model.parameters()))
    assert float(made.gradient_norm) > 0.2 and left == pytest.approx(0.1, rel=1e-3)


def test_before_step_is_called_before_the_parameters_change():
    model, optimizer, step = new()
    batch, before = collate_ids(PAIRS), parameters(model)

    def refuse(metrics):
        assert math.isfinite(float(metrics.loss_sum))
        raise ArithmeticError("not this one")

    with pytest.raises(ArithmeticError):
        update(model, optimizer, [batch], batch.target_tokens, rate=0.5, micro_step=step, before_step=refuse)
    assert all(map(torch.equal, parameters(model), before))
    if optimizer.param_groups[0].get("fused"):
        for number, moves in ((math.nan, False), (1.0, True)):
            numbers = torch.tensor([2.0, number])
            refusing = {"micro_step": step, "before_step": lambda _, n=numbers: n}
            update(model, optimizer, [batch], batch.target_tokens, rate=0.5, **refusing)
            assert all(map(torch.equal, parameters(model), before)) is not moves


def test_fit_is_the_loop_that_one_would_write():
    def rate(number: int) -> float:
        return learning_rate(number, 16, 4)

    batches = [collate_ids(PAIRS[i % 3 :]) for i in range(6)]
    model, optimizer, _ = new(dropout=0.1)
    torch.manual_seed(3)
    expected = []
    for number, batch in enumerate(batches, 1):
        for group in optimizer.param_groups:
            group["lr"] = rate(number)
        optimizer.zero_grad()
        total, count = batch_loss(model, batch, 0.1, "packed")
        (total / count).backward()
        optimizer.step()
        expected.append(total.item() / count)
    other, seen = new(dropout=0.1)[0].eval(), []
    torch.manual_seed(3)
    losses = fit(
        other, iter([*batches, batches[0]]), 6, rate, TRAINING, lambda number, loss: seen.append((number, loss))
    )
    assert losses == expected and seen == list(enumerate(expected, 1)) and other.training
    assert all(map(torch.equal, parameters(model), parameters(other)))
