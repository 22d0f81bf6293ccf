"""Differences of Table 3's rows from base: with intervals from the seeds, beside the paper's, and what they confirm.

A row's difference is the mean validation loss of its seeds less that of base. All rows are taken to spread alike about
their means, so that one deviation is estimated from all of them, with as many degrees of freedom as there are runs
less rows; three seeds of one row alone would leave two. Where runs with one seed have the same data order, they are
compared with each other: see `pairing`. Intervals are Student's. With 19 differences from one base some will be away
from zero by chance: `p` is Holm's, adjusted for all of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import mean
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from annotated.evaluation.student_t import student_quantile, student_tail
from annotated.paper import TABLE_3
from annotated_book.results.table_3.pairing import SeedFit, fit_rows_and_seeds
from annotated_book.results.table_3.records import pooled_deviation

if TYPE_CHECKING:
    import pandas as pd

Verdict = Literal["confirmed", "contradicted", "not told apart", "no sign to confirm", "too few runs"]
CONFIDENCE = 0.95
SIGN = 0.0067
"""Nats per token: a difference of the paper's that is no larger has no sign to confirm, since two runs of one model may
differ as much. It is what Transformer-XL's deviation allows at 5 %: see `annotated_book.results.table_3.noise`."""


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values adjusted by Holm's method: those below a level hold together, with that level for any error at all."""
    order, adjusted, most = np.argsort(p_values), [0.0] * len(p_values), 0.0
    for rank, index in enumerate(order):
        most = max(most, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = most
    return adjusted


def tested(
    found: Sequence[float], errors: Sequence[float], freedom: int, confidence: float = CONFIDENCE
) -> dict[str, Sequence[float]]:
    """Intervals and p-values of differences from one base.

    Parameters
    ----------
    found
        The differences.
    errors
        Their standard deviations, which are estimates with one number of degrees of freedom.
    freedom
        This number.
    confidence
        Of each interval by itself.

    Returns
    -------
    dict
        Columns difference, low and high in the unit of the differences, and p: Holm's, for all of them together.
    """
    reach = student_quantile(confidence, freedom) * np.array(errors)
    p = holm([2 * student_tail(abs(one) / error, freedom) for one, error in zip(found, errors, strict=True)])
    return {"difference": found, "low": list(found - reach), "high": list(found + reach), "p": p}


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


def differences(losses: Mapping[str, Sequence[float]], confidence: float = CONFIDENCE) -> pd.DataFrame:
    """Each row's difference from base, whatever seeds the runs have.

    Parameters
    ----------
    losses
        The validation losses (nats per token) of each row's seeds; 'base' is one of them.
    confidence
        Of each interval by itself.

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
    deviation, freedom = pooled_deviation(losses.values()), sum(len(one) - 1 for one in losses.values())
    if not losses.get("base") or math.isnan(deviation):
        raise ValueError("differences need runs of base, and two seeds of some row")
    base, rows = losses["base"], [row for row in TABLE_3 if row != "base" and losses.get(row)]
    errors = [deviation * math.sqrt(1 / len(losses[row]) + 1 / len(base)) for row in rows]
    found = [mean(losses[row]) - mean(base) for row in rows]
    return _table({row: len(losses[row]) for row in rows}, found, errors, freedom, confidence)


def paired_differences(
    losses: Mapping[str, Mapping[int, float]], confidence: float = CONFIDENCE, runs: int = 1
) -> pd.DataFrame:
    """Each row's difference from base, runs with one seed being compared with each other.

    Parameters
    ----------
    losses
        For each row its seeds and their validation losses (nats per token); 'base' is one of the rows. Runs with a seed
        that base lacks are left out.
    confidence
        Of each interval by itself.
    runs
        Below so many of a row its verdict is 'too few runs': a verdict that is read again after every run is easily
        wrong at some time.

    Returns
    -------
    DataFrame
        As of `differences`.

    Raises
    ------
    ValueError
        If base is missing, or no other row has two seeds with base.
    """
    fit = fit_rows_and_seeds(losses)
    if fit.freedom == 0:
        raise ValueError("differences need two seeds of base and of some other row")
    rows = [row for row in TABLE_3 if row != "base" and row in fit.rows]
    found, errors = zip(*(fit.difference(row, "base") for row in rows), strict=True)
    counts = {row: len(losses[row].keys() & set(fit.seeds)) for row in rows}
    return _table(counts, found, errors, fit.freedom, confidence, runs)


def _table(
    counts: Mapping[str, int],
    found: Sequence[float],
    errors: Sequence[float],
    freedom: int,
    confidence: float,
    least: int = 1,
) -> pd.DataFrame:
    """The columns of `tested` beside the paper's differences, with verdicts."""
    import pandas as pd  # here: a queue needs no tables

    columns = tested(found, errors, freedom, confidence)
    paper = [paper_difference(row) for row in counts]
    given = [verdict(*one, 1 - confidence) for one in zip(found, columns["p"], paper, strict=True)]
    return pd.DataFrame(
        {
            "seeds": list(counts.values()),
            **columns,
            "paper": paper,
            "verdict": [one if n >= least else "too few runs" for one, n in zip(given, counts.values(), strict=True)],
        },
        index=pd.Index(counts, name="row"),
    )


def rank_correlation(first: ArrayLike, second: ArrayLike) -> float:
    """Spearman's: the correlation of the ranks, equal values sharing the mean of theirs."""
    return float(np.corrcoef(_ranks(first), _ranks(second))[0, 1])


def _ranks(given: ArrayLike) -> NDArray[np.float64]:
    values = np.asarray(given, dtype=float)
    return np.array([(values < one).sum() + ((values == one).sum() - 1) / 2 for one in values])


def rank_agreement(fit: SeedFit, rows: Sequence[str], samples: int = 2000, seed: int = 0) -> tuple[float, float, float]:
    """Rank correlation of our losses with the paper's, and its spread in repetitions of the seeds.

    The spread is a parametric bootstrap: it holds 95 % of the correlations when the rows' losses are drawn anew about
    the measured ones, with the errors of the fit. It is no confidence interval, since noise is added to losses that
    have noise already, which pulls the correlations towards zero. What the paper's own seeds would have changed is not
    in it.

    Parameters
    ----------
    fit
        Losses of the rows, and their errors.
    rows
        Those that are ranked; base may be one.
    samples
        Repetitions.
    seed
        Of the repetitions.

    Returns
    -------
    tuple
        The correlation, and the quantiles 0.025 and 0.975 of its repetitions.
    """
    places = [fit.rows.index(row) for row in rows]
    losses, errors = fit.row_losses[places], fit.deviation**2 * fit.covariance[np.ix_(places, places)]
    paper = [paper_difference(row) for row in rows]
    draws = np.random.default_rng(seed).multivariate_normal(losses, errors, samples)
    low, high = np.quantile([rank_correlation(draw, paper) for draw in draws], [0.025, 0.975])
    return rank_correlation(losses, paper), float(low), float(high)
