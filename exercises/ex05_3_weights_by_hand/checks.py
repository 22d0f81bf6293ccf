"""Checks of ex05-3: a softmax by hand. The expected numbers are computed here; a failure does not show them.

Paper: section 3.2.1, equation 1
"""

import math
from typing import Any

import torch
from torch import Tensor

from annotated_grader import Case, Student, expect, graded

KEYS = torch.tensor([[0.0] * 4, [2 * math.log(2), 0, 0, 0], [0, math.log(5), math.log(5), 0]], dtype=torch.float64)
VALUES = torch.tensor([0.0, 8.0, 16.0], dtype=torch.float64)


def shares(length: float) -> Tensor:
    """The weights of a query with four entries of this size."""
    powers = [math.exp(sum(length * float(x) for x in key) / math.sqrt(4)) for key in KEYS]
    return torch.tensor(powers, dtype=torch.float64) / sum(powers)


def three(value: Any, name: str) -> Tensor:
    """Three numbers, positive and with sum one."""
    numbers = value.tolist() if isinstance(value, Tensor) else value
    fits = isinstance(numbers, list | tuple) and len(numbers) == 3
    fits = fits and all(isinstance(x, int | float) and not isinstance(x, bool) for x in numbers)
    expect.true(fits, f"`{name}`: expected a list of three numbers", yours=value)
    total = math.fsum(numbers)
    expect.true(abs(total - 1) < 1e-3, f"`{name}`: yours sum to {total:.4g}; weights sum to one", yours=value)
    return torch.tensor(numbers, dtype=torch.float64)


def one(value: Any, expected: float, name: str, advice: str) -> None:
    """One number within a thousandth."""
    value = value.item() if isinstance(value, Tensor) and value.numel() == 1 else value
    fits = isinstance(value, int | float) and not isinstance(value, bool)
    expect.true(fits, f"`{name}`: expected a number", yours=value)
    expect.true(abs(value - expected) <= 1e-3 * expected, f"`{name}` is another number; {advice}", yours=value)


@graded(points=2, hidden=0, levels=1, claim="C10")
def exponentials_of_divided_scores(student: Student, case: Case) -> None:
    """The weights of the three keys."""
    got = three(student.value("weights"), "weights")
    near = bool((got - shares(1)).abs().max() < 1e-3)
    expect.true(near, "`weights` are other numbers; dot product, divide by the root, exponential, share", yours=got)


@graded(points=2, hidden=0, levels=1, claim="C11")
def mixture_of_values(student: Student, case: Case) -> None:
    """The output of the query."""
    one(student.value("output"), float(shares(1) @ VALUES), "output", "each value counts as much as its weight says")


@graded(points=2, hidden=0, levels=1)
def longer_query(student: Student, case: Case) -> None:
    """The weights of a query twice as long."""
    got = three(student.value("weights_long"), "weights_long")
    near = bool((got - shares(2)).abs().max() < 1e-3)
    expect.true(near, "`weights_long` are other numbers; each score doubles", yours=got)


@graded(points=2, hidden=0, levels=1, claim="C09")
def a_column_need_not_sum_to_one(student: Student, case: Case) -> None:
    """What two queries give one key together."""
    expected = float(shares(1)[2] + shares(0)[2])
    one(student.value("key_total"), expected, "key_total", "each query shares out one unit, and only that is fixed")


@graded(points=2, hidden=0, levels=1, claim="C08")
def divided_by_d_k(student: Student, case: Case) -> None:
    """The ratio of two weights if scores are divided by d_k."""
    difference = math.log(256) * math.sqrt(64)  # of the dot products
    one(student.value("ratio_d_k"), math.exp(difference / 64), "ratio_d_k", "which difference makes 256 to 1?")


@graded(points=2, hidden=0, levels=1, claim="C10")
def not_divided(student: Student, case: Case) -> None:
    """The ratio of two weights if nothing is divided."""
    difference = math.log(256) * math.sqrt(64)
    one(student.value("ratio_undivided"), math.exp(difference), "ratio_undivided", "the difference is 8 times as large")
