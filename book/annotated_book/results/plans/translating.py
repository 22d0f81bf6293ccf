"""Greedy search and parallel prediction on the classroom: two models of one size, one budget and the same batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from annotated.classroom import ClassroomPair, classroom_pairs
from annotated.config import EOS, PAD
from annotated.data import TokenBatches, TokenStore, pad
from annotated.decoding import greedy_decode
from annotated.evaluation import bleu
from annotated.loading import load
from annotated.model import Transformer
from annotated_book.decoding.beam_search import weak_model
from annotated_book.results.plans.parallel import ParallelTransformer, predict_all, repeats
from annotated_book.results.plans.training import inverse_root, train

CONFIG = weak_model.CONFIG.replace(dropout=0.0)
PLACES = 30
"""Places of the parallel decoder, the end token included; the few pairs whose target needs more are left out."""
PAIRS, UPDATES, BATCH_TOKENS, RATE, WARMUP, SMOOTHING = 30_000, 600, 1_500, 2e-3, 150, 0.1
SENTENCES, SEEDS = 300, (1,)
Pairs = Sequence[tuple[list[int], list[int]]]


def run(smoke: bool = False) -> dict[str, Any]:
    """Both models; `smoke` is a small part."""
    torch.set_num_threads(1)
    count, updates, seeds = (400, 5, SEEDS[:1]) if smoke else (PAIRS, UPDATES, SEEDS)
    tokenizer = load("classroom").tokenizer
    pairs = [(tokenizer.encode(p.source), tokenizer.encode(p.target)) for p in classroom_pairs("train", count)]
    pairs = [(source, target) for source, target in pairs if len(target) < PLACES]
    test = list(classroom_pairs("test", 20 if smoke else SENTENCES))
    runs = [classroom_run(pairs, test, parallel, seed, updates) for seed in seeds for parallel in (False, True)]
    settings = {"updates": updates, "batch_tokens": BATCH_TOKENS, "pairs": count, "sentences": len(test)}
    return {"config": CONFIG.to_dict(), "settings": settings, "runs": runs}


def classroom_run(
    pairs: Pairs, test: Sequence[ClassroomPair], parallel: bool, seed: int, updates: int
) -> dict[str, Any]:
    """Train one model and translate the test sentences with it."""
    torch.manual_seed(seed)
    model = ParallelTransformer(CONFIG) if parallel else Transformer(CONFIG)
    batches = _batches(pairs, seed, parallel)
    losses = train(model, batches, updates, inverse_root(RATE, WARMUP), SMOOTHING)
    tokenizer = load("classroom").tokenizer
    written = translate(model, [[*tokenizer.encode(p.source), EOS] for p in test])
    texts, references = [tokenizer.decode(row) for row in written], [p.target for p in test]
    shown = [
        {"source": p.source, "reference": p.target, "written": text} for p, text in zip(test[:40], texts, strict=False)
    ]
    return {
        "parallel": parallel,
        "seed": seed,
        "loss": round(sum(losses[-50:]) / len(losses[-50:]), 3),
        "bleu": round(bleu(texts, references).bleu, 2),
        "exact": sum(a == b for a, b in zip(texts, references, strict=True)) / len(test),
        "repeats": round(repeats(written), 4),
        "with_repeat": sum(repeats([row]) > 0 for row in written) / len(test),
        "reference_repeats": round(repeats([tokenizer.encode(p.target) for p in test]), 4),
        "passes": 1 if parallel else round(sum(len(row) + 1 for row in written) / len(test), 2),
        "shown": shown,
    }


def translate(model: Transformer, sources: Sequence[Sequence[int]]) -> list[list[int]]:
    """Greedy search, or one pass of the parallel model, for sources that end in eos."""
    if isinstance(model, ParallelTransformer):
        return predict_all(model, pad(sources), PLACES)
    return [hypothesis.tokens for hypothesis in greedy_decode(model, pad(sources))]


def _batches(pairs: Pairs, seed: int, parallel: bool) -> Iterator[tuple[tuple[Tensor, ...], Tensor]]:
    """The library's batches. The parallel model gets the same number of places for all, so that none tells a length."""
    store = TokenStore.from_ids(list(pairs), CONFIG.vocab_size)
    for batch in TokenBatches(store, BATCH_TOKENS, seed=seed, pool_pairs=16_384):
        if parallel:
            gold = torch.full((len(batch), PLACES), PAD)
            gold[:, : batch.target_out.size(1)] = batch.target_out
            yield (batch.source, gold), gold
        else:
            yield (batch.source, batch.target_in), batch.target_out
