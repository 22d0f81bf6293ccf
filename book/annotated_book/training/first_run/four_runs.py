"""Two more runs with the recipe of the short ones, each with one fault: readers tell four runs apart by their logs."""

from __future__ import annotations

from typing import Any

from annotated_book.training.first_run.experiment import LEAKY_PAIRS, LEAKY_WORDS, short_training, small_model, watched

FEW = 100
"""Sentence pairs of the run that can learn all of them by heart."""


def run() -> dict[str, Any]:
    """A run whose rate starts at the highest, and a run on few sentences; the sound one and the leak are recorded."""
    return {
        "few": FEW,
        "no_warm_up": watched(small_model(), short_training().replace(warmup=1), LEAKY_WORDS, LEAKY_PAIRS),
        "by_heart": watched(small_model(), short_training(), LEAKY_WORDS, FEW),
    }
