"""Checks of ex34-1: grouped queries head by head, the doctor's invariants, and heads averaged by hand.

Paper: section 3.2.2
"""

import math

import torch
from torch import Tensor

from annotated_grader import Case, Student, expect, graded


def sizes(case: Case) -> tuple[int, int]:
    """H and G with several groups of several heads."""
    groups = case.choice([2, 3, 2])
    return groups * case.choice([3, 2, 4]), groups


def inputs(case: Case, heads: int, groups: int) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values; no two sizes are equal."""
    t, s, width = 4, 5 + case.between(0, 2), 8
    return case.normal(2, heads, t, width), case.normal(2, groups, s, width), case.normal(2, groups, s, 3)


def by_hand(q: Tensor, k: Tensor, v: Tensor, seen: Tensor | None = None) -> Tensor:
    """Head by head and query by query, in double precision; `seen` is [T, S]."""
    each, out = q.size(1) // k.size(1), torch.zeros(*q.shape[:3], v.size(-1), dtype=torch.float64)
    for b in range(q.size(0)):
        for head in range(q.size(1)):
            keys, values = k[b, head // each].double(), v[b, head // each].double()
            for t in range(q.size(2)):
                scores = keys @ q[b, head, t].double() / math.sqrt(q.size(-1))
                weights = scores.exp() if seen is None else scores.exp() * seen[t]
                out[b, head, t] = weights @ values / weights.sum()
    return out.float()


def attended(student: Student, q: Tensor, k: Tensor, v: Tensor, *mask: Tensor) -> Tensor:
    """What the answer gives, of the right shape."""
    got = student.call("grouped_attention", q, k, v, *mask)
    return expect.shape(got, (*q.shape[:3], v.size(-1)), "the result", q=q.shape, k=k.shape, v=v.shape)


def causal(t: int, s: int) -> Tensor:
    """Query i may see keys 0 to s - t + i."""
    return torch.arange(s) <= torch.arange(t)[:, None] + (s - t)


@graded(points=3, levels=3)
def neighbours_share_keys(student: Student, case: Case) -> None:
    """Neighbouring heads of queries share a head of keys and values."""
    q, k, v = inputs(case, *sizes(case))
    expect.close(attended(student, q, k, v), by_hand(q, k, v), "the result", q=q, k=k, v=v)


@graded(points=1, levels=2)
def ends_of_the_scale(student: Student, case: Case) -> None:
    """With as many groups as heads it is multi-head attention, and with one group multi-query attention."""
    for groups in (4, 1):
        q, k, v = inputs(case, 4, groups)
        expect.close(attended(student, q, k, v), by_hand(q, k, v), f"4 heads, {groups} of keys", q=q, k=k, v=v)


@graded(points=2, levels=2)
def hidden_keys_change_nothing(student: Student, case: Case) -> None:
    """What the mask hides does not reach the result."""
    q, k, v = inputs(case, *sizes(case))
    seen = causal(q.size(2), k.size(2))
    got = attended(student, q, k, v, seen)
    expect.close(got, by_hand(q, k, v, seen), "the result under a mask", mask=seen)
    k, v = k.clone(), v.clone()
    k[:, :, -1], v[:, :, -1] = 50.0, -50.0  # the last key is hidden from all queries but the last
    again = attended(student, q, k, v, seen)
    expect.close(again[:, :, :-1], got[:, :, :-1], "the earlier queries, with another last key", mask=seen)


@graded(points=1, levels=2)
def one_query_alone(student: Student, case: Case) -> None:
    """The last query alone gives what it gives among the others, as a cache wants it."""
    q, k, v = inputs(case, *sizes(case))
    whole = by_hand(q, k, v, causal(q.size(2), k.size(2)))
    expect.close(attended(student, q[:, :, -1:], k, v), whole[:, :, -1:], "the last query alone", q=q, k=k, v=v)


@graded(points=2, levels=2)
def means_of_neighbours(student: Student, case: Case) -> None:
    """Each pooled head is the mean of the heads that it stands for."""
    heads, groups = sizes(case)
    each, width, d_model = heads // groups, 3, 5 + case.between(0, 2)
    w = case.normal(heads * width, d_model)
    parts = w.split(width)
    rows = [sum(parts[g * each : (g + 1) * each]) / each for g in range(groups)]  # type: ignore[arg-type]
    got = expect.shape(student.call("pooled", w, heads, groups), (groups * width, d_model), "the matrix", heads=heads)
    expect.close(got, torch.cat(rows), "the averaged heads, one below the other", w=w, heads=heads, groups=groups)


@graded(points=2, levels=2)
def equal_heads_lose_nothing(student: Student, case: Case) -> None:
    """Where the heads of each group are equal, the pooled model computes the same as the old one."""
    heads, groups = sizes(case)
    x, q = case.normal(1, 6, 7), case.normal(1, heads, 4, 8)
    w_k, w_v = (case.normal(groups, 8, 7).repeat_interleave(heads // groups, dim=0).flatten(0, 1) for _ in range(2))
    old = [(x @ w.T).unflatten(-1, (heads, -1)).transpose(1, 2) for w in (w_k, w_v)]
    pools = [expect.shape(student.call("pooled", w, heads, groups), (groups * 8, 7), "the matrix") for w in (w_k, w_v)]
    new = [(x @ w.T).unflatten(-1, (groups, -1)).transpose(1, 2) for w in pools]
    expect.close(
        attended(student, q, *new), by_hand(q, *old), "the result of the pooled model", heads=heads, groups=groups
    )
