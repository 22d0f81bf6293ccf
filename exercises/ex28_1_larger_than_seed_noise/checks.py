"""Checks of ex28-1: deviations from the distances between runs, Student's t from its density.

Paper: section 6.2, Table 3
"""

import math
from typing import Any

from annotated.evaluation.student_t import student_quantile
from annotated_grader import Case, Student, expect, graded

Losses = dict[str, dict[int, float]]
ROWS = ("base", "C1", "B2", "D1")


def drawn(case: Case, counts: list[int], shared: float = 0.0) -> Losses:
    """Losses of as many runs for each row; `shared` is the part of the noise that a seed has in all rows."""
    common = case.normal(16).tolist()
    losses: Losses = {}
    for number, count in enumerate(counts):
        order, own = case.permutation(count).tolist(), case.normal(count).tolist()
        if order == sorted(order):
            order.reverse()
        centre = 3.4 + 0.013 * (number * number)
        losses[ROWS[number]] = {
            seed: round(centre + 0.01 * (shared * common[seed] + (1 - shared) * own[seed]), 5) for seed in order
        }
    return losses


def spread(values: list[float]) -> float:
    """Variance with n - 1, from the squared distances between all pairs: no mean is taken."""
    pairs = sum((a - b) ** 2 for i, a in enumerate(values) for b in values[:i])
    return pairs / (len(values) * (len(values) - 1))


def middle(values: Any) -> float:
    """The mean."""
    return math.fsum(values) / len(list(values))


def gaps(losses: Losses, row: str) -> list[float]:
    """The row less base, for each seed that both have."""
    both = sorted(losses["base"].keys() & losses[row].keys())
    return [losses[row][seed] - losses["base"][seed] for seed in both]


def of_a_run(losses: Losses) -> tuple[float, int]:
    """The pooled deviation and its freedom."""
    several = [list(runs.values()) for runs in losses.values() if len(runs) > 1]
    freedom = sum(map(len, several)) - len(several)
    return math.sqrt(sum(spread(one) * (len(one) - 1) for one in several) / freedom), freedom


def compare(got: Any, expected: tuple[float, ...], names: tuple[str, ...], **inputs: Any) -> None:
    """Number by number."""
    right = isinstance(got, tuple | list) and len(got) == len(expected)
    expect.true(right, f"expected {len(expected)} numbers: {', '.join(names)}", got=got, **inputs)
    for value, number, name in zip(got, expected, names, strict=True):
        expect.number(value, number, name, atol=1e-8, **inputs)


ENDS = ("the difference", "the lower end", "the upper end")


@graded(points=2, levels=3)
def deviation_of_a_run(student: Student, case: Case) -> None:
    """The deviation of one run comes from all rows, each about its own mean."""
    counts = [2, 3] if case.level == 0 else [case.between(2, 5) for _ in range(3)] + [6]
    losses = drawn(case, counts)
    got = student.call("pooled", losses)
    compare(got, of_a_run(losses), ("the deviation of a run", "the degrees of freedom"), losses=losses)


@graded(points=1, levels=2)
def a_single_run(student: Student, case: Case) -> None:
    """A row with a single run says nothing about the spread."""
    losses = drawn(case, [case.between(2, 4), 1, 3])
    got = student.call("pooled", losses)
    compare(got, of_a_run(losses), ("the deviation of a run", "the degrees of freedom"), losses=losses)


@graded(points=3, levels=3)
def two_means(student: Student, case: Case) -> None:
    """The interval of a difference of two means, of rows with different numbers of runs."""
    losses = drawn(case, [2, 3] if case.level == 0 else [3 + case.between(0, 2), 2, 6])
    for row in list(losses)[1:]:
        got = student.call("interval", losses, row)
        deviation, freedom = of_a_run(losses)
        n, m = len(losses["base"]), len(losses[row])
        difference = middle(losses[row].values()) - middle(losses["base"].values())
        reach = student_quantile(0.95, freedom) * deviation * math.sqrt((n + m) / (n * m))
        expected = (difference, difference - reach, difference + reach)
        compare(got, expected, ENDS, losses=losses, row=row)


@graded(points=3, levels=3)
def pairs_by_seed(student: Student, case: Case) -> None:
    """Pairs are runs with the same seed, wherever they stand; seeds of one row alone are left out."""
    counts = [3, 4] if case.level == 0 else [4 + case.between(0, 3), 3, 8]
    losses = drawn(case, counts, shared=0.6)
    for row in list(losses)[1:]:
        got = student.call("paired_interval", losses, row)
        found = gaps(losses, row)
        reach = student_quantile(0.95, len(found) - 1) * math.sqrt(spread(found) / len(found))
        expected = (middle(found), middle(found) - reach, middle(found) + reach)
        compare(got, expected, ENDS, losses=losses, row=row)


@graded(points=2, levels=3)
def what_pairing_gains(student: Student, case: Case) -> None:
    """Pairing gains where the seeds move both rows together, and loses where they do not."""
    for shared in (0.8, 0.0):
        losses = drawn(case, [3, 4, 5] if case.level == 0 else [7, 4 + case.between(0, 2), 6], shared)
        for row in ("C1", "B2"):
            got = student.call("gain", losses, row)
            both = sorted(losses["base"].keys() & losses[row].keys())
            apart = sum(spread([losses[one][seed] for seed in both]) for one in ("base", row))
            expect.number(got, apart / spread(gaps(losses, row)), "the gain", losses=losses, row=row)
