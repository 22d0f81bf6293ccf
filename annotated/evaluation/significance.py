"""Significance of a difference in BLEU: intervals, and whether one system is better, by resampling sentences."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotated.evaluation.ngrams import bleu_of
from annotated.evaluation.tokenisers import tokeniser_of

SEED_VARIABLE = "SACREBLEU_SEED"


@dataclass(frozen=True)
class Comparison:
    """One system's BLEU with its interval, and how it compares with the first system."""

    name: str
    bleu: float
    mean: float
    """Of the resampled corpora."""
    interval: float
    """Half the width of the interval that holds 95 % of them: `mean` give or take this much."""
    p_value: float | None
    """How often chance alone would make so large a difference from the first system; None for that system itself."""
    signature: str


def compare(
    systems: Mapping[str, Sequence[str]],
    references: Sequence[str],
    *,
    samples: int = 1000,
    seed: int = 12345,
    tokenize: str | None = None,
) -> list[Comparison]:
    """Score systems on one test set, with intervals and p-values: sacreBLEU's paired bootstrap.

    Each of `samples` times, as many sentences as the test set has are drawn from it with replacement, the *same* for
    all systems, and every system is scored on them.

    Parameters
    ----------
    systems
        Translations by name; the first is what the others are compared with.
    references
        Plain text, one for each sentence.
    seed
        Of the drawing; the signature states it.
    tokenize
        sacreBLEU's tokeniser; None for the one of the references' script, as in `bleu`.

    Raises
    ------
    ValueError
        If there is no system, or one differs from the references in number.
    """
    if not systems or not references:
        raise ValueError("there must be at least one system, and sentences to compare it on")
    for name, texts in systems.items():
        if len(texts) != len(references):
            raise ValueError(f"{name}: {len(texts)} translations for {len(references)} references")
    from sacrebleu.metrics import BLEU  # here, because its import is slow
    from sacrebleu.significance import PairedTest

    named: list[tuple[str, Sequence[str]]] = [(name, list(texts)) for name, texts in systems.items()]
    with _seeded(seed):
        test = PairedTest(
            named, {"BLEU": BLEU(tokenize=tokenize or tokeniser_of(references))}, [list(references)], "bs", samples
        )
        signatures, scores = test()
    signature = str(signatures["BLEU"])
    found: list[Any] = scores["BLEU"]
    # sacreBLEU counts differences that are *larger* than the one observed. Zero is never larger than zero, so
    # a system that equals the first would get the smallest p-value of all.
    return [
        Comparison(name, float(r.score), float(r.mean), float(r.ci), 1.0 if n and texts == named[0][1] else r.p_value,
                   signature)
        for n, ((name, texts), r) in enumerate(zip(named, found, strict=True))
    ]  # fmt: skip


def resample(
    statistics: Sequence[NDArray[np.int64]] | NDArray[np.int64], samples: int = 1000, *, size: int = 0, seed: int = 0
) -> NDArray[np.float64]:
    """BLEU of each system on resampled corpora, from the numbers of its sentences alone.

    Parameters
    ----------
    statistics
        `[systems, sentences, 10]`, as `bleu_statistics` makes for each system.
    size
        Sentences in a resampled corpus; 0 for as many as there are.

    Returns
    -------
    ndarray
        `[samples, systems]`; the systems of one row were scored on the same sentences.

    Raises
    ------
    ValueError
        If the systems have no or different sentences.
    """
    stacked = np.stack([np.asarray(one, dtype=np.float64) for one in statistics])
    if stacked.ndim != 3 or not stacked.shape[1]:
        raise ValueError(f"statistics must be [systems, sentences, 10], not {list(stacked.shape)}")
    sentences = stacked.shape[1]
    generator = np.random.default_rng(seed)
    # How often each sentence was drawn says all; the order of drawing does not matter.
    drawn = generator.multinomial(size or sentences, np.full(sentences, 1 / sentences), size=samples)
    return bleu_of(np.einsum("ns,ksd->nkd", drawn.astype(np.float64), stacked, optimize=True))


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """sacreBLEU reads its seed from the environment; what was there before is put back."""
    before = os.environ.get(SEED_VARIABLE)
    os.environ[SEED_VARIABLE] = str(seed)
    try:
        yield
    finally:
        if before is None:
            del os.environ[SEED_VARIABLE]
        else:
            os.environ[SEED_VARIABLE] = before
