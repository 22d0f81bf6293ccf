"""Checks of ex07-1: three masks.

Paper: section 3.2.3
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from annotated_grader import Case, Student, expect, graded

HEADS = 10


def token_ids(case: Case, batch: int, length: int) -> Tensor:
    """Ids of sentences, padded on the right or on the left; from level 1 on, the last is nothing but padding."""
    ids = case.integers(1, 50, batch, length)
    place = torch.arange(length)
    for b in range(batch):
        padded = case.between(1, length - 1) if b else 0
        ids[b, place >= length - padded if case.choice([True, False]) else place < padded] = 0
    if case.level:
        ids[-1] = 0
    return ids


def table(allowed: Callable[[int, int, int], bool], batch: int, queries: int, keys: int) -> Tensor:
    """The whole mask `[B, H, queries, keys]`, cell by cell."""
    cells = [[[allowed(b, i, j) for j in range(keys)] for i in range(queries)] for b in range(batch)]
    return torch.tensor(cells)[:, None].expand(batch, HEADS, queries, keys)


def spread(mask: Any, shape: tuple[int, ...], what: str, **inputs: Any) -> Tensor:
    """The mask, broadcast to the shape of the weights."""
    mask = expect.tensor(mask, what, **inputs)
    expect.true(mask.dtype == torch.bool, f"{what} is {mask.dtype}; a mask is boolean, True where attention is allowed")
    own = list(mask.shape)
    fits = len(own) <= 4 and all(a in (1, b) for a, b in zip(own[::-1], shape[::-1], strict=False))
    expect.true(fits, f"{what}: {own} does not broadcast to [B, H, queries, keys] = {list(shape)}", **inputs)
    return mask.expand(shape)


def sizes(case: Case) -> tuple[int, int, int]:
    """B, T and S, all different from one another and from the number of heads."""
    return 3 if case.level else 2, case.between(4, 6), case.between(7, 9)


@graded(points=2, levels=3, claim="C12")
def padding_hides_keys(student: Student, case: Case) -> None:
    """The padding mask hides padded keys from every query."""
    batch, queries, keys = sizes(case)
    ids = token_ids(case, batch, keys)
    mask = spread(student.call("padding_mask", ids), (batch, HEADS, queries, keys), "padding_mask", ids=ids)
    expected = table(lambda b, _, j: bool(ids[b, j] != 0), batch, queries, keys)
    expect.equal(mask, expected, "padding_mask, broadcast to [B, H, T, S]", ids=ids)


@graded(points=2, levels=3, claim="C15")
def causal_hides_the_future(student: Student, case: Case) -> None:
    """The causal mask shows each query the keys up to and including its own position."""
    batch, length, _ = sizes(case)
    mask = spread(student.call("causal_mask", length), (batch, HEADS, length, length), "causal_mask", length=length)
    expected = table(lambda _, i, j: j <= i, batch, length, length)
    expect.equal(mask, expected, "causal_mask, broadcast to [B, H, T, T]", length=length)


@graded(points=2, levels=3, claim="C12")
def target_needs_both(student: Student, case: Case) -> None:
    """In the decoder a key may be read only if it is real and not in the future."""
    batch, length, _ = sizes(case)
    ids = token_ids(case, batch, length)
    mask = spread(student.call("target_mask", ids), (batch, HEADS, length, length), "target_mask", ids=ids)
    expected = table(lambda b, i, j: j <= i and bool(ids[b, j] != 0), batch, length, length)
    expect.equal(mask, expected, "target_mask, broadcast to [B, H, T, T]", ids=ids)


@graded(points=2, levels=3)
def cross_reads_the_source(student: Student, case: Case) -> None:
    """In cross-attention every query may read every real source token."""
    batch, length, keys = sizes(case)
    source, target = token_ids(case, batch, keys), token_ids(case, batch, length)
    got = student.call("cross_mask", source, target)
    mask = spread(got, (batch, HEADS, length, keys), "cross_mask", source_ids=source, target_ids=target)
    expected = table(lambda b, _, j: bool(source[b, j] != 0), batch, length, keys)
    expect.equal(mask, expected, "cross_mask, broadcast to [B, H, T, S]", source_ids=source, target_ids=target)


@graded(points=2, levels=2)
def empty_sentence_gets_zeros(student: Student, case: Case) -> None:
    """A sentence of nothing but padding gets weights of zero, and the others share theirs among the real keys."""
    batch, length, keys = sizes(case)
    batch += 1  # at least one sentence beside the empty one, so that it shows what its padding gets
    scores = case.normal(batch, HEADS, length, keys)
    ids = token_ids(case, batch, keys)
    ids[-1] = 0
    got = student.call("masked_weights", scores, (ids != 0)[:, None, None, :])
    got = expect.tensor(got, "the weights", scores.shape, ids=ids)
    shares = torch.exp(scores.double()) * (ids != 0)[:, None, None, :]
    expected = torch.zeros_like(shares)
    expected[:-1] = shares[:-1] / shares[:-1].sum(-1, keepdim=True)
    expect.equal(got[-1], torch.zeros_like(got[-1]), "the weights in the sentence of padding", ids=ids)
    expect.close(got, expected, "the weights", ids=ids)
