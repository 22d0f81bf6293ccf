"""Sentence pairs like WMT14's as a store in memory: lengths, word frequencies, and what a batch of them holds."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from annotated.config import BOS, EOS, UNK
from annotated.data.batch import Batch
from annotated.data.batching import TokenBatches
from annotated.data.store import TokenStore
from annotated.data.store_files import StoreInfo, token_dtype
from annotated.recipes import recipe
from annotated.speed.layouts.static_batch import LaidOutBatch
from benchmarks.peers.workload import WorkBatch

LONGEST = 256
"""Tokens of the longest sentence that a training keeps by default; the static shape has room for it."""
POOL = 262_144
"""Pairs that a training sorts and cuts together, by default."""
MEAN_LENGTHS = (28.0, 29.0)
"""Of source and target, eos included: WMT14 English-German in 37,000 byte pairs."""
SPREAD, CORRELATION = 0.6, 0.9
SEED = 11


@dataclass
class Work:
    """A batch as a side wants it, and what it holds."""

    ready: Any
    source_lengths: list[int]
    target_lengths: list[int]
    padded: int
    """Rows of both sides, padding included: of a static shape, or else of the rectangles."""

    @property
    def tokens(self) -> int:
        """Real source plus target tokens."""
        return sum(self.source_lengths) + sum(self.target_lengths)

    @property
    def sentences(self) -> int:
        """Pairs."""
        return len(self.source_lengths)


def wmt_like_store(tokens: int, vocab: int, seed: int = SEED) -> TokenStore:
    """A pool of pairs: log-normal lengths that correlate, words by Zipf's law; small where batches are small.

    Frequent words matter for speed too: their rows of the embedding's gradient are added up by many threads at once.

    Parameters
    ----------
    tokens
        Of a batch, each side.
    vocab
        V; its last id is never used.
    """
    rng = np.random.default_rng(seed)
    count = POOL if tokens >= 5000 else max(2000, 50 * tokens)
    first, second = rng.standard_normal(count), rng.standard_normal(count)
    normals = first, CORRELATION * first + math.sqrt(1 - CORRELATION**2) * second
    arrays: dict[str, NDArray[Any]] = {}
    for name, mean, normal in zip(("source", "target"), MEAN_LENGTHS, normals, strict=True):
        lengths = np.exp(math.log(mean) - SPREAD**2 / 2 + SPREAD * normal).round().astype(np.int64)
        offsets = np.concatenate([[0], lengths.clip(2, min(LONGEST, tokens)).cumsum()])
        words = vocab - UNK - 2
        ids = UNK + words ** rng.random(offsets[-1])  # the inverse of the logarithm, which Zipf's frequencies add up to
        ids[offsets[1:] - 1] = EOS
        arrays[f"{name}.tokens"], arrays[f"{name}.offsets"] = ids.astype(token_dtype(vocab)), offsets
    sums: dict[str, Any] = {f"{name}_tokens": len(arrays[f"{name}.tokens"]) for name in ("source", "target")}
    return TokenStore(StoreInfo(pairs=count, vocab_size=vocab, max_length=min(LONGEST, tokens), **sums), arrays)


def our_batches(store: TokenStore, tokens: int) -> TokenBatches:
    """The loader of a training by the paper's recipe; static batches are cut as packed ones are."""
    ties = recipe("wmt14-base").data.length_ties
    return TokenBatches(store, tokens, seed=SEED, pool_pairs=POOL, length_ties=ties)


def our_work(batch: Batch) -> Work:
    """A batch of ours, on the CPU as the loader leaves it."""
    rectangles = batch.source.numel() + batch.target_out.numel()
    rows = sum(batch.shape.sides) if isinstance(batch, LaidOutBatch) else rectangles
    return Work(batch, batch.source_lengths, batch.target_lengths, rows)


def padded_work(store: TokenStore, tokens: int, seed: int = SEED) -> Iterator[tuple[WorkBatch, Work]]:
    """Batches for the peers, cut by padded tokens from the same pairs; `ready` is still empty."""
    for batch in TokenBatches(store, tokens, seed=seed, pool_pairs=POOL, layout="padded"):
        first = torch.full((len(batch), 1), BOS)
        made = WorkBatch(
            batch.source, torch.cat((first, batch.target_out), 1), batch.source_lengths, batch.target_lengths
        )
        yield made, Work(None, batch.source_lengths, batch.target_lengths, made.padded)
