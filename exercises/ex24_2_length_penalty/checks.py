"""Checks of ex24-2: the length penalty.

Paper: section 6.1
"""

import math
from fractions import Fraction
from typing import Any

from torch import Tensor

from annotated_grader import Case, Student, expect, graded

Hypothesis = tuple[list[int], float]


def penalty(length: int, alpha: float) -> float:
    """By the logarithm of an exact fraction."""
    whole = Fraction(5 + length, 6)
    return math.exp(alpha * (math.log(whole.numerator) - math.log(whole.denominator)))


def hypothesis(case: Case, length: int, total: float) -> Hypothesis:
    """So many tokens, and a log-probability."""
    return [int(t) for t in case.integers(3, 30, length)], total


def pair(case: Case, alpha: float, margin: float) -> list[Hypothesis]:
    """A short and a long one; the long one has the higher score if `margin` is positive."""
    short, long = 2 + case.between(0, 3), 8 + case.between(0, 6)
    total = -2.0 - float(case.uniform(1))
    equal = total / penalty(short + 1, alpha) * penalty(long + 1, alpha)
    return [hypothesis(case, short, total), hypothesis(case, long, equal * (1 - margin))]


def places(result: Any) -> list[int]:
    """A list of places."""
    result = result.tolist() if isinstance(result, Tensor) else result
    expect.true(isinstance(result, list | tuple), "ranked: expected a list of places", result=result)
    return [int(place) for place in result]


@graded(points=2, levels=3)
def the_formula(student: Student, case: Case) -> None:
    """The penalty of a length."""
    for _ in range(3):
        length, alpha = case.between(2, 40), 0.2 + 1.2 * float(case.uniform(1))
        got = student.call("length_penalty", length, alpha)
        expect.number(got, penalty(length, alpha), "the penalty", length=length, alpha=alpha)


@graded(points=1, levels=1)
def where_it_is_one(student: Student, case: Case) -> None:
    """It is 1 for every length if alpha is 0, and for a single token whatever alpha is."""
    length, alpha = case.between(3, 60), 0.3 + float(case.uniform(1))
    expect.number(student.call("length_penalty", length, 0.0), 1.0, "the penalty", length=length, alpha=0.0)
    expect.number(student.call("length_penalty", 1, alpha), 1.0, "the penalty", length=1, alpha=alpha)


@graded(points=2, levels=3)
def best_first(student: Student, case: Case) -> None:
    """Many hypotheses, the best first."""
    count, alpha = 2 + case.between(1, 4), 0.6
    scores = [-1.0 - 0.4 * n for n in range(count)]  # known, and far enough apart
    lengths = [2 + 3 * int(n) for n in case.permutation(count)]
    best = [hypothesis(case, n, s * penalty(n + 1, alpha)) for n, s in zip(lengths, scores, strict=True)]
    order = [int(n) for n in case.permutation(count)]
    mixed = [best[n] for n in order]
    got = places(student.call("ranked", mixed, alpha))
    expect.equal(got, [order.index(n) for n in range(count)], "the places", hypotheses=mixed, alpha=alpha)


@graded(points=2, levels=2)
def eos_counts(student: Student, case: Case) -> None:
    """Two hypotheses so close that the eos in their lengths decides."""
    for alpha in (0.6, 1.0):
        for margin in (0.01, -0.01):
            two = pair(case, alpha, margin)
            got = places(student.call("ranked", two, alpha))
            expect.equal(got, [1, 0] if margin > 0 else [0, 1], "the places", hypotheses=two, alpha=alpha)


@graded(points=2, levels=2)
def where_they_change_places(student: Student, case: Case) -> None:
    """The alpha at which two hypotheses score the same."""
    for alpha in (0.35 + float(case.uniform(1)), -0.4):
        a, b = pair(case, alpha, 0.0)
        for first, second in ((a, b), (b, a)):
            got = student.call("turning_alpha", first, second)
            expect.number(got, alpha, "the turning alpha", atol=1e-4, a=first, b=second)
