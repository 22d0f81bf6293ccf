"""Checks of ex35-2: masks place by place, attention query by query, and distant keys that must not be touched.

Paper: section 4, Table 1
"""

import math
from typing import Any

import torch
from torch import Tensor

from annotated_grader import Case, Student, expect, graded


def near(n: int, query: int, radius: int) -> list[int]:
    """The places that a query sees."""
    return [key for key in range(n) if abs(query - key) <= radius]


def attention(q: Tensor, k: Tensor, v: Tensor, radius: int) -> Tensor:
    """Equation 1 for one query after the other."""
    out = torch.zeros(*q.shape[:3], v.size(3))
    for i in range(q.size(2)):
        keys = near(q.size(2), i, radius)
        scores = (k[:, :, keys] * q[:, :, i : i + 1]).sum(-1) / math.sqrt(q.size(-1))
        weights = (scores - scores.amax(-1, keepdim=True)).exp()
        weights = weights / weights.sum(-1, keepdim=True)
        out[:, :, i] = (weights[..., None] * v[:, :, keys]).sum(2)
    return out


def boolean(got: Any, shape: tuple[int, ...], what: str) -> Tensor:
    """A mask of this shape."""
    mask = expect.shape(got, shape, what)
    expect.true(mask.dtype == torch.bool, f"{what} must be Boolean, True = may attend")
    return mask


def heads(case: Case, n: int) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values of odd sizes."""
    width = 3 + case.between(0, 2)
    return case.normal(2, 3, n, width), case.normal(2, 3, n, width), case.normal(2, 3, n, width + 1)


def compare(student: Student, case: Case, n: int, radius: int) -> None:
    """Banded attention beside the reference, and its gradients where the sequence is short."""
    q, k, v = heads(case, n)
    got = student.call("banded_attention", q, k, v, radius)
    expected = attention(q, k, v, radius)
    expect.close(expect.shape(got, expected.shape, "the output"), expected, "the output", n=n, radius=radius)
    if n > radius:
        return
    pull, leaves = case.normal(*expected.shape), [x.clone().requires_grad_() for x in (q, k, v)]
    right = torch.autograd.grad(attention(*leaves, radius), leaves, pull)
    slopes = student.gradient("banded_attention", q, k, v, radius, wrt=(0, 1, 2), cotangent=pull)
    for name, slope, one in zip(("q", "k", "v"), slopes, right, strict=True):
        expect.close(slope, one, f"the gradient of {name}", atol=1e-4, n=n, radius=radius)


@graded(points=1, levels=3)
def the_band(student: Student, case: Case) -> None:
    """Which keys a query may attend to, in all n² places."""
    n, radius = 5 + case.between(0, 4), 1 + case.level
    mask = boolean(student.call("band_mask", n, radius), (n, n), "the band mask")
    rows = [[key in near(n, query, radius) for key in range(n)] for query in range(n)]
    expect.equal(mask.tolist(), rows, "the band mask", n=n, radius=radius)


@graded(points=2, levels=3)
def the_blocks(student: Student, case: Case) -> None:
    """Which of the 3w keys of its block a query may attend to."""
    radius = 2 + case.level
    n = radius * (2 + case.between(0, 2)) + case.between(1, radius - 1)
    blocks = -(-n // radius)
    mask = boolean(student.call("block_mask", n, radius), (blocks, radius, 3 * radius), "the block mask")
    for b in range(blocks):
        for i in range(min(radius, n - b * radius)):
            seen = [(b - 1) * radius + j for j in range(3 * radius) if mask[b, i, j]]
            expect.equal(seen, near(n, b * radius + i, radius), "seen places", n=n, radius=radius, query=b * radius + i)


@graded(points=3, levels=3)
def whole_blocks(student: Student, case: Case) -> None:
    """Attention where the blocks fill the sequence."""
    radius = 2 + case.level
    compare(student, case, radius * (3 + case.between(0, 2)), radius)
    compare(student, case, 2 + case.level, 1)


@graded(points=2, levels=3)
def any_length(student: Student, case: Case) -> None:
    """Attention where the last block is not full, and where the sequence is shorter than a block."""
    radius = 3 + case.level
    compare(student, case, radius * (2 + case.between(0, 2)) + case.between(1, radius - 1), radius)
    compare(student, case, case.between(1, radius - 1), radius)


@graded(points=2, levels=2)
def distant_keys_stay_out(student: Student, case: Case) -> None:
    """Keys and values more than 3w away are never touched."""
    radius = 2 + case.level
    n = radius * (9 + case.between(0, 3))
    q, k, v = heads(case, n)
    at = 6 * radius + case.between(0, radius)
    far = [i for i in range(radius, n - radius) if abs(i - at) > 3 * radius]  # not at the ends: others ask for those
    expected = attention(q, k, v, radius)[:, :, far]
    got = student.given("away_from_nan")(student.value("banded_attention"), q, k, v, radius, at, far)
    what = "the output more than 3w away from a key of NaN (a billion stands for NaN)"
    expect.close(expect.shape(got, expected.shape, what), expected, what, n=n, radius=radius, place=at)


@graded(points=1, levels=3)
def the_path(student: Student, case: Case) -> None:
    """Layers until the first place reaches the last, counted by spreading from place to place."""
    radius = 2 + case.level + case.between(0, 2)
    for n in (5 * radius + 1, 3 * radius + case.between(1, radius), radius + 2, radius + 1, 2):
        reached, layers = {0}, 0
        while n - 1 not in reached:
            reached = {key for place in reached for key in near(n, place, radius)}
            layers += 1
        expect.equal(student.call("layers_needed", n, radius), layers, "layers", n=n, radius=radius)
