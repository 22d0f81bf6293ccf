"""Lengths of real and of classroom sentences in tokens, and the padding of eight ways to batch them; no text."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from annotated.classroom import classroom_pairs
from annotated.data.buckets import by_length, cut, fill
from annotated.data.store import Lengths
from annotated.loading import load

ENCODED = "ANNOTATED_REAL_ENCODED"
"""Environment variable: the encoded text, `build/real_text/train.npz` unless it is set."""
SAMPLE, CLASSROOM, LONGEST = 4000, 2000, 100
"""Pairs whose lengths are recorded; pairs with a longer side are left out everywhere."""
BUDGETS, POOLS = (1000, 4000, 25_000), (1000, 10_000, 100_000)


def real_lengths() -> tuple[Lengths, Lengths]:
    """Source and target lengths of all encoded training pairs, eos included.

    Raises
    ------
    FileNotFoundError
        If the text has not been encoded: the message says how.
    """
    path = Path(os.environ.get(ENCODED, "build/real_text/train.npz"))
    if not path.is_file():
        raise FileNotFoundError(f"no encoded text at {path}: `python -m benchmarks real_text prepare` makes it")
    lengths = np.load(path)["lengths"].astype(np.int64) + 1
    return lengths[::2], lengths[1::2]


def classroom_lengths(count: int = CLASSROOM) -> tuple[Lengths, Lengths]:
    """Source and target lengths of classroom pairs, eos included."""
    encode = load("classroom").tokenizer.encode
    pairs = list(classroom_pairs("train", count))
    return (
        np.array([len(encode(pair.source)) + 1 for pair in pairs]),
        np.array([len(encode(pair.target)) + 1 for pair in pairs]),
    )


def fixed_width(source: Lengths, target: Lengths, width: int) -> dict[str, float]:
    """What a fixed width makes of the text: real tokens over cells, and the shares of pairs and of tokens cut off."""
    kept = int(np.minimum(source, width).sum() + np.minimum(target, width).sum())
    return {
        "fill": kept / (2 * width * len(source)),
        "pairs_cut": float((np.maximum(source, target) > width).mean()),
        "tokens_cut": 1 - kept / int(source.sum() + target.sum()),
    }


def pooled_order(source: Lengths, target: Lengths, pool_pairs: int, seed: int = 0) -> Lengths:
    """Shuffled, cut into pools, each pool sorted by length: the order in which the pairs are cut into batches."""
    rng = np.random.default_rng(seed)
    shuffled = rng.permutation(len(source))
    parts = [shuffled[i : i + pool_pairs] for i in range(0, len(source), pool_pairs)]
    return np.concatenate([part[by_length(source[part], target[part], rng)] for part in parts])


def waste(source: Lengths, target: Lengths, budget: int) -> Iterator[dict[str, Any]]:
    """Padding of each way: the share of the cells of padded batches that holds no token.

    Returns
    -------
    iterator of dict
        `way` ('as they come', 'by source', 'pools', 'all sorted'), `pool` (pairs sorted together), `budget`,
        `padding`, `batches`.
    """
    everything = np.arange(len(source))
    orders = [("as they come", 1, everything), ("by source", len(source), np.argsort(source, kind="stable"))]
    orders += [("pools", pool, pooled_order(source, target, pool)) for pool in POOLS]
    orders += [("all sorted", len(source), by_length(source, target, None))]
    for way, pool, order in orders:
        sides = source[order], target[order]
        batches = cut(*sides, budget, "padded")
        padding = round(1 - fill(*sides, batches), 5)
        yield {"way": way, "pool": pool, "budget": budget, "padding": padding, "batches": len(batches)}


def run() -> dict[str, Any]:
    """Lengths of a sample, histograms of everything, padding of every way."""
    source, target = real_lengths()
    fits = np.maximum(source, target) <= LONGEST
    kept = source[fits], target[fits]
    sample = np.sort(np.random.default_rng(0).permutation(len(kept[0]))[:SAMPLE])
    classroom = classroom_lengths()
    return {
        "pairs": len(source),
        "vocabulary": 8000,
        "too_long": int((~fits).sum()),
        "mean": [round(float(side.mean()), 3) for side in (source, target)],
        "correlation": round(float(np.corrcoef(source, target)[0, 1]), 4),
        "histogram": {
            name: packed(np.bincount(side, minlength=LONGEST + 1))
            for name, side in zip(("source", "target", "longer"), (*kept, np.maximum(*kept)), strict=True)
        },
        "sample": {name: packed(side[sample]) for name, side in zip(("source", "target"), kept, strict=True)},
        "classroom": {name: packed(side) for name, side in zip(("source", "target"), classroom, strict=True)},
        "padding": [row for budget in BUDGETS for row in waste(*kept, budget)],
        "fixed": {str(width): fixed_width(source, target, width) for width in (72, 128)},
    }


def packed(numbers: Lengths) -> str:
    """Whole numbers as one string, which JSON keeps on one line; `unpacked` reads it."""
    return " ".join(map(str, numbers.tolist()))


def unpacked(text: str) -> Lengths:
    """The inverse of `packed`."""
    return np.array(text.split(), dtype=np.int64)
