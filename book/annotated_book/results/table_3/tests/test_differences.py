"""Differences of Table 3's rows: intervals that cover, p-values by hand, and verdicts that go no further."""

from __future__ import annotations

import math

import numpy as np
import pytest

from annotated.config import TABLE_3
from annotated.evaluation.student_t import student_quantile, student_tail
from annotated_book.results.table_3.differences import (
    SIGN,
    differences,
    holm,
    paired_differences,
    paper_difference,
    rank_agreement,
    rank_correlation,
    verdict,
)
from annotated_book.results.table_3.noise import TRANSFORMER_XL
from annotated_book.results.table_3.pairing import SeedFit, fit_rows_and_seeds
from annotated_book.results.table_3.rows import ROWS


@pytest.mark.parametrize(
    ("freedom", "expected"), [(1, 12.706), (2, 4.303), (5, 2.571), (40, 2.021), (100_000, 1.960)]
)  # any printed table of Student's t
def test_quantiles_are_those_of_the_printed_tables(freedom: int, expected: float) -> None:
    assert student_quantile(0.95, freedom) == pytest.approx(expected, abs=6e-4)


def test_tails_with_one_and_two_degrees_of_freedom_have_closed_forms() -> None:
    for t in (0.0, 0.3, 1.0, 7.0, 40.0):
        assert student_tail(t, 1) == pytest.approx(0.5 - math.atan(t) / math.pi, abs=1e-12)
        assert student_tail(t, 2) == pytest.approx(0.5 - t / (2 * math.sqrt(2 + t * t)), abs=1e-12)


def test_holm_by_hand() -> None:
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])  # 3 x 0.01, 2 x 0.03, 1 x 0.04 but not less
    assert holm([0.6, 0.7]) == [1.0, 1.0]


def test_an_interval_covers_the_true_difference_as_often_as_it_says() -> None:
    numbers, covered, trials = np.random.default_rng(1), 0, 1500
    for _ in range(trials):
        losses = {row: list(numbers.normal(3.0 if row == "base" else 3.05, 0.02, 3)) for row in ("base", "C1", "C2")}
        found = differences(losses).loc["C1"]
        covered += found["low"] <= 0.05 <= found["high"]
    assert 0.93 < covered / trials < 0.97  # 95 %, and three deviations of the trials' own


def test_without_any_difference_a_table_rarely_has_a_verdict() -> None:
    numbers, wrong, trials = np.random.default_rng(2), 0, 300
    for _ in range(trials):
        of_seed = numbers.normal(0, 0.05, 3)
        table = paired_differences({row: dict(enumerate(numbers.normal(3.0, 0.02, 3) + of_seed)) for row in ROWS})
        assert not table["verdict"].isin(["confirmed", "contradicted"]).any() or table["p"].min() <= 0.05
        wrong += table["p"].min() <= 0.05
    assert 0.012 < wrong / trials < 0.088  # 5 % for all 19 rows together, and three deviations


def test_the_papers_differences_are_logarithms_of_printed_perplexities() -> None:
    assert paper_difference("C1") == pytest.approx(math.log(6.11) - math.log(4.92))
    assert paper_difference("base") == paper_difference("E1") == 0
    assert [row for row in TABLE_3 if paper_difference(row) < 0] == ["A3", "C3", "C5", "C7", "D3", "big"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ((0.1, 0.01, 0.2), "confirmed"),
        ((-0.1, 0.01, 0.2), "contradicted"),
        ((0.1, 0.06, 0.2), "not told apart"),
        ((-0.1, 0.01, 0.0), "no sign to confirm"),
        ((-0.1, 0.01, -0.006), "no sign to confirm"),
    ],
)
def test_verdicts(given: tuple[float, float, float], expected: str) -> None:
    assert verdict(*given) == expected


def test_rows_with_fewer_runs_than_asked_get_no_verdict() -> None:
    losses = {"base": [4.0, 4.01, 3.99], "C1": [4.3, 4.31], "C4": [4.4, 4.41, 4.39]}
    assert differences(losses)["verdict"].tolist() == ["confirmed", "confirmed"]
    by_seed = {row: dict(enumerate(found)) for row, found in losses.items()}
    assert paired_differences(by_seed)["verdict"].tolist() == ["confirmed", "confirmed"]
    assert paired_differences(by_seed, runs=3)["verdict"].tolist() == ["too few runs", "confirmed"]
    assert paired_differences(by_seed, runs=3)["p"].equals(paired_differences(by_seed)["p"])


def test_a_printed_difference_has_a_sign_beyond_the_published_noise() -> None:
    assert round(1.96 * math.sqrt(2) * TRANSFORMER_XL.deviation, 4) == SIGN
    assert {row for row in ROWS if abs(paper_difference(row)) <= SIGN} == {"base", "A3", "D2", "E1"}


def test_ranks_share_ties() -> None:
    assert rank_correlation([1, 2, 3], [10, 20, 30]) == pytest.approx(1)
    assert rank_correlation([1, 2, 2, 4], [1, 2.5, 2.5, 4]) == pytest.approx(1)
    assert rank_correlation([1, 2, 3, 4], [1, 2, 4, 3]) == pytest.approx(0.8)  # 1 - 6 x 2 / (4 x 15)


def test_the_papers_own_losses_agree_with_themselves_and_noise_widens_the_interval() -> None:
    rows = [row for row in TABLE_3 if row not in ("E1", "A4")]  # their perplexities are those of base and of B2

    def fit(noise: float) -> SeedFit:
        runs = {row: (paper_difference(row), (-1) ** number * noise) for number, row in enumerate(rows)}
        return fit_rows_and_seeds({row: {0: loss + more, 1: loss - more} for row, (loss, more) in runs.items()})

    quiet, loud = (rank_agreement(fit(noise), rows) for noise in (1e-6, 0.1))
    assert quiet[0] == pytest.approx(1) and loud[1] < quiet[1]
    assert rank_agreement(fit(1e-6), ["C4", "base", "big"]) == pytest.approx((1, 1, 1))


@pytest.mark.parametrize(("apart", "low"), [(0.026, -1), (0.06, 1)])
def test_repetitions_turn_two_rows_as_often_as_their_error_says(apart: float, low: float) -> None:
    """Remainders of 0.01 with one degree of freedom: one run has a deviation of 0.02, and so has the difference.

    Distances of 1.3 and 3 such deviations change their sign in 10 % and 0.1 % of repetitions.
    """
    fit = fit_rows_and_seeds({"base": {0: 3.01, 1: 2.99}, "C1": {0: 2.99 + apart, 1: 3.01 + apart}})
    assert fit.difference("C1", "base") == pytest.approx((apart, 0.02))
    assert rank_agreement(fit, ["base", "C1"]) == pytest.approx((1, low, 1))


def test_what_is_missing_is_said() -> None:
    with pytest.raises(ValueError, match="two seeds"):
        differences({"base": [3.0], "C1": [3.1]})
    with pytest.raises(ValueError, match="runs of base"):
        differences({"C1": [3.0, 3.1]})
