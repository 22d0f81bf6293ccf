"""Checks of ex12-3: layer normalisation in numbers, beside what torch does.

Paper: section 3.1
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from annotated_grader import Case, Student, expect, graded


def torch_norm(x: Tensor, eps: float = 1e-12) -> Tensor:
    """Torch's layer normalisation, in double precision."""
    return F.layer_norm(x.double(), x.shape[-1:], eps=eps)


@graded(points=1, levels=3)
def length(student: Student, case: Case) -> None:
    """How long a normalised vector is."""
    d = 4 + case.between(0, 60)
    expected = float(torch_norm(3 * case.normal(d) + 1).norm() ** 2)
    expect.number(student.call("squared_length", d), expected, f"squared_length({d})")


@graded(points=2, levels=4)
def scale_and_shift(student: Student, case: Case) -> None:
    """What multiplying the input and adding to it changes."""
    x = case.normal(4 + case.between(0, 5), dtype=torch.float64)
    # Small, large, positive, negative: all four in turn.
    a = (3.0, -2.0, 0.25, -0.5)[case.level % 4] * (1 + float(case.uniform(1)))
    b = 5 * float(case.normal(1)) + 1
    got = student.call("rescaled", torch_norm(x), a, b)
    expect.close(got, torch_norm(a * x + b), f"the normalisation of {a:.2g} * x + {b:.2g}", x=x, y=torch_norm(x))


@graded(points=2, levels=2)
def divided_by_d_minus_one(student: Student, case: Case) -> None:
    """What the unbiased variance would give."""
    x = case.normal(4 + case.between(0, 12), dtype=torch.float64)
    expected = (x - x.mean()) / x.std(correction=1)
    got = student.call("with_unbiased", torch_norm(x))
    expect.close(got, expected, "the result with a variance that divides by d - 1", atol=1e-6, y=torch_norm(x))


@graded(points=2, levels=3)
def small_vectors(student: Student, case: Case) -> None:
    """How epsilon holds small vectors back."""
    eps = case.choice([1e-2, 1e-4, 1e-6])
    spread = eps**0.5 * (2.0 if case.level == 0 else 0.05 + 3 * float(case.uniform(1)))
    x = case.normal(16, dtype=torch.float64)
    x = spread * (x - x.mean()) / x.std(correction=0)
    expected = float(torch_norm(x, eps).square().mean().sqrt())
    expect.number(student.call("size", spread, eps), expected, f"size({spread:.3g}, {eps:g})", atol=1e-5)


@graded(points=2, levels=2)
def who_is_touched(student: Student, case: Case) -> None:
    """Which entries one changed entry reaches."""
    b, s, d = 2 + case.between(0, 1), 4 + case.between(0, 1), 6 + case.between(0, 3)
    x = case.normal(b, s, d, dtype=torch.float64)
    other = x.clone()
    other[0, 1, 2] += 1.0
    expected = int((torch_norm(x) != torch_norm(other)).sum())
    expect.number(
        student.call("entries_that_change", b, s, d), expected, f"entries_that_change({b}, {s}, {d})", rtol=0.0
    )
