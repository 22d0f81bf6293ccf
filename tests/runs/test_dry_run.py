"""A dry run: what it measures, what it makes of that, and that it leaves nothing behind but its record."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from annotated.config import DataConfig, ModelConfig, TrainingConfig
from annotated.runs.dry_run import DryRun, Range, _spread, _stretches, dry_run
from annotated.runs.lock import LOCK
from annotated.runs.preflight.table import show_hours, show_number, show_range
from annotated.training import CheckpointError
from tests.runs.conftest import SmallRun

HOUR = Range(0.9, 1.0, 1.2)
MEASURED = DryRun(
    seconds_per_update=Range(0.03, 0.036, 0.04),
    tokens_per_second=Range(6e5, 7e5, 8e5),
    updates=200,
    warm_up=20,
    warm_up_seconds=40.0,
    validation_seconds=20.0,
    checkpoint_bytes=800,
    checkpoint_seconds=0.5,
    model_bytes=300,
    peak_memory_bytes=5_000,
    memory_kind="GPU",
    devices=8,
    machine={},
    configuration={
        "model": ModelConfig().to_dict(),
        "training": TrainingConfig(keep_best=2).to_dict(),
        "data": DataConfig().to_dict(),
    },
    date="2026-01-31",
)
"""By hand: 100,000 updates of 0.036 s are an hour; 100 validations of 20 s and 40 s of warm-up come on top."""


def test_hours_money_energy_and_disk_by_hand() -> None:
    estimate = MEASURED.estimate(price_per_hour=2.5, watts=500)
    assert estimate.hours == pytest.approx(Range(*((100_000 * s + 2040) / 3600 for s in (0.03, 0.036, 0.04))))
    assert estimate.hours.typical == pytest.approx(1 + 2040 / 3600)
    assert estimate.money is not None and estimate.kilowatt_hours is not None
    assert estimate.money.typical == pytest.approx(estimate.hours.typical * 8 * 2.5)
    assert estimate.kilowatt_hours.high == pytest.approx(estimate.hours.high * 8 * 0.5)
    assert estimate.disk_bytes == (5 + 2 + 1) * 800 + 2 * 300  # kept, best, one being written; the model, and another


def test_no_price_is_invented() -> None:
    estimate = MEASURED.estimate()
    assert estimate.money is None and estimate.kilowatt_hours is None
    with pytest.raises(ValueError, match="negative"):
        MEASURED.estimate(price_per_hour=-1.0)


def test_the_warm_up_does_not_count_and_pauses_do_not_either() -> None:
    """Ten updates to warm up at 1 s; then 20 at 0.1 s and 20 at 0.2 s, by the log's speeds, which know no pauses."""
    windows = [
        {"update": 10, "tokens_seen": 1_000, "tokens_per_second": 100.0},
        {"update": 30, "tokens_seen": 3_000, "tokens_per_second": 1_000.0},
        {"update": 50, "tokens_seen": 5_000, "tokens_per_second": 500.0},
    ]
    seconds, updates, tokens = _stretches(windows, 10)
    assert (seconds, updates, tokens) == ([2.0, 4.0], [20, 20], [2_000, 2_000])
    spread = _spread([0.1, 0.2], 6 / 40)
    assert spread.typical == pytest.approx(0.15) and 0.1 <= spread.low < 0.11 and 0.19 < spread.high <= 0.2


def test_a_dry_run_leaves_its_record_and_nothing_else(small: SmallRun) -> None:
    run = small.folder / "run"
    (run / ".rehearsal" / "run").mkdir(parents=True)
    (run / ".rehearsal" / "run" / LOCK).write_text("1 here\n")
    (run / ".rehearsal" / "run" / "left").write_text("by one that was killed")
    training = small.training.replace(max_seconds=1e-9, patience=1)  # limits of the run to come, not of this one
    found = dry_run(small.model, training, small.data, updates=20, warm_up=3, folder=run)
    assert found is not None
    assert [path.name for path in run.iterdir()] == ["rehearsal.json"]
    assert (found.updates, found.warm_up, found.devices, found.memory_kind) == (20, 3, 1, "process")
    low, typical, high = found.seconds_per_update
    assert 0 < low <= typical <= high
    # Up to 300 target tokens in an update: no speed can be above what that makes.
    assert found.tokens_per_second.typical * typical <= 300
    assert found.checkpoint_bytes > 2 * found.model_bytes  # Adam's two moments besides the weights
    assert found.peak_memory_bytes is not None and found.peak_memory_bytes > 10_000_000
    assert DryRun.load(run) == dataclasses.replace(found, configuration=json.loads(json.dumps(found.configuration)))
    result = small.train("run", updates=2)  # which finds the folder as if nobody had been there
    assert result.update == 2


def test_a_dry_run_is_of_the_training_that_was_asked_for(small: SmallRun) -> None:
    found = dry_run(small.model, small.training, small.data, updates=2, warm_up=0)
    assert found is not None
    assert found.configuration["training"] == small.training.to_dict()
    assert found.estimate().hours.low > 0
    with pytest.raises(ValueError, match="two updates at least"):
        dry_run(small.model, small.training, small.data, updates=1)


def test_processes_need_a_folder_in_common(small: SmallRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(ValueError, match="share a folder"):
        dry_run(small.model, small.training, small.data)


def test_damaged_records_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="no such file"):
        DryRun.load(tmp_path)
    MEASURED.save(tmp_path / "rehearsal.json")
    content = json.loads((tmp_path / "rehearsal.json").read_text())
    for wrong, match in (({"format": 9}, "make it again"), ({"devices": None, "odd": 1}, "damaged")):
        (tmp_path / "rehearsal.json").write_text(json.dumps({**content, **wrong}))
        with pytest.raises(CheckpointError, match=match):
            DryRun.load(tmp_path)


def test_numbers_for_people() -> None:
    shown = [show_number(value) for value in (12_345.6, 123.4, 12.34, 1.234, 0.01234, 0)]
    assert shown == ["12,346", "123", "12.3", "1.23", "0.0123", "0.00"]
    assert show_range(Range(1, 2.5, 30), "s") == "2.50 s (1.00 to 30.0)"
    assert show_hours(HOUR) == "1.00 hours (0.900 to 1.20)"
    assert show_hours(HOUR.times(0.5)) == "30.0 minutes (27.0 to 36.0)"
