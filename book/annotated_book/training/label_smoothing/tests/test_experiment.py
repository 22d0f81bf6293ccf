"""Calibration on predictions whose calibration is known, and what the record must hold."""

from __future__ import annotations

import math

import pytest
import torch

from annotated.training.loss import smoothed_target
from annotated_book import recorded
from annotated_book.training.label_smoothing.experiment import STRENGTHS, calibration


def test_calibration_of_known_predictions() -> None:
    # Three sure and right at 0.8, one sure and wrong at 0.8; two at 0.55, both right.
    p = torch.tensor([[0.8, 0.1, 0.1]] * 4 + [[0.2, 0.55, 0.25]] * 2)
    found = calibration(p.log(), torch.tensor([0, 0, 0, 1, 1, 1]))
    assert found["bins"] == [[pytest.approx(0.55), 1.0, 2], [pytest.approx(0.8), 0.75, 4]]
    assert found["ece"] == pytest.approx((2 * 0.45 + 4 * 0.05) / 6, abs=1e-4)


def test_the_record_is_whole_and_no_loss_lies_below_its_floor() -> None:
    found = recorded("label_smoothing").results
    runs = [(r["data"], r["smoothing"], r["seed"]) for r in found["runs"]]
    assert len(set(runs)) == len(runs) == 4 * len(STRENGTHS)
    for run in found["runs"]:
        right, others = smoothed_target(run["smoothing"], found["config"]["vocab_size"])
        floor = -right * math.log(right) - run["smoothing"] * math.log(others) if others else 0.0
        assert run["smoothed_loss"] > floor
        assert sum(tokens for _, _, tokens in run["bins"]) == sum(tokens for _, _, tokens in found["runs"][0]["bins"])
