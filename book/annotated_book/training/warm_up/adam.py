"""Adam by hand, how many gradients its averages rest on, and what its first steps are worth."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from annotated.config import TrainingConfig

BETAS, EPSILON = TrainingConfig.adam_betas, TrainingConfig.adam_epsilon


def adam_steps(
    gradients: Iterable[Tensor],
    rates: Iterable[float],
    betas: tuple[float, float] = BETAS,
    epsilon: float = EPSILON,
) -> list[Tensor]:
    """What Adam adds to a parameter at each update, from the gradients it is given: the algorithm, without a model.

    Parameters
    ----------
    gradients
        One for each update, all of one shape.
    rates
        The learning rate of each update.

    Returns
    -------
    list of Tensor
        Steps: the parameter after update k is the one before it plus step k.
    """
    steps: list[Tensor] = []
    m = v = torch.zeros(())
    for k, (g, rate) in enumerate(zip(gradients, rates, strict=True), start=1):
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g**2
        m_hat = m / (1 - betas[0] ** k)
        v_hat = v / (1 - betas[1] ** k)
        steps.append(-rate * m_hat / (v_hat.sqrt() + epsilon))
    return steps


def gradients_behind(beta: float, update: int) -> float:
    """Effective number of gradients in Adam's bias-corrected average after some updates.

    Its weights are beta^age, divided by their sum; the effective number is (sum w)^2 / sum w^2.
    """
    return (1 + beta) / (1 - beta) * (1 - beta**update) / (1 + beta**update)


def first_steps(
    gradients: Sequence[Tensor], updates: Sequence[int], betas: tuple[float, float] = BETAS
) -> dict[str, list[float]]:
    """What Adam's step is worth after k gradients, all taken at one and the same point.

    Parameters
    ----------
    gradients
        Flat vectors `[P]`, one for each batch, all of the same parameters; the first half is Adam's. The second half
        estimates the direction that all batches agree on.
    updates
        The k to report, at most half as many as there are gradients.

    Returns
    -------
    dict
        For each k. `size`: root mean square of the step over the parameters, in units of the learning rate.
        `agreement`: cosine of the angle between the step and the mean gradient of the second half, each divided by the
        root of the mean square.
    """
    half = len(gradients) // 2
    if not updates or max(updates) > half:
        raise ValueError(f"{len(gradients)} gradients are enough for {half} updates, not for {max(updates, default=0)}")
    steps = adam_steps(gradients[:half], [1.0] * half, betas)
    rest = torch.stack(list(gradients[half:]))
    goal = -rest.mean(dim=0) / (rest.square().mean(dim=0).sqrt() + EPSILON)
    chosen = [steps[k - 1] for k in updates]
    return {
        "size": [step.square().mean().sqrt().item() for step in chosen],
        "agreement": [torch.cosine_similarity(step, goal, dim=0).item() for step in chosen],
    }
