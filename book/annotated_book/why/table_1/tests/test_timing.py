"""The clock counts one call, and the exponent of a known power law is found."""

from __future__ import annotations

import math

import pytest
import torch

from annotated_book.why.table_1.timing import exponent, ready, seconds


def test_exponent_recovers_a_power_law() -> None:
    sizes = [2, 4, 8, 16]
    assert math.isclose(exponent(sizes, [3 * s**1.7 for s in sizes]), 1.7)


def test_the_clock_counts_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    costs = iter([9.0] + [0.004] * 12 + [0.003] * 1000)  # the first call warms up, the next ones are slowed down
    monkeypatch.setattr("annotated_book.why.table_1.timing.time.process_time", lambda: now[0])

    def work() -> None:
        now[0] += next(costs)

    assert math.isclose(seconds(work), 0.003)


def test_the_fused_layer_computes_equation_1() -> None:
    x = torch.randn(1, 6, 16)
    torch.manual_seed(0)
    written = ready("self-attention", 16)
    torch.manual_seed(0)
    torch.testing.assert_close(ready("fused self-attention", 16)(x), written(x))
    with pytest.raises(ValueError, match="unknown layer"):
        ready("pooling", 16)
