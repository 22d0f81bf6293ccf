"""BLEU from its parts: what each sentence contributes, and the score that a corpus makes of it.

Ten whole numbers of each sentence are all that BLEU needs of it. They can be added up in any selection of sentences,
which is what a bootstrap does thousands of times, and they say nothing that would give the text away.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotated.evaluation.tokenisers import tokeniser_of

ORDER = 4
"""The longest n-grams that BLEU counts."""


def ngram_counts(tokens: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    """How often each n-gram stands in a list of tokens."""
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


def sentence_statistics(hypothesis: Sequence[str], reference: Sequence[str]) -> list[int]:
    """The ten numbers of one sentence, in sacreBLEU's order.

    Parameters
    ----------
    hypothesis, reference
        Tokens.

    Returns
    -------
    list
        Length of the hypothesis, length of the reference, matches of n = 1..4 (a hypothesis' n-gram counts at most
        as often as the reference has it), and n-grams of the hypothesis, n = 1..4.
    """
    matches, totals = [], []
    for n in range(1, ORDER + 1):
        own, gold = ngram_counts(hypothesis, n), ngram_counts(reference, n)
        matches.append(sum((own & gold).values()))
        totals.append(sum(own.values()))
    return [len(hypothesis), len(reference), *matches, *totals]


def bleu_statistics(
    hypotheses: Sequence[str], references: Sequence[str], *, tokenize: str | None = None
) -> NDArray[np.int64]:
    """The ten numbers of every sentence, `[sentences, 10]`, after one of sacreBLEU's tokenisers.

    Parameters
    ----------
    hypotheses, references
        Plain text.
    tokenize
        sacreBLEU's name of a tokeniser; None for the one of the references' script, as in `bleu`.

    Raises
    ------
    ValueError
        If the two differ in number.
    """
    if len(hypotheses) != len(references):
        raise ValueError(f"{len(hypotheses)} translations for {len(references)} references: one of each is needed")
    from sacrebleu.metrics import BLEU  # here, because its import is slow

    split = BLEU(tokenize=tokenize or tokeniser_of(references)).tokenizer
    texts = ([split(text.rstrip()).split() for text in side] for side in (hypotheses, references))
    rows = [sentence_statistics(h, r) for h, r in zip(*texts, strict=True)]
    return np.array(rows, dtype=np.int64).reshape(-1, 2 + 2 * ORDER)


def bleu_of(totals: Any) -> NDArray[np.float64]:
    """BLEU in percent of sums of statistics, with sacreBLEU's smoothing 'exp'.

    Parameters
    ----------
    totals
        `[..., 10]`: the numbers of `bleu_statistics`, added up over the sentences of a corpus.

    Returns
    -------
    ndarray
        `[...]`
    """
    totals = np.asarray(totals, dtype=np.float64)
    own, gold = totals[..., 0], totals[..., 1]
    matches, counts = totals[..., 2 : 2 + ORDER], totals[..., 2 + ORDER :]
    # The first order without a match counts as half a match, the second as a quarter, ...
    halvings = (matches == 0).cumsum(axis=-1)
    matches = np.where(matches == 0, 0.5**halvings, matches)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.log(np.where(counts > 0, matches / counts, 0)).mean(axis=-1)
        brevity = np.minimum(0, 1 - gold / own)
        score: NDArray[np.float64] = 100 * np.exp(mean + brevity)
    return np.where((totals[..., 2] > 0) & (own > 0), score, 0.0)
