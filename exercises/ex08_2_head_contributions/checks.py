"""Checks of ex08-2: the sum inside the concatenation.

Paper: section 3.2.2
"""

import torch
from torch import Tensor

from annotated_grader import Case, Student, expect, graded


def layer_output(heads: Tensor, w_o: Tensor) -> Tensor:
    """Concat(heads) W^O as the paper writes it: heads side by side, word by word."""
    return torch.cat(list(heads.unbind(1)), dim=-1) @ w_o


def inputs(case: Case) -> tuple[Tensor, Tensor]:
    """Outputs of the heads, and W^O; all sizes differ, and the widths do not fit."""
    batch, h, t, k = case.between(1, 2), case.between(2, 4), case.between(2, 3) + 3, case.choice([3, 5, 7])
    dtype = torch.float64 if case.hidden else torch.float32
    return case.normal(batch, h, t, k, dtype=dtype), case.normal(h * k, h * k + case.between(2, 4), dtype=dtype)


def parts_of(student: Student, heads: Tensor, w_o: Tensor) -> Tensor:
    """The answer's contributions, which must have the right shape."""
    parts = student.call("contributions", heads, w_o)
    shape = (*heads.shape[:3], w_o.size(1))
    return expect.shape(parts, shape, "the contributions", heads=heads, w_o=w_o)


@graded(points=2, levels=3, claim="C06")
def sum_is_the_output(student: Student, case: Case) -> None:
    """The contributions add up to the concatenation times W^O."""
    heads, w_o = inputs(case)
    total = parts_of(student, heads, w_o).sum(1)
    expect.close(total, layer_output(heads, w_o), "the sum of the contributions", heads=heads, w_o=w_o)


@graded(points=3, levels=3, claim="C42")
def each_head_has_its_own(student: Student, case: Case) -> None:
    """Slice i is what the output loses when head i is zero."""
    heads, w_o = inputs(case)
    parts = parts_of(student, heads, w_o)
    for i in range(heads.size(1)):
        silent = heads.clone()
        silent[:, i] = 0
        lost = layer_output(heads, w_o) - layer_output(silent, w_o)
        expect.close(parts[:, i], lost, f"the contribution of head {i}", heads=heads, w_o=w_o)


@graded(points=3, levels=3)
def silenced(student: Student, case: Case) -> None:
    """`without` leaves out one head and keeps all others, whatever the parts are."""
    parts = case.normal(case.between(1, 2), case.between(3, 5), case.between(3, 4), 5)
    for i in range(parts.size(1)):
        others = [parts[:, j] for j in range(parts.size(1)) if j != i]
        expected = torch.stack(others).sum(0)
        expect.close(student.call("without", parts, i), expected, f"the output without head {i}", parts=parts, i=i)
