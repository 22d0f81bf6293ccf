"""Charts of label smoothing: their formulas agree with the library's loss, and their menus with the runs."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from annotated.training.loss import label_smoothed_cross_entropy
from annotated_book.training.label_smoothing.calibration_charts import reliability_chart, strength_chart
from annotated_book.training.label_smoothing.charts import smoothing_chart
from annotated_book.viz.renderers import book_renderer

RUNS = [
    {
        "data": data,
        "smoothing": e,
        "seed": seed,
        "ece": 0.1 + e + 0.01 * seed,
        "loss": 2.0 - e,
        "smoothed_loss": 3.0,
        "accuracy": 0.5,
        "gap": 9.0,
        "bins": [[0.3, 0.4, 10], [0.9, 0.8, 20]],
        "beam_1": {"bleu": 10.0, "exact": 0.0},
        "beam_4": {"bleu": 12.0, "exact": 0.0},
    }
    for data in ("many", "few")
    for e in (0.0, 0.1)
    for seed in (0, 1)
]


def picture(chart: Any) -> str:
    return str(book_renderer(chart.to_dict())["text/html"])


@pytest.mark.parametrize(("vocab", "epsilon", "gap"), [(10, 0.1, 2.0), (2000, 0.3, 12.0), (100, 0.0, 4.5)])
def test_the_title_tells_the_loss_and_floor_of_the_library(vocab: int, epsilon: float, gap: float) -> None:
    logits = torch.zeros(1, vocab, dtype=torch.float64)
    logits[0, 3] = gap
    loss, _ = label_smoothed_cross_entropy(logits, torch.tensor([3]), epsilon)
    q = torch.full((vocab,), epsilon / (vocab - 1), dtype=torch.float64)
    q[3] = 1 - epsilon
    floor = float(torch.special.entr(q).sum())
    drawn = picture(smoothing_chart(vocab_size=vocab, smoothing=epsilon, gap=gap))
    assert f"loss {loss.item():.3f} at gap {gap:g}; floor {floor:.3f}" in drawn
    if epsilon:
        assert f"at gap {math.log((1 - epsilon) * (vocab - 1) / epsilon):.1f}" in drawn


def test_controls_start_only_where_they_can() -> None:
    with pytest.raises(ValueError, match="V 11"):
        smoothing_chart(vocab_size=11)
    with pytest.raises(ValueError, match="no run with smoothing 0.3"):
        reliability_chart(RUNS, data="many", smoothing=0.3, beside=0.1)
    with pytest.raises(ValueError, match="no run with smoothing 0.2"):
        reliability_chart(RUNS, data="many", smoothing=0.1, beside=0.2)
    with pytest.raises(ValueError, match="no measure"):
        strength_chart(RUNS, first="loss")


def test_menus_hold_the_runs_and_both_errors_are_told() -> None:
    chart = reliability_chart(RUNS, data="few", smoothing=0.1, beside=0.0)
    assert [p["bind"]["options"] for p in chart.to_dict()["params"]] == [[0.0, 0.1], [0.0, 0.1], ["many", "few"]]
    drawn = picture(chart)
    assert "epsilon 0: ECE 0.100 to 0.110" in drawn
    assert "epsilon 0.1: ECE 0.200 to 0.210" in drawn
    one = picture(reliability_chart(RUNS, data="few", smoothing=0.1, beside=0.1))
    assert "epsilon 0.1: ECE 0.200" in one and "epsilon 0: ECE" not in one
    assert "many pairs: 2.00, 1.90" in strength_chart(RUNS).to_dict()["description"]
