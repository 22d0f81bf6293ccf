"""Checks of ex10-1: the feed-forward network as two convolutions.

Paper: section 3.3, equation 2
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from annotated_grader import Case, Student, expect, graded


def network(case: Case) -> list[Tensor]:
    """w1, b1, w2, b2 with D and F that differ."""
    d = case.between(2, 4)
    f = d + case.between(1, 4)
    dtype = torch.float64 if case.hidden else torch.float32
    return [case.normal(*shape, dtype=dtype) for shape in ((d, f), (f,), (f, d), (d,))]


def equation_2(x: Tensor, w1: Tensor, b1: Tensor, w2: Tensor, b2: Tensor) -> Tensor:
    """Position by position, unit by unit."""
    out = b2.expand(x.shape).clone()
    for i in range(b1.numel()):
        score = (x * w1[:, i]).sum(-1, keepdim=True) + b1[i]
        out += torch.where(score > 0, score, torch.zeros_like(score)) * w2[i]
    return out


def by_jacobian(i: int, length: int, width: int) -> list[int]:
    """Which inputs change output i behind two convolutions of ones, on inputs above zero."""
    kernel = torch.ones(1, 1, width)
    x = torch.ones(1, 1, length, requires_grad=True)
    hidden = F.conv1d(x, kernel, padding=width // 2).relu()
    F.conv1d(hidden, kernel, padding=width // 2)[0, 0, i].backward()
    return x.grad[0, 0].nonzero().flatten().tolist()


@graded(points=3, levels=3)
def one_position(student: Student, case: Case) -> None:
    """Sentences of a single word: the result is equation 2."""
    weights = network(case)
    x = case.normal(case.between(1, 3), 1, weights[0].size(0), dtype=weights[0].dtype)
    got = student.call("feed_forward_as_convolution", x, *weights)
    inputs = dict(zip(("w1", "b1", "w2", "b2"), weights, strict=True))
    expect.close(got, equation_2(x, *weights), "the result", x=x, **inputs)


@graded(points=3, levels=3, claim="C34")
def positions_stay_apart(student: Student, case: Case) -> None:
    """In a sentence each word gets the result that it would get alone."""
    w1, b1, w2, b2 = network(case)
    # Nothing below zero and no bias, so that ReLU and biases, which other checks look at, change nothing here.
    weights = w1.abs(), 0 * b1, w2.abs(), 0 * b2
    d = w1.size(0)
    x = case.uniform(case.between(1, 2), d + case.between(1, 3), d, dtype=w1.dtype)
    together = expect.shape(student.call("feed_forward_as_convolution", x, *weights), x.shape, "the result", x=x)
    for s in range(x.size(1)):
        alone = equation_2(x[:, s], *weights)
        expect.close(
            together[:, s], alone, f"position {s} beside the same word alone", x=x, w1=weights[0], w2=weights[2]
        )


@graded(points=2, levels=3)
def reach_inside(student: Student, case: Case) -> None:
    """In the middle of a long sentence, both kernels count."""
    width = case.choice([3, 5, 1, 7])
    i = 3 * width + case.between(0, 4)
    length = 2 * i + case.between(0, 3)
    got = student.call("reach", i, length, width)
    expect.equal(got, by_jacobian(i, length, width), "the positions", i=i, length=length, width=width)


@graded(points=2, levels=3)
def reach_at_the_ends(student: Student, case: Case) -> None:
    """Near the first and the last word, only positions that exist are listed."""
    width = case.choice([3, 5, 7])
    length = width + case.between(2, 6)
    for i in (0, 1, length - 2, length - 1):
        got = student.call("reach", i, length, width)
        expect.equal(got, by_jacobian(i, length, width), "the positions", i=i, length=length, width=width)
