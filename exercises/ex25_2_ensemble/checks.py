"""Checks of ex25-2: what an ensemble averages.

Paper: section 6.1, Table 2
"""

import math
from typing import Any

import torch
from torch import Tensor

from annotated_grader import Case, Student, expect, graded

V = 6


def mean_probability(each: Tensor) -> Tensor:
    """Log of the mean probability, in float64, with the largest taken out."""
    top = each.double().amax(dim=0)
    return (top + ((each.double() - top).exp().sum(dim=0) / len(each)).log()).float()


@graded(points=2, levels=3)
def mean_of_probabilities(student: Student, case: Case) -> None:
    """The ensemble's probabilities are the members' mean."""
    members, batch, size = 2 + case.between(0, 3), 3 + case.between(0, 1), 6 + case.between(0, 4)
    each = (2 * case.normal(members, batch, size)).log_softmax(-1)
    expected = each.exp().mean(dim=0)
    got = expect.tensor(student.call("combine", each), "combine", expected.shape, probabilities=each.exp())
    expect.close(got.exp(), expected, "the ensemble's probabilities", probabilities=each.exp())


@graded(points=1, levels=2)
def small_probabilities(student: Student, case: Case) -> None:
    """Probabilities too small for a float do not become zero."""
    each = -1500.0 - 400 * case.uniform(2 + case.between(0, 2), 5)
    each[:, 0] = 0.0
    got = expect.tensor(student.call("combine", each), "combine", each[0].shape, log_probabilities=each)
    expect.close(got, mean_probability(each), "the ensemble's log-probabilities", log_probabilities=each)


def reference(tables: Tensor, cap: int) -> tuple[list[int], float]:
    """Greedy decoding by the mean of the tables' distributions."""
    prefix, total = [1], 0.0
    for _ in range(cap):
        row = tables[:, prefix[-2] if len(prefix) > 1 else 0, prefix[-1]].double().softmax(-1).mean(0)
        best = 2 + int(row[2:].argmax())
        total += math.log(float(row[best]))
        prefix.append(best)
        if best == 2:
            break
    return [token for token in prefix[1:] if token != 2], total


def ask(student: Student, tables: Tensor, cap: int) -> None:
    """The answer's sentence beside the reference's."""
    got: Any = student.given("models", tables)(student.value("write"), cap)
    expect.true(isinstance(got, (tuple, list)) and len(got) == 2, "write returns ids and a log-probability")
    tokens, total = reference(tables, cap)
    expect.equal(list(got[0]), tokens, "the ids", models=len(tables), cap=cap)
    expect.number(got[1], total, "the log-probability", atol=1e-4, models=len(tables), cap=cap)


@graded(points=3, levels=3)
def they_write_together(student: Student, case: Case) -> None:
    """All members read the tokens that were chosen together, up to the end."""
    tables = 2 * case.normal(3 + case.between(0, 1), V, V, V)
    tables[:, :, :, :2] = tables[:, :, :, :2] + 1.0  # 0 and 1 are likely, and never written
    tables[:, 0, :, 2] = tables[:, 1, :, 2] = -9.0
    for last in range(V):  # after three tokens or so, the end is sure
        tables[:, 3:, last, 2] = 9.0
    tables[:, 1, :, 3] = 9.0
    ask(student, tables, 12)


@graded(points=1, levels=2)
def the_cap(student: Student, case: Case) -> None:
    """Without an end, `cap` tokens are written."""
    tables = 2 * case.normal(2, V, V, V)
    tables[..., 2] = -30.0
    ask(student, tables, 4 + case.between(0, 3))


@graded(points=2, levels=2, claim="C40")
def weights_are_something_else(student: Student, case: Case) -> None:
    """The model of the mean weights has the mean of the logits."""
    members, batch, width = 2 + case.between(0, 2), 3 + case.between(0, 1), 5 + case.between(0, 3)
    x, weights = case.normal(batch, width), 2 * case.normal(members, width, 9)
    got = student.call("averaged_weights", x, weights)
    logits = torch.stack([x @ one for one in weights]).sum(dim=0) / members
    expected = logits - logits.exp().sum(dim=-1, keepdim=True).log()
    expect.close(got, expected, "the log-probabilities of the averaged model", x=x, members=members)
