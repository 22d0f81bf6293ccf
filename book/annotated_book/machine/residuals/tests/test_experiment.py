"""The run behind chapter 12: its learning rates, and that one short curve is as it should be."""

from __future__ import annotations

import math

import pytest

from annotated_book.machine.residuals.experiment import CONFIG, curve, rate, short_sentences


def test_the_rate_rises_in_a_straight_line_or_not_at_all() -> None:
    assert [rate(k, 1e-3, 4) for k in (1, 2, 4, 9)] == pytest.approx([2.5e-4, 5e-4, 1e-3, 1e-3])
    assert rate(1, 1e-3, 0) == 1e-3


def test_training_and_validation_share_no_sentence() -> None:
    train, valid = short_sentences("train", 600), short_sentences("valid", 100)
    seen = {tuple(train.source(i).tolist()) for i in range(len(train))}
    assert len(train) == 600 and len(valid) == 100
    assert not any(tuple(valid.source(i).tolist()) in seen for i in range(len(valid)))


def test_a_curve_starts_at_chance_falls_and_repeats() -> None:
    first = curve("pre-norm", 0, updates=20, config=CONFIG.replace(num_encoder_layers=1, num_decoder_layers=1))
    again = curve("pre-norm", 0, updates=20, config=CONFIG.replace(num_encoder_layers=1, num_decoder_layers=1))
    assert first["loss"] == again["loss"] and first["valid"] == again["valid"]
    assert abs(first["loss"][0] - math.log(2000)) < 1.5
    assert first["loss"][1] < first["loss"][0]
