"""Adam by hand against torch, the effective number of gradients against its definition, first steps on known noise."""

from __future__ import annotations

import pytest
import torch

from annotated_book.training.warm_up.adam import adam_steps, first_steps, gradients_behind


def test_steps_are_those_of_torch() -> None:
    torch.manual_seed(0)
    gradients, rates = list(torch.randn(7, 5).double()), [0.1, 0.2, 0.3, 0.2, 0.1, 0.05, 0.01]
    p = torch.nn.Parameter(torch.zeros(5, dtype=torch.float64))
    adam = torch.optim.Adam([p], betas=(0.9, 0.98), eps=1e-9)
    total = torch.zeros(5, dtype=torch.float64)
    for gradient, rate, step in zip(gradients, rates, adam_steps(gradients, rates), strict=True):
        adam.param_groups[0]["lr"], p.grad = rate, gradient
        adam.step()
        total += step
        torch.testing.assert_close(p.detach(), total)


@pytest.mark.parametrize(("beta", "update"), [(0.9, 1), (0.98, 5), (0.999, 300)])
def test_gradients_behind_is_the_effective_sample_size(beta: float, update: int) -> None:
    weights = beta ** torch.arange(update).double()
    assert gradients_behind(beta, update) == pytest.approx(float(weights.sum() ** 2 / weights.square().sum()))


def test_of_noise_and_signal_the_signal_survives() -> None:
    torch.manual_seed(0)
    signal = torch.cat([torch.full((500,), 1.0), torch.zeros(1500)])  # a quarter has a direction, the rest is noise
    gradients = list(signal + torch.randn(200, 2000))
    worth = first_steps(gradients, [1, 10, 100])
    assert worth["size"][0] == pytest.approx(1, abs=1e-3) and worth["size"][0] > worth["size"][1] > worth["size"][2]
    assert worth["agreement"][0] < worth["agreement"][1] < worth["agreement"][2]
    with pytest.raises(ValueError, match="enough for 100 updates, not for 101"):
        first_steps(gradients, [101])
