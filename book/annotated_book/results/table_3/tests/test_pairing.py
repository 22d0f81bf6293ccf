"""Losses as a row's part plus a seed's: sums of squares by hand, missing runs, and intervals that cover."""

from __future__ import annotations

import math

import numpy as np
import pytest

from annotated.evaluation.student_t import student_quantile
from annotated_book.results.table_3.differences import differences, paired_differences
from annotated_book.results.table_3.pairing import fit_rows_and_seeds
from annotated_book.results.table_3.rows import ROWS


def test_a_full_table_by_hand() -> None:
    """Distances from base 1.0, 1.3 and 1.0: the mean is 1.1, their variance 0.03, half of which is that of one run."""
    fit = fit_rows_and_seeds({"base": {0: 4.0, 1: 4.5, 2: 4.1}, "C1": {0: 5.0, 1: 5.8, 2: 5.1}})
    assert fit.freedom == 2 and fit.deviation == pytest.approx(math.sqrt(0.015))
    assert fit.difference("C1", "base") == pytest.approx((1.1, math.sqrt(0.03 / 3)))
    assert fit.difference("base", "C1")[0] == pytest.approx(-1.1)
    # The means of the seeds are 4.5, 5.15 and 4.6, that of all runs 4.75.
    assert fit.seed_effects == pytest.approx([-0.25, 0.40, -0.15])
    assert fit.row_losses == pytest.approx([4.2, 5.3])


def test_a_missing_run_is_corrected_by_what_its_seed_does_to_other_rows() -> None:
    """Rows at 4.0, 4.2 and 4.7, seeds that add 0.0, 0.3 and -0.1, and no noise: each difference is found exactly."""
    rows, seeds = {"base": 4.0, "C1": 4.2, "B2": 4.7}, {0: 0.0, 1: 0.3, 4: -0.1}
    full = {row: {seed: loss + more for seed, more in seeds.items()} for row, loss in rows.items()}
    del full["C1"][0], full["B2"][1], full["B2"][4]
    fit = fit_rows_and_seeds(full)
    assert fit.difference("C1", "base")[0] == pytest.approx(0.2) and fit.difference("B2", "C1")[0] == pytest.approx(0.5)
    assert fit.deviation == pytest.approx(0, abs=1e-12) and fit.freedom == 6 - 3 - 2
    assert np.diff(fit.seed_effects) == pytest.approx([0.3, -0.4])


def test_errors_where_three_rows_have_five_seeds_and_the_others_three() -> None:
    """In deviations of one run; P is the mean of base, C2 and C3.

    C2 less base is a mean of five distances: 2/5. A1 less base is A1 less P, by seeds 0 to 2, and P less base, by all
    five. These are independent, with (1 + 1/3) / 3 and (1 - 1/3) / 5: together 4/9 + 2/15 = 26/45.
    """
    numbers = np.random.default_rng(5)
    five = ("base", "C2", "C3")
    losses = {row: {seed: numbers.normal() for seed in range(5 if row in five else 3)} for row in ROWS}
    fit = fit_rows_and_seeds(losses)
    assert fit.freedom == 66 - 20 - 4
    assert fit.difference("C2", "base")[1] == pytest.approx(fit.deviation * math.sqrt(2 / 5))
    assert fit.difference("A1", "base")[1] == pytest.approx(fit.deviation * math.sqrt(26 / 45))
    assert fit.difference("A1", "big")[1] == pytest.approx(fit.deviation * math.sqrt(2 / 3))


def test_seeds_that_base_lacks_are_left_out() -> None:
    losses = {"C1": {0: 4.4, 1: 4.5, 7: 9.0}, "base": {1: 4.2, 0: 4.0}, "E1": {7: 9.0}}
    fit = fit_rows_and_seeds(losses)
    assert fit.rows == ["C1", "base"] and fit.seeds == [0, 1]
    assert fit.difference("C1", "base")[0] == pytest.approx(0.35)
    table = paired_differences(losses)
    assert list(table.index) == ["C1"] and table.loc["C1", "seeds"] == 2


@pytest.mark.parametrize("common", [0.0, 0.1])
def test_intervals_cover_whatever_the_seeds_have_in_common(common: float) -> None:
    numbers, covered, trials = np.random.default_rng(3), 0, 1500
    for _ in range(trials):
        of_seed = numbers.normal(0, common, 3)
        losses = {
            row: {seed: centre + of_seed[seed] + numbers.normal(0, 0.02) for seed in seeds}
            for row, centre, seeds in [("base", 3.0, (0, 1, 2)), ("C1", 3.05, (0, 2)), ("C2", 3.1, (0, 1))]
        }
        found = paired_differences(losses).loc["C1"]
        covered += found["low"] <= 0.05 <= found["high"]
    assert 0.93 < covered / trials < 0.97  # 95 %, and three deviations of the trials' own


def test_pairs_narrow_intervals_only_where_the_seeds_have_something_in_common() -> None:
    numbers = np.random.default_rng(4)
    of_seed, noise = numbers.normal(0, 0.1, 3), numbers.normal(0, 0.01, (len(ROWS), 3))

    def reach(losses: np.ndarray, paired: bool) -> float:
        by_row = dict(zip(ROWS, losses, strict=True))
        table = (
            paired_differences({row: dict(enumerate(one)) for row, one in by_row.items()})
            if paired
            else differences({row: list(one) for row, one in by_row.items()})
        )
        assert list(table["difference"]) == pytest.approx([one.mean() - losses[0].mean() for one in losses[1:]])
        return float(table.loc["C1", "high"] - table.loc["C1", "low"])

    assert reach(noise + of_seed, paired=True) == pytest.approx(reach(noise, paired=True))
    assert reach(noise + of_seed, paired=False) > 3 * reach(noise + of_seed, paired=True)
    ratio = student_quantile(0.95, 38) / student_quantile(0.95, 40)
    assert 0.9 * ratio < reach(noise, paired=True) / reach(noise, paired=False) < 1.1 * ratio


def test_what_is_missing_is_said() -> None:
    with pytest.raises(ValueError, match="runs of base"):
        fit_rows_and_seeds({"C1": {0: 4.0}})
    with pytest.raises(ValueError, match="two seeds"):
        paired_differences({"base": {0: 4.0, 1: 4.1}, "C1": {0: 4.2}})
    assert math.isnan(fit_rows_and_seeds({"base": {0: 4.0}}).deviation)
