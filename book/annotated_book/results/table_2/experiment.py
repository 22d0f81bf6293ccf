"""Rates of one processor core: of large matrix products alone, and of this library's training of the base model.

Operations are counted, and divided by CPU seconds of one thread, so that other work on the machine takes no part.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch

from annotated.analysis.parameters import forward_flops
from annotated.config import ModelConfig, TrainingConfig, base
from annotated.data import Batch, collate_ids
from annotated.model import Transformer
from annotated.speed.steps import FastStep
from annotated.training.update import update

SIDE, PRODUCTS = 2048, 24
UPDATES, PAIRS, LONGEST = 8, 80, 50
"""Each update reads so many pairs, of 5 tokens to the longest on each side."""


def rate(work: Callable[[], float]) -> float:
    """Operations in a CPU second: `work` returns how many it made."""
    start = time.process_time()
    return work() / (time.process_time() - start)


def products() -> float:
    """Square products in float32, and their operations."""
    a, b = torch.randn(2, SIDE, SIDE)
    for _ in range(PRODUCTS):
        a @ b
    return 2.0 * SIDE**3 * PRODUCTS


def mixed_batch(config: ModelConfig, pairs: int, seed: int) -> tuple[Batch, float]:
    """Pairs of random tokens and random lengths, and the operations that an update needs for them."""
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(5, LONGEST + 1, (pairs, 2), generator=generator).tolist()

    def tokens(length: int) -> list[int]:  # the end mark comes with the batch
        return torch.randint(4, config.vocab_size, (length - 1,), generator=generator).tolist()

    needed = 3.0 * sum(sum(forward_flops(config, *pair).values()) for pair in lengths)
    return collate_ids([(tokens(source), tokens(target)) for source, target in lengths]), needed


def run(smoke: bool = False) -> dict[str, Any]:
    """Both rates, on one thread."""
    torch.set_num_threads(1)
    config = ModelConfig(vocab_size=500) if smoke else base()
    step = FastStep(Transformer(config).train(), TrainingConfig())
    batches = [mixed_batch(config, 2 if smoke else PAIRS, seed) for seed in range(1 + UPDATES)]

    def train() -> float:
        for batch, _ in batches[1:]:
            update(step, [batch], batch.target_tokens, 1e-4)
        return sum(needed for _, needed in batches[1:])

    update(step, [batches[0][0]], batches[0][0].target_tokens, 1e-4)  # what happens once is not counted
    products()
    return {"products": rate(products), "training": rate(train), "vocab_size": config.vocab_size}
