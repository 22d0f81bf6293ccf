"""Checks of ex14-4: positions of any length, outside the checkpoint.

Paper: section 3.5
"""

import math

import torch
from torch import Tensor

from annotated_grader import Case, Handle, Student, expect, graded


def waves(rows: list[int], d_model: int) -> Tensor:
    """The encoding of some positions, number by number: [rows, D]."""
    angle = [[p * math.exp(-(j - j % 2) / d_model * math.log(10000.0)) for j in range(d_model)] for p in rows]
    return torch.tensor([[(math.sin, math.cos)[j % 2](a) for j, a in enumerate(row)] for row in angle])


def made(student: Student, case: Case) -> tuple[Handle, int]:
    """An answer's module and its width."""
    d_model = 2 * case.between(2, 5)
    return student.construct("Positions", d_model), d_model


@graded(points=2, levels=3, claim="C26")
def same_numbers(student: Student, case: Case) -> None:
    """Short sentences get the same waves as before."""
    module, d_model = made(student, case)
    length = case.between(3, 30)
    x = case.normal(1 + case.between(1, 3), length, d_model)
    expect.close(module(x), x + waves(list(range(length)), d_model), "x with waves", x=x)
    pull = case.normal(*x.shape)
    (slope,), _ = module.gradient(x, wrt=0, parameters=False, cotangent=pull)
    expect.close(slope, pull, "the gradient of x", x=x)


@graded(points=2, levels=2, claim="C29")
def any_length(student: Student, case: Case) -> None:
    """Sentences of any length get their waves, in any order."""
    module, d_model = made(student, case)
    for length in (7, 201 if case.level == 0 else 5000 + case.between(1, 3000), 5):
        got = module(torch.zeros(1, length, d_model))
        got = expect.shape(got, (1, length, d_model), f"the result for {length} positions", d_model=d_model)
        rows = [0, 1, length // 2, length - 1]
        expect.close(got[0, rows], waves(rows, d_model), f"positions {rows} of {length}", atol=1e-4, d_model=d_model)


@graded(points=2, levels=2, claim="C29")
def nothing_is_saved(student: Student, case: Case) -> None:
    """The checkpoint holds nothing of the waves, and nothing is trained."""
    module, d_model = made(student, case)
    x = case.normal(1, 3 + case.between(1, 5), d_model)
    got = expect.shape(module(x), x.shape, "the result")
    expect.true(bool((got - x).abs().max() > 0.1), "nothing was added to x", x=x)
    expect.equal(sorted(module.parameters()), [], "the names of the parameters", d_model=d_model)
    expect.equal(sorted(module.state()), [], "the names in the state", d_model=d_model)


@graded(points=2, levels=2)
def follows_its_input(student: Student, case: Case) -> None:
    """The result has the dtype of x, and lies where x lies."""
    module, d_model = made(student, case)
    length = case.between(2, 300)
    for dtype in (torch.float16, torch.bfloat16, torch.float64):
        x = case.normal(1, length, d_model, dtype=dtype)
        got = expect.shape(module(x), x.shape, f"the result for x in {dtype}")
        expect.true(got.dtype == dtype, f"x is {dtype}, the result is {got.dtype}")
        expect.true(bool((got - x).abs().max() > 0.1), "nothing was added to x", x=x)
    there = student.given("Traveller", module, d_model).method("device_of_result", length)
    expect.equal(there, "meta", "the device of the result, after module and x have moved to meta")


@graded(points=1, levels=2)
def counts_in_half_precision(student: Student, case: Case) -> None:
    """Far positions are right in half precision too."""
    module, d_model = made(student, case)
    length = 400 + case.between(0, 300)
    got = module(torch.zeros(1, length, d_model, dtype=torch.bfloat16))
    got = expect.shape(got, (1, length, d_model), "the result for zeros in bfloat16")
    rows = [1, 257, 331, length - 1]
    expect.close(
        got[0, rows], waves(rows, d_model), f"positions {rows}, in bfloat16", atol=1e-2, rtol=0.0, d_model=d_model
    )
    got = module(torch.zeros(1, length, d_model))
    got = expect.shape(got, (1, length, d_model), "the result for zeros in float32")
    what = f"positions {rows}, in float32 after bfloat16"
    expect.close(got[0, rows], waves(rows, d_model), what, atol=1e-4, d_model=d_model)
