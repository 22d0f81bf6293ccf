"""Checks of ex20-2: updates are not micro-batches.

Paper: sections 5.1, 5.3, equation 3
"""

from typing import Any

import torch
from torch import Tensor

from annotated_grader import Case, Student, expect, graded

Micro = list[tuple[Tensor, int]]


def equation_3(update: int, d_model: int, warmup: int) -> float:
    """The rate of an update, from 1."""
    return (d_model * max(update, update**-2.0 * warmup**3)) ** -0.5


def run(
    student: Student, parameter: Tensor, batches: Micro, accumulate: int, settings: tuple[int, int]
) -> tuple[Any, Any]:
    """What the answer returns: a tensor and a list."""
    got = student.call("train", parameter, [tuple(batch) for batch in batches], accumulate, *settings)
    expect.true(isinstance(got, (tuple, list)) and len(got) == 2, "train returns the parameter and the list of rates")
    return expect.tensor(got[0], "the parameter", parameter.shape), got[1]


def data(case: Case, number: int, tokens: list[int] | None = None) -> tuple[Tensor, Micro, tuple[int, int]]:
    """A parameter, micro-batches, and width and warm-up; gradients are sums, so they grow with the tokens."""
    size = 2 + case.between(0, 3)
    counts = tokens or [case.between(3, 40) for _ in range(number)]
    batches = [(n * case.normal(size), n) for n in counts]
    return case.normal(size), batches, (64 * case.between(1, 4), 5 + case.between(0, 6))


def by_hand(parameter: Tensor, updates: list[Micro], settings: tuple[int, int]) -> Tensor:
    """One update after the other, in float64."""
    x = parameter.double()
    for k, update in enumerate(updates, start=1):
        gradient = torch.stack([g.double() for g, _ in update]).sum(0) / sum(n for _, n in update)
        x = x - equation_3(k, *settings) * gradient
    return x.float()


@graded(points=2, levels=3, claim="A2")
def rates_of_updates(student: Student, case: Case) -> None:
    """There is one rate for each update, the rate of that update."""
    accumulate = 2 + case.between(0, 2)
    updates = 3 + case.between(0, 3)
    parameter, batches, settings = data(case, accumulate * updates)
    _, rates = run(student, parameter, batches, accumulate, settings)
    expected = [equation_3(k, *settings) for k in range(1, updates + 1)]
    shown = {"micro_batches": accumulate * updates, "accumulate": accumulate, "warmup": settings[1]}
    expect.true(len(rates) == updates, f"{len(rates)} rates for {updates} updates", **shown)
    for k, (got, want) in enumerate(zip(rates, expected, strict=True), start=1):
        expect.number(got, want, f"the rate of update {k}", atol=0.0, rtol=1e-6, **shown)


@graded(points=2, levels=3)
def one_update_of_all(student: Student, case: Case) -> None:
    """The micro-batches of an update weigh by their tokens: the sums are added, and divided once."""
    accumulate = 2 + case.between(0, 2)
    counts = [2 + 11 * n for n in range(accumulate)]
    parameter, batches, settings = data(case, accumulate, counts)
    got, _ = run(student, parameter, batches, accumulate, settings)
    expected = by_hand(parameter, [batches], settings)
    expect.close(got, expected, "the parameter after one update", tokens=counts, accumulate=accumulate)


@graded(points=2, levels=2)
def every_batch_an_update(student: Student, case: Case) -> None:
    """Without accumulation each batch is an update, and the sum begins anew after each."""
    number = 3 + case.between(0, 3)
    parameter, batches, settings = data(case, number)
    got, _ = run(student, parameter, batches, 1, settings)
    expect.close(
        got, by_hand(parameter, [[b] for b in batches], settings), "the parameter", batches=number, accumulate=1
    )


@graded(points=1, levels=2)
def the_rest_is_an_update(student: Student, case: Case) -> None:
    """Micro-batches that are left over at the end make one last update."""
    accumulate = 3
    parameter, batches, settings = data(case, 3 * (1 + case.between(0, 1)) + case.between(1, 2), None)
    got, rates = run(student, parameter, batches, accumulate, settings)
    updates = [batches[i : i + 3] for i in range(0, len(batches), 3)]
    shown = {"micro_batches": len(batches), "accumulate": 3}
    expect.true(len(rates) == len(updates), f"{len(rates)} updates, {len(updates)} expected", **shown)
    expect.close(got, by_hand(parameter, updates, settings), "the parameter", **shown)


@graded(points=1)
def inputs_stay(student: Student, case: Case) -> None:
    """A second run from the same parameter gives the same: nothing was changed in place."""
    parameter, batches, settings = data(case, 1)
    got = student.given("twice")(student.value("train"), parameter, batches, 1, *settings)
    first, second = (expect.tensor(x, "the parameter", parameter.shape) for x in got)
    expected = by_hand(parameter, [batches], settings)
    expect.close(first, expected, "the parameter after the first run", accumulate=1)
    expect.close(second, expected, "the parameter after a second run from the same start", accumulate=1)
    # With two micro-batches to an update somebody may add up in place, into the first of the gradients.
    parameter, batches, settings = data(case, 2)
    first, second = student.given("twice")(student.value("train"), parameter, batches, 2, *settings)
    expect.close(second, first, "the parameter after a second run from the same start", accumulate=2)
