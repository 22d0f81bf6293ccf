"""Training speed and cost: the share of the hardware's peak, hours, money and energy that a log implies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotated.analysis.parameters import forward_flops
from annotated.config import ModelConfig

BACKWARD = 2
"""A backward pass costs as much as two forward passes: a gradient for the input, and one for the weights."""


def flops_per_token(start: Mapping[str, Any]) -> float | None:
    """Floating-point operations of training, forward and backward, for each target token of an average pair.

    Parameters
    ----------
    start
        The record of kind 'start' of a training run's log.

    Returns
    -------
    float or None
        None if the log, of an older version, does not say how long its sentences are.
    """
    tokens, pairs = start.get("train_tokens"), start.get("train_pairs")
    model = start.get("configuration", {}).get("model")
    if not tokens or not pairs or not model:
        return None
    config = ModelConfig.from_dict(model).replace(vocab_size=start["vocab_size"])
    source, target = (max(1, round(side / pairs)) for side in tokens)
    return (1 + BACKWARD) * sum(forward_flops(config, source, target).values()) / target


def fraction_of_peak(start: Mapping[str, Any], tokens_per_second: float | None) -> float | None:
    """The share of what its devices could compute that a training run uses, 1 for all; None if the log does not say.

    Parameters
    ----------
    start
        The record of kind 'start'; its `peak_flops` is the rate of one process's device, measured at the start.
    tokens_per_second
        Target tokens, over all processes.
    """
    peak, each = start.get("peak_flops"), flops_per_token(start)
    if not peak or not each or tokens_per_second is None:
        return None
    return tokens_per_second * each / (peak * start.get("processes", 1))


def money(seconds: float, price_per_hour: float) -> float:
    """What so many seconds cost, in the currency of the price."""
    return seconds / 3600 * price_per_hour
