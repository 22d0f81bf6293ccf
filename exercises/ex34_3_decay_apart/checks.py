"""Checks of ex34-3: Adam with decay outside and inside, number by number, and what each does to a weight.

Paper: section 5.3
"""

import math

import torch
from torch import Tensor

from annotated_grader import Case, Student, expect, graded


def by_hand(weight: float, gradients: list[float], rate: float, decay: float, inside: bool) -> float:
    """One weight, in double precision."""
    first = second = 0.0
    for n, gradient in enumerate(gradients, start=1):
        g = gradient + decay * weight if inside else gradient
        first, second = 0.9 * first + 0.1 * g, 0.98 * second + 0.02 * g * g
        step = first / (1 - 0.9**n) / (math.sqrt(second / (1 - 0.98**n)) + 1e-9)
        weight = (weight if inside else weight - rate * decay * weight) - rate * step
    return weight


def compare(student: Student, case: Case, name: str, inside: bool, updates: int) -> None:
    """Both answers' weights with a large rate and decay, so that every slip shows."""
    weights, rate, decay = case.normal(2, 3), 0.1 + 0.03 * case.between(0, 3), 0.5 + 0.1 * case.between(0, 3)
    gradients = [case.normal(2, 3) for _ in range(updates)]
    lists = zip(weights.flatten().tolist(), *(g.flatten().tolist() for g in gradients), strict=True)
    expected = torch.tensor([by_hand(w, list(g), rate, decay, inside) for w, *g in lists]).view(2, 3)
    got = weights_of(student, name, weights, gradients, rate, decay)
    expect.close(got, expected, f"the weights after {updates} updates", weights=weights, gradients=gradients)


def weights_of(
    student: Student, name: str, weights: Tensor, gradients: list[Tensor], rate: float, decay: float
) -> Tensor:
    """What an answer returns, of the right shape."""
    got = student.call(name, weights, gradients, rate, decay)
    return expect.shape(got, weights.shape, f"the result of {name}", weights=weights)


@graded(points=2, levels=2)
def first_update_of_adamw(student: Student, case: Case) -> None:
    """The first update of AdamW: the decay, and a step as long as the rate."""
    compare(student, case, "adamw", False, 1)


@graded(points=3, levels=2)
def updates_of_adamw(student: Student, case: Case) -> None:
    """Several updates of AdamW."""
    compare(student, case, "adamw", False, 4 + case.between(0, 3))


@graded(points=3, levels=2)
def updates_with_a_penalty(student: Student, case: Case) -> None:
    """Several updates of Adam with the decay in the gradient."""
    compare(student, case, "adam_with_penalty", True, 4 + case.between(0, 3))


@graded(points=2, levels=2)
def decay_without_gradients(student: Student, case: Case) -> None:
    """Without gradients AdamW multiplies by 1 - rate * decay at each update."""
    weights, updates = case.normal(4), 3 + case.between(0, 4)
    gradients = [torch.zeros(4) for _ in range(updates)]
    got = weights_of(student, "adamw", weights, gradients, 0.2, 0.5)
    expect.close(got, weights * 0.9**updates, f"the weights after {updates} updates", weights=weights)


@graded(points=2, levels=2)
def large_gradients_decay_alike(student: Student, case: Case) -> None:
    """Gradients of another size leave AdamW's weights as they are, and not those with a penalty."""
    weights = case.normal(3) + 2
    gradients = [case.normal(3) + 0.1 for _ in range(6)]
    large = [100 * g for g in gradients]
    small, other = (weights_of(student, "adamw", weights, g, 0.05, 1.0) for g in (gradients, large))
    expect.close(other, small, "AdamW's weights with gradients a hundred times as large", weights=weights)
    small, other = (weights_of(student, "adam_with_penalty", weights, g, 0.05, 1.0) for g in (gradients, large))
    differ = bool((other - small).abs().max() > 1e-2)
    expect.true(differ, "with a penalty the size of the gradients matters, and here it does not", weights=weights)


@graded(points=1, levels=2)
def adam_without_decay(student: Student, case: Case) -> None:
    """Without decay both are Adam, also where gradients are as small as epsilon."""
    sizes = torch.tensor([1.0, 1.0, 1e-8, 1e-9, 1e-9])
    weights, gradients = case.normal(5), [sizes * case.normal(5) for _ in range(3)]
    lists = zip(weights.tolist(), *(g.tolist() for g in gradients), strict=True)
    expected = [by_hand(w, list(g), 0.1, 0.0, True) for w, *g in lists]
    for name in ("adamw", "adam_with_penalty"):
        got = weights_of(student, name, weights, gradients, 0.1, 0.0)
        expect.close(got, torch.tensor(expected), f"the weights of {name} without decay", weights=weights)
