"""Three kinds of dropout switched on and off one by one: training and validation loss of all eight combinations.

The rates are those of the paper's own source: residual dropout as printed, attention dropout and symbol dropout from
the paragraphs that are commented out there.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import torch

from annotated.config import EOS, PAD, UNK, TrainingConfig
from annotated.data import Batch, TokenBatches
from annotated.model import Transformer
from annotated.speed.steps import FastStep
from annotated.training.update import fit
from annotated_book.training.dropout.experiment import (
    BATCH_TOKENS,
    BLOCK,
    CONFIG,
    PAIRS,
    RATE,
    UPDATES,
    WARMUP,
    loss_on,
    sentences,
)

RATES = {"residual": 0.1, "attention": 0.2, "symbol": 0.1}
"""The rate of each kind where it is switched on."""


def drop_symbols(batch: Batch, p: float, generator: torch.Generator) -> Batch:
    """The batch with a random subset of its input ids replaced by a sentinel, the unknown token.

    Targets of the loss stay: "this applies only to the auto-regressive use of the target ids". Padding and the end
    token stay too, so that lengths do not change.
    """

    def dropped(ids: torch.Tensor) -> torch.Tensor:
        chosen = torch.rand(ids.shape, generator=generator) < p
        return torch.where(chosen & (ids != PAD) & (ids != EOS), UNK, ids)

    return dataclasses.replace(batch, source=dropped(batch.source), target_in=dropped(batch.target_in))


def _with_symbols_dropped(batches: Iterable[Batch], p: float, seed: int) -> Iterator[Batch]:
    generator = torch.Generator().manual_seed(seed)
    return (drop_symbols(batch, p, generator) for batch in batches)


def combination(on: Mapping[str, bool], seed: int = 0, updates: int = UPDATES, block: int = BLOCK) -> dict[str, Any]:
    """One training with some kinds of dropout on; everything else as in `experiment.curve`.

    Returns
    -------
    dict
        `on`, the kinds; `seed`; `train` and `valid`: loss without dropout, in nats per token, every `block` updates.
    """
    rates = {kind: rate if on[kind] else 0.0 for kind, rate in RATES.items()}
    # Loaded before the seed is set: loading draws random numbers of its own.
    stores = sentences("train", PAIRS), sentences("train", 200), sentences("valid", 200)
    torch.manual_seed(seed)
    model = Transformer(CONFIG.replace(dropout=rates["residual"], attention_dropout=rates["attention"]))
    batches: Iterable[Batch] = TokenBatches(stores[0], BATCH_TOKENS, seed=seed, pool_pairs=PAIRS)
    if on["symbol"]:
        batches = _with_symbols_dropped(batches, rates["symbol"], seed)
    result: dict[str, Any] = {"on": [kind for kind in RATES if on[kind]], "seed": seed, "train": [], "valid": []}

    def look(update: int, loss: float) -> None:
        if update % block == 0:
            result["train"].append(round(loss_on(model, stores[1]), 3))
            result["valid"].append(round(loss_on(model, stores[2]), 3))

    def rate(update: int) -> float:
        return RATE * min(update / WARMUP, (WARMUP / update) ** 0.5)

    fit(FastStep(model, TrainingConfig(label_smoothing=0.0)), batches, updates, rate, look)
    return result


def combinations() -> list[dict[str, bool]]:
    """Every way to switch the kinds on and off."""
    return [dict(zip(RATES, on, strict=True)) for on in itertools.product((False, True), repeat=len(RATES))]


def run(seeds: int = 1) -> dict[str, Any]:
    """All combinations."""
    torch.set_num_threads(1)
    runs = [combination(on, seed) for seed in range(seeds) for on in combinations()]
    return {"rates": RATES, "pairs": PAIRS, "updates": UPDATES, "block": BLOCK, "runs": runs}
