"""Checks of ex05-2: the variance of a dot product.

Paper: section 3.2.1, with its footnote
"""

import math

import torch

from annotated_grader import Case, Student, expect, graded


def covariances_added(d_k: int, copies: int) -> float:
    """Sum over all pairs of products q_i k_i and q_j k_j of their covariance: 1 within a group, 0 between groups."""
    return float(sum(i // copies == j // copies for i in range(d_k) for j in range(d_k)))


@graded(points=2, levels=3, claim="C08")
def independent_entries(student: Student, case: Case) -> None:
    """Independent entries give the variance d_k."""
    d_k = case.choice([4, 9, 36, 49, 64])
    got = student.call("variance", d_k, 1)
    expect.number(got, covariances_added(d_k, 1), f"variance({d_k}, 1)", rtol=0.1)
    expect.number(student.call("variance", 25, 1), 25.0, "variance(25, 1)", rtol=0.1)


@graded(points=3, levels=3, claim="C08")
def equal_entries_move_together(student: Student, case: Case) -> None:
    """Entries that are copies of one another raise the variance."""
    copies = case.choice([2, 3, 4, 8])
    d_k = copies * case.choice([2, 3, 5, 6])
    got = student.call("variance", d_k, copies)
    expect.number(got, covariances_added(d_k, copies), f"variance({d_k}, {copies})", rtol=0.1)


@graded(points=3, levels=3, claim="C08")
def divisor_gives_variance_one(student: Student, case: Case) -> None:
    """Divided by the divisor, the scores have variance one."""
    copies = case.choice([2, 1, 3, 8])
    d_k = copies * case.choice([4, 5, 6])
    got = student.call("divisor", d_k, copies)
    expected = math.sqrt(covariances_added(d_k, copies))
    expect.number(got, expected, f"divisor({d_k}, {copies})", rtol=0.1)
    expect.number(student.call("divisor", 12, 4), math.sqrt(48), "divisor(12, 4)", rtol=0.1)


@graded(points=2, levels=2)
def measured_around_the_mean(student: Student, case: Case) -> None:
    """The measured variance is that of the dot products, taken around their own mean."""
    rows, d_k = 400 + case.between(0, 50), case.between(3, 7)
    q = case.normal(rows, d_k) + 0.5
    k = case.normal(rows, d_k) + 0.5 * q  # they resemble one another: the dot products have a mean
    dots = [sum(a * b for a, b in zip(x, y, strict=True)) for x, y in zip(q.tolist(), k.tolist(), strict=True)]
    mean = sum(dots) / rows
    expected = sum((dot - mean) ** 2 for dot in dots) / rows
    got = student.call("measured", q, k)
    expect.number(got, expected, f"measured(q, k) of {rows} pairs, whose dot products have mean {mean:.2f}", rtol=0.01)
    same = torch.ones(5, d_k)
    expect.number(student.call("measured", same, 2 * same), 0.0, "measured(q, k) where all dot products are equal")
