"""Noise of one run: which differences of the paper it leaves, by hand and by simulation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from annotated.config import TABLE_3
from annotated_book.results.table_3.noise import (
    BLEU_DEVIATIONS,
    COUNTINGS,
    bleu_difference,
    chance_tables,
    largest_noise,
    significant_rows,
)
from annotated_book.results.table_3.noise_charts import noise_chart, significance_chart
from annotated_book.results.table_3.words import CHANGES, ROWS, label

TOGETHER, ALONE = COUNTINGS


def rows_of(chart: Any) -> list[dict[str, Any]]:
    """The rows of the first data of a chart."""
    spec = chart.to_dict()
    while "data" not in spec:
        spec = spec["layer"][0]
    return list(spec["data"]["values"])


def papers_rows(measure: Any = "BLEU") -> list[dict[str, Any]]:
    """The rows of the paper's own table in the chart, which is its first."""
    return [one for one in rows_of(noise_chart(0.02, measure)) if one["table"] == 0]


def test_the_largest_noise_of_one_difference_is_that_of_two_runs() -> None:
    # 1.96 deviations of a difference of two runs, which is the root of 2 times that of one.
    assert largest_noise({"a": -1.0}, ALONE)["a"] == pytest.approx(1 / (1.959964 * math.sqrt(2)), rel=1e-5)
    assert largest_noise({"a": 0.0}, TOGETHER) == {"a": 0.0}


def test_holm_asks_most_of_the_largest_and_stops_at_the_first_that_fails() -> None:
    found = largest_noise({"small": 0.5, "large": -1.0}, TOGETHER)
    assert found["large"] == pytest.approx(1 / (2.241403 * math.sqrt(2)), rel=1e-5)  # 97.5 % on both sides
    assert found["small"] == pytest.approx(0.5 / (1.959964 * math.sqrt(2)), rel=1e-5)
    equal = largest_noise({"a": 1.0, "b": 1.0}, TOGETHER)
    assert equal["b"] == equal["a"], "no row outlasts one that is as large"
    with pytest.raises(ValueError, match="each by itself"):
        largest_noise({"a": 1.0}, "some")  # type: ignore[arg-type]


def test_equal_models_are_rarely_significant_rows() -> None:
    """19 rows and a base that are one model: with its true deviation known, Holm's errs in at most 5 % of tables."""
    numbers, errors, single, trials = np.random.default_rng(0), 0, 0, 1500
    for _ in range(trials):
        runs = numbers.normal(25.8, 0.2, 20)
        limits = largest_noise({row: run - runs[0] for row, run in zip(ROWS, runs[1:], strict=True)})
        errors += any(limit > 0.2 for limit in limits.values())
        single += abs(runs[1] - runs[0]) > 1.959964 * math.sqrt(2) * 0.2
    assert errors / trials < 0.067, "5 % and three deviations of the trials"
    assert 0.033 < single / trials < 0.067


def test_what_is_significant_falls_with_the_noise() -> None:
    assert significant_rows(0.0) == [row for row in ROWS if bleu_difference(row) != 0]
    counts = [len(significant_rows(n / 100)) for n in range(0, 100, 5)]
    assert counts == sorted(counts, reverse=True) and counts[-1] == 0
    for noise in (0.05, 0.1, 0.2, 0.3):
        assert set(significant_rows(noise)) <= set(significant_rows(noise, ALONE))
    assert bleu_difference("C1") == -2.1 and bleu_difference("A3") == 0


def test_the_estimate_of_three_runs_is_that_of_the_largest_of_three() -> None:
    """The mean of three standard normal variables is on average 0.846 below the largest of them."""
    draws = np.random.default_rng(0).normal(size=(200_000, 3))
    above = (draws.max(1) - draws.mean(1)).mean()
    assert BLEU_DEVIATIONS[1].deviation == pytest.approx((25.39 - 25.16) / above, abs=0.006)


def test_every_row_has_words_and_charts_hold_all_differences() -> None:
    assert list(CHANGES) == list(TABLE_3) and label("C1") == "C1  N = 2" and label("big") == "big"
    values = papers_rows()
    assert len(values) == 19 and {one["row"]: one["difference"] for one in values} == {
        row: bleu_difference(row) for row in ROWS
    }
    assert "5 differences are significant" in noise_chart(0.159).to_dict()["description"]
    with pytest.raises(ValueError, match=r"0\.5"):
        noise_chart(0.7)
    steps = rows_of(significance_chart())
    for counting in COUNTINGS:
        mine = [one for one in steps if one.get("tested") == counting]
        before = max((one for one in mine if one["deviation"] <= 0.16), key=lambda one: one["deviation"])
        assert before["rows"] == len(significant_rows(0.16, counting))
    nats = {one["row"]: one["difference"] for one in papers_rows("loss")}
    assert nats["C1"] == pytest.approx(math.log(6.11 / 4.92), abs=1e-5) and len(nats) == 19


def test_a_bar_leaves_its_band_where_its_row_is_significant() -> None:
    values = {one["row"]: one for one in papers_rows()}
    # 97.5 % on both sides among 19, 1.96 alone; a row of no difference has the band of the last one tested.
    assert values["C1"]["reach_together"] == pytest.approx(3.0078 * math.sqrt(2), rel=1e-3)
    assert values["A3"]["reach_together"] == pytest.approx(1.959964 * math.sqrt(2), rel=1e-4)
    for counting, name in ((TOGETHER, "reach_together"), (ALONE, "reach_alone")):
        for deviation in (0.05, 0.16, 0.27):
            outside = [row for row in ROWS if abs(values[row]["difference"]) > values[row][name] * deviation]
            assert outside == significant_rows(deviation, counting)


def test_tables_of_chance_share_one_base() -> None:
    """A difference of two runs has twice their variance; two differences from one base have half of it in common."""
    drawn = np.array([list(table.values()) for table in chance_tables(4000, seed=1)])
    assert drawn.var() == pytest.approx(2, abs=0.1) and np.cov(drawn[:, 0], drawn[:, 7])[0, 1] == pytest.approx(
        1, abs=0.1
    )
    shown = rows_of(noise_chart())
    assert {one["table"] for one in shown} == set(range(13))
    third = sorted((one for one in shown if one["table"] == 3), key=lambda one: one["rank"])
    assert {one["row"]: one["difference"] for one in third} == chance_tables()[2]
    assert [one["difference"] for one in third] == sorted(chance_tables()[2].values())
