"""Checks of ex19-2: the lowest loss that a smoothed target allows.

Paper: section 5.4
"""

import math

import torch
from torch import Tensor

from annotated_grader import Case, Student, expect, graded


def setting(case: Case) -> tuple[int, float]:
    """A vocabulary and an epsilon; small ones first."""
    vocabulary = case.choice([2, 3, 5]) if case.level == 0 else case.between(7, 400)
    return vocabulary, case.choice([0.1, 0.2, 0.3]) if case.level == 0 else 0.01 * case.between(1, 60)


def target(vocabulary: int, eps: float) -> Tensor:
    """The smoothed target, token by token; the right one stands first."""
    return torch.tensor([1 - eps, *[eps / (vocabulary - 1)] * (vocabulary - 1)], dtype=torch.float64)


def reached(vocabulary: int, eps: float) -> tuple[float, Tensor]:
    """The least cross-entropy over all logits, found by Newton's method; and the logits that have it."""
    goal = target(vocabulary, eps)
    gap = 0.0  # by symmetry only the right token's logit moves
    for _ in range(200):
        p = 1 / (1 + (vocabulary - 1) * math.exp(-gap))
        gap -= max(-1.0, min(1.0, (p - float(goal[0])) / (p * (1 - p))))
    logits = torch.zeros(vocabulary, dtype=torch.float64)
    logits[0] = gap
    return float(torch.nn.functional.cross_entropy(logits[None], goal[None])), logits


@graded(points=3, levels=3, claim="C43")
def lowest_loss(student: Student, case: Case) -> None:
    """No model gets below the floor, and the best one reaches it."""
    vocabulary, eps = setting(case)
    least, _ = reached(vocabulary, eps)
    expect.number(student.call("floor", vocabulary, eps), least, f"floor({vocabulary}, {eps})")


@graded(points=1, levels=1, claim="C43")
def the_papers_floor(student: Student, case: Case) -> None:
    """37,000 tokens and an epsilon of 0.1; and other large vocabularies."""
    vocabulary = 1000 * case.between(20, 60) if case.hidden else 37000
    inner = -(0.9 * math.log(0.9)) - 0.1 * (math.log(0.1) - math.log(vocabulary - 1))
    expect.number(student.call("floor", vocabulary, 0.1), inner, f"floor({vocabulary}, 0.1)")


@graded(points=1, levels=1)
def without_smoothing(student: Student, case: Case) -> None:
    """With an epsilon of zero the floor is zero, and both perplexities are one."""
    vocabulary = case.between(10, 50000)
    expect.number(student.call("floor", vocabulary, 0.0), 0.0, f"floor({vocabulary}, 0.0)")
    expect.number(student.call("best_perplexity", vocabulary, 0.0), 1.0, f"best_perplexity({vocabulary}, 0.0)")
    expect.number(student.call("honest_perplexity", vocabulary, 0.0), 1.0, f"honest_perplexity({vocabulary}, 0.0)")


@graded(points=2, levels=3)
def gap_of_the_logits(student: Student, case: Case) -> None:
    """The gap at which the gradient of the smoothed loss is zero."""
    vocabulary, eps = setting(case)
    _, logits = reached(vocabulary, eps)
    expect.number(student.call("best_gap", vocabulary, eps), float(logits[0] - logits[1]),
                  f"best_gap({vocabulary}, {eps})", atol=1e-5)  # fmt: skip


@graded(points=1, levels=3)
def perplexity_of_the_floor(student: Student, case: Case) -> None:
    """What a perplexity computed from the smoothed loss comes to, at best."""
    vocabulary, eps = setting(case)
    least, _ = reached(vocabulary, eps)
    expect.number(student.call("best_perplexity", vocabulary, eps), math.exp(least),
                  f"best_perplexity({vocabulary}, {eps})")  # fmt: skip


@graded(points=2, levels=3, claim="C43")
def perplexity_of_the_text(student: Student, case: Case) -> None:
    """The same model, judged by the right tokens alone."""
    vocabulary, eps = setting(case)
    _, logits = reached(vocabulary, eps)
    right = float(logits.softmax(0)[0])
    expect.number(student.call("honest_perplexity", vocabulary, eps), 1 / right,
                  f"honest_perplexity({vocabulary}, {eps})")  # fmt: skip
