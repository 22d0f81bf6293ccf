"""Checks of ex14-1: the sinusoidal encoding, as written and as released.

Paper: section 3.5
"""

import math

import torch
from torch import Tensor

from annotated_grader import Case, Student, expect, graded

NAMES = ("positional_encoding", "as_released")


def table(student: Student, name: str, length: int, d_model: int) -> Tensor:
    """An answer's table in double precision, of the right shape."""
    got = student.call(name, length, d_model)
    return expect.shape(got, (length, d_model), "the table", length=length, d_model=d_model).double()


def hands(rows: Tensor, released: bool = False) -> Tensor:
    """The rows' pairs [..., D/2, 2]: each is the hand of one clock."""
    half = rows.size(-1) // 2
    return rows.unflatten(-1, (2, half)).transpose(-2, -1) if released else rows.unflatten(-1, (half, 2))


def compare_turns(
    got: Tensor, p: int, q: int, frequencies: list[float], what: str, atol: float, released: bool = False
) -> None:
    """The product of two hands is the cosine of the angle between them, whichever of the two numbers comes first."""
    products = (hands(got[p], released) * hands(got[q], released)).sum(-1)
    expected = torch.tensor([math.cos((q - p) * w) for w in frequencies], dtype=torch.float64)
    what = f"{what}: the product of each pair at position {p} with the same pair at position {q}"
    expect.close(products, expected, what, atol=atol, rtol=0.0, row_p=got[p], row_q=got[q])


def as_written(d_model: int) -> list[float]:
    """One frequency for each pair."""
    return [math.exp(-math.log(10000.0) * two_i / d_model) for two_i in range(0, d_model, 2)]


@graded(points=2, levels=3)
def sines_then_cosines(student: Student, case: Case) -> None:
    """Even columns are sines and odd columns cosines, from position 0 on."""
    length, d_model = case.between(2, 9), 2 * case.between(2, 16)
    got = table(student, "positional_encoding", length, d_model)
    expected = torch.tensor([0.0, 1.0]).repeat(d_model // 2)
    expect.close(got[0], expected, "position 0", atol=1e-6, length=length, d_model=d_model)
    expect.true(bool((got[1, 0::2] > 0).all()), "the sines of position 1 must be positive", position_1=got[1])


@graded(points=2, levels=3, claim="C26")
def speeds(student: Student, case: Case) -> None:
    """Both members of pair i turn at the speed 10000^(-2i/d_model)."""
    length, d_model = 5 + case.between(1, 9), 2 * case.between(2, 16)
    got = table(student, "positional_encoding", length, d_model)
    for q in range(1, length):
        compare_turns(got, 0, q, as_written(d_model), f"d_model {d_model}", atol=1e-5)
        compare_turns(got, q - 1, q, as_written(d_model), f"d_model {d_model}", atol=1e-5)


@graded(points=2, levels=2, claim="C29")
def far_positions(student: Student, case: Case) -> None:
    """Position 10,000 is there, and right to 1e-6."""
    last = 10_000 + (case.between(0, 300) if case.hidden else 0)
    d_model = 2 * case.between(3, 8)
    got = table(student, "positional_encoding", last + 1, d_model)
    for p in (0, 1, 3):
        compare_turns(got, p, last, as_written(d_model), f"d_model {d_model}", atol=1e-6)


@graded(points=1, levels=2)
def released_layout(student: Student, case: Case) -> None:
    """As released, all sines come first."""
    length, d_model = case.between(2, 9), 2 * case.between(2, 12)
    got = table(student, "as_released", length, d_model)
    expected = torch.tensor([0.0, 1.0]).repeat_interleave(d_model // 2)
    expect.close(got[0], expected, "position 0", atol=1e-6, length=length, d_model=d_model)
    expect.true(bool((got[1, : d_model // 2] > 0).all()), "the sines of position 1 must be positive", position_1=got[1])


@graded(points=2, levels=2, claim="C27")
def released_speeds(student: Student, case: Case) -> None:
    """As released, the speeds run from 1 to 1/10000 in equal steps of their logarithm."""
    # Ten thousand positions: there the slowest hand shows its speed. Angles in float32 will do.
    length, d_model = 10_001 + case.between(0, 30), 2 * case.between(2, 8)
    got = table(student, "as_released", length, d_model)
    steps = torch.linspace(0, -4, d_model // 2, dtype=torch.float64)
    frequencies = [10.0**step for step in steps.tolist()]
    for q in (1, 7, 10_000):
        compare_turns(got, 0, q, frequencies, f"as released, d_model {d_model}", atol=5e-3, released=True)
        compare_turns(got, 2, q, frequencies, f"as released, d_model {d_model}", atol=5e-3, released=True)


@graded(points=1, levels=2)
def odd_is_refused(student: Student, case: Case) -> None:
    """An odd d_model is refused by both functions."""
    odd, length = 2 * case.between(2, 9) + 1, case.between(2, 5)
    for name in NAMES:
        table(student, name, length, odd + 1)
        expect.raises(
            lambda name=name: student.call(name, length, odd), "ValueError", f"{name} with d_model {odd}", d_model=odd
        )
