"""Checks of ex33-2: one thing at a time decides about the next update; the uninterrupted training is worked out here.

Paper: sections 5.2, 5.3
"""

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn import functional as F

from annotated_grader import Case, Student, expect, graded

WIDTH = 4


def parameters(inputs: int, draws: torch.Generator) -> list[Tensor]:
    """Weights and biases of two `nn.Linear`, drawn as it draws them: between minus and plus one over sqrt(inputs)."""
    shapes = [((WIDTH, inputs), inputs), ((WIDTH,), inputs), ((1, WIDTH), WIDTH), ((1,), WIDTH)]
    bounds = [(torch.empty(shape), fan_in**-0.5) for shape, fan_in in shapes]
    return [empty.uniform_(-bound, bound, generator=draws).requires_grad_() for empty, bound in bounds]


def rows_of(data: Tensor, kind: str, orders: torch.Generator) -> Iterator[Tensor]:
    """What each update reads: the mean of the data, or one row after the other in an order drawn for each pass."""
    while True:
        if "order" not in kind:
            yield data.mean(0)
        else:
            yield from data[torch.randperm(len(data), generator=orders)]


def uninterrupted(data: Tensor, kind: str, seed: int, updates: int) -> Tensor:
    """Weights after each update of the training that nobody killed, from generators of its own."""
    draws, orders = (torch.Generator().manual_seed(number) for number in (seed, seed + 1))
    w1, b1, w2, b2 = weights = parameters(data.size(1) - 1, draws)
    optimizer = (torch.optim.Adam if "adam" in kind else torch.optim.SGD)(weights, lr=0.05)
    history, rows = [], rows_of(data, kind, orders)
    for update in range(1, updates + 1):
        row = next(rows)
        if "schedule" in kind:
            optimizer.param_groups[0]["lr"] = 0.1 / update
        hidden = F.linear(row[:-1], w1, b1)
        if "dropout" in kind:
            hidden = hidden * torch.empty(WIDTH).bernoulli_(0.5, generator=draws) * 2
        optimizer.zero_grad()
        (F.linear(hidden, w2, b2) - row[-1]).square().sum().backward()
        optimizer.step()
        history.append(torch.cat([p.detach().flatten() for p in weights]))
    return torch.stack(history)


def compare(student: Student, case: Case, kind: str, lost: int = 0) -> None:
    """The resumed training, bit by bit; between snapshot and restore lie a file, and another training's snapshot."""
    data, seed = case.normal(3 + case.between(0, 2), 3 + case.between(0, 2)), 10 + case.between(0, 500)
    several = 5 if kind in ("sgd order", "sgd dropout") else 2  # the next pass; masks that agree by chance
    stop, more = 2 + case.between(0, 1), several + case.between(0, 1)
    expected = uninterrupted(data, kind, seed, stop + more)[stop:]
    snapshot, restore = student.value("snapshot"), student.value("restore")
    file = student.given("interrupted", data, kind, seed)(snapshot, stop, lost)
    student.given("interrupted", data, kind, seed + 5000)(snapshot, stop + 1, 0)
    got = student.given("resumed", data, kind, seed)(restore, student.source, file, more)
    expect.true(isinstance(got, Tensor), "the training can be resumed")
    same = (got == expected).all(dim=1).tolist()
    first = same.index(False) + 1 if False in same else 0
    place = f"update {first} after the interruption differs from the uninterrupted training"
    expect.true(first == 0, place, made_before=stop, lost_with_the_process=lost)


@graded(points=1)
def weights(student: Student, case: Case) -> None:
    """The weights go on; plain SGD, the same data in every update."""
    compare(student, case, "sgd")


@graded(points=2)
def moments(student: Student, case: Case) -> None:
    """Adam goes on with its moments, and with its count of updates."""
    compare(student, case, "adam")


@graded(points=1)
def schedule(student: Student, case: Case) -> None:
    """The rate goes on where it was."""
    compare(student, case, "sgd schedule")


@graded(points=2, levels=2)
def order(student: Student, case: Case) -> None:
    """The data go on where they were, and the passes after this one have the same order."""
    compare(student, case, "sgd order")


@graded(points=2, levels=2)
def dropout(student: Student, case: Case) -> None:
    """Dropout draws the numbers that it would have drawn."""
    compare(student, case, "sgd dropout")


@graded(points=2)
def written_later(student: Student, case: Case) -> None:
    """Updates between the snapshot and the writing of the file do not get into it."""
    compare(student, case, "sgd", lost=2)
