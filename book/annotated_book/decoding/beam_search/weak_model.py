"""Weak model for experiments on search: a classroom model after 800 updates, readable and often unsure.

The shipped classroom model has seen 6000 updates, and is so sure of itself that there is little to search for.
"""

from __future__ import annotations

from functools import cache

import torch

from annotated.classroom import classroom_pairs
from annotated.config import TrainingConfig, tiny
from annotated.data import TokenBatches, TokenStore
from annotated.loading import load
from annotated.model import Transformer
from annotated.speed.steps import FastStep
from annotated.training.update import fit
from annotated.translator import Translator

CONFIG = tiny(
    vocab_size=2000,
    d_model=96,
    d_ff=256,
    d_k=24,
    d_v=24,
    num_encoder_layers=2,
    num_decoder_layers=2,
    dropout=0.1,
    norm="pre",
)
PAIRS, UPDATES, WARMUP, RATE, BATCH_TOKENS, SMOOTHING, SEED = 60_000, 800, 150, 2e-3, 1500, 0.1, 1


@cache
def uncertain_translator() -> Translator:
    """Train it, in about two CPU minutes, with the shipped model's tokenizer; once a process."""
    torch.set_num_threads(1)
    tokenizer = load("classroom").tokenizer
    ids = [(tokenizer.encode(p.source), tokenizer.encode(p.target)) for p in classroom_pairs("train", PAIRS)]
    store = TokenStore.from_ids(ids, CONFIG.vocab_size)
    torch.manual_seed(SEED)
    model = Transformer(CONFIG)
    batches = TokenBatches(store, BATCH_TOKENS, seed=SEED, pool_pairs=16_384)

    def rate(update: int) -> float:
        return RATE * min(update / WARMUP, (WARMUP / update) ** 0.5)

    fit(FastStep(model, TrainingConfig(label_smoothing=SMOOTHING)), batches, UPDATES, rate)
    return Translator(model.eval(), tokenizer)
