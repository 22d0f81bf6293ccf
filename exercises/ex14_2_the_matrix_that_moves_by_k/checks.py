"""Checks of ex14-2: moving on by k positions is a rotation.

Paper: section 3.5
"""

import torch
from torch import Tensor

from annotated_grader import Case, Student, expect, graded


def encoding(positions: Tensor, d_model: int, halves: bool = False) -> Tensor:
    """The sinusoids at any positions, by complex numbers: [n, D]."""
    frequencies = 10000.0 ** -(torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    turned = torch.exp(1j * positions.double()[:, None] * frequencies)
    pair = torch.stack([turned.imag, turned.real], dim=1 if halves else 2)
    return pair.flatten(1)


def width(case: Case) -> int:
    """An even width of at least 6: below, the two layouts are hard to tell apart."""
    return 2 * case.between(3, 9)


def matrix(student: Student, k: int, d_model: int, name: str = "shift") -> Tensor:
    """An answer's matrix in double precision."""
    got = student.call(name, k, d_model)
    return expect.shape(got, (d_model, d_model), f"{name}({k}, {d_model})", k=k, d_model=d_model).double()


def compare_moves(student: Student, case: Case, k: int, d_model: int, halves: bool = False) -> None:
    """One matrix for many positions."""
    name = "shift_halves" if halves else "shift"
    positions = 50 + case.integers(0, 100, 6)
    here, there = encoding(positions, d_model, halves), encoding(positions + k, d_model, halves)
    got = here @ matrix(student, k, d_model, name).T
    what = f"{name}({k}, {d_model}) @ PE[p], a row for each p,"
    expect.close(got, there, what, atol=1e-4, positions=positions, k=k, d_model=d_model)


@graded(points=2, levels=3, claim="C26")
def moves_every_position(student: Student, case: Case) -> None:
    """One matrix carries every position to the one k further on."""
    compare_moves(student, case, case.between(1, 40), width(case))


@graded(points=1, levels=2)
def moves_back(student: Student, case: Case) -> None:
    """With a negative k it moves back."""
    compare_moves(student, case, -case.between(1, 40), width(case))


@graded(points=2, levels=2)
def inverse_is_the_transpose(student: Student, case: Case) -> None:
    """The inverse is the transpose."""
    k, d_model = case.between(2, 30), width(case)
    got = matrix(student, k, d_model)
    identity = torch.eye(d_model, dtype=torch.float64)
    what = f"shift({k}, {d_model}) times its transpose"
    expect.close(got @ got.T, identity, what, atol=1e-4, matrix=got)
    expect.true(bool((got - identity).abs().max() > 1e-3), "the matrix moves nothing", matrix=got)


@graded(points=2, levels=2)
def offsets_add_up(student: Student, case: Case) -> None:
    """Moving by a and then by b is moving by a + b."""
    a, b, d_model = case.between(1, 20), 20 + case.between(1, 20), width(case)
    both = matrix(student, a, d_model) @ matrix(student, b, d_model)
    what = f"shift({a}) @ shift({b}), beside shift({a + b})"
    expect.close(both, matrix(student, a + b, d_model), what, atol=1e-4, a=a, b=b, d_model=d_model)
    moved = (both - torch.eye(d_model, dtype=torch.float64)).abs().max()
    expect.true(bool(moved > 1e-3), "the matrices move nothing", a=a, b=b)


@graded(points=2, levels=2)
def sines_first(student: Student, case: Case) -> None:
    """The same for the layout with all sines first."""
    for sign in (1, -1):
        compare_moves(student, case, sign * case.between(3, 40), width(case), halves=True)
