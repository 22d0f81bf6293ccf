"""Checks of ex25-1: the mean of the newest states.

Paper: section 6.1
"""

from typing import Any

import torch
from torch import Tensor

from annotated_grader import Case, Student, expect, graded

State = dict[str, Tensor]


def make(case: Case, updates: list[int], dtype: torch.dtype = torch.float32, size: float = 1.0) -> dict[str, State]:
    """Checkpoints of these updates, in any order."""
    rows, columns = 2 + case.between(0, 2), 5 + case.between(0, 2)
    found = {}
    for position in case.permutation(len(updates)).tolist():
        state = {
            "embedding.weight": (size * case.normal(rows, columns)).to(dtype),
            "norm.bias": (size * case.normal(columns)).to(dtype),
        }
        found[f"update-{updates[position]}"] = state
    return found


def check(got: Any, checkpoints: dict[str, State], updates: list[int], **tolerance: float) -> None:
    """Each tensor beside the mean over the checkpoints of these updates, entry by entry."""
    expect.true(isinstance(got, dict), f"average returned {type(got).__name__}; a dictionary of tensors is asked for")
    chosen = [checkpoints[f"update-{n}"] for n in updates]
    shown = {"checkpoints": sorted(checkpoints)}
    expect.equal(sorted(got), sorted(chosen[0]), "the names in the state", **shown)
    for key, one in chosen[0].items():
        columns = zip(*(state[key].flatten().tolist() for state in chosen), strict=True)
        mean = torch.tensor([sum(column) / len(chosen) for column in columns], dtype=torch.float64).view(one.shape)
        expect.true(got[key].dtype == one.dtype, f"{key} is {got[key].dtype}, and was {one.dtype}")
        expect.close(got[key].double(), mean.to(one.dtype).double(), key, **tolerance, **shown)


@graded(points=2, levels=2)
def the_last_five(student: Student, case: Case) -> None:
    """The mean is taken over the five newest, each with the same weight."""
    step = 10 * case.between(1, 9)
    updates = [1000 + step * k for k in range(7 + case.between(0, 2))]
    checkpoints = make(case, updates)
    check(student.call("average", checkpoints), checkpoints, updates[-5:])


@graded(points=2, levels=2)
def newest_by_number(student: Student, case: Case) -> None:
    """Update 1,000 comes after update 900."""
    first = 6 + case.between(0, 1)
    updates = [(100 if case.level == 0 else 10_000) * (first + k) for k in range(6)]
    checkpoints = make(case, updates)
    last = 3 + case.between(0, 1)
    check(student.call("average", checkpoints, last), checkpoints, updates[-last:])


@graded(points=1, levels=2)
def fewer_than_asked(student: Student, case: Case) -> None:
    """If there are fewer, all are averaged."""
    for updates in ([1000 + 50 * k for k in range(2 + case.between(0, 2))], [70]):
        checkpoints = make(case, updates)
        check(student.call("average", checkpoints, last=20), checkpoints, updates)


@graded(points=2, levels=2)
def half_precision(student: Student, case: Case) -> None:
    """Weights in float16 have a mean even where their sum in float16 would be infinite."""
    updates = [1000 + 10 * k for k in range(5)]
    checkpoints = make(case, updates, torch.float16, 1.0)
    for state in checkpoints.values():
        state["norm.bias"] = (20_000 + 8_000 * case.uniform(len(state["norm.bias"]))).half()
    check(student.call("average", checkpoints), checkpoints, updates, rtol=1e-3)


@graded(points=1, levels=2)
def counters_are_the_newest(student: Student, case: Case) -> None:
    """A tensor of integers is that of the newest checkpoint."""
    updates = [90 + 10 * k for k in range(4 + case.between(0, 2))]
    checkpoints = make(case, updates)
    for name, state in checkpoints.items():
        state["updates"] = torch.tensor(int(name.split("-")[1]))
    got = student.call("average", checkpoints, 3)
    expect.true(isinstance(got, dict) and "updates" in got, "the state has no 'updates'")
    expect.equal(got["updates"], torch.tensor(updates[-1]), "the counter", checkpoints=sorted(checkpoints))


@graded(points=1)
def inputs_stay(student: Student, case: Case) -> None:
    """Averaging twice gives the same: the states were not changed."""
    updates = [1000 + 10 * k for k in range(4)]
    checkpoints = make(case, updates)
    first, second = student.given("twice")(student.value("average"), checkpoints)
    check(first, checkpoints, updates)
    check(second, checkpoints, updates)


@graded(points=1)
def different_models(student: Student, case: Case) -> None:
    """States of two models, and no states at all, are refused; those of one model are not."""
    checkpoints = make(case, [10, 20])
    got = student.call("average", checkpoints)
    expect.true(isinstance(got, dict) and len(got) == 2, "two states of one model are averaged")
    shapes = {**checkpoints, "update-20": {**checkpoints["update-20"], "norm.bias": case.normal(1)}}
    expect.raises(lambda: student.call("average", shapes), "ValueError", "averaging tensors of different shapes")
    names = {**checkpoints, "update-10": {**checkpoints["update-10"], "norm.weight": case.normal(5)}}
    expect.raises(lambda: student.call("average", names), "ValueError", "averaging states with different names")
    expect.raises(lambda: student.call("average", {}), "ValueError", "averaging nothing")
