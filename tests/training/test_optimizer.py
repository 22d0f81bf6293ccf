from __future__ import annotations

import math

import pytest
import torch

from annotated.config import TrainingConfig
from annotated.training.optimizer import clip_gradients, gradient_norm, make_optimizer

pytestmark = pytest.mark.oldest_torch


def test_two_steps_by_the_formulas_of_adam():
    model = torch.nn.Linear(2, 1, bias=False).double()
    optimizer = make_optimizer(model, TrainingConfig(adam_betas=(0.9, 0.98), adam_epsilon=1e-9))
    weights = model.weight.detach().clone()
    first, second = torch.zeros(1, 2), torch.zeros(1, 2)
    for step, gradient in enumerate(([[0.5, -2.0]], [[1.5, 4.0]]), start=1):
        gradient = torch.tensor(gradient, dtype=torch.float64)
        first, second = 0.9 * first + 0.1 * gradient, 0.98 * second + 0.02 * gradient**2
        corrected = (second / (1 - 0.98**step)).sqrt() + 1e-9
        weights = weights - 0.01 * first / (1 - 0.9**step) / corrected
        optimizer.param_groups[0]["lr"] = 0.01
        model.weight.grad = gradient
        optimizer.step()
    torch.testing.assert_close(model.weight.detach(), weights, rtol=1e-12, atol=1e-12)


def test_without_a_rate_nothing_moves():
    model = torch.nn.Linear(2, 1)
    before = model.weight.detach().clone()
    optimizer = make_optimizer(model, TrainingConfig())
    model.weight.grad = torch.ones_like(model.weight)
    optimizer.step()
    assert torch.equal(model.weight, before)


def gradients(*values: list[float]) -> list[torch.nn.Parameter]:
    parameters = []
    for value in values:
        parameter = torch.nn.Parameter(torch.zeros(len(value)))
        parameter.grad = torch.tensor(value)
        parameters.append(parameter)
    return parameters


def test_the_norm_goes_over_all_parameters():
    assert gradient_norm(gradients([3.0, 0.0], [0.0, 4.0])).item() == pytest.approx(5.0)
    assert math.isinf(gradient_norm(gradients([1.0], [math.inf])))
    assert math.isnan(gradient_norm(gradients([1.0], [math.nan])))


def test_clipping_scales_all_gradients_alike_and_only_down():
    parameters = gradients([3.0, 0.0], [0.0, 4.0])
    clip_gradients(parameters, gradient_norm(parameters), 1.0)
    torch.testing.assert_close(parameters[0].grad, torch.tensor([0.6, 0.0]))
    torch.testing.assert_close(parameters[1].grad, torch.tensor([0.0, 0.8]))
    clip_gradients(parameters, gradient_norm(parameters), 10.0)
    torch.testing.assert_close(parameters[1].grad, torch.tensor([0.0, 0.8]))
