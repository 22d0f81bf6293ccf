"""Training curves of post-norm, pre-norm, no residual and no norm, with and without warm-up; three seeds each."""

from __future__ import annotations

import math
import time
from functools import cache
from typing import Any

import torch

from annotated.classroom import classroom_pairs
from annotated.config import ModelConfig, TrainingConfig, tiny
from annotated.data import TokenBatches, TokenStore, evaluation_batches
from annotated.loading import load
from annotated.model import Transformer
from annotated.speed.steps import FastStep, packed_loss
from annotated.training.update import fit
from annotated_book.machine.residuals.placements import PLACEMENTS, placed

CONFIG = tiny(vocab_size=2000, d_model=64, d_ff=128, num_heads=4, d_k=16, d_v=16, dropout=0.0)
DEEP = CONFIG.replace(num_encoder_layers=6, num_decoder_layers=6)
"""The paper's depth, an eighth of its width."""
BATCH_TOKENS, RATE, WARMUP, UPDATES, BLOCK = 400, 1e-3, 100, 400, 10


@cache
def short_sentences(split: str, count: int, longest: int = 8) -> TokenStore:
    """Classroom pairs whose source has at most `longest` words, encoded with the shipped tokenizer."""
    encode = load("classroom").tokenizer.encode
    pairs = classroom_pairs(split, 3 * count)  # type: ignore[arg-type]
    short = [(encode(p.source), encode(p.target)) for p in pairs if len(p.source_words) <= longest]
    return TokenStore.from_ids(short[:count], 2000)


def rate(update: int, peak: float, warmup: int) -> float:
    """A constant learning rate, reached in a straight line over `warmup` updates; 0 is no warm-up."""
    return peak * min(1.0, update / warmup) if warmup else peak


def train(
    model: Transformer, updates: int, warmup: int, *, peak: float = RATE, seed: int = 0, tokens: int = BATCH_TOKENS
) -> dict[str, Any]:
    """Train on short classroom sentences; what comes back is the loss and the time.

    Returns
    -------
    dict
        `loss`: nats a token, the mean of each block of 10 updates. `valid`: the same on unseen sentences at the end.
        `milliseconds`: CPU time of an update.
    """
    batches = TokenBatches(short_sentences("train", 6000), tokens, seed=seed, pool_pairs=6000)
    training, start = TrainingConfig(label_smoothing=0.0), time.process_time()
    losses = fit(FastStep(model, training), batches, updates, lambda update: rate(update, peak, warmup))
    spent = time.process_time() - start
    blocks = [losses[i : i + BLOCK] for i in range(0, updates, BLOCK)]
    return {
        "loss": [_number(sum(block) / len(block)) for block in blocks],
        "valid": _number(valid_loss(model)),
        "milliseconds": round(1000 * spent / updates, 1),
    }


@torch.no_grad()
def valid_loss(model: Transformer) -> float:
    """Loss in nats a token on 300 sentences that no training run sees."""
    sums = [packed_loss(model, batch, 0.0) for batch in evaluation_batches(short_sentences("valid", 300), 2000)]
    return sum(total.item() for total, _ in sums) / sum(count for _, count in sums)


def curve(placement: str, warmup: int, seed: int = 0, updates: int = UPDATES, config: ModelConfig = DEEP) -> Any:
    """One run: its settings, and what `train` returns."""
    model = placed(config, placement, seed)
    return {"placement": placement, "warmup": warmup, "seed": seed, **train(model, updates, warmup, seed=seed)}


def run(seeds: int = 3) -> dict[str, Any]:
    """All placements, with and without warm-up."""
    torch.set_num_threads(1)
    runs = [
        curve(placement, warmup, seed) for seed in range(seeds) for placement in PLACEMENTS for warmup in (0, WARMUP)
    ]
    return {
        "config": DEEP.to_dict(),
        "batch_tokens": BATCH_TOKENS,
        "rate": RATE,
        "updates": UPDATES,
        "block": BLOCK,
        "runs": runs,
    }


def _number(x: float) -> float | None:
    """For JSON, which has no infinity; None where a run diverged altogether."""
    return float(f"{x:.5g}") if math.isfinite(x) else None
