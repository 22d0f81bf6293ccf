"""A classroom model after 800 updates, for experiments on search: its German is readable and it is often unsure.

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
from annotated.training import batch_loss, make_optimizer
from annotated.training.schedule import set_learning_rate
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
    """Train it, in about two CPU minutes, with the shipped model's tokenizer; once a process.

    Paper: section 5 (training), at a toy's size
    """
    torch.set_num_threads(1)
    tokenizer = load("classroom").tokenizer
    ids = [(tokenizer.encode(p.source), tokenizer.encode(p.target)) for p in classroom_pairs("train", PAIRS)]
    store = TokenStore.from_ids(ids, CONFIG.vocab_size)
    torch.manual_seed(SEED)
    model = Transformer(CONFIG)
    optimizer = make_optimizer(model, TrainingConfig())
    batches = TokenBatches(store, BATCH_TOKENS, seed=SEED, pool_pairs=16_384)
    for update, batch in zip(range(1, UPDATES + 1), batches, strict=False):
        set_learning_rate(optimizer, RATE * min(update / WARMUP, (WARMUP / update) ** 0.5))
        optimizer.zero_grad()
        total, count = batch_loss(model, batch, SMOOTHING, "packed")
        (total / count).backward()
        optimizer.step()
    return Translator(model.eval(), tokenizer)
