"""Student's distribution: how far a mean of a few runs may lie from the truth."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(200)


def student_tail(t: float, freedom: int) -> float:
    """Probability that Student's variable is above `t`, which is 0 or more."""
    # Its square root turned into an angle, the density is a power of the cosine on a finite range.
    angle = math.atan(t / math.sqrt(freedom))
    log_scale = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - math.log(math.pi) / 2
    middle, half = (angle + math.pi / 2) / 2, (math.pi / 2 - angle) / 2
    density = np.exp((freedom - 1) * np.log(np.cos(middle + half * _NODES)) + log_scale)
    return float(half * (_WEIGHTS * density).sum())


@lru_cache
def student_quantile(confidence: float, freedom: int) -> float:
    """The t within which, on both sides of zero, Student's variable lies with this probability."""
    low, high = 0.0, 1.0
    while student_tail(high, freedom) > (1 - confidence) / 2:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if student_tail(middle, freedom) > (1 - confidence) / 2 else (low, middle)
    return high
