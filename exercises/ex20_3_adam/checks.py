"""Checks of ex20-3: Adam, by its sums written out.

Paper: section 5.3
"""

import torch
from torch import Tensor

from annotated_grader import Case, Student, expect, graded


def written_out(gradients: Tensor, rates: list[float], beta1: float, beta2: float, epsilon: float) -> Tensor:
    """The averages as weighted sums over all gradients so far, in float64: no recursion."""
    g, x, after = gradients.double(), torch.zeros(gradients.size(1), dtype=torch.float64), []
    for k in range(1, len(g) + 1):
        age = torch.arange(k - 1, -1, -1, dtype=torch.float64)[:, None]
        first, second = beta1**age, beta2**age
        mean = (first * g[:k]).sum(0) / first.sum()
        square = (second * g[:k] ** 2).sum(0) / second.sum()
        x = x - rates[k - 1] * mean / (square.sqrt() + epsilon)
        after.append(x)
    return torch.stack(after)


def draw(case: Case, updates: int) -> tuple[Tensor, list[float]]:
    """Gradients of different sizes and signs, and rates that rise."""
    sizes = 10.0 ** torch.arange(2 + case.between(0, 3))
    rates = [0.01 * (k + 1) for k in range(updates)]
    return case.normal(updates, len(sizes)) * sizes, rates


def check(student: Student, gradients: Tensor, rates: list[float], what: str, *betas: float) -> None:
    """The answer beside the sums."""
    got = expect.tensor(student.call("adam", gradients, rates, *betas), what, gradients.shape)
    full = (*betas, *(0.9, 0.98, 1e-9)[len(betas) :])
    expect.close(got, written_out(gradients, rates, *full), what, gradients=gradients, rates=rates)


@graded(points=2, levels=3)
def the_first_update(student: Student, case: Case) -> None:
    """The first update moves each parameter by the rate, however large its gradient is."""
    gradients, rates = draw(case, 1)
    check(student, gradients, rates, "the parameters after one update")


@graded(points=2, levels=3)
def the_first_moment(student: Student, case: Case) -> None:
    """The direction is an average of the gradients, corrected for its start at zero."""
    updates = 2 + case.between(0, 3)
    gradients, rates = draw(case, updates)
    gradients = gradients.sign() * 2.0  # all squares alike, so the second moment is 4 throughout
    check(student, gradients, rates, "the parameters, with gradients of 2 and -2")


@graded(points=2, levels=3)
def the_second_moment(student: Student, case: Case) -> None:
    """The size of a step follows the average of the squares, corrected for its start at zero."""
    updates = 2 + case.between(1, 4)
    gradients, rates = draw(case, updates)
    check(student, gradients.abs(), rates, "the parameters", 0.0, 0.7 + 0.05 * case.between(0, 4))


@graded(points=1, levels=2)
def the_epsilon(student: Student, case: Case) -> None:
    """Epsilon is added to the root of the corrected average."""
    gradients, rates = draw(case, 3)
    check(student, gradients, rates, "the parameters with epsilon 0.5", 0.9, 0.98, 0.5)


@graded(points=2, levels=2)
def without_averages(student: Student, case: Case) -> None:
    """first_step is the rate against the sign of the gradient."""
    gradients, _ = draw(case, 1)
    rate = 0.05 * case.between(1, 9)
    got = expect.tensor(student.call("first_step", gradients[0], rate), "first_step", gradients[0].shape)
    down = torch.where(gradients[0] > 0, -rate, rate)
    expect.close(got, down, "first_step", gradient=gradients[0], rate=rate)
