"""The averaging experiment: its schedules, its lines, and what its record must hold."""

from __future__ import annotations

import pytest
import torch

import annotated
from annotated.evaluation import perplexity
from annotated_book import recorded
from annotated_book.decoding.averaging.experiment import (
    CONFIG,
    KEPT,
    LINE,
    SCHEDULES,
    UPDATES,
    between,
    classroom,
    line,
    loss_of,
    mean_of,
    rate,
)


def test_the_schedules_part_after_the_warm_up() -> None:
    assert len({rate(150, schedule) for schedule in SCHEDULES}) == 1
    assert rate(800, "paper") == pytest.approx(rate(200, "paper") / 2)  # the root of 4
    assert rate(800, "constant") == rate(UPDATES, "constant") == rate(200, "paper")
    assert rate(UPDATES, "falling") == 0 and rate(900, "falling") == pytest.approx(rate(200, "paper") / 2)


def test_lines_and_means_by_hand() -> None:
    start, end = {"w": torch.tensor([0.0, 2.0])}, {"w": torch.tensor([1.0, 4.0])}
    assert between(start, end, 1.5)["w"].tolist() == [1.5, 5.0]
    assert mean_of([start, end, end])["w"].tolist() == pytest.approx([2 / 3, 10 / 3])
    walked = line(start, end, lambda state: float(state["w"].sum()))
    assert walked[LINE.index(0.0)] == 2 and walked[LINE.index(1.0)] == 5 and walked[-1] == 6.5


def test_the_loss_of_an_ensemble_and_of_a_model_are_one_measure() -> None:
    translator, pairs = annotated.load("classroom"), classroom("valid", 4)
    expected = perplexity(translator.model, translator.tokenizer, pairs).loss
    alone = annotated.decoding.Ensemble([translator.model])
    assert loss_of(translator.model, pairs, translator.tokenizer) == pytest.approx(expected, abs=1e-4)
    assert loss_of(alone, pairs, translator.tokenizer) == pytest.approx(expected, abs=1e-3)


def test_the_record_is_whole() -> None:
    found = recorded("averaging").results
    assert found["config"] == CONFIG.to_dict() and tuple(found["line"]) == LINE
    room, real = found["classroom"], found["real"]
    assert "tok:13a" in room["signature"]
    for name, averages in room["last_k"].items():
        assert len(averages) == len(room["each"][name]) == KEPT
        assert averages[0]["loss"] == pytest.approx(room["each"][name][-1], abs=2e-4)
    for seed, losses in room["within"].items():
        assert losses[LINE.index(0.0)] == pytest.approx(room["each"][f"paper {seed}"][0], abs=2e-4)
        assert losses[LINE.index(1.0)] == pytest.approx(room["each"][f"paper {seed}"][-1], abs=2e-4)
    middle = room["between"]["0 1"][LINE.index(0.5)]
    assert middle == pytest.approx(room["weights_of_seeds_averaged"][0]["loss"], abs=2e-3)
    assert len(real["each"]) == len(real["last_k"]) == len(real["updates"]) == 5
