"""Schedules of the learning rate: equation 3, a cosine, and warm-up, stable, decay; all with one highest rate."""

from __future__ import annotations

import math

from annotated.config import TrainingConfig
from annotated.training.schedule import learning_rate

LAST_SHARE = 0.1
"""Of the highest rate: where the cosine ends."""
DECAY_SHARE = 0.2
"""Of all updates: how long the last phase of warm-up, stable, decay is."""


def inverse_root(update: int, training: TrainingConfig, d_model: int) -> float:
    """Equation 3, with the training's warm-up and factor: the rate of an update, counted from 1."""
    return learning_rate(update, d_model, training.warmup, training.learning_rate_scale)


def highest(training: TrainingConfig, d_model: int) -> float:
    """The rate at the end of the warm-up, which all schedules share."""
    return inverse_root(training.warmup, training, d_model)


def cosine(update: int, training: TrainingConfig, d_model: int) -> float:
    """The warm-up of equation 3, then half a wave of the cosine from the highest rate down to a tenth of it."""
    if update <= training.warmup:
        return inverse_root(update, training, d_model)
    done = (update - training.warmup) / (training.updates - training.warmup)
    share = LAST_SHARE + (1 - LAST_SHARE) * (1 + math.cos(math.pi * done)) / 2
    return share * highest(training, d_model)


def warmup_stable_decay(update: int, training: TrainingConfig, d_model: int) -> float:
    """The warm-up of equation 3, then the highest rate, and in the last fifth a straight line down towards zero."""
    left = training.updates - update + 1
    share = min(1.0, update / training.warmup, left / (DECAY_SHARE * training.updates))
    return share * highest(training, d_model)
