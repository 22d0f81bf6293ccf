"""Runs of experiments: recorded once, shared among processes, and complete."""

from __future__ import annotations

import math
import time
from statistics import mean

import pytest
import torch

from annotated.config import TrainingConfig
from annotated.locks import exclusive_lock
from annotated_book.experiments import make_runs
from annotated_book.experiments.__main__ import chosen
from annotated_book.experiments.catalogue import EXPERIMENTS, SHORT
from annotated_book.experiments.make_runs import make_one_by_one
from annotated_book.experiments.runs_file import read_runs, write_run
from annotated_book.experiments.train_one import Trained
from annotated_book.pages import BOOK
from annotated_book.results.since_2017.parts import PARTS, RATE_SEARCH, RATES_OF_2017

FOREVER = math.inf


def test_a_run_is_recorded_with_what_a_reader_needs_to_judge_it(text, experiment, tmp_path):
    one = experiment()
    make_one_by_one([one], text, tmp_path, tmp_path / "locks", {"commit": "abc"}, FOREVER)
    found = read_runs(one.file(tmp_path))[one.run]
    assert found["row"] == "row" and found["seed"] == 0 and found["commit"] == "abc"
    assert found["command"].endswith("cpu --chapters chapter --rows row --seeds 0")
    assert [point["update"] for point in found["curve"]] == [3, 6]
    assert found["valid_loss"] == pytest.approx(found["curve"][-1]["validation_loss"], abs=1e-4)
    assert found["valid_loss"] < found["curve"][0]["validation_loss"], "it learns"
    assert found["highest_rate"] == pytest.approx(6e-3) and found["parameters"] == one.model().num_parameters()
    assert 0 < found["test_loss"] < 7 and 0 <= found["bleu"] <= 100 and found["test_pairs"] == 5


def test_a_recorded_run_and_one_that_another_process_makes_are_left_alone(text, experiment, tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr(make_runs, "_make_one", lambda one, *_: made.append(one.seed))
    ones = [experiment(seed=seed) for seed in range(3)]
    write_run(ones[0].file(tmp_path), ones[0].run, {"here": True})
    with exclusive_lock(tmp_path / "locks" / "chapter-row-1.lock"):
        make_one_by_one(ones, text, tmp_path, tmp_path / "locks", {}, FOREVER)
    assert made == [2]
    make_one_by_one(ones, text, tmp_path, tmp_path / "locks", {}, time.monotonic() - 1)
    assert made == [2], "no run begins when the time is over"


def test_a_loss_that_is_no_number_is_null_in_the_record(text, experiment, tmp_path, monkeypatch):
    one = experiment()
    diverged = Trained(one.model(), [{"update": 3, "validation_loss": math.nan}], math.nan)
    monkeypatch.setattr(make_runs, "train_one", lambda *_: diverged)
    make_one_by_one([one], text, tmp_path, tmp_path / "locks", {}, FOREVER)
    found = read_runs(one.file(tmp_path))[one.run]
    assert found["diverged"] and found["curve"][0]["validation_loss"] is None and "bleu" not in found


def test_every_run_of_the_catalogue_has_a_record_of_its_own():
    every = chosen(list(EXPERIMENTS), None, [0, 1, 2])
    rows = len(PARTS) + len(RATE_SEARCH) + 3
    assert len({(one.file(BOOK), one.run) for one in every}) == len(every) == 3 * rows
    assert all(one.training.seed == one.seed for one in every)


def test_parts_share_budget_and_highest_rate_but_for_those_that_lower_it():
    found = {one.row: one for one in EXPERIMENTS["since_2017"](0)}
    rates = {row: max(map(one.rate, range(1, SHORT.updates + 1))) for row, one in found.items()}
    assert {one.training.batch_tokens * one.training.updates for one in found.values()} == {1_024_000}
    expected = 0.3 / (32 * 100) ** 0.5
    for row, rate in rates.items():
        assert rate == pytest.approx(expected * RATES_OF_2017.get(row, 1)), row


def test_versions_keep_the_published_ratios():
    """As published: warm-ups of 4,000 and 8,000 in 100,000 updates, highest rates apart by the root of 2."""
    found = {one.row: one for one in EXPERIMENTS["versions"](0)}
    assert {row: one.training.warmup for row, one in found.items()} == {"written": 40, "v1": 40, "v3": 80}
    peaks = {row: max(map(one.rate, range(1, 1001))) for row, one in found.items()}
    assert peaks["v3"] / peaks["written"] == pytest.approx(2**0.5)
    assert found["v3"].training.adam_betas == (0.9, 0.997) and found["written"].training.adam_betas == (0.9, 0.98)
    models = {row: one.model() for row, one in found.items()}
    assert [models[row].config.norm for row in ("written", "v1", "v3")] == ["post", "post", "pre"]
    assert [models[row].config.attention_dropout for row in ("written", "v1", "v3")] == [0.0, 0.0, 0.1]
    assert TrainingConfig.updates == 100_000


def test_v1_draws_the_three_matrices_of_a_self_attention_as_one():
    """Glorot's bound is the root of 6 / (fan-in + fan-out): of 32 + 96 for the joint matrix, of 32 + 32 for each."""
    found = {one.row: one for one in EXPERIMENTS["versions"](0)}
    bounds = {}
    for row in ("written", "v1"):
        torch.manual_seed(0)
        layers = found[row].model().encoder.layers
        bounds[row] = max(layer.self_attention.in_projection.abs().max().item() for layer in layers)
        spread = mean(layer.self_attention.in_projection.std().item() for layer in layers)
        assert spread == pytest.approx(bounds[row] / 3**0.5, rel=0.05), "uniform"
    assert bounds["v1"] == pytest.approx((6 / 128) ** 0.5, rel=0.01)
    assert bounds["written"] == pytest.approx((6 / 64) ** 0.5, rel=0.01)


def test_released_sinusoids_are_sines_and_then_cosines():
    table = next(one for one in EXPERIMENTS["versions"](0) if one.row == "v1").model().positions(3)
    assert table.shape == (3, 32)
    assert torch.equal(table[0], torch.cat([torch.zeros(16), torch.ones(16)]))
    assert table[2, 0].item() == pytest.approx(math.sin(2.0)) and table[2, 16].item() == pytest.approx(math.cos(2.0))
