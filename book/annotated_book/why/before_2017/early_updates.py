"""The first updates of the copying task: how soon each of the three models copies 20 letters.

As in `learning_curve`, a point is a training of its own, whose learning rate falls to its end.
"""

from __future__ import annotations

from typing import Any

import torch

from annotated_book.why.before_2017 import experiment
from annotated_book.why.before_2017.quick_recurrence import quick

KINDS: tuple[experiment.Kind, ...] = ("plain", "attention", "transformer")
UPDATES, SEEDS = (200, 400), 2


def run() -> dict[str, Any]:
    """Three models, two lengths of training, two seeds: about two minutes on one core."""
    torch.set_num_threads(1)
    points: list[dict[str, Any]] = []
    for kind in KINDS:
        extra: dict[str, Any] = {"prepare": quick} if kind == "plain" else {}
        for updates in UPDATES:
            for seed in range(SEEDS):
                model, _ = experiment.train(kind, seed=seed, updates=updates, **extra)
                letters = experiment.accuracy(model, experiment.LONGEST)[0]
                points.append({"model": kind, "updates": updates, "seed": seed, "letters": round(letters, 4)})
    return {"length": experiment.LONGEST, "points": points}
