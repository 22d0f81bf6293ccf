from __future__ import annotations

import pytest
import torch

from annotated.training.schedule import learning_rate, set_learning_rate

pytestmark = pytest.mark.oldest_torch


def test_the_first_five_rates_by_hand():
    # During warm-up equation 3 is d_model^-0.5 * update * warmup^-1.5; 4000^-1.5 = 1 / (4000 * 63.245553...).
    unit = 1 / (512**0.5 * 4000 * 4000**0.5)
    assert unit == pytest.approx(1.746928e-7, rel=1e-6)
    rates = [learning_rate(update, 512, 4000) for update in range(1, 6)]
    assert rates == pytest.approx([unit, 2 * unit, 3 * unit, 4 * unit, 5 * unit], rel=1e-12)


def test_the_peak_is_at_the_end_of_the_warm_up_and_then_it_falls_with_the_square_root():
    peak = learning_rate(4000, 512, 4000)
    assert peak == pytest.approx((512 * 4000) ** -0.5, rel=1e-12)
    assert learning_rate(3999, 512, 4000) < peak > learning_rate(4001, 512, 4000)
    assert learning_rate(16_000, 512, 4000) == pytest.approx(peak / 2, rel=1e-12)


def test_the_scale_is_a_factor():
    assert learning_rate(7, 64, 10, scale=0.5) == pytest.approx(0.5 * learning_rate(7, 64, 10))


@pytest.mark.parametrize("arguments", [(0, 512, 4000), (-1, 512, 4000), (1, 0, 4000), (1, 512, 0)])
def test_there_is_no_update_zero(arguments):
    with pytest.raises(ValueError):
        learning_rate(*arguments)


def test_the_rate_of_an_update_is_set_before_it():
    weight = torch.nn.Parameter(torch.tensor(1.0))
    optimizer = torch.optim.SGD([weight], lr=123.0)
    set_learning_rate(optimizer, 0.25)
    weight.sum().backward()
    optimizer.step()
    assert weight.item() == 0.75
