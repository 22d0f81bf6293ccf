"""Checks of ex20-1: equation 3.

Paper: section 5.3, equation 3
"""

import math

from annotated_grader import Case, Student, expect, graded


def equation_3(update: int, d_model: int, warmup: int) -> float:
    """The rate in two branches, by logarithms."""
    rising, falling = math.log(update) - 1.5 * math.log(warmup), -0.5 * math.log(update)
    return math.exp((rising if update <= warmup else falling) - 0.5 * math.log(d_model))


def settings(case: Case) -> tuple[int, int]:
    """A width and a warm-up that is no square and no multiple of it."""
    return 64 * case.between(1, 16), 101 + 37 * case.between(1, 90)


def check(student: Student, update: int, d_model: int, warmup: int) -> None:
    """The rate of one update."""
    got = student.call("rate", update, d_model, warmup)
    what = f"the rate of update {update}"
    expect.number(got, equation_3(update, d_model, warmup), what, atol=0.0, rtol=1e-6, d_model=d_model, warmup=warmup)


@graded(points=2, levels=3)
def it_rises(student: Student, case: Case) -> None:
    """Before the end of the warm-up the rate rises in proportion to the update."""
    d_model, warmup = settings(case)
    check(student, warmup // (2 + case.between(0, 5)), d_model, warmup)


@graded(points=2, levels=3)
def it_falls(student: Student, case: Case) -> None:
    """After the warm-up the rate falls with the root of the update."""
    d_model, warmup = settings(case)
    check(student, warmup * (2 + case.between(0, 5)) + 3, d_model, warmup)


@graded(points=1, levels=2)
def updates_begin_at_one(student: Student, case: Case) -> None:
    """Update 1 has a rate, and update 0 does not exist."""
    d_model, warmup = settings(case)
    check(student, 1, d_model, warmup)
    expect.raises(lambda: student.call("rate", 0, d_model, warmup), "ValueError", "the rate of update 0")


@graded(points=2, levels=2)
def the_peak(student: Student, case: Case) -> None:
    """The peak lies at the last update of the warm-up."""
    d_model, warmup = settings(case)
    got = student.call("peak", d_model, warmup)
    expect.true(isinstance(got, (tuple, list)) and len(got) == 2, "peak returns two numbers: the update and its rate")
    expect.number(got[0], warmup, "the update with the highest rate", d_model=d_model, warmup=warmup)
    top = (d_model * warmup) ** -0.5
    expect.number(got[1], top, "the highest rate", atol=0.0, rtol=1e-6, d_model=d_model, warmup=warmup)


@graded(points=2, levels=2)
def the_first_rates(student: Student, case: Case) -> None:
    """Update k is made with the rate of update k."""
    d_model, warmup = settings(case)
    count = 4 + case.between(0, 3)
    got = student.call("first_rates", count, d_model, warmup)
    expect.true(
        isinstance(got, (list, tuple)) and len(got) == count, f"first_rates returns {count} numbers", count=count
    )
    for k, value in enumerate(got, start=1):
        expected = equation_3(k, d_model, warmup)
        what = f"the rate that update {k} is made with"
        expect.number(value, expected, what, atol=0.0, rtol=1e-6, d_model=d_model, warmup=warmup)
