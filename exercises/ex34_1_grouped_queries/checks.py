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


def inputs(case: Case, heads: int, groups: int, batch: int = 2) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values; no two sizes are equal, unless the batch is as large as another."""
    t, s, width = 4, 5 + case.between(0, 2), 8
    return case.normal(batch, heads, t, width), case.normal(batch, groups, s, width), case.normal(batch, groups, s, 3)


def by_hand(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """Head by head, in double precision."""
    each, heads = q.size(1) // k.size(1), []
    seen = (torch.ones(1) if mask is None else mask).expand(*q.shape[:3], k.size(2))
    for head in range(q.size(1)):
        keys, values = k[:, head // each].double(), v[:, head // each].double()
        shares = (torch.einsum("btk,bsk->bts", q[:, head].double(), keys) / math.sqrt(q.size(-1))).exp() * seen[:, head]
        heads.append(torch.einsum("bts,bsv->btv", shares / shares.sum(-1, keepdim=True), values))
    return torch.stack(heads, dim=1).float()


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
    pull = case.normal(*q.shape[:3], 3)
    leaves = [x.clone().requires_grad_() for x in (q, k, v)]
    expected = torch.autograd.grad(by_hand(*leaves), leaves, pull)
    got = student.gradient("grouped_attention", q, k, v, wrt=(0, 1, 2), cotangent=pull)
    for name, slope, right in zip(("q", "k", "v"), got, expected, strict=True):
        expect.close(slope, right, f"the gradient of {name}", q=q, k=k, v=v)


@graded(points=1, levels=2)
def ends_of_the_scale(student: Student, case: Case) -> None:
    """With as many groups as heads it is multi-head attention, and with one group multi-query attention."""
    for groups in (4, 1):
        q, k, v = inputs(case, 4, groups)
        expect.close(attended(student, q, k, v), by_hand(q, k, v), f"4 heads, {groups} of keys", q=q, k=k, v=v)


def masks(case: Case, q: Tensor, k: Tensor) -> list[Tensor]:
    """One of every shape, with a key for each query: for all, for each sentence, for each head, and for both."""
    (b, h, t), s = q.shape[:3], k.size(2)
    shapes = ((t, s), (b, 1, 1, s), (b, 1, t, s), (h, 1, s), (b, h, t, s))
    found = [case.uniform(*shape) > 0.5 for shape in shapes]
    for mask in found:
        mask[..., -1] |= ~mask.any(-1)
    return found


@graded(points=2, levels=3)
def hidden_keys_change_nothing(student: Student, case: Case) -> None:
    """What the mask hides does not reach the result."""
    heads, groups = sizes(case)
    # Where the batch is as large as another axis, a mask that meets the wrong one raises no error.
    q, k, v = inputs(case, heads, groups, (2, groups, heads)[case.level % 3])
    for mask in masks(case, q, k):
        got = attended(student, q, k, v, mask)
        expect.close(got, by_hand(q, k, v, mask), f"the result under a mask {list(mask.shape)}", mask=mask)
    low_q, low_k = q.clone(), k.clone()
    low_q[..., 0], low_k[..., 0] = 30.0, -30.0  # all scores are 318 lower, which no softmax minds
    got = attended(student, low_q, low_k, v, mask)
    what = "the result where all scores are very low"
    expect.close(got, by_hand(low_q, low_k, v, mask), what, atol=1e-3, mask=mask)
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
