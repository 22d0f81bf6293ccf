"""Checks of ex07-2: a test for leaks.

The pairs that leak are known by construction, as sets of positions; never by a gradient.

Paper: sections 3.1, 3.2.3
"""

from typing import Any

import torch
from torch import Tensor

from annotated_grader import Case, Student, expect, graded


def past(case: Case, length: int) -> Tensor:
    """What an honest layer mixes: `[T, T]`, positive up to the own position."""
    return (case.uniform(length, length) + 0.2).tril()


def pairs_of(mixes: list[Tensor]) -> set[tuple[int, int]]:
    """Which outputs read later inputs, through all layers: paths are counted, nothing is differentiated."""
    places = range(mixes[0].size(0))
    reads = {i: {i} for i in places}  # before the first layer, each position holds its own input
    for mix in mixes:
        reads = {i: {j for p in places if mix[i, p] != 0 for j in reads[p]} for i in places}
    return {(i, j) for i in places for j in reads[i] if j > i}


def found(pairs: Any) -> set[tuple[int, int]]:
    """The pairs of an answer: a list, a set or a tensor of pairs of integers."""
    if isinstance(pairs, Tensor):
        pairs = pairs.tolist()
    fits = isinstance(pairs, list | tuple | set) and all(isinstance(p, list | tuple) and len(p) == 2 for p in pairs)
    expect.true(fits, "the result: expected a list of pairs (i, j)", result=pairs)
    return {(int(i), int(j)) for i, j in pairs}


def compare(
    student: Student,
    case: Case,
    mixes: list[Tensor],
    last: Tensor | None = None,
    width: int = 4,
    first: Tensor | None = None,
) -> None:
    """Ask for the leaks of one decoder, and compare with those that were built in."""
    maps = [case.normal(width, width) / 2 for _ in mixes]
    maps[0] = maps[0] if first is None else first
    if last is not None and case.level:  # nobody reads the first entry of an input
        maps[0][0] = 0
    decoder = student.given("decoder", mixes, maps, torch.eye(width) if last is None else last)
    got = found(student.call("leaks", decoder, case.normal(1, mixes[0].size(0), width)))
    expected = pairs_of(mixes)
    missed, wrong = sorted(expected - got), sorted(got - expected)
    inputs = {f"layer_{n}": mix for n, mix in enumerate(mixes, 1)}
    expect.true(not missed, f"these pairs leak, and were not reported: {missed[:6]}", **inputs)
    expect.true(not wrong, f"these pairs were reported, and are no leaks: {wrong[:6]}", **inputs)


@graded(points=2, levels=2, claim="C15")
def honest_or_open(student: Student, case: Case) -> None:
    """A decoder with a mask has no leaks, one without a mask has them all."""
    length = case.between(3, 6)
    compare(student, case, [past(case, length), past(case, length)])
    compare(student, case, [case.uniform(length, length) + 0.2])


@graded(points=2, levels=3, claim="C13")
def one_pair(student: Student, case: Case) -> None:
    """A leak between two positions is found, and nothing else is reported."""
    length = case.between(4, 7)
    mix = past(case, length)
    i = case.between(0, length - 3)
    mix[i, case.between(i + 2, length - 1)] = 0.5
    last = torch.eye(4)
    if case.level:  # an output depends on an input if any of its entries does, not only the first
        last *= torch.arange(4) == case.between(1, 3)
    compare(student, case, [mix], last)


@graded(points=2, levels=2)
def through_two_layers(student: Student, case: Case) -> None:
    """A leak that only two layers together make is found, though each gives less than 1 % away."""
    length = case.between(4, 6)
    first, second = past(case, length), past(case, length)
    i = case.between(0, length - 4)
    first[i + 1, i + 3] = second[i, i + 1] = 0.004
    compare(student, case, [first, second])


@graded(points=2, levels=2)
def tiny(student: Student, case: Case) -> None:
    """A leak of size 1e-12 is a leak."""
    length = case.between(4, 6)
    mix = past(case, length)
    mix[0, case.between(2, length - 1)] = 1e-12
    mix[1, length - 1] = -1e-12
    compare(student, case, [mix])


@graded(points=2, levels=2)
def outputs_that_cancel(student: Student, case: Case) -> None:
    """A leak is found although the entries of each output vector, or of its gradient, always sum to zero."""
    length = case.between(3, 5)
    mix = past(case, length)
    mix[0, length - 1] = 0.7
    half = case.integers(1, 4, 4, 2).float()  # whole numbers: the sum is zero exactly, without rounding
    compare(student, case, [mix], last=torch.cat([half, -half], dim=1))
    row = case.integers(1, 4, 1, 4).float() / 4
    compare(student, case, [mix], first=torch.cat([row, -row, 0 * row, 0 * row]))
