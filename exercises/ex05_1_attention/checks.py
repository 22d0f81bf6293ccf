"""Checks of ex05-1: scaled dot-product attention.

Paper: section 3.2.1, equation 1
"""

import math
from typing import Any

import torch
from torch import Tensor

from annotated_grader import Case, Student, expect, graded


def inputs(case: Case, alike: bool = False) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values whose four sizes all differ, or, if asked for, are all as large as both of the batch."""
    t, s, d_k, d_v = case.between(2, 4), 3 + case.between(2, 4), case.choice([4, 9, 16]), 2 + case.between(1, 4)
    batch = () if case.level == 0 else (case.between(1, 3), case.between(1, 2))
    if alike:
        t, s, d_k, d_v, batch = 4, 4, 4, 4, (4, 4)
    dtype = torch.float64 if case.hidden else torch.float32
    return (
        case.normal(*batch, t, d_k, dtype=dtype),
        case.normal(*batch, s, d_k, dtype=dtype),
        case.normal(*batch, s, d_v, dtype=dtype),
    )


def called(student: Student, *args: Tensor | None) -> tuple[Any, Any]:
    """What the answer gives back: output and weights."""
    result = student.call("attention", *args)
    pair = isinstance(result, tuple | list) and len(result) == 2
    expect.true(pair, "`attention` must return two things, the output and the weights")
    return result[0], result[1]


def some_hidden(case: Case, q: Tensor, k: Tensor, *shape: int) -> Tensor:
    """A mask that shows each query its last key and hides the first; one for each sentence where there is a batch."""
    batch = (q.size(0), 1) if q.ndim == 4 else ()
    mask = case.uniform(*(shape or (*batch, q.size(-2), k.size(-2)))) > 0.4
    mask[..., -1] = True
    mask[..., 0] = False
    return mask


def masks(case: Case, q: Tensor, k: Tensor) -> list[Tensor]:
    """A mask of every shape: for all queries, for each, and in a batch for each sentence, and for each head."""
    (*batch, t, _), s = q.shape, k.size(-2)
    shapes = [(s,), (t, s)]
    if batch:
        b, h = batch
        shapes += [(b, 1, 1, s), (b, 1, t, s), (h, 1, s), (b, h, t, s)]
    return [some_hidden(case, q, k, *shape) for shape in shapes]


@graded(points=2, levels=3, claim="C09")
def rows_sum_to_one(student: Student, case: Case) -> None:
    """Each query spreads weights that sum to one over the keys."""
    q, k, v = inputs(case)
    _, weights = called(student, q, k, v)
    weights = expect.tensor(weights, "the weights", (*q.shape[:-1], k.size(-2)), q=q, k=k)
    spread = weights.amax(-1) - weights.amin(-1)
    expect.true(
        bool((spread > 1e-4).all()), "the weights: a query gives every key the same", q=q, k=k, your_weights=weights
    )
    expect.close(weights.sum(-1), torch.ones(q.shape[:-1]), "the sum of each row of weights", q=q, k=k)
    _, weights = called(student, 300 * q, k, v)
    weights = expect.tensor(weights, "the weights", (*q.shape[:-1], k.size(-2)), q=300 * q, k=k)
    expect.close(weights.sum(-1), torch.ones(q.shape[:-1]), "the sum of each row, with large scores", q=300 * q, k=k)


@graded(points=2, levels=3, claim="C08")
def scale(student: Student, case: Case) -> None:
    """The scores are divided by the root of d_k."""
    q, k, v = inputs(case)
    _, weights = called(student, q, k, v)
    expect.tensor(weights, "the weights", (*q.shape[:-1], k.size(-2)), q=q, k=k)
    logs = weights.double().log()
    expected = torch.einsum("...td,...sd->...ts", q, k).double() / math.sqrt(q.size(-1))
    # Differences of log-weights are differences of scores: whatever normalises them drops out.
    expect.close(
        logs - logs[..., :1], expected - expected[..., :1], "score of each key minus that of key 0", atol=1e-3, q=q, k=k
    )


@graded(points=2, levels=3, claim="C11")
def output_is_weights_times_values(student: Student, case: Case) -> None:
    """The output averages the values with the weights."""
    q, k, v = inputs(case)
    mask = None if case.level == 0 else some_hidden(case, q, k)
    output, weights = called(student, q, k, v, mask)
    expect.tensor(weights, "the weights", (*q.shape[:-1], k.size(-2)), q=q, k=k)
    output = expect.shape(output, (*q.shape[:-1], v.size(-1)), "the output", q=q, v=v)
    expect.close(output, weights.to(v.dtype) @ v, "the output beside your own weights times v", v=v, mask=mask)
    pull = case.normal(*output.shape, dtype=v.dtype)
    slope = student.gradient("attention", q, k, v, mask, wrt=2, cotangent=pull, output=0)
    expected = weights.to(v.dtype).transpose(-2, -1) @ pull
    expect.close(slope, expected, "the gradient of v beside your own weights", v=v, mask=mask)
    slope = student.gradient("attention", q, k, v, mask, wrt=0, cotangent=case.normal(*weights.shape), output=1)
    expect.shape(slope, q.shape, "the gradient of q through the weights", q=q, k=k)


@graded(points=2, levels=3, claim="C01")
def hidden_keys_get_nothing(student: Student, case: Case) -> None:
    """A key that the mask hides has weight exactly zero, and the others share it all."""
    q, k, v = inputs(case, alike=case.level == 2)  # where all sizes are equal, a mask on a wrong axis raises no error
    for mask in masks(case, q, k):
        _, weights = called(student, q, k, v, mask)
        weights = expect.shape(weights, (*q.shape[:-1], k.size(-2)), "the weights", q=q, k=k)
        hidden = weights.masked_fill(mask, 0.0)
        expect.equal(
            hidden, torch.zeros_like(hidden), "the weights of the hidden keys", mask=mask, your_weights=weights
        )
        shown = weights.double() / weights.double().sum(-1, keepdim=True)
        expect.close(weights, shown, "the weights beside the same divided by their sum", mask=mask)


@graded(points=2, levels=2)
def empty_rows_give_zeros(student: Student, case: Case) -> None:
    """A query that may attend to nothing gets zeros, not NaN and not an average."""
    q, k, v = inputs(case)
    mask = torch.ones(q.size(-2), k.size(-2), dtype=torch.bool)
    mask[0] = False
    output, weights = called(student, q, k, v, mask)
    weights = expect.tensor(weights, "the weights", (*q.shape[:-1], k.size(-2)), mask=mask)
    output = expect.tensor(output, "the output", (*q.shape[:-1], v.size(-1)), mask=mask)
    expect.equal(weights[..., 0, :], torch.zeros_like(weights[..., 0, :]), "the weights of the first query", mask=mask)
    expect.equal(output[..., 0, :], torch.zeros_like(output[..., 0, :]), "the output of the first query", mask=mask)
    expect.true(
        bool((weights[..., 1:, :] > 0).all()), "the other queries lost weight too", mask=mask, your_weights=weights
    )
