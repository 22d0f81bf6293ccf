"""Chapter 34: optimisers and schedules against values by hand, and what a recording on a GPU asks of them."""

from __future__ import annotations

import copy
import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode

from annotated.config import ModelConfig, TrainingConfig
from annotated.model import Transformer
from annotated.training.optimizer import make_optimizer
from annotated_book.results.since_2017.decay import adamw
from annotated_book.results.since_2017.muon import Muon, hidden_matrices, muon, newton_schulz
from annotated_book.results.since_2017.parts import PARTS
from annotated_book.results.since_2017.schedules import cosine, inverse_root, warmup_stable_decay
from annotated_grader.doctor import OurSubject, doctor
from annotated_grader.doctor.adapters import ours
from annotated_grader.doctor.invariants import INVARIANTS

SOURCE = torch.tensor([[5, 6, 7, 2], [8, 9, 2, 0]])
TARGET = torch.tensor([[1, 20, 21, 22], [1, 23, 24, 0]])


def loss_of(model: nn.Module) -> Tensor:
    logits = model(SOURCE, TARGET[:, :-1])
    return F.cross_entropy(logits.flatten(0, 1), TARGET[:, 1:].flatten(), ignore_index=0)


def train(name: str, model: Transformer, training: TrainingConfig, updates: int, optimizer: Any = None) -> Any:
    part = PARTS[name]
    optimizer = optimizer or part.optimizer(model, training)
    for update in range(1, updates + 1):
        for group in optimizer.param_groups:
            group["lr"] = part.rate(100 * update, training, model.config.d_model)
        optimizer.zero_grad()
        loss_of(model).backward()
        optimizer.step()
    return optimizer


def test_the_base_is_trained_as_the_book_trains(config: ModelConfig, training: TrainingConfig) -> None:
    first = Transformer(config.replace(dropout=0.0))
    second = copy.deepcopy(first)
    train("base", first, training, 3)
    train("base", second, training, 3, make_optimizer(second, training))
    assert all(a.equal(b) for a, b in zip(first.parameters(), second.parameters(), strict=True))


@pytest.mark.parametrize("name", PARTS)
def test_every_part_learns(name: str, config: ModelConfig, training: TrainingConfig) -> None:
    model = PARTS[name].model(config.replace(dropout=0.0))
    before = float(loss_of(model).detach())
    optimizer = train(name, model, training, 15)
    assert float(loss_of(model).detach()) < before - 0.3
    held = [id(p) for group in optimizer.param_groups for p in group["params"]]
    assert sorted(held) == sorted(map(id, model.parameters()))  # each parameter once


def test_equation_3_and_its_highest_rate(training: TrainingConfig) -> None:
    assert math.isclose(inverse_root(400, training, 32), 0.6 / math.sqrt(32) / 20)
    assert math.isclose(inverse_root(1600, training, 32), 0.6 / math.sqrt(32) / 40)
    assert math.isclose(PARTS["post-norm-slow"].rate(1600, training, 32), 0.24 / math.sqrt(32) / 40)


@pytest.mark.parametrize(
    ("update", "share"),
    [
        (1, 1 / 400),
        (200, 0.5),
        (400, 1.0),
        (3200, 0.1 + 0.9 * 0.5),  # half way
        (400 + 5600 // 4, 0.1 + 0.9 * (1 + math.sqrt(0.5)) / 2),
        (6000, 0.1),
    ],
)
def test_cosine_by_hand(update: int, share: float, training: TrainingConfig) -> None:
    assert math.isclose(cosine(update, training, 32), share * 0.6 / math.sqrt(32) / 20, rel_tol=1e-9)


@pytest.mark.parametrize(
    ("update", "share"), [(1, 1 / 400), (200, 0.5), (400, 1), (3000, 1), (4801, 1), (5401, 0.5), (6000, 1 / 1200)]
)
def test_warmup_stable_decay_by_hand(update: int, share: float, training: TrainingConfig) -> None:
    assert math.isclose(warmup_stable_decay(update, training, 32), share * 0.6 / math.sqrt(32) / 20, rel_tol=1e-9)


def test_adamw_by_hand(config: ModelConfig, training: TrainingConfig) -> None:
    """The first step of Adam is the sign of the gradient; a decay of 0.1 takes 0.1 x rate of a matrix before it."""
    model = Transformer(config.replace(dropout=0.0))
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    optimizer, rate = adamw(model, training), 0.01
    for group in optimizer.param_groups:
        group["lr"] = rate
    loss_of(model).backward()
    optimizer.step()
    for name, p in model.named_parameters():
        assert p.grad is not None
        steps = p.grad / (p.grad.abs() + training.adam_epsilon)
        decayed = before[name] * (1 - 0.1 * rate if p.dim() > 1 else 1)
        torch.testing.assert_close(p.detach(), decayed - rate * steps, atol=1e-6, rtol=1e-5)


def test_orthogonal_from_any_matrix() -> None:
    for size in ((32, 32), (128, 32), (32, 128), (3, 8, 32)):
        found = newton_schulz(torch.randn(size))
        assert found.shape == size
        values = torch.linalg.svdvals(found)
        assert float(values.min()) > 0.3 and float(values.max()) < 1.3
        assert 0.8 < float(values.mean()) < 1.1


def test_orthogonal_keeps_the_singular_vectors() -> None:
    u, v = (torch.linalg.qr(torch.randn(6, 6)).Q for _ in range(2))
    values = torch.tensor([1.0, 0.9, 0.8, 0.5, 0.3, 0.2])
    found = u.T @ newton_schulz(u * values @ v.T) @ v
    expected = []
    for value in values / values.norm():
        s = float(value)
        for _ in range(5):
            s = 3.4445 * s - 4.7750 * s**3 + 2.0315 * s**5
        expected.append(s)
    torch.testing.assert_close(found, torch.diag(torch.tensor(expected)), atol=1e-4, rtol=1e-4)


def test_muon_step_matrix_by_matrix() -> None:
    """Written out: momentum, Nesterov's look ahead, one orthogonal matrix for each of the rows, Adam's size."""
    weights = [nn.Parameter(torch.randn(8, 4)), nn.Parameter(torch.randn(4, 8)), nn.Parameter(torch.randn(4, 4))]
    written = [[w.detach()[:4].clone(), w.detach()[4:].clone()] if i == 0 else [w.detach().clone()]
               for i, w in enumerate(weights)]  # fmt: skip
    groups = [{"params": weights[:1], "rows": (4, 4)}, {"params": weights[1:]}]
    optimizer, rate = Muon(groups, weight_decay=0.5), 0.1
    buffers = [[torch.zeros_like(part) for part in parts] for parts in written]
    for _ in range(3):
        for group in optimizer.param_groups:
            group["lr"] = rate
        for i, weight in enumerate(weights):
            weight.grad = torch.randn_like(weight)
            gradients = weight.grad.split(4) if i == 0 else [weight.grad]
            for j, gradient in enumerate(gradients):
                buffers[i][j] = 0.95 * buffers[i][j] + 0.05 * gradient
                ahead = 0.05 * gradient + 0.95 * buffers[i][j]
                size = 0.2 * math.sqrt(max(gradient.shape))
                written[i][j] = (1 - rate * 0.5) * written[i][j] - rate * size * newton_schulz(ahead)
        optimizer.step()
    for weight, parts in zip(weights, written, strict=True):
        torch.testing.assert_close(weight.detach(), torch.cat(parts), atol=1e-5, rtol=1e-5)


def test_muon_moves_as_far_as_adam() -> None:
    weight = nn.Parameter(torch.zeros(128, 32))
    optimizer = Muon([{"params": [weight], "lr": 1.0}])
    weight.grad = torch.randn_like(weight)
    optimizer.step()
    assert 0.16 < float(weight.detach().square().mean().sqrt()) < 0.24


def test_muon_takes_what_is_hidden(config: ModelConfig, training: TrainingConfig) -> None:
    model = PARTS["2026"].model(config)
    hidden = hidden_matrices(model)
    names = {id(p): name for name, p in model.named_parameters()}
    held = {names[id(p)] for some in hidden.values() for p in some}
    assert held == {name for name, p in model.named_parameters() if p.dim() == 2 and name != "embedding.weight"}
    assert set(hidden) == {None, (16, 16, 16), (16, 8, 8)}
    assert {group["weight_decay"] for group in muon(model, training).param_groups} == {0.0}
    groups = PARTS["2026"].optimizer(model, training).param_groups
    for group in groups:
        assert all(group["weight_decay"] == (0.1 if p.dim() == 2 else 0.0) for p in group["params"])


@pytest.mark.parametrize("name", ["base", "adamw", "2026"])
def test_an_optimizer_goes_on_from_its_state(name: str, config: ModelConfig, training: TrainingConfig) -> None:
    model = PARTS[name].model(config.replace(dropout=0.0))
    optimizer = train(name, model, training, 3)
    other = copy.deepcopy(model)
    again = PARTS[name].optimizer(other, training)
    again.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    train(name, model, training, 2, optimizer)
    train(name, other, training, 2, again)
    assert all(a.equal(b) for a, b in zip(model.parameters(), other.parameters(), strict=True))


class NothingWaits(TorchDispatchMode):
    """Refuses what a recording on a GPU cannot hold: numbers asked of a tensor, and tensors made from Python's."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        for refused in ("_local_scalar_dense", "nonzero", "lift_fresh", "is_nonzero", "unique", "masked_select"):
            assert refused not in str(func), func
        return func(*args, **(kwargs or {}))


def test_the_guard_refuses_a_wait() -> None:
    with NothingWaits(), pytest.raises(AssertionError):
        float(torch.ones(1) + 1)
    with NothingWaits(), pytest.raises(AssertionError):
        torch.tensor([1.0])


@pytest.mark.parametrize("name", [name for name, part in PARTS.items() if part.model is not Transformer])
def test_a_pass_waits_for_nothing(name: str, config: ModelConfig) -> None:
    model = PARTS[name].model(config.replace(dropout=0.0))
    loss_of(model).backward()
    with NothingWaits():
        loss_of(model).backward()


def test_a_step_of_muon_waits_for_nothing_and_takes_a_tensor_as_its_rate(config: ModelConfig) -> None:
    one = PARTS["2026"].model(config.replace(dropout=0.0))
    other = copy.deepcopy(one)
    for model, rate in ((one, 0.01), (other, torch.tensor(0.01))):
        groups = [{"params": some, "rows": rows} for rows, some in hidden_matrices(model).items()]
        optimizer = Muon(groups, weight_decay=0.1)
        for group in optimizer.param_groups:
            group["lr"] = rate
        for _ in range(2):
            optimizer.zero_grad()
            loss_of(model).backward()
            with NothingWaits():
                optimizer.step()
    for a, b in zip(one.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(a, b, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("name", ["adamw", "muon", "2026"])
def test_the_doctor_finds_its_updates_healthy(name: str, config: ModelConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    """The adapter makes its optimiser through this module, so it examines the one that stands there."""
    make = PARTS[name].optimizer
    monkeypatch.setattr(ours.optimizer_module, "make_optimizer", make)
    of_updates = [name for name, invariant in INVARIANTS.items() if "updates" in invariant.needs]
    report = doctor(OurSubject(Transformer(config)), of_updates)  # the rest does not see an optimiser
    assert [one.id for one in report.findings] == of_updates and len(of_updates) >= 3
    assert report.healthy and not [one for one in report.findings if one.outcome != "passed"]
