"""Checks of ex34-2: turns by complex numbers, what they keep, and one model in two layouts.

Paper: section 3.5
"""

import math

import torch
from torch import Tensor

from annotated_grader import Case, Student, expect, graded


def by_hand(x: Tensor, places: Tensor, halves: bool = False) -> Tensor:
    """The turn as a product of complex numbers, in double precision."""
    half = x.size(-1) // 2
    speeds = torch.tensor([math.exp(-math.log(10000.0) * 2 * i / x.size(-1)) for i in range(half)]).double()
    turn = torch.exp(1j * places.double()[:, None] * speeds)
    pairs = x.double().unflatten(-1, (2, half)).transpose(-2, -1) if halves else x.double().unflatten(-1, (half, 2))
    found = torch.view_as_real(torch.complex(pairs[..., 0], pairs[..., 1]) * turn)
    return (found.transpose(-2, -1) if halves else found).flatten(-2).float()


def vectors(case: Case) -> tuple[Tensor, Tensor]:
    """Some vectors and their places: without further axes, with one, and with a batch as large as all the rest."""
    length = 3 + case.between(0, 3)
    shape = ((length,), (2, length), (length, length, length))[case.level % 3]
    return case.normal(*shape, 2 * case.between(3, 6)), case.integers(1, 60, length)


def turned(student: Student, x: Tensor, places: Tensor, name: str = "rotate") -> Tensor:
    """What an answer gives, of the right shape."""
    return expect.shape(student.call(name, x, places), x.shape, "the result", x=x.shape, places=places)


@graded(points=2, levels=3, claim="C26")
def angles(student: Student, case: Case) -> None:
    """Each pair of neighbours is turned by its place times the speed of its pair."""
    x, places = vectors(case)
    expect.close(turned(student, x, places), by_hand(x, places), "the result", atol=1e-4, x=x, places=places)
    pull = case.normal(*x.shape)
    slope = student.gradient("rotate", x, places, cotangent=pull)
    expect.close(slope, by_hand(pull, -places), "the gradient of x", atol=1e-4, x=x, places=places)


@graded(points=2, levels=2)
def lengths_stay(student: Student, case: Case) -> None:
    """Place 0 turns nothing, and no place changes a length."""
    x, places = vectors(case)
    expect.close(turned(student, x, torch.zeros_like(places)), x, "the vectors at place 0", x=x)
    got = turned(student, x, places)
    expect.close(got.norm(dim=-1), x.norm(dim=-1), "the lengths of the vectors", atol=1e-4, x=x, places=places)
    expect.true(bool((got - x).abs().max() > 1e-2), "the vectors are not turned at all", x=x, places=places)


@graded(points=3, levels=2)
def only_offsets_are_left(student: Student, case: Case) -> None:
    """The products of turned queries and keys stay when all places grow by the same number."""
    q, places = vectors(case)
    k = case.normal(*q.shape)
    for name in ("rotate", "rotate_halves"):
        found = []
        for start in (0, 40 + case.between(0, 20)):
            rows = [turned(student, x, places + start, name) for x in (q, k)]
            found.append(rows[0] @ rows[1].transpose(-2, -1))
        expect.close(found[1], found[0], f"the scores of {name}, further on", atol=1e-3, places=places)
        spread = (found[0] - q @ k.transpose(-2, -1)).abs().max()
        expect.true(bool(spread > 1e-2), f"{name} does not change the scores at all", places=places)


@graded(points=2, levels=2)
def pairs_of_the_halves(student: Student, case: Case) -> None:
    """`rotate_halves` turns each number of the first half with its partner in the second."""
    x, places = vectors(case)
    got = turned(student, x, places, "rotate_halves")
    expect.close(got, by_hand(x, places, halves=True), "the result", atol=1e-4, x=x, places=places)
    pull = case.normal(*x.shape)
    slope = student.gradient("rotate_halves", x, places, cotangent=pull)
    expect.close(slope, by_hand(pull, -places, halves=True), "the gradient of x", atol=1e-4, x=x, places=places)


@graded(points=3, levels=2)
def same_scores_in_the_other_layout(student: Student, case: Case) -> None:
    """Carried matrices and halves give the scores of the old matrices and neighbours."""
    heads, width, d_model = 2 + case.between(0, 2), 6, 5
    w_q, w_k = case.normal(heads * width, d_model), case.normal(heads * width, d_model)
    x, places = case.normal(4, d_model), case.integers(1, 40, 4)
    new = [expect.shape(student.call("carry", w, heads), w.shape, "the matrix", w=w.shape) for w in (w_q, w_k)]

    def scores(pair: list[Tensor], halves: bool) -> Tensor:
        q, k = (by_hand((x @ w.T).unflatten(-1, (heads, -1)).transpose(0, 1), places, halves) for w in pair)
        return q @ k.transpose(-2, -1)

    expect.close(scores(new, True), scores([w_q, w_k], False), "the scores of each head", atol=1e-3, heads=heads)
