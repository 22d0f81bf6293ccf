"""Checks of ex03-1: additive attention.

Paper: section 3.2.1
"""

import math
from typing import Any

import torch
from torch import Tensor

from annotated_grader import Case, Student, expect, graded

NAMES = ("s", "h", "w", "u", "v")


def score(s: list[float], h: list[float], w: list[list[float]], u: list[list[float]], v: list[float]) -> float:
    """The formula for one state and one position, number by number."""
    total = 0.0
    for row_w, row_u, share in zip(w, u, v, strict=True):
        inner = sum(a * b for a, b in zip(row_w, s, strict=True)) + sum(a * b for a, b in zip(row_u, h, strict=True))
        total += share * math.tanh(inner)
    return total


def reference(s: Tensor, h: Tensor, *parameters: Tensor) -> Tensor:
    """The scores of every position of every sentence."""
    plain = [x.tolist() for x in parameters]
    sentences = zip(s.tolist(), h.tolist(), strict=True)
    table = [[score(one, place, *plain) for place in places] for one, places in sentences]
    return torch.tensor(table, dtype=s.dtype)


def inputs(case: Case, square: bool = False) -> list[Tensor]:
    """s, h, w, u and v; all their sizes differ, unless the widths of s and h must agree; also for a single sentence."""
    dtype = torch.float64 if case.hidden else torch.float32
    b, length = case.between(2, 3), 4 + case.between(0, 1) + 10 * square
    b = 1 if case.level == 1 else b
    q, a = 6 + case.between(0, 1), 10 + case.between(0, 3)
    k = q if square else 8 + case.between(0, 1)
    s, h, v = (case.normal(*shape, dtype=dtype) for shape in ((b, q), (b, length, k), (a,)))
    w, u = case.normal(a, q, dtype=dtype) / 2, case.normal(a, k, dtype=dtype) / 2
    return [s, h, w, u, v]


def called(student: Student, *args: Tensor) -> tuple[Any, Any]:
    """What the answer gives back: context and weights."""
    result = student.call("additive_attention", *args)
    pair = isinstance(result, tuple | list) and len(result) == 2
    expect.true(pair, "`additive_attention` must return two things, the context and the weights")
    return result[0], result[1]


@graded(points=2, levels=3)
def additive_scores(student: Student, case: Case) -> None:
    """Each position is scored by v, tanh and a sum."""
    values = inputs(case)
    got = student.call("scores", *values)
    expect.close(got, reference(*values), "the scores", atol=1e-4, **dict(zip(NAMES, values, strict=True)))


@graded(points=2, levels=3)
def weights_over_positions(student: Student, case: Case) -> None:
    """The weights are the softmax of your scores over the positions of a sentence."""
    values = inputs(case)
    s, h = values[:2]
    mask = torch.ones(h.shape[:2], dtype=torch.bool)
    own = expect.shape(student.call("scores", *values), h.shape[:2], "the scores", s=s, h=h)
    _, weights = called(student, *values, mask)
    shares = own.double().exp()
    expect.close(
        weights, shares / shares.sum(1, keepdim=True), "the weights beside your scores", your_scores=own, mask=mask
    )


@graded(points=2, levels=3)
def padding_gets_nothing(student: Student, case: Case) -> None:
    """Padding has weight exactly zero, and the real positions share it all."""
    values = inputs(case)
    b, length = values[1].shape[:2]
    real = 1 + (case.integers(0, length, b) + torch.arange(b)) % (length - 1)
    mask = torch.arange(length) < real[:, None]
    _, weights = called(student, *values, mask)
    weights = expect.shape(weights, (b, length), "the weights", mask=mask)
    hidden = weights.masked_fill(mask, 0.0)
    expect.equal(hidden, torch.zeros_like(hidden), "the weights of padding", mask=mask, your_weights=weights)
    sums = weights.double().sum(1)
    expect.close(sums, torch.ones(b), "the sum of each sentence's weights", mask=mask, your_weights=weights)


@graded(points=2, levels=3, claim="C33")
def context_mixes_all_states(student: Student, case: Case) -> None:
    """The context is the mean of the encoder's states under the weights."""
    values = inputs(case)
    h = values[1]
    mask = torch.ones(h.shape[:2], dtype=torch.bool)
    context, weights = called(student, *values, mask)
    weights = expect.shape(weights, h.shape[:2], "the weights", h=h)
    expected = (weights[..., None].double() * h.double()).sum(1)
    expect.close(context, expected, "the context beside your own weights times h", h=h, your_weights=weights)


@graded(points=2, levels=2)
def spreads(student: Student, case: Case) -> None:
    """The two standard deviations are those of the two kinds of scores."""
    values = inputs(case, square=True)
    additive = reference(*values)
    products = (values[0][:, None] * values[1]).sum(-1)
    got = student.call("deviations", *values)
    expect.true(isinstance(got, tuple | list) and len(got) == 2, "`deviations` must return two numbers")
    shown = dict(zip(NAMES, values, strict=True))
    for value, scored, kind in zip(got, (additive, products), ("additive scores", "dot products"), strict=True):
        expected = float(scored.double().std(correction=0))
        both = 0.6 / (scored.numel() - 1)  # wide enough for a variance that divides by the number less one
        expect.number(value, expected, f"the standard deviation of the {kind}", rtol=both, **shown)


@graded(points=1, levels=3, claim="C08")
def division(student: Student, case: Case) -> None:
    """Divided by your number, dot products have a standard deviation of one."""
    width = 16 if case.level == 0 else int(case.integers(20, 600))
    got = student.call("divisor", width)
    # The variance of one product of independent numbers is 1, and variances add.
    expect.number(got, sum(1.0 for _ in range(width)) ** 0.5, f"the divisor at width {width}", width=width)
