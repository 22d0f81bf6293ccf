"""The clock counts one call, and the exponent of a known power law is found."""

from __future__ import annotations

import math

from annotated.chapters.table_1.timing import exponent, seconds


def test_exponent_recovers_a_power_law() -> None:
    sizes = [2, 4, 8, 16]
    assert math.isclose(exponent(sizes, [3 * s**1.7 for s in sizes]), 1.7)


def test_the_clock_counts_one_call() -> None:
    def work() -> None:
        sum(range(20_000))

    once, twice = seconds(work), seconds(lambda: (work(), work()))
    assert 1.4 < twice / once < 2.8
