"""Learning rates that a small Transformer survives, for warm-ups of several lengths: post-norm and pre-norm."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from annotated.config import ModelConfig
from annotated_book.machine.residuals.experiment import BLOCK, CONFIG, short_sentences, train
from annotated_book.machine.residuals.placements import placed

RATES = (0.0005, 0.001, 0.002, 0.004, 0.008)
WARMUPS = (0, 20, 80, 160)
SEEDS = {"post-norm": 2, "pre-norm": 1}
UPDATES, BATCH_TOKENS = 250, 200


def frequency_loss() -> float:
    """Loss in nats a token of a guess that knows how frequent each piece is, and nothing else."""
    seen, unseen = (short_sentences(*s).target_tokens for s in (("train", 6000), ("valid", 300)))
    counts = np.bincount(seen, minlength=2000) + 1
    return float(-np.log(counts / counts.sum())[unseen].mean())


def curve(
    placement: str, rate: float, warmup: int, seed: int = 0, updates: int = UPDATES, config: ModelConfig = CONFIG
) -> dict[str, Any]:
    """One run: the rate rises in a straight line over `warmup` updates and stays; 0 is no warm-up.

    Returns
    -------
    dict
        The settings, and `loss` (blocks of 10 updates) and `valid` of `residuals.experiment.train`; None where a number
        is no longer finite.
    """
    found = train(placed(config, placement, seed), updates, warmup, peak=rate, seed=seed, tokens=BATCH_TOKENS)
    kept = {
        "loss": [loss if loss is None else round(loss, 3) for loss in found["loss"]],
        "valid": found["valid"],
    }
    return {"placement": placement, "rate": rate, "warmup": warmup, "seed": seed, **kept}


def run() -> dict[str, Any]:
    """The whole grid: placements, rates, warm-ups, seeds."""
    torch.set_num_threads(1)
    runs = [
        curve(placement, rate, warmup, seed)
        for placement, seeds in SEEDS.items()
        for seed in range(seeds)
        for rate in RATES
        for warmup in WARMUPS
    ]
    return {
        "config": CONFIG.to_dict(),
        "batch_tokens": BATCH_TOKENS,
        "updates": UPDATES,
        "block": BLOCK,
        "rates": RATES,
        "warmups": WARMUPS,
        "frequency_loss": round(frequency_loss(), 4),
        "runs": runs,
    }
