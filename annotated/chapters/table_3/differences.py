"""Differences of Table 3's rows from base: with intervals from the seeds, beside the paper's, and what they confirm.

A row's difference is the mean validation loss of its seeds less that of base. All rows are taken to spread alike about
their means, so that one deviation is estimated from all of them, with as many degrees of freedom as there are runs
less rows; three seeds of one row alone would leave two. Intervals are Student's. With 19 differences from one base some
will be away from zero by chance: `p` is Holm's, adjusted for all of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from statistics import mean
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from annotated.chapters.table_3.records import pooled_deviation
from annotated.paper import TABLE_3

if TYPE_CHECKING:
    import pandas as pd

Verdict = Literal["confirmed", "contradicted", "not told apart", "no sign to confirm", "too few runs"]
CONFIDENCE = 0.95
SIGN = 0.0067
"""Nats per token: a difference of the paper's that is no larger has no sign to confirm, since two runs of one model may
differ as much. It is what Transformer-XL's deviation allows at 5 %: see `annotated.chapters.table_3.noise`."""
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(200)


def student_tail(t: float, freedom: int) -> float:
    """Probability that Student's variable is above `t`, which is 0 or more."""
    # Its square root turned into an angle, the density is a power of the cosine on a finite range.
    angle = math.atan(t / math.sqrt(freedom))
    log_scale = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - math.log(math.pi) / 2
    middle, half = (angle + math.pi / 2) / 2, (math.pi / 2 - angle) / 2
    density = np.exp((freedom - 1) * np.log(np.cos(middle + half * _NODES)) + log_scale)
    return float(half * (_WEIGHTS * density).sum())


@lru_cache
def student_quantile(confidence: float, freedom: int) -> float:
    """The t within which, on both sides of zero, Student's variable lies with this probability."""
    low, high = 0.0, 1.0
    while student_tail(high, freedom) > (1 - confidence) / 2:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if student_tail(middle, freedom) > (1 - confidence) / 2 else (low, middle)
    return high


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values adjusted by Holm's method: those below a level hold together, with that level for any error at all."""
    order, adjusted, most = np.argsort(p_values), [0.0] * len(p_values), 0.0
    for rank, index in enumerate(order):
        most = max(most, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = most
    return adjusted


def paper_difference(row: str) -> float:
    """The paper's difference of a row from base: of the logarithms of its printed perplexities, in nats per token."""
    return math.log(TABLE_3[row].perplexity / TABLE_3["base"].perplexity)


def verdict(difference: float, p: float, paper: float, level: float = 1 - CONFIDENCE) -> Verdict:
    """What one difference says about the sign of the paper's; nothing is said beyond the level of significance."""
    if abs(paper) <= SIGN:
        return "no sign to confirm"
    if p > level:
        return "not told apart"
    return "confirmed" if (difference > 0) == (paper > 0) else "contradicted"


def differences(losses: Mapping[str, Sequence[float]], confidence: float = CONFIDENCE, runs: int = 1) -> pd.DataFrame:
    """Each row's difference from base.

    Parameters
    ----------
    losses
        The validation losses (nats per token) of each row's seeds; 'base' is one of them.
    confidence
        Of each interval by itself.
    runs
        Below so many of a row its verdict is 'too few runs': a verdict that is read again after every run is easily
        wrong at some time.

    Returns
    -------
    DataFrame
        Indexed by row; columns seeds, difference, low, high (nats per token), p (Holm's), paper (nats per token) and
        verdict.

    Raises
    ------
    ValueError
        If base is missing, or no row has two seeds.
    """
    import pandas as pd  # here: a queue needs no tables

    deviation, freedom = pooled_deviation(losses.values()), sum(len(one) - 1 for one in losses.values())
    if not losses.get("base") or math.isnan(deviation):
        raise ValueError("differences need runs of base, and two seeds of some row")
    base, rows = losses["base"], [row for row in TABLE_3 if row != "base" and losses.get(row)]
    errors = [deviation * math.sqrt(1 / len(losses[row]) + 1 / len(base)) for row in rows]
    found = [mean(losses[row]) - mean(base) for row in rows]
    reach = student_quantile(confidence, freedom) * np.array(errors)
    p = holm([2 * student_tail(abs(one) / error, freedom) for one, error in zip(found, errors, strict=True)])
    paper = [paper_difference(row) for row in rows]
    return pd.DataFrame(
        {
            "seeds": [len(losses[row]) for row in rows],
            "difference": found,
            "low": np.subtract(found, reach),
            "high": np.add(found, reach),
            "p": p,
            "paper": paper,
            "verdict": [
                verdict(ours, chance, theirs, 1 - confidence) if len(losses[row]) >= runs else "too few runs"
                for row, ours, chance, theirs in zip(rows, found, p, paper, strict=True)
            ],
        },
        index=pd.Index(rows, name="row"),
    )


def rank_correlation(first: ArrayLike, second: ArrayLike) -> float:
    """Spearman's: the correlation of the ranks, equal values sharing the mean of theirs."""
    return float(np.corrcoef(_ranks(first), _ranks(second))[0, 1])


def _ranks(given: ArrayLike) -> NDArray[np.float64]:
    values = np.asarray(given, dtype=float)
    return np.array([(values < one).sum() + ((values == one).sum() - 1) / 2 for one in values])


def rank_agreement(
    losses: Mapping[str, Sequence[float]], samples: int = 2000, seed: int = 0
) -> tuple[float, float, float]:
    """Rank correlation of our differences with the paper's, and its spread in repetitions of the seeds.

    The spread is a parametric bootstrap: it holds 95 % of the correlations when each row's mean is drawn anew about the
    measured one, with the pooled deviation. It is no confidence interval, since noise is added to means that have noise
    already, which pulls the correlations towards zero. What the paper's own seeds would have changed is not in it.

    Returns
    -------
    tuple
        The correlation, and the quantiles 0.025 and 0.975 of its repetitions.
    """
    rows = [row for row in TABLE_3 if losses.get(row)]
    means = np.array([mean(losses[row]) for row in rows])
    spread = pooled_deviation(losses.values()) / np.sqrt([len(losses[row]) for row in rows])
    paper = [paper_difference(row) for row in rows]
    draws = np.random.default_rng(seed).normal(means, spread, (samples, len(rows)))
    low, high = np.quantile([rank_correlation(draw, paper) for draw in draws], [0.025, 0.975])
    return rank_correlation(means, paper), float(low), float(high)
