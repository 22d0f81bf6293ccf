"""Checks of ex07-3: a mask that was filled with -1e-12.

Paper: section 3.2.3
"""

import math

import torch
from torch import Tensor

from annotated_grader import Case, Student, expect, graded


def reference(scores: Tensor, mask: Tensor) -> Tensor:
    """Row by row, over the list of keys that may be seen; no fill at all. In double precision."""
    rows, allowed = scores.double().reshape(-1, scores.size(-1)), mask.expand(scores.shape).reshape(-1, scores.size(-1))
    weights = torch.zeros_like(rows)
    for row, may, out in zip(rows, allowed, weights, strict=True):
        seen = [j for j in range(len(row)) if may[j]]
        if seen:
            top = max(float(row[j]) for j in seen)
            shares = [math.exp(float(row[j]) - top) for j in seen]
            for j, share in zip(seen, shares, strict=True):
                out[j] = share / sum(shares)
    return weights.reshape(scores.shape)


def scores_and_mask(case: Case) -> tuple[Tensor, Tensor]:
    """Scores `[B, H, T, S]`, and a mask `[B, 1, T, S]` that shows each query its last key and hides the first."""
    queries, keys = case.between(2, 4), case.between(5, 7)
    batch, heads = (1, 1) if case.level == 0 else (2, 3)
    mask = case.uniform(batch, 1, queries, keys) > 0.5
    mask[..., -1] = True
    mask[..., 0] = False
    return case.normal(batch, heads, queries, keys), mask


def visible_shares(weights: Tensor, mask: Tensor) -> Tensor:
    """The weights of visible keys, divided by their sum: whatever the hidden ones took drops out."""
    visible = weights.double().masked_fill(~mask, 0.0)
    return visible / visible.sum(-1, keepdim=True)


@graded(points=2, levels=3, claim="C01")
def hidden_keys_get_nothing(student: Student, case: Case) -> None:
    """Hidden keys get weight exactly zero."""
    scores, mask = scores_and_mask(case)
    got = expect.shape(student.call("repaired", scores, mask), scores.shape, "the weights", scores=scores, mask=mask)
    hidden = got.masked_fill(mask, 0.0)
    expect.equal(hidden, torch.zeros_like(hidden), "the weights of hidden keys", scores=scores, mask=mask)
    expect.close(visible_shares(got, mask), reference(scores, mask), "visible weights beside one another", mask=mask)


@graded(points=2, levels=2, claim="C01")
def visible_keys_share_it_all(student: Student, case: Case) -> None:
    """The visible keys share everything by a softmax, also where their scores are very low."""
    scores, mask = scores_and_mask(case)
    for shift in (0.0, -1e5, -1e12):
        low = scores + shift
        got = student.call("repaired", low, mask)
        expect.close(got, reference(low, mask), "the weights", atol=1e-4, scores=low, mask=mask)


@graded(points=2, levels=2)
def half_precision(student: Student, case: Case) -> None:
    """It works in float16, and the weights are float16 too."""
    scores, mask = scores_and_mask(case)
    scores = scores.half()
    got = expect.shape(student.call("repaired", scores, mask), scores.shape, "the weights", scores=scores, mask=mask)
    expect.true(got.dtype == torch.float16, f"the scores are float16, the weights {got.dtype}", scores=scores)
    shares = visible_shares(got, mask)
    expect.close(shares, reference(scores, mask), "visible weights beside one another", atol=5e-3, mask=mask)


@graded(points=2, levels=2)
def empty_rows_are_zero(student: Student, case: Case) -> None:
    """A row that is hidden completely gives zeros, not NaN and not an average."""
    scores, mask = scores_and_mask(case)
    mask[..., 0, :] = False
    got = expect.tensor(student.call("repaired", scores, mask), "the weights", scores.shape, mask=mask)
    expect.equal(got[..., 0, :], torch.zeros_like(got[..., 0, :]), "the weights of the first query", mask=mask)
    expect.true(
        bool((got[..., 1:, -1] > 0).all()), "the other queries lost their weights too", mask=mask, your_weights=got
    )


@graded(points=1, levels=2)
def gradients_stay_finite(student: Student, case: Case) -> None:
    """No NaN comes back through a row that is hidden completely, and the others learn."""
    scores, mask = scores_and_mask(case)
    mask[..., 0, :] = False
    mask[..., 1:, -2] = True
    pull = case.normal(*scores.shape)
    got = student.gradient("repaired", scores, mask, cotangent=pull)
    weights, pull = reference(scores, mask), pull.double()
    expected = weights * (pull - (weights * pull).sum(-1, keepdim=True))  # the softmax's Jacobian, by hand
    first = got[..., 0, :]
    expect.equal(first, torch.zeros_like(first), "the gradient of the first query's scores", mask=mask)
    expect.close(got[..., 1:, -2:], expected[..., 1:, -2:], "the gradient of visible scores", scores=scores, mask=mask)


@graded(points=2, hidden=0, levels=1, claim="C01")
def bug_exposed(student: Student, case: Case) -> None:
    """Your scores make the published line prefer the future to the present."""
    scores = expect.tensor(student.call("exposing_scores"), "exposing_scores()")
    square = scores.ndim == 2 and scores.size(0) == scores.size(1) >= 3
    expect.true(square, f"exposing_scores(): expected [T, T] with T from 3 on, got {list(scores.shape)}", scores=scores)
    expect.true(bool((scores.abs() <= 3).all()), "exposing_scores(): they must lie between -3 and 3", scores=scores)
    shares = torch.exp(scores.double().tril())  # a fill of -1e-12 is a score of 0, and exp(0) = 1
    present, future = shares.diagonal(), shares.triu(1).sum(1)
    for i in range(scores.size(0) - 1):
        expect.true(
            future[i] > present[i] + 1e-6,
            f"query {i}: its future together gets {future[i] / shares[i].sum():.3f}, its own position "
            f"{present[i] / shares[i].sum():.3f}",
            scores=scores,
        )
