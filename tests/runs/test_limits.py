"""A run that ends by itself: its time is over, and the same command goes on; or its patience is, and it is finished."""

from __future__ import annotations

import os
import signal
from types import SimpleNamespace

import pytest
from safetensors.torch import load_file

import annotated.runs.loop as loop
import annotated.runs.observer as observer
from annotated.cli import main
from annotated.config import TrainingConfig
from annotated.runs import TrainingMonitor, list_checkpoints, read_records, train_command
from annotated.runs.checkpoint import update_of
from annotated.runs.divergence import ValidationHistory
from annotated.runs.readme import README
from tests.runs.test_resume import assert_log_is_whole, assert_same_run

WHOLE = [2.0, 1.0, 1.5, 1.0, 0.9]
"""Losses after updates 4, 8, 12 and 16, and of the average: with patience 2 the run ends after update 16, for an equal
loss is no lower one."""


@pytest.fixture
def ten_seconds_an_update(monkeypatch) -> None:
    clock = SimpleNamespace(now=1000.0)
    rate = loop.learning_rate

    def passing(*numbers) -> float:
        clock.now += 10
        return rate(*numbers)

    monkeypatch.setattr(loop, "learning_rate", passing)
    monkeypatch.setattr(observer, "time", SimpleNamespace(monotonic=lambda: clock.now))


def with_losses(monkeypatch, losses: list[float]) -> None:
    """The validation losses to come, in place of the model's own."""
    coming = iter(losses)
    monkeypatch.setattr(observer, "validation_loss", lambda *_: next(coming))


def dies_before(monkeypatch, update: int) -> None:
    rate = loop.learning_rate

    def dying(number: int, *others) -> float:
        if number == update:
            raise ChildProcessError("killed")
        return rate(number, *others)

    monkeypatch.setattr(loop, "learning_rate", dying)


def ends(folder) -> dict:
    record = read_records(folder)[-1]
    return {name: record[name] for name in ("kind", "update", "finished", "stopped_by")}


@pytest.mark.parametrize("name", ["max_seconds", "patience"])
@pytest.mark.parametrize("value", [0, -1])
def test_a_limit_is_positive(name, value):
    with pytest.raises(ValueError, match=f"{name} must be positive, or None for no limit, not {value}"):
        TrainingConfig(**{name: value})


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_seconds_are_finite(value):
    with pytest.raises(ValueError, match="max_seconds must be positive"):
        TrainingConfig(max_seconds=value)


@pytest.mark.usefixtures("ten_seconds_an_update")
def test_a_run_whose_time_is_over_saves_and_the_same_call_goes_on_with_a_new_count(small):
    """35 seconds at ten an update are over in the fourth."""
    small.trained("whole")
    for update in (4, 8):
        result = small.train("parts", max_seconds=35)
        assert (result.update, result.finished, result.stopped_by) == (update, False, "max_seconds")
        assert result.model_folder is None and not result.asked_of_processes
        assert update_of(list_checkpoints(result.folder)[-1]) == update
        assert ends(result.folder) == {
            "kind": "end", "update": update, "finished": False, "stopped_by": "max_seconds",
        }  # fmt: skip
        assert TrainingMonitor(result.folder).poll().phase == "stopped"
    assert small.train("parts").finished, "the limit may be lifted"
    assert_same_run(small.folder / "whole", small.folder / "parts", "checkpoints/update-000000024")
    models = [load_file(small.folder / run / "model" / "model.safetensors") for run in ("whole", "parts")]
    assert all(models[0][name].equal(models[1][name]) for name in models[0])
    assert_log_is_whole(small.folder / "parts", 24, 4)


@pytest.mark.usefixtures("ten_seconds_an_update")
def test_the_last_update_finishes_a_run_whose_time_is_over(small):
    result = small.train(updates=4, max_seconds=35)
    assert (result.update, result.finished, result.stopped_by) == (4, True, None)


@pytest.mark.usefixtures("ten_seconds_an_update")
def test_a_signal_counts_for_more_than_the_clock(small, monkeypatch):
    rate = loop.learning_rate

    def asked(number: int, *others) -> float:
        if number == 4:
            os.kill(os.getpid(), signal.SIGTERM)
        return rate(number, *others)

    monkeypatch.setattr(loop, "learning_rate", asked)
    assert small.train(max_seconds=35).stopped_by == "SIGTERM"


@pytest.mark.usefixtures("ten_seconds_an_update")
def test_the_command_ends_with_status_0_and_says_how_far_it_is(small, capsys):
    training = small.training.replace(updates=6, checkpoint_every=4, max_seconds=35)
    command = train_command(small.folder / "run", small.model, training, small.data)[1:]
    assert main(command) == 0
    shown = capsys.readouterr()
    assert shown.out == "", "no model yet"
    assert shown.err.splitlines()[-1] == (
        "--training.max-seconds 35 is over after update 4 of 6, which is saved; the same command goes on from here"
    )
    assert main(command) == 0
    assert capsys.readouterr().out.strip() == str(small.folder / "run" / "model")


@pytest.mark.parametrize(
    ("losses", "count"),
    [
        ([], 0),
        ([3.0, 2.0], 0),
        ([2.0, 2.0], 1),
        ([1.0, 3.0, 2.0], 2),  # lower than the one before is not lower than the lowest
        ([1.0, 3.0, 0.9, 0.95], 1),
        ([float("nan"), float("inf")], 2),
    ],
)
def test_validations_since_the_lowest_loss(losses, count):
    assert ValidationHistory(dict(enumerate(losses))).since_best == count


def test_a_run_out_of_patience_ends_as_after_its_last_update(small, monkeypatch, capsys):
    """Updates 8 and 16 have regular checkpoints; a run of 16 updates is the same, to the bit."""
    small.training = small.training.replace(validate_every=4, validate_bleu=0)
    with_losses(monkeypatch, WHOLE)
    shorter = small.train("shorter", updates=16)
    with_losses(monkeypatch, WHOLE)
    result = small.train("run", patience=2)
    assert (result.update, result.finished, result.stopped_by, result.valid_loss) == (16, True, "patience", 0.9)
    assert result.model_folder == result.folder / "model" and shorter.model_folder is not None
    one, other = (load_file(folder / "model.safetensors") for folder in (result.model_folder, shorter.model_folder))
    assert all(one[name].equal(other[name]) for name in other)
    assert ends(result.folder) == {"kind": "end", "update": 16, "finished": True, "stopped_by": "patience"}
    assert TrainingMonitor(result.folder).poll().phase == "finished"
    assert "after 2 validations without a lower loss" in (result.folder / README).read_text(encoding="utf-8")


def test_what_is_saved_and_logged_where_patience_ends_is_no_matter_of_rhythm(small, monkeypatch):
    """After update 9 neither a checkpoint nor a line of the log is due. The best checkpoint, of update 3, is the model,
    for its loss is below the average's.
    """
    with_losses(monkeypatch, [1.0, 1.2, 1.1, 1.05, 1.01])
    result = small.train(validate_every=3, patience=2, keep_best=1, validate_bleu=0)
    assert (result.update, result.valid_loss) == (9, 1.01)
    places = (result.model_folder, result.folder / "best" / "update-000000003")
    model, best = (load_file(place / "model.safetensors") for place in places)
    assert all(model[name].equal(best[name]) for name in best)
    assert [update_of(path) for path in list_checkpoints(result.folder)] == [8, 9]
    assert [one["update"] for one in read_records(result.folder) if one["kind"] == "train"][-1] == 9


def test_a_run_killed_and_resumed_ends_after_the_same_update(small, monkeypatch):
    """Killed after update 13 it goes on from 12, whose validation was the first in vain: 16 is the second."""
    small.training = small.training.replace(validate_every=4, checkpoint_every=4, validate_bleu=0, patience=2)
    with_losses(monkeypatch, WHOLE)
    small.train("whole")
    with monkeypatch.context() as patched, pytest.raises(ChildProcessError):
        with_losses(patched, WHOLE[:3])
        dies_before(patched, 14)
        small.train("parts")
    with_losses(monkeypatch, WHOLE[3:])
    result = small.train("parts")
    assert (result.update, result.stopped_by, result.valid_loss) == (16, "patience", 0.9)
    assert_same_run(small.folder / "whole", small.folder / "parts", "checkpoints/update-000000016")


def test_a_run_killed_while_it_ends_makes_no_further_update(small, monkeypatch):
    small.training = small.training.replace(validate_every=4, validate_bleu=0, patience=2)
    with monkeypatch.context() as patched, pytest.raises(ZeroDivisionError):
        with_losses(patched, WHOLE)
        patched.setattr(observer, "average_last", lambda *_: 1 // 0)
        small.train()
    with_losses(monkeypatch, WHOLE[4:])
    result = small.train()
    assert (result.update, result.finished, result.valid_loss) == (16, True, 0.9)


def test_a_run_that_patience_finished_says_so_and_goes_on_with_more(small, monkeypatch, capsys):
    small.training = small.training.replace(validate_every=4, validate_bleu=0, device="cpu")
    with_losses(monkeypatch, WHOLE)
    small.train(patience=2)

    def typed(patience: int) -> list[str]:
        training = small.training.replace(patience=patience)
        return train_command(small.folder / "run", small.model, training, small.data)[1:]

    with_losses(monkeypatch, [0.9])
    assert main(typed(2)) == 0
    says = "finished after update 16 of 24: 2 validations since the lowest validation loss, 1.0000 after update 8"
    assert f"{says} (--training.patience 2)" in capsys.readouterr().err
    with_losses(monkeypatch, [1.1, 0.9])
    assert main(typed(3)) == 0
    assert ends(small.folder / "run")["update"] == 20
    with_losses(monkeypatch, [1.1, 0.9])
    assert main(typed(4)) == 0
    assert ends(small.folder / "run") == {"kind": "end", "update": 24, "finished": True, "stopped_by": None}
