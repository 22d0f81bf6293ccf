"""Checks of ex13-2: how much of the sum is the word?

Paper: section 3.4
"""

import math

from torch import Tensor

from annotated_grader import Case, Student, expect, graded


def power(case: Case) -> float:
    """A power with two decimals, not one half."""
    return case.choice([0.0, 0.25, 1.0]) if case.level == 0 else int(case.integers(-40, 140, 1)) / 100 + 0.003


def share(rows: Tensor, places: Tensor, factor: float) -> float:
    """Entry by entry, in double precision."""
    word = sum(x * x for row in (rows.double() * factor).tolist() for x in row) / len(rows)
    place = sum(x * x for row in places.double().tolist() for x in row) / len(places)
    return word / (word + place)


@graded(points=2, levels=3, claim="C37")
def share_by_formula(student: Student, case: Case) -> None:
    """The share at a given width and power."""
    d, p = case.choice([512, 64, 128, 300, 1024]), power(case)
    # Row: d entries of variance 1/d, times a factor. Place: sin² + cos² = 1 for each of d/2 pairs.
    word_by_place = math.exp(2 * p * math.log(d)) * sum([1 / d] * d) / sum([1.0] * (d // 2))
    expected = 1 - 1 / (1 + word_by_place)
    got = student.call("word_share", d, p)
    expect.number(got, expected, f"word_share({d}, {p:g})", atol=1e-6, rtol=1e-4)


@graded(points=2, levels=1, claim="C37")
def same_at_every_width(student: Student, case: Case) -> None:
    """The power for which the width drops out."""
    got = student.value("steady_power")
    expect.number(got, 0.5, "steady_power", atol=1e-3, rtol=0.0)


@graded(points=2, levels=3)
def equally_strong(student: Student, case: Case) -> None:
    """The power that makes word and place equally strong."""
    d = case.choice([512, 128, 32, 2048, 200])
    got = student.call("equal_power", d)
    expect.number(got, 0.5 - 0.5 / math.log2(d), f"equal_power({d})", atol=1e-4, rtol=0.0)


@graded(points=2, levels=2, claim="C37")
def share_in_tables(student: Student, case: Case) -> None:
    """The share in real tables, whose rows differ in length."""
    d, p = 2 * case.between(3, 6), case.choice([0.5, 0.25, 1.0])
    lengths = 0.2 + 3 * case.uniform(5 + case.between(1, 4), 1)
    rows = case.normal(len(lengths), d) * lengths / d**0.5
    places = case.normal(3 + case.between(0, 1), d) * (0.5 + case.uniform(1))
    got = student.call("measured_share", rows, places, p)
    expect.number(
        got, share(rows, places, d**p), f"the measured share with power {p:g}", atol=1e-4, rows=rows, places=places
    )
