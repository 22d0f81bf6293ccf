"""Checks of ex21-1: dropout on sums and on the outputs of sub-layers.

Paper: sections 3.1, 3.4, 5.4
"""

import torch
from torch import Tensor

from annotated_grader import Case, Student, expect, graded


def normalised(x: Tensor, gain: Tensor, bias: Tensor) -> Tensor:
    """Layer normalisation by its definition."""
    centred = x - x.mean(-1, keepdim=True)
    return centred / (centred.square().mean(-1, keepdim=True) + 1e-6).sqrt() * gain + bias


def small(x: Tensor, w: Tensor) -> Tensor:
    """The given sub-layer."""
    return torch.einsum("bsi,ij->bsj", x, w).tanh()


def known_mask(case: Case, shape: tuple[int, ...]) -> Tensor:
    """Zeros and twos, with at least one of each."""
    mask = 2.0 * (case.uniform(*shape) > 0.5)
    mask[0, 0, 0], mask[0, 0, 1] = 0.0, 2.0
    return mask


class Sizes:
    """An input, its sizes all different, and the matrices of two sub-layers."""

    def __init__(self, case: Case) -> None:
        b, s, d = case.between(1, 2), 3 + case.between(0, 1), 5 + case.between(1, 4)
        self.x = 2 * case.normal(b, s, d) + 1
        self.first, self.second = case.normal(d, d), case.normal(d, d)


class Words:
    """Ids, an embedding table and a table of positions that is longer than the sentence."""

    def __init__(self, case: Case) -> None:
        b, s, d, v = case.between(1, 2), 3 + case.between(0, 2), 6 + case.between(1, 4), 12
        self.ids, self.table = case.integers(0, v, b, s), case.normal(v, d)
        self.positions = 3 * case.normal(s + 2, d)
        rows = [[self.table[token] * d**0.5 + self.positions[i] for i, token in enumerate(row)] for row in self.ids]
        self.sum = torch.stack([torch.stack(row) for row in rows])


@graded(points=2, levels=3)
def kept_entries_are_scaled(student: Student, case: Case) -> None:
    """In training, dropped entries are zero and the others are scaled."""
    x, p = case.normal(2, 2 + case.between(1, 4)) + 2, case.choice([0.2, 0.4, 0.75])
    keep = case.uniform(*x.shape) > p
    keep[0, 0], keep[0, 1] = True, False
    expected = torch.where(keep, x / (1 - p), torch.zeros(()))
    expect.close(student.call("dropout", x, keep, p, True), expected, "dropout in training", x=x, keep=keep, p=p)


@graded(points=1, levels=2)
def evaluation_changes_nothing(student: Student, case: Case) -> None:
    """In evaluation x comes back as it is."""
    x, p = case.normal(2, 2 + case.between(1, 4)) + 2, case.choice([0.2, 0.4, 0.75])
    keep = case.uniform(*x.shape) > p
    keep[0, 0] = False
    trained = expect.tensor(student.call("dropout", x, keep, p, True), "dropout in training", tuple(x.shape))
    expect.true(not torch.allclose(trained, x), "in training, dropout must change x", x=x, keep=keep, p=p)
    expect.close(student.call("dropout", x, keep, p, False), x, "dropout in evaluation", x=x, keep=keep, p=p)


@graded(points=1, levels=2)
def embedding_plus_position(student: Student, case: Case) -> None:
    """Without dropout, embed gives scaled embeddings plus positions."""
    w = Words(case)
    got = student.call("embed", w.ids, w.table, w.positions, student.given("unchanged"))
    expect.close(got, w.sum, "embeddings plus positions, nothing dropped", atol=1e-4, ids=w.ids)


@graded(points=2, levels=3)
def the_sum_is_dropped(student: Student, case: Case) -> None:
    """Dropout falls on the sum of embedding and position."""
    w = Words(case)
    mask = known_mask(case, tuple(w.sum.shape))
    got = student.call("embed", w.ids, w.table, w.positions, student.given("masked", mask))
    expect.close(got, w.sum * mask, "embed, where drop multiplies by a mask", atol=1e-4, ids=w.ids, mask=mask)
    got = student.call("embed", w.ids, w.table, w.positions, student.given("bent", mask))
    expected = w.sum.tanh() * mask
    expect.close(got, expected, "embed, where drop takes the tanh and a mask", atol=1e-4, ids=w.ids, mask=mask)


@graded(points=2, levels=3)
def attention_output_is_dropped(student: Student, case: Case) -> None:
    """Dropout falls on what attention gives, before it is added."""
    z = Sizes(case)
    mask = known_mask(case, tuple(z.x.shape))
    same = student.given("unchanged")
    # No norms, and a feed-forward network that says nothing: attention's place is all that is left.
    parts = student.given("sublayer", z.first), student.given("nothing"), same, same, student.given("masked", mask)
    got = student.call("encoder_layer", z.x, *parts)
    expected = z.x + small(z.x, z.first) * mask
    expect.close(got, expected, "a layer without norms whose feed-forward gives zeros", atol=1e-4, x=z.x, mask=mask)


@graded(points=2, levels=3)
def feed_forward_output_is_dropped(student: Student, case: Case) -> None:
    """Dropout falls on what the feed-forward network gives, before it is added."""
    z = Sizes(case)
    mask = known_mask(case, tuple(z.x.shape))
    same = student.given("unchanged")
    parts = student.given("nothing"), student.given("sublayer", z.second), same, same, student.given("masked", mask)
    got = student.call("encoder_layer", z.x, *parts)
    expected = z.x + small(z.x, z.second) * mask
    expect.close(got, expected, "a layer without norms whose attention gives zeros", atol=1e-4, x=z.x, mask=mask)


@graded(points=2, levels=3, claim="C46")
def post_norm_without_dropout(student: Student, case: Case) -> None:
    """Without dropout, the layer is the paper's: post-norm, two norms."""
    z = Sizes(case)
    d = z.x.size(-1)
    gains = [(1 + case.uniform(d), case.normal(d)) for _ in range(2)]
    norms = [student.given("layer_norm", *pair) for pair in gains]
    parts = student.given("sublayer", z.first), student.given("sublayer", z.second), *norms, student.given("unchanged")
    got = student.call("encoder_layer", z.x, *parts)
    h = normalised(z.x + small(z.x, z.first), *gains[0])
    expected = normalised(h + small(h, z.second), *gains[1])
    expect.close(got, expected, "a layer with both norms, nothing dropped", atol=1e-3, rtol=1e-3, x=z.x)
