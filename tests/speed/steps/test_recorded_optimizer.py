"""The recorded optimiser: what is replayed makes the updates that are made step by step.

There is no GPU here. Recorders that do the work again, at once or after warming up, stand for CUDA graphs.
"""

from __future__ import annotations

import copy
import math

import pytest
import torch

import annotated.runs.observer as observer
from annotated.config import ModelConfig, TrainingConfig
from annotated.data.batching import collate_ids
from annotated.model import Transformer
from annotated.runs import NonFiniteLoss, list_checkpoints
from annotated.runs.update_metrics import DeferredMetrics
from annotated.speed.layouts.static_batch import StaticShape
from annotated.speed.steps import FastStep, static_micro_step
from annotated.speed.steps.recorded_optimizer import RecordedOptimizer
from annotated.speed.steps.static_micro_step import StaticMicroStep
from annotated.training import make_optimizer
from annotated.training.update import update

CPU = torch.device("cpu")
CONFIG = ModelConfig(
    vocab_size=20, d_model=16, d_ff=32, num_heads=2, d_k=8, d_v=8, num_encoder_layers=1, num_decoder_layers=1,
    dropout=0.0,
)  # fmt: skip
BATCHES = [
    collate_ids([([5, 6, 7], [8, 9]), ([4], [10, 11, 12, 13]), ([7] * 5, [5])]),
    collate_ids([([9], [9, 9])]),
    collate_ids([([4, 5], [6])] * 6),
    collate_ids([([8, 8], [9]), ([4], [10])]),
]
RATES = [0.1, 0.02, 0.0, 0.3, 0.007]
pytestmark = pytest.mark.skipif(
    not make_optimizer(Transformer(CONFIG), TrainingConfig()).param_groups[0].get("fused"),
    reason="this torch has no fused Adam for a CPU",
)


def at_once(work):
    return work


def warmed_up(work):
    for _ in range(3):
        work()
    return work


class Side:
    """A model in training, its optimiser, and how they are stepped."""

    def __init__(self, recorder=None, clip_norm=None, several=False) -> None:
        torch.manual_seed(0)
        self.model, training = Transformer(CONFIG), TrainingConfig(layout="static", clip_norm=clip_norm)
        self.step = FastStep(self.model, training)
        self.optimizer, precision = self.step.optimizer, self.step.precision
        self.step.static = StaticMicroStep(self.model, training, precision, StaticShape(64, 16), CPU, recorder)
        self.step.static.zeroes = not several
        if recorder is not None:
            self.record(recorder)

    def record(self, recorder) -> None:
        parameters, step = self.model.parameters(), self.step
        step.recorded = RecordedOptimizer(step.optimizer, parameters, step.training.clip_norm, step.precision, recorder)

    def update(self, number: int, rate: float, several: bool = False, factor: float = 1.0):
        batches = BATCHES if several else [BATCHES[number % len(BATCHES)]]
        return update(
            self.step,
            batches,
            40,
            rate,
            lambda metrics: torch.stack((metrics.loss_sum * factor, metrics.gradient_norm.double())),
        )

    def state(self):
        moments = [dict(self.optimizer.state[parameter]) for parameter in self.model.parameters()]
        return copy.deepcopy(([p.detach() for p in self.model.parameters()], moments))


@pytest.mark.parametrize("recorder", [at_once, warmed_up])
@pytest.mark.parametrize("clip_norm", [None, 0.05])
@pytest.mark.parametrize("several", [False, True])
def test_recorded_updates_are_the_updates(recorder, clip_norm, several):
    """Over ragged batches and a rate that changes; float32 rates are the only difference."""
    plain, recorded = Side(None, clip_norm, several), Side(recorder, clip_norm, several)
    for number, rate in enumerate(RATES):
        expected, made = (side.update(number, rate, several) for side in (plain, recorded))
        torch.testing.assert_close(made.gradient_norm, expected.gradient_norm, rtol=1e-6, atol=0)
        torch.testing.assert_close(made.loss_sum, expected.loss_sum, rtol=1e-6, atol=0)
        torch.testing.assert_close(recorded.state(), plain.state(), rtol=2e-6, atol=1e-7)
    count = next(iter(recorded.optimizer.state.values()))["step"]
    assert float(count) == len(RATES), "recording made no step of its own"
    assert recorded.optimizer.param_groups[0]["lr"] == RATES[-1], "checkpoints see plain groups"
    assert not recorded.optimizer.param_groups[0]["capturable"]


def test_bit_by_bit_where_float32_knows_the_rate():
    plain, recorded = Side(None, 0.05), Side(warmed_up, 0.05)
    for number, rate in enumerate((0.125, 0.5, 0.0625, 0.25)):
        plain.update(number, rate)
        recorded.update(number, rate)
    for ours, theirs in zip(plain.model.parameters(), recorded.model.parameters(), strict=True):
        assert torch.equal(ours, theirs)


@pytest.mark.parametrize("recorder", [None, warmed_up])
@pytest.mark.parametrize("bad", [0, 2])
def test_an_update_that_is_not_finite_changes_nothing_bit_by_bit(recorder, bad):
    """Also if it is the first, in which the work is recorded."""
    side, clean = Side(recorder, 0.05), Side(recorder, 0.05)
    for number in range(4):
        if number == bad:
            before = [p.detach().clone() for p in side.model.parameters()]
            side.update(number, 0.1, factor=math.nan)
            assert all(torch.equal(p, b) for p, b in zip(side.model.parameters(), before, strict=True))
            continue
        side.update(number, 0.1)
        clean.update(number, 0.1)
    ours, theirs = side.state(), clean.state()
    assert all(torch.equal(a, b) for a, b in zip(ours[0], theirs[0], strict=True))
    for a, b in zip(ours[1], theirs[1], strict=True):
        assert a.keys() == b.keys() == {"step", "exp_avg", "exp_avg_sq"} and all(torch.equal(a[k], b[k]) for k in a)


def test_gradients_elsewhere_are_recorded_anew():
    """A micro-step that makes new gradients each time: replaying work on the old ones would train on nothing."""
    plain, recorded = Side(), Side()
    for side in (plain, recorded):
        side.step = FastStep(side.model, TrainingConfig(), optimizer=side.optimizer)
    recorded.record(at_once)
    keep = []
    for number, rate in enumerate(RATES):
        for side in (plain, recorded):
            side.update(number, rate)
        keep.append([p.grad for p in recorded.model.parameters()])  # so that no memory is given out twice
    torch.testing.assert_close(recorded.state(), plain.state(), rtol=2e-6, atol=1e-7)


def test_what_cannot_be_recorded_is_refused():
    side = Side()
    slow = torch.optim.Adam(side.model.parameters(), lr=0.0)
    with pytest.raises(ValueError, match="only the step of a fused optimiser"):
        RecordedOptimizer(slow, side.model.parameters(), None, side.step.precision, at_once)

    class Gpu:
        type, index = "cuda", 0

    with pytest.raises(ValueError, match="only recorded of a compiled step: set compile=True"):
        training = TrainingConfig(layout="static")
        StaticMicroStep(side.model, training, side.step.precision, StaticShape(64, 16), Gpu(), at_once)
    for training in (TrainingConfig(layout="static"), TrainingConfig()):
        step = FastStep(side.model, training)
        with step.compiled(longest=16):
            assert step.recorded is None, "no GPU here"


@pytest.fixture
def recorded_runs(monkeypatch):
    """Let trainings record as on a GPU, with a recorder that does the work again, and read metrics late."""

    def late(*options):
        return DeferredMetrics(*options, late=True)

    monkeypatch.setattr(FastStep, "_recorder", lambda self: warmed_up)
    monkeypatch.setattr(observer, "DeferredMetrics", late)


def weights(result):
    from safetensors.torch import load_file

    folder = list_checkpoints(result.folder)[-1]
    return {
        name: tensor
        for file in ("model", "optimizer")
        for name, tensor in load_file(folder / f"{file}.safetensors").items()
    }


def test_a_recorded_run_is_the_run_and_goes_on_like_it(small, request):
    """Resumed = uninterrupted bit by bit; a run begun without recordings goes on with them, and the reverse."""
    how = {"layout": "static", "clip_norm": 0.5, "checkpoint_every": 4}
    plain = weights(small.train("plain", updates=8, **how))
    small.train("old", updates=4, **how)
    request.getfixturevalue("recorded_runs")
    whole = weights(small.train("whole", updates=8, **how))
    small.train("parts", updates=4, **how)
    parts, old = (weights(small.train(name, updates=8, **how)) for name in ("parts", "old"))
    assert whole.keys() == plain.keys()
    for name, tensor in whole.items():
        assert torch.equal(parts[name], tensor), name
        for other in (plain, old):
            torch.testing.assert_close(other[name], tensor, rtol=2e-3, atol=2e-5)  # rates in float32


def test_a_recorded_run_stops_at_what_is_not_finite(small, recorded_runs, monkeypatch):
    true_loss, seen, states = static_micro_step.static_loss, [], []

    def poisoned(model, batch, *rest):
        states.append([p.detach().clone() for p in model.parameters()])
        seen.append(float(model.output_weight.detach().abs().sum()))
        return true_loss(model, batch, *rest) * (math.nan if len(set(seen)) >= 3 else 1.0)

    monkeypatch.setattr(static_micro_step, "static_loss", poisoned)
    with pytest.raises(NonFiniteLoss, match="The update was not made"):
        small.train(layout="static", updates=9)
    assert all(torch.equal(a, b) for a, b in zip(states[-1], states[-2], strict=True))
    assert not list_checkpoints(small.folder / "run")
