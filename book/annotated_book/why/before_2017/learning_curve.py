"""Updates against accuracy: the copying network without attention, trained for 1,000 to 10,000 updates.

A point of the curve is a training of its own, whose learning rate falls to its end, so that a short training is not the
first part of a long one.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import torch
from torch import nn

from annotated_book.why.before_2017 import experiment
from annotated_book.why.before_2017.encoder_decoder import RecurrentEncoderDecoder
from annotated_book.why.before_2017.quick_recurrence import quick

LENGTH = experiment.LONGEST
# Finished trainings lie here until all are done, so that an interrupted run goes on where it stopped.
PARTIAL = Path(tempfile.gettempdir()) / "annotated-learning-curve.jsonl"
PLAN = [(1_000, 0), (3_000, 0), (10_000, 0), (1_000, 1), (3_000, 1)]
"""Updates and seed of each training; more of them take as much longer as they have updates."""


@torch.no_grad()
def by_place(model: nn.Module, count: int = 1000) -> list[float]:
    """Share of letters written right at each position of sources of 20 letters."""
    source, target = experiment.draw(count, LENGTH, "copy", torch.Generator().manual_seed(4000))
    right = experiment.write(model, source, LENGTH) == target
    return [round(share, 4) for share in right.float().mean(dim=0).tolist()]


def point(updates: int, seed: int) -> dict[str, Any]:
    """One training and its measures."""
    start = os.times()
    model, losses = experiment.train("plain", seed=seed, updates=updates, prepare=quick)
    row: dict[str, Any] = {"model": "plain", "updates": updates, "seed": seed}
    row["parameters"] = sum(p.numel() for p in model.parameters())
    row["by_place"] = by_place(model)
    row["letters"] = round(sum(row["by_place"]) / LENGTH, 4)
    row["beyond"] = {str(n): round(experiment.accuracy(model, n)[0], 4) for n in (25, 30, 40)}
    row["last_loss"] = round(sum(losses[-50:]) / 50, 4)
    if seed == 0:
        assert isinstance(model, RecurrentEncoderDecoder)
        row["probe"] = experiment.probe(model, LENGTH, "summary")
    stop = os.times()
    return row | {"cpu_seconds": round(stop.user + stop.system - start.user - start.system, 1)}


def run() -> dict[str, Any]:
    """Every training of the plan: about seven minutes on one core."""
    torch.set_num_threads(1)
    lines = PARTIAL.read_text(encoding="utf-8").splitlines() if PARTIAL.is_file() else []
    rows = [json.loads(line) for line in lines]
    done = {(row["updates"], row["seed"]) for row in rows}
    for updates, seed in PLAN:
        if (updates, seed) in done:
            continue
        rows.append(point(updates, seed))
        with PARTIAL.open("a", encoding="utf-8") as file:
            file.write(json.dumps(rows[-1]) + "\n")
    PARTIAL.unlink()
    return {"length": LENGTH, "chance": 1 / experiment.SYMBOLS, "points": rows}
