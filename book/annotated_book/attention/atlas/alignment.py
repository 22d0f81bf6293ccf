"""Alignment of cross-attention heads with known word links: hits, links and the alignment error rate."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import torch
from torch import Tensor

from annotated.analysis.heads import HeadCorpus, Links, PairTokens, gold_cells
from annotated.model.transformer import AttentionMaps


def word_links(weights: Tensor, one: PairTokens) -> Links:
    """The word alignment that a cross-attention map `[T, S]` amounts to: each target word to its favourite.

    Weights are summed over the pieces of a source word and over the rows that write a target word. A word whose
    favourite is the end mark gets no link. Links are (source word, target word), as in `ClassroomPair.alignment`.
    """
    columns = torch.zeros(len(one.source), len(one.pair.source_words) + 1, dtype=weights.dtype)
    for s, i in enumerate([*one.source_word, len(one.pair.source_words)]):
        columns[s, i] = 1
    rows = torch.zeros(len(one.pair.target_words), len(one.target), dtype=weights.dtype)
    for t, j in enumerate(one.target_word):
        rows[j, t] = 1
    favourite = (rows @ weights[: len(one.target), : len(one.source)] @ columns).argmax(-1).tolist()
    return {(i, j) for j, i in enumerate(favourite) if i < len(one.pair.source_words)}


def alignment_error_rate(found: Iterable[Links], gold: Iterable[Links]) -> float:
    """1 - 2 |A and G| / (|A| + |G|), over all sentences: 0 for the gold links, 1 for none of them.

    This is the rate of Och and Ney (2003) where every gold link is a sure one.
    """
    pairs = [(set(a), set(g)) for a, g in zip(found, gold, strict=True)]
    shared = sum(len(a & g) for a, g in pairs)
    return 1 - 2 * shared / sum(len(a) + len(g) for a, g in pairs)


def alignment_errors(maps: AttentionMaps, corpus: HeadCorpus) -> dict[tuple[int, int], float]:
    """The alignment error rate of each cross-attention head (layer, head)."""
    gold = [set(one.pair.alignment) for one in corpus.items]
    return {
        (layer, head): alignment_error_rate(
            [word_links(weights[n, head], one) for n, one in enumerate(corpus.items)], gold
        )
        for layer, weights in enumerate(maps.cross)
        for head in range(weights.size(1))
    }


def hit_rate(choose: Callable[[int, int], int], gold: Sequence[Links]) -> float:
    """The share of rows whose chosen column is a gold cell, over the rows that have one.

    Parameters
    ----------
    choose
        Called with the number of the sentence and of the row; returns a column.
    gold
        For each sentence its cells (row, column).
    """
    rows = [(n, t) for n, cells in enumerate(gold) for t in sorted({t for t, _ in cells})]
    return sum((t, choose(n, t)) in gold[n] for n, t in rows) / len(rows)


def hit_rates(maps: AttentionMaps, corpus: HeadCorpus) -> dict[tuple[int, int], float]:
    """How often each head of the cross-attention (layer, head) has its largest weight on the aligned word."""
    gold = [gold_cells(one) for one in corpus.items]
    rates = {}
    for layer, weights in enumerate(maps.cross):
        best = weights.argmax(-1)  # [B, H, T]
        for head in range(weights.size(1)):
            favourite = best[:, head].tolist()
            rates[layer, head] = hit_rate(lambda n, t, of=favourite: of[n][t], gold)  # type: ignore[misc]
    return rates
