"""Checks of ex28-2: probabilities from the error function, quantiles by bisection, seeds by counting up.

Paper: section 6.2, Table 3
"""

import math
from functools import cache
from typing import Any

from annotated_grader import Case, Student, expect, graded


def above(x: float) -> float:
    """Probability that a standard normal number is above x."""
    return math.erfc(x / math.sqrt(2)) / 2


@cache
def cut(share: float) -> float:
    """The x above which a standard normal number is with this probability."""
    low, high = -9.0, 9.0
    for _ in range(80):
        x = (low + high) / 2
        low, high = (x, high) if above(x) > share else (low, x)
    return low


def found(difference: float, deviation: float, seeds: int, comparisons: int, level: float) -> float:
    """The power: variances of the two means added."""
    variance = deviation**2 / seeds + deviation**2 / seeds
    each_side = level / comparisons / 2
    return above(cut(each_side) - abs(difference) / math.sqrt(variance))


def counted(difference: float, deviation: float, chance: float, comparisons: int, level: float) -> int:
    """Seeds, one more at a time until the power is enough."""
    seeds = 1
    while found(difference, deviation, seeds, comparisons, level) < chance:
        seeds += 1
    return seeds


def plans(case: Case, comparisons: int) -> list[tuple[float, float, float, int, float]]:
    """Arguments of seeds_needed whose exact number lies between two whole ones, now nearer to one, now to the other."""
    made = []
    for exact, chance in ((23.34, 0.8), (41.7, 0.9), (6.25, 0.6)):
        deviation, level = 0.004 + 0.001 * case.between(0, 9), (0.05, 0.01)[case.between(0, 1)]
        reach = cut(level / comparisons / 2) + cut(1 - chance)
        seeds = exact + case.between(0, 9)
        made.append((reach * deviation * math.sqrt(2 / seeds), deviation, chance, comparisons, level))
    return made


def asked(student: Student, arguments: list[tuple[float, float, float, int, float]]) -> None:
    """All plans are put to the answer before the first is judged."""
    got: list[Any] = [student.call("seeds_needed", *one) for one in arguments]
    for seeds, one in zip(got, arguments, strict=True):
        named = dict(zip(("difference", "deviation", "chance", "comparisons", "level"), one, strict=True))
        expect.equal(seeds, counted(*one), "the seeds of each row", **named)


@graded(points=1, levels=3)
def the_critical_value(student: Student, case: Case) -> None:
    """One comparison has half of the level on each side."""
    level = 0.05 if case.level == 0 else 0.01 * (1 + case.between(0, 9))
    got = student.call("critical", 1, level)
    expect.number(got, cut(level / 2), "the critical number of standard errors", comparisons=1, level=level)


@graded(points=2, levels=3)
def many_comparisons(student: Student, case: Case) -> None:
    """Several comparisons share the level."""
    comparisons, level = 4 + case.between(0, 15), 0.02 + 0.01 * case.between(0, 8)
    got = student.call("critical", comparisons, level)
    what = "the critical number of standard errors"
    expect.number(got, cut(level / comparisons / 2), what, comparisons=comparisons, level=level)


@graded(points=3, levels=3)
def chance_of_finding(student: Student, case: Case) -> None:
    """The power grows from the share of the level on the right side to certainty."""
    deviation, seeds = 0.005 + 0.001 * case.between(0, 9), 3 + case.between(0, 4)
    comparisons = 1 if case.level == 0 else 1 + case.between(1, 19)
    for times, level in ((1.3, 0.05), (0.15, 0.1), (2.9, 0.01)):
        difference = times * deviation
        got = student.call("power", difference, deviation, seeds, comparisons, level)
        expected = found(difference, deviation, seeds, comparisons, level)
        named = {"difference": difference, "deviation": deviation, "seeds": seeds, "comparisons": comparisons}
        named["level"] = level
        expect.number(got, expected, "the power", atol=1e-8, **named)


@graded(points=1, levels=2)
def either_sign(student: Student, case: Case) -> None:
    """A row that is better than base is found as often as one that is worse by as much."""
    deviation, seeds = 0.01 + 0.002 * case.between(0, 9), 4 + case.between(0, 5)
    difference = -1.5 * deviation
    got = student.call("power", difference, deviation, seeds)
    expected = found(difference, deviation, seeds, 1, 0.05)
    expect.number(got, expected, "the power", difference=difference, deviation=deviation, seeds=seeds)


@graded(points=3, levels=3)
def enough_seeds(student: Student, case: Case) -> None:
    """The smallest number of runs of each row with which the power is enough."""
    made = plans(case, 1 if case.level == 0 else 1 + case.between(1, 19))
    asked(student, made)
    difference, *rest = made[0]
    asked(student, [(-difference, *rest), (20 * difference, *rest)])  # better than base, and found by a single run


@graded(points=2, levels=3)
def what_so_many_seeds_find(student: Student, case: Case) -> None:
    """The difference that a given number of seeds finds with a given chance."""
    deviation, seeds = 0.005 + 0.001 * case.between(0, 9), 1 + case.between(0, 5)
    comparisons, chance = 19 - case.between(0, 9), 0.8 + 0.05 * case.between(0, 2)
    for level in (0.05, 0.01):
        got = student.call("smallest_difference", deviation, seeds, chance, comparisons, level)
        expected = (cut(level / 2 / comparisons) + cut(1 - chance)) * math.sqrt(2 * deviation**2 / seeds)
        named = {"deviation": deviation, "seeds": seeds, "chance": chance, "comparisons": comparisons, "level": level}
        expect.number(got, expected, "the smallest difference", atol=1e-9, **named)
