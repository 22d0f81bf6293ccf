"""Checks of ex33-2: one thing at a time decides about the next update; the uninterrupted training is worked out here.

Paper: sections 5.2, 5.3
"""

from functools import cache
from typing import Any

import torch
from torch import Tensor, nn

from annotated.grading import Case, Student, expect, graded


@cache
def uninterrupted(rows: tuple[tuple[float, ...], ...], kind: str, seed: int, updates: int) -> Tensor:
    """Weights after each update of the training that nobody killed."""
    data = torch.tensor(rows)
    torch.default_generator.manual_seed(seed)
    orders = torch.Generator().manual_seed(seed + 1)
    width = data.size(1) - 1
    model = nn.Sequential(nn.Linear(width, 4), nn.Dropout(0.5 if "dropout" in kind else 0.0), nn.Linear(4, 1))
    optimizer = (torch.optim.Adam if "adam" in kind else torch.optim.SGD)(model.parameters(), lr=0.05)
    history, order = [], []
    for update in range(1, updates + 1):
        if "order" in kind:
            order = order or torch.randperm(len(data), generator=orders).tolist()
            row = data[order.pop(0)]
        else:
            row = data.mean(0)
        if "schedule" in kind:
            optimizer.param_groups[0]["lr"] = 0.1 / update
        optimizer.zero_grad()
        (model(row[:-1]) - row[-1]).square().sum().backward()
        optimizer.step()
        history.append(torch.cat([p.detach().flatten() for p in model.parameters()]).clone())
    return torch.stack(history)


def compare(student: Student, case: Case, kind: str, lost: int = 0) -> None:
    """The resumed training, bit by bit."""
    data, seed = case.normal(3 + case.between(0, 2), 3 + case.between(0, 2)), 10 + case.between(0, 500)
    several = 5 if kind in ("sgd order", "sgd dropout") else 2  # the next pass; masks that agree by chance
    stop, more = 2 + case.between(0, 1), several + case.between(0, 1)
    state = torch.get_rng_state()
    try:
        expected = uninterrupted(tuple(map(tuple, data.tolist())), kind, seed, stop + more)[stop:]
        run = student.given("killed", data, kind, seed)
        got: Any = run(student.value("snapshot"), student.value("restore"), stop, lost, more)
    finally:
        torch.set_rng_state(state)
    expect.true(isinstance(got, (tuple, list)) and isinstance(got[0], Tensor), "the training can be resumed")
    same = (got[0] == expected).all(dim=1).tolist()
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
