"""Checks of ex04-2: exponents from a clock.

Paper: section 4, Table 1
"""

import math
from typing import Any

import torch
from torch import Tensor

from annotated_grader import Case, Student, expect, graded


def slope(sizes: list[float], seconds: list[float]) -> float:
    """Least squares by the normal equations."""
    table = torch.tensor([[1.0, math.log(size)] for size in sizes], dtype=torch.float64)
    logs: Tensor = torch.tensor([[math.log(second)] for second in seconds], dtype=torch.float64)
    return float(torch.linalg.lstsq(table, logs).solution[1, 0])


@graded(points=2, levels=3)
def power_laws(student: Student, case: Case) -> None:
    """An exact power law gives its exponent, whatever its factor."""
    power = 2.0 if case.level == 0 else float(case.uniform(1)[0]) * 3
    factor = 0.001 * (1 + case.between(0, 50))
    sizes = [(8 + case.between(0, 3)) * 2**i for i in range(3 + case.level)]
    seconds = [factor * size**power for size in sizes]
    got = student.call("fit_exponent", sizes, seconds)
    expect.number(got, power, "the exponent of an exact power law", sizes=sizes, seconds=seconds)


@graded(points=2, levels=3)
def noisy_times(student: Student, case: Case) -> None:
    """Times that scatter give the slope of least squares through all points."""
    sizes = [16.0 * (i + 1) ** 2 for i in range(5 + case.level)]
    noise = (case.normal(len(sizes)).double() / 3).exp().tolist()
    seconds = [0.002 * size**1.5 * factor for size, factor in zip(sizes, noise, strict=True)]
    got = student.call("fit_exponent", sizes, seconds)
    expect.number(got, slope(sizes, seconds), "the exponent of times that scatter", sizes=sizes, seconds=seconds)


@graded(points=2, levels=3, claim="C32")
def terms_meet(student: Student, case: Case) -> None:
    """At the crossing, scores and projections cost the same."""
    d = 16 * case.between(4, 60)
    got = student.call("crossing", d)
    expect.tensor(got, "the crossing", (), d=d)
    scores, projections = 2 * got**2 * d, 4 * got * d**2
    expect.true(got > 0, "the crossing must be a positive length", d=d, got=got)
    expect.number(scores / projections, 1.0, f"scores over projections at your n = {got:g}", rtol=1e-3, d=d)


@graded(points=2, levels=2, claim="C32")
def no_single_exponent(student: Student, case: Case) -> None:
    """The sum of the two terms has one exponent below the crossing and another above it."""
    d = 16 * case.between(4, 60)
    got = student.call("exponents", d)
    expect.true(isinstance(got, tuple | list) and len(got) == 2, "`exponents` must return two numbers", d=d)
    # Divided by 4nd², the sum is 1 + n / 2d: the slope is 1 and that of what is left.
    lengths = ([1 / 16, 1 / 8, 1 / 4, 1 / 2], [2.0, 4.0, 8.0])  # in units of d
    for value, fractions, where in zip(got, lengths, ("below", "above"), strict=True):
        expected = 1 + slope(fractions, [1 + fraction / 2 for fraction in fractions])
        expect.number(value, expected, f"the exponent {where} the crossing", rtol=1e-6, d=d)


def plotted(student: Student) -> dict[str, Any]:
    """The data of the chart."""
    chart = student.value("chart")
    is_plot = isinstance(chart, dict) and chart.get("kind") == "plot" and isinstance(chart.get("rows"), list)
    expect.true(is_plot, "`chart` must be an Altair chart")
    return chart


@graded(points=2, hidden=0, levels=1)
def rows(student: Student, case: Case) -> None:
    """The chart's data are the two terms at the eight lengths."""
    found = {(row.get("term"), row.get("n")): row.get("operations") for row in plotted(student)["rows"]}
    for n in (2**p for p in range(5, 13)):
        # d is 2^9, so both terms are powers of two times the length.
        for term, count in (("scores", (n * n) << 10), ("projections", n << 20)):
            what = f"row with n = {n} and term = {term!r}"
            expect.true((term, n) in found, f"the chart's data have no {what}")
            got = found[term, n]
            expect.number(got, count, f"operations in the {what}", rtol=1e-9)
    expect.equal(len(plotted(student)["rows"]), 16, "the number of rows")


@graded(points=1, hidden=0, levels=1)
def axes(student: Student, case: Case) -> None:
    """A line for each term, with n to the right and operations upwards, on logarithmic axes."""
    chart = plotted(student)
    wanted = {"x": "n", "y": "operations", "color": "term"}
    encoding = {channel: chart["encoding"].get(channel) for channel in wanted}
    expect.equal(encoding, wanted, "which column stands where")
    expect.equal(chart["mark"], "line", "the kind of mark")
    expect.equal([chart["scales"].get(axis) for axis in "xy"], ["log", "log"], "the scales of x and y")
