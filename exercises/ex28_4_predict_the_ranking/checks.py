"""Checks of ex28-4: ranks by sorting and sharing places, the correlation by covariances of plain numbers.

Paper: section 6.2, Table 3
"""

import math
from itertools import groupby
from typing import Any

import torch
from torch import Tensor

from annotated_grader import Case, Student, expect, graded


def places(values: list[float]) -> list[float]:
    """Ranks from a sorted list, group by group of equal values."""
    shared: dict[float, float] = {}
    before = 0
    for value, group in groupby(sorted(values)):
        count = len(list(group))
        shared[value] = sum(range(before + 1, before + count + 1)) / count
        before += count
    return [shared[value] for value in values]


def agreement(first: list[float], second: list[float]) -> float:
    """The correlation of the ranks, from raw moments."""
    x, y, n = places(first), places(second), len(first)
    both = n * sum(a * b for a, b in zip(x, y, strict=True)) - sum(x) * sum(y)
    own = [n * sum(a * a for a in one) - sum(one) ** 2 for one in (x, y)]
    return both / math.sqrt(own[0] * own[1])


def quantile(values: list[float], share: float) -> float:
    """Linear between the two nearest values."""
    ordered, place = sorted(values), share * (len(values) - 1)
    low = int(place)
    return ordered[low] + (place - low) * (ordered[min(low + 1, len(ordered) - 1)] - ordered[low])


def tied(case: Case, n: int) -> Tensor:
    """Values in random order, the smallest three times, another twice."""
    values = torch.cat([torch.tensor([0, 0, 0, 1, 2, 2]), torch.arange(3, n - 3)])[:n].float()
    return 4.5 + 0.25 * values[case.permutation(n)]


def distinct(case: Case, n: int) -> Tensor:
    """Different values in an order that is neither sorted nor its own inverse."""
    order = case.permutation(n)
    while bool((order[order] == torch.arange(n)).all()):
        order = case.permutation(n)
    return 4.0 + 0.125 * order.float() ** 2


@graded(points=1, levels=3)
def ranks_without_ties(student: Student, case: Case) -> None:
    """Different values have the ranks from 1 to n, the smallest the first."""
    values = distinct(case, 4 + case.between(0, 5))
    got = expect.tensor(student.call("ranks", values), "the ranks", values.shape)
    expect.close(got, torch.tensor(places(values.tolist())), "the ranks", values=values)


@graded(points=2, levels=3)
def ties_share(student: Student, case: Case) -> None:
    """Equal values share the mean of their places."""
    values = torch.tensor([7.0, 5.0, 9.0, 7.0, 5.0, 5.0]) if case.level == 0 else tied(case, 8 + case.between(0, 4))
    got = expect.tensor(student.call("ranks", values), "the ranks", values.shape)
    expect.close(got, torch.tensor(places(values.tolist())), "the ranks", values=values)


@graded(points=2, levels=3)
def order_and_reverse(student: Student, case: Case) -> None:
    """The correlation is that of the order, whatever the values are."""
    first = distinct(case, 5 + case.between(0, 4))
    second = distinct(case, len(first))
    for one, other in ((first, second), (first, (first - 3) ** 5), (second, -second)):
        got = student.call("rank_correlation", one, other)
        expected = agreement(one.tolist(), other.tolist())
        expect.number(got, expected, "the rank correlation", atol=1e-5, first=one, second=other)


@graded(points=2, levels=3)
def correlation_with_ties(student: Student, case: Case) -> None:
    """Ties in either list are in the correlation as shared ranks."""
    first = tied(case, 8 + case.between(0, 4))
    second = first + 0.75 * tied(case, len(first))
    for one, other in ((first, second), (second, tied(case, len(first)))):
        got = student.call("rank_correlation", one, other)
        expected = agreement(one.tolist(), other.tolist())
        expect.number(got, expected, "the rank correlation", atol=1e-5, first=one, second=other)


def repeated(case: Case, rounds: int) -> tuple[Tensor, Tensor, float, Tensor, Tensor]:
    """Arguments of rank_spread: rows a deviation or less apart, with different numbers of runs."""
    n = 6 + case.between(0, 3)
    deviation = 0.02 if case.level == 0 else 0.03 + 0.01 * case.between(0, 3)
    means = 3.5 + deviation * (0.6 * torch.arange(n) + 0.1 * case.uniform(n))
    seeds = torch.tensor([5.0, 2.0, 3.0, 9.0, 4.0, 2.0, 3.0, 7.0, 2.0])[:n]
    swapped = torch.arange(n).float()
    swapped[[1, 2]] = swapped[[2, 1]]
    return means, seeds, deviation, 5 + deviation * swapped, case.normal(rounds, n)


@graded(points=3, levels=2)
def spread_over_the_seeds(student: Student, case: Case) -> None:
    """The quantiles are those of the correlations of means that are drawn anew."""
    means, seeds, deviation, paper, noise = repeated(case, 60 + case.between(0, 20))
    got: Any = student.call("rank_spread", means, seeds, deviation, paper, noise)
    expect.true(isinstance(got, tuple | list) and len(got) == 2, "rank_spread returns two numbers", got=got)
    centre, runs = means.tolist(), seeds.tolist()
    found = []
    for row in noise.tolist():
        drawn = [m + deviation * math.sqrt(1 / k) * z for m, k, z in zip(centre, runs, row, strict=True)]
        found.append(agreement(drawn, paper.tolist()))
    for value, share in zip(got, (0.025, 0.975), strict=True):
        named: dict[str, Any] = {"means": means, "seeds": seeds, "deviation": deviation, "paper": paper}
        expect.number(value, quantile(found, share), f"the quantile {share} of the correlations", atol=1e-5, **named)
