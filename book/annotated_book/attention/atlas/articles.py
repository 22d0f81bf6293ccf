"""Articles, where a corpus has them and how many of them a model writes rightly: the test of a head for gender."""

from __future__ import annotations

from collections import Counter, defaultdict

import torch
from torch import Tensor

from annotated.analysis.heads import HeadCorpus, noun_of_determiner, roles_of
from annotated.config import PAD
from annotated.model import Transformer


def article_rows(corpus: HeadCorpus) -> Tensor:
    """Which tokens of the target, `[B, T]`, belong to the article of a noun."""
    rows = torch.zeros(corpus.target_out.shape, dtype=torch.bool)
    for n, one in enumerate(corpus.items):
        for t, _ in roles_of(one)["cross"]["noun of its article"]:
            rows[n, t] = True
    return rows


@torch.no_grad()
def shares_right(model: Transformer, corpus: HeadCorpus) -> tuple[float, float]:
    """The share of tokens that the model ranks first, the target being given: of articles, and of all others."""
    hits = model(corpus.source, corpus.target_in).argmax(-1) == corpus.target_out
    article = article_rows(corpus)
    other = (corpus.target_out != PAD) & ~article
    return float(hits[article].float().mean()), float(hits[other].float().mean())


def commonest_form(corpus: HeadCorpus) -> float:
    """The share of an article's tokens that are the commonest after the same English word and the same beginning."""
    counts: dict[tuple[str, tuple[int, ...]], Counter[int]] = defaultdict(Counter)
    for one in corpus.items:
        articles = noun_of_determiner(one.pair.source_words)
        for i, j in one.pair.alignment:
            if i in articles:
                pieces = [piece for piece, word in zip(one.target, one.target_word, strict=True) if word == j]
                for n, piece in enumerate(pieces):
                    counts[one.pair.source_words[i].lower(), tuple(pieces[:n])][piece] += 1
    return sum(max(of.values()) for of in counts.values()) / sum(of.total() for of in counts.values())
