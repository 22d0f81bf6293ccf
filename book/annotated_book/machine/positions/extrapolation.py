"""Extrapolation past the training length: sinusoids, learned positions, random starts (chapter 14).

The task is relative: write the symbol that stands one place back. Rows have up to 20 symbols in
training, 60 in the test.
"""

from __future__ import annotations

import random
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from annotated_book.machine.positions.experiment import Tagger, position_table, symbols, train_tagger

SHORTEST, TRAINED, TESTED = 10, 20, 60
STEPS, SEEDS = 1200, (0, 1, 2, 3)
KINDS = ("learned", "waves", "waves, random start")


def previous(ids: Tensor) -> Tensor:
    """The symbol one place earlier; 0 for the first, which has none."""
    return F.pad(ids[:, :-1], (1, 0))


def train_one(kind: str, seed: int, steps: int = STEPS) -> Tagger:
    """A model that has seen rows of `SHORTEST` to `TRAINED` symbols.

    With a random start a row's first symbol may stand at any position that leaves room for the row; without, it
    stands at 0, and the positions from `TRAINED` on are never seen.
    """
    if kind not in KINDS:
        raise ValueError(f"no kind {kind!r}; there are {', '.join(KINDS)}")
    torch.manual_seed(seed)
    lengths = random.Random(seed)
    model = Tagger(position_table(kind.split(",")[0], TESTED))

    def start() -> int:
        return lengths.randint(0, TESTED - TRAINED) if "random" in kind else 0

    return train_tagger(
        model, previous, steps, draw=lambda rows: symbols(rows, lengths.randint(SHORTEST, TRAINED)), start=start
    )


@torch.no_grad()
def by_position(model: Tagger, rows: int = 500) -> list[float]:
    """Accuracy at each of `TESTED` positions of rows that are so long."""
    ids = symbols(rows, TESTED)
    right = model(ids).argmax(-1) == previous(ids)
    return [round(share, 3) for share in right.float().mean(0).tolist()]


def run() -> dict[str, Any]:
    """Accuracy by position for each kind, averaged and for each of the seeds."""
    curves = {kind: [by_position(train_one(kind, seed)) for seed in SEEDS] for kind in KINDS}
    setting = {"trained": TRAINED, "tested": TESTED, "shortest": SHORTEST, "steps": STEPS, "seeds": len(SEEDS)}
    return {"setting": setting, "curves": curves}
