"""Buckets by length, from which batches are cut: blocks in random order, pools sorted by length, cuts at a budget.

All of it is arithmetic on the two lengths of each pair; no token is touched here.
"""

from __future__ import annotations

import itertools
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Layout = Literal["packed", "padded", "static"]
LengthTies = Literal["sorted", "random"]
Indices = NDArray[np.int64]

BLOCK_PAIRS = 1024
"""Consecutive pairs that move together when a corpus is larger than a pool: the disk reads runs, not single pairs."""


def pools(pairs: int, pool_pairs: int, rng: np.random.Generator | None) -> list[Indices]:
    """The corpus cut into blocks, the blocks shuffled and dealt into pools: first positions of each pool's blocks.

    Parameters
    ----------
    pairs
        Pairs of the corpus.
    pool_pairs
        At most so many pairs in a pool.
    rng
        Shuffles the blocks; None leaves them in the corpus's order.

    Returns
    -------
    list of int64 arrays
        One array per pool; `pool_members` expands it. Memory: 8 bytes for each block, not for each pair.
    """
    block = min(BLOCK_PAIRS, pool_pairs)
    starts = np.arange(0, pairs, block, dtype=np.int64)
    if rng is not None:
        starts = rng.permutation(starts)
    per_pool = max(1, pool_pairs // block)
    return [starts[first : first + per_pool] for first in range(0, len(starts), per_pool)]


def pool_members(starts: Indices, pairs: int, pool_pairs: int) -> Indices:
    """Positions of all pairs of one pool of `pools`."""
    block = min(BLOCK_PAIRS, pool_pairs)
    members = (starts[:, None] + np.arange(block)).ravel()
    return members[members < pairs]


def by_length(
    source: Indices, target: Indices, rng: np.random.Generator | None, length_ties: LengthTies = "sorted"
) -> Indices:
    """The order that sorts pairs by their longer side; what decides between pairs of the same is `length_ties`.

    Sorting by the longer side first leaves little padding on both sides at once: a batch of pairs whose longer side
    is 20 has nothing longer than 20 on either. Sorted by the source next, the shorter sides of a batch are alike too.
    But then one batch has the short sources and another one the short targets, so one side is full long before the
    other. In random order both sides are filled.

    Parameters
    ----------
    length_ties
        'sorted': by the source, then by the target, then at random. 'random': at random, for which `rng` is needed.

    Returns
    -------
    int64 array
        Positions in `source` and `target`. Without `rng`, what else would be random keeps its order.
    """
    ties = np.arange(len(source)) if rng is None else rng.permutation(len(source))
    keys = (ties,) if rng is not None and length_ties == "random" else (ties, target, source)
    return np.lexsort((*keys, np.maximum(source, target)))


def cut(source: Indices, target: Indices, batch_tokens: int, layout: Layout) -> list[slice]:
    """Cut a sequence of pairs into batches, each as long as the budget allows.

    Parameters
    ----------
    source, target
        Lengths in tokens, in the order in which the pairs are to be batched.
    batch_tokens
        The budget, on each side by itself.
    layout
        'padded' counts pairs times the longest; the others count real tokens.

    Returns
    -------
    list of slice
        Consecutive slices that cover every pair once.
    """
    find_end = _padded_end if layout == "padded" else _packed_end
    sums = np.cumsum(source), np.cumsum(target)
    slices, start = [], 0
    while start < len(source):
        end = find_end((source, target), sums, start, batch_tokens)
        slices.append(slice(start, end))
        start = end
    return slices


def pieces(tokens: Indices, count: int) -> list[slice]:
    """Cut one batch into pieces of about as many tokens each: a pair belongs to the piece in which its middle lies.

    Parameters
    ----------
    tokens
        Tokens of each pair, both sides together, in the order of the batch.
    count
        Number of pieces.

    Returns
    -------
    list of slice
        Consecutive slices that cover every pair once; some are empty if there are few pairs.
    """
    ends = np.cumsum(tokens)
    piece = (2 * ends - tokens) * count // (2 * ends[-1])  # in whole numbers: the same on every machine
    bounds = np.searchsorted(piece, np.arange(count + 1)).tolist()
    return [slice(first, end) for first, end in itertools.pairwise(bounds)]


def _packed_end(lengths: tuple[Indices, Indices], sums: tuple[Indices, Indices], start: int, budget: int) -> int:
    ends = []
    for side, total in zip(lengths, sums, strict=True):
        before = total[start] - side[start]
        ends.append(int(np.searchsorted(total, before + budget, side="right")))
    return max(start + 1, min(ends))


def _padded_end(lengths: tuple[Indices, Indices], sums: tuple[Indices, Indices], start: int, budget: int) -> int:
    ends = []
    for side in lengths:
        window = side[start : start + max(1, budget // int(side[start]))]  # the first pair alone bounds the number
        cells = np.maximum.accumulate(window) * np.arange(1, len(window) + 1)
        ends.append(start + int(np.searchsorted(cells, budget, side="right")))
    return max(start + 1, min(ends))


def fill(source: Indices, target: Indices, slices: list[slice]) -> float:
    """Real tokens over padded cells, both sides together, when each batch is padded to its longest."""
    cells = sum(
        len(source[part]) * (int(source[part].max()) + int(target[part].max())) for part in slices if len(source[part])
    )
    return (int(source.sum()) + int(target.sum())) / cells if cells else 1.0
