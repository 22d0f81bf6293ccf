"""Noise of one training run: which differences of Table 3 are significant, given how far two seeds of one row differ.

The paper prints one score for each row, taken here as that of one run. The standard deviation of a run over seeds is
not printed, so it is a parameter. Two runs of one row differ by a normal variable with the square root of 2 times that
deviation; the 19 differences share one run of base, which does not matter to Holm's method.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Literal, NamedTuple

import numpy as np

from annotated.paper import TABLE_3
from annotated_book.results.table_3.differences import CONFIDENCE, paper_difference

Counting = Literal["all 19 together", "each by itself"]
COUNTINGS: tuple[Counting, ...] = ("all 19 together", "each by itself")


class PublishedDeviation(NamedTuple):
    """A published deviation over seeds."""

    name: str
    """The model."""
    deviation: float
    """BLEU, or nats per token."""
    source: str
    """Seeds, the kind of model, and what was scored."""


GNMT_AFTER_EPOCHS = (0.326, 0.222, 0.223, 0.221, 0.146, 0.159)
"""Standard deviation of BLEU over 50 seeds after each of six epochs, as NVIDIA's GNMT v2 for PyTorch reports it."""
LARGEST_OF_THREE = 1.5 / math.sqrt(math.pi)
"""By how many deviations the largest of three normal variables is above their mean, on average."""
CONVS2S_MEAN, CONVS2S_BEST = 25.16, 25.39
"""BLEU of ConvS2S on newstest2014, English to German: mean of three runs, as Table 2 has it, and the best of them."""
BLEU_DEVIATIONS = (
    PublishedDeviation("GNMT v2", GNMT_AFTER_EPOCHS[-1], "50 seeds, a recurrent model, newstest2014"),
    PublishedDeviation(
        "ConvS2S",
        round((CONVS2S_BEST - CONVS2S_MEAN) / LARGEST_OF_THREE, 2),
        "3 seeds, a convolutional model, newstest2014: from their mean and the best",
    ),
)
"""What is published of comparable models; the paper says nothing of its own seeds."""
TRANSFORMER_XL = PublishedDeviation(
    "Transformer-XL", round(0.05593 / 22.93, 4), "16 seeds, a language model, validation set of WikiText-103"
)
"""In nats per token: the deviation of its perplexity, 22.93, over the perplexity itself."""
Measure = Literal["BLEU", "loss"]


def bleu_difference(row: str) -> float:
    """The paper's difference of a row from base in BLEU, of printed tenths."""
    return round(TABLE_3[row].bleu - TABLE_3["base"].bleu, 1)


PAPER_DIFFERENCES: dict[Measure, dict[str, float]] = {
    "BLEU": {row: bleu_difference(row) for row in TABLE_3 if row != "base"},
    "loss": {row: paper_difference(row) for row in TABLE_3 if row != "base"},
}
"""Of the 19 rows from base: BLEU, and nats per token."""


def largest_noise(differences: dict[str, float], counting: Counting = COUNTINGS[0]) -> dict[str, float]:
    """For each row the largest deviation of one run with which its difference is significant.

    Parameters
    ----------
    differences
        Of single runs, in the unit of the deviation.
    counting
        'each by itself' tests each at a level of 5 %; 'all 19 together' by Holm's method, which keeps the probability
        of one error or more, among as many differences as are given, at 5 %.

    Raises
    ------
    ValueError
        If the counting is neither.
    """
    if counting not in COUNTINGS:
        raise ValueError(f"differences are counted {' or '.join(COUNTINGS)}, not {counting!r}")
    found, least = {}, math.inf
    ordered = sorted(differences, key=lambda row: -abs(differences[row]))
    for rank, row in enumerate(ordered):
        among = len(ordered) - rank if counting == COUNTINGS[0] else 1
        z = NormalDist().inv_cdf(1 - (1 - CONFIDENCE) / (2 * among))
        limit = abs(differences[row]) / (z * math.sqrt(2))
        least = min(least, limit) if counting == COUNTINGS[0] else limit
        found[row] = least
    return found


def significant_rows(deviation: float, counting: Counting = COUNTINGS[0], measure: Measure = "BLEU") -> list[str]:
    """Rows of Table 3 that differ significantly from base if one run has this deviation, in the paper's order."""
    differences = PAPER_DIFFERENCES[measure]
    limits = largest_noise(differences, counting)
    return [row for row in differences if abs(differences[row]) > 0 and limits[row] > deviation]


def chance_tables(count: int = 12, seed: int = 29) -> list[dict[str, float]]:
    """Tables in which all 20 rows are one model: differences from base in deviations of one run, by row.

    Every row and base are one normal draw each, so that the 19 differences of a table share the draw of base.
    """
    runs = np.random.default_rng(seed).normal(size=(count, len(TABLE_3))).round(2)
    rows = list(PAPER_DIFFERENCES["BLEU"])
    return [{row: round(float(own - base), 2) for row, own in zip(rows, others, strict=True)}
            for base, *others in runs]  # fmt: skip
