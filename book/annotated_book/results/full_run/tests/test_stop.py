"""The panel of the stopped training: the checkpoint that a restart finds, as the library's recipe writes them."""

from __future__ import annotations

import pytest

from annotated.training.schedule import learning_rate
from annotated_book.pages import page_folder
from annotated_book.results.full_run.frame import stop_data
from book.tests.javascript import evaluate

STOP = page_folder("full_run") / "stop.js"
CODE = """({ stopped, partAround, rateAt }, [data, choices]) => choices.map(one => ({
  ...stopped(data, one), zoom: partAround(data, one.update), rate: rateAt(one.update, data) }))"""
CHOICES = [(51_234, False, 2), (51_234, True, 8), (1_499, False, 1), (1_500, False, 1), (99_999, True, 1)]


def test_a_power_cut_costs_the_updates_since_the_last_checkpoint_and_a_signal_none() -> None:
    data = stop_data()
    assert (data["updates"], data["every"], data["keep"], data["tokens"]) == (100_000, 1500, 5, 25_000)
    choices = [{"update": u, "signal": s, "gpus": g} for u, s, g in CHOICES]
    cut, signal, early, exact, late = evaluate(STOP, CODE, [data, choices])
    assert (cut["saved"], cut["again"], cut["each"], cut["interim"]) == (51_000, 234, 12_500, False)
    assert cut["kept"] == [45_000, 46_500, 48_000, 49_500, 51_000]
    assert (signal["saved"], signal["again"], signal["each"], signal["interim"]) == (51_234, 0, 3125, True)
    assert (early["saved"], early["again"], early["kept"]) == (0, 1499, [])
    assert (exact["saved"], exact["again"], exact["kept"], exact["interim"]) == (1500, 0, [1500], False)
    assert (late["saved"], late["kept"][-1]) == (99_999, 99_000)


def test_the_enlarged_part_holds_the_stop_and_the_rate_is_the_librarys() -> None:
    data = stop_data()
    found = evaluate(STOP, CODE, [data, [{"update": u, "signal": s, "gpus": g} for u, s, g in CHOICES]])
    for (update, _, _), one in zip(CHOICES, found, strict=True):
        assert one["zoom"]["low"] <= update <= one["zoom"]["high"] <= data["updates"]
        assert len(one["zoom"]["ticks"]) == 4 and one["zoom"]["ticks"][-1] == one["zoom"]["high"]
        assert one["rate"] == pytest.approx(learning_rate(update, data["d_model"], data["warmup"]), rel=1e-12)
