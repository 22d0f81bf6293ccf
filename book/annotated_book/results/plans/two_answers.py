"""A task with two right answers for each source, written token by token and all at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from annotated.config import BOS, EOS
from annotated.decoding import greedy_decode
from annotated.model import Transformer
from annotated_book.results.plans.parallel import ParallelTransformer, both_ways, both_ways_config, predict_all, repeats
from annotated_book.results.plans.training import inverse_root, train

LETTERS, LENGTH, UPDATES, BATCH, SEEDS, TESTED = 8, 4, 1_200, 64, (1, 2, 3), 300


def run(smoke: bool = False) -> dict[str, Any]:
    """Both models with three seeds; `smoke` makes a few updates with one."""
    torch.set_num_threads(1)
    updates, seeds = (5, SEEDS[:1]) if smoke else (UPDATES, SEEDS)
    runs = [one_run(parallel, seed, updates) for seed in seeds for parallel in (False, True)]
    return {"letters": LETTERS, "length": LENGTH, "updates": updates, "tested": TESTED, "runs": runs}


def one_run(parallel: bool, seed: int, updates: int) -> dict[str, Any]:
    """Train one model, and count what it writes that is one of the two answers."""
    torch.manual_seed(seed)
    config = both_ways_config(LETTERS)
    model = ParallelTransformer(config) if parallel else Transformer(config)
    losses = train(model, _batches(seed), updates, inverse_root(3e-3, 100))
    source, _ = both_ways(TESTED, LENGTH, LETTERS, seed=10_000 * seed)
    if isinstance(model, ParallelTransformer):
        written = predict_all(model, source, LENGTH)
    else:
        found = greedy_decode(model, source, max_new_tokens=LENGTH, forbidden=[EOS])
        written = [hypothesis.tokens for hypothesis in found]
    right = [row in (x.tolist(), x.flip(0).tolist()) for row, x in zip(written, source, strict=True)]
    with torch.no_grad():
        first = model(source[:1], torch.full((1, LENGTH), BOS)).softmax(dim=-1)[0, :, 4:]
    return {
        "parallel": parallel,
        "seed": seed,
        "loss": round(LENGTH * sum(losses[-50:]) / 50, 3),
        "valid": round(sum(right) / len(right), 4),
        "repeats": round(repeats(written), 4),
        "source": source[0].tolist(),
        "written": written[0],
        "marginals": [[round(p, 3) for p in row] for row in first.tolist()] if parallel else None,
    }


def _batches(seed: int) -> Iterator[tuple[tuple[Tensor, ...], Tensor]]:
    batch = 0
    while True:
        batch += 1
        source, target = both_ways(BATCH, LENGTH, LETTERS, seed=1_000_000 * seed + batch)
        start = torch.full((len(source), 1), BOS)
        yield (source, torch.cat((start, target[:, :-1]), dim=1)), target
