"""Checkpoints are written while training goes on, hold what was, one at a time, and tell of their errors."""

from __future__ import annotations

import errno
import json
import threading
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

import annotated.runs.checkpoint_writer as checkpoint_writer
import annotated.runs.observer as observer
from annotated.config import ModelConfig, TrainingConfig
from annotated.model import Transformer
from annotated.runs import TrainingState, list_checkpoints, read_records
from annotated.runs.checkpoint import (
    best_checkpoints,
    check_checkpoint,
    latest_checkpoint,
    prepare_resume,
    take_snapshot,
)
from annotated.runs.checkpoint_writer import CheckpointWriter, Saved
from annotated.runs.last_checkpoints import average_last
from annotated.saving import NewerVersionError
from annotated.storage import DiskFull
from annotated.training import CheckpointError, make_optimizer

pytestmark = pytest.mark.process

WAIT = 300.0


@pytest.fixture
def model() -> Transformer:
    sizes = {"d_model": 16, "d_ff": 32, "num_heads": 2, "d_k": 8, "d_v": 8}
    return Transformer(ModelConfig(vocab_size=50, num_encoder_layers=1, num_decoder_layers=1, **sizes))


class Disk:
    """Writes only when it may."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.may_write, self.begun = threading.Event(), threading.Event()
        write = checkpoint_writer.write_snapshot

        def wait_and_write(snapshot, target: Path) -> Path:
            self.begun.set()
            assert self.may_write.wait(WAIT)
            return write(snapshot, target)

        monkeypatch.setattr(checkpoint_writer, "write_snapshot", wait_and_write)


def snapshot_of(model: Transformer, update: int):
    return take_snapshot(model, make_optimizer(model, TrainingConfig()), TrainingState(update=update), None)


def test_what_is_written_is_what_was_when_it_was_handed_over(tmp_path, model, monkeypatch):
    disk, saved = Disk(monkeypatch), []
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    with CheckpointWriter(tmp_path, 5, 0, saved.append) as writer:
        writer.save(snapshot_of(model, 1))  # returns, though the disk does not
        assert disk.begun.wait(WAIT)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.zero_()  # training goes on
        writer.collect()
        assert saved == [] and list_checkpoints(tmp_path) == []
        disk.may_write.set()
    (path,) = list_checkpoints(tmp_path)
    assert saved == [Saved(1, path, False)], "it is told of when it is whole"
    written = load_file(path / "model.safetensors")
    assert all(tensor.equal(written[name]) for name, tensor in before.items())


def test_one_at_a_time(tmp_path, model, monkeypatch):
    disk, saved = Disk(monkeypatch), []
    with CheckpointWriter(tmp_path, 5, 0, saved.append) as writer:
        writer.save(snapshot_of(model, 1))
        second = threading.Thread(target=writer.save, args=[snapshot_of(model, 2)])
        second.start()
        second.join(0.1)
        assert second.is_alive(), "the second waits for the first"
        disk.may_write.set()
        second.join(WAIT)
        assert [one.update for one in saved] == [1]
    assert [one.update for one in saved] == [1, 2]
    assert [path.name for path in list_checkpoints(tmp_path)] == ["update-000000001", "update-000000002"]


def full(snapshot, target: Path) -> Path:
    raise DiskFull(errno.ENOSPC, f"the disk is full: {target}")


@pytest.mark.parametrize("asked_by", ["collect", "save", "the end"])
def test_an_error_of_the_thread_reaches_the_training(tmp_path, model, monkeypatch, asked_by):
    monkeypatch.setattr(checkpoint_writer, "write_snapshot", full)

    def ask(writer: CheckpointWriter) -> None:
        if asked_by == "collect":
            writer.collect(wait=True)
        elif asked_by == "save":
            writer.save(snapshot_of(model, 2))

    with (
        pytest.raises(DiskFull, match="update-000000001"),
        CheckpointWriter(tmp_path, 5, 0, lambda saved: None) as writer,
    ):
        writer.save(snapshot_of(model, 1))
        ask(writer)


def test_another_error_ends_the_training_and_what_was_begun_becomes_whole(tmp_path, model, monkeypatch):
    disk, saved = Disk(monkeypatch), []
    with pytest.raises(ZeroDivisionError), CheckpointWriter(tmp_path, 5, 0, saved.append) as writer:
        writer.save(snapshot_of(model, 1))
        threading.Timer(0.1, disk.may_write.set).start()
        raise ZeroDivisionError
    (path,) = list_checkpoints(tmp_path)
    assert check_checkpoint(path) is None and len(saved) == 1
    monkeypatch.setattr(checkpoint_writer, "write_snapshot", full)
    with pytest.raises(ZeroDivisionError), CheckpointWriter(tmp_path, 5, 0, saved.append) as writer:
        writer.save(snapshot_of(model, 2))
        raise ZeroDivisionError  # and not the disk: the first error is the one to know


def test_the_best_are_kept_apart_and_never_averaged(small, monkeypatch):
    losses = iter([5.0, 3.0, 4.0, 2.0, 6.0, 1.0, 1.0])  # after updates 4, 8, ... 24, and of the average
    monkeypatch.setattr(observer, "validation_loss", lambda *_: next(losses))
    settings = {"validate_every": 4, "keep_best": 2, "keep_checkpoints": 2, "average_last": 2}
    result = small.train(updates=12, **settings)
    assert [loss for loss, _ in best_checkpoints(result.folder)] == [3.0, 4.0]
    losses = iter([2.0, 6.0, 1.0, 1.0])
    small.train(updates=24, **settings)  # going on, it knows the best so far
    folder = result.folder
    assert [(loss, path.name) for loss, path in best_checkpoints(folder)] == [
        (1.0, "update-000000024"), (2.0, "update-000000016")
    ]  # fmt: skip
    assert {path.name for path in (folder / "best").iterdir()} == {"update-000000016", "update-000000024"}
    assert [path.name for path in list_checkpoints(folder)] == ["update-000000016", "update-000000024"]
    assert [path.parent.name for path in average_last(folder, 20)[1]] == ["checkpoints"] * 2
    one, other = (load_file(folder / kind / "update-000000016/model.safetensors") for kind in ("best", "checkpoints"))
    assert all(one[name].equal(other[name]) for name in one)
    kinds = [(record["kind"], record["update"]) for record in read_records(folder) if record["kind"] == "best"]
    assert kinds == [("best", 4), ("best", 8), ("best", 12), ("best", 16), ("best", 24)]


def test_a_checkpoint_of_a_newer_version_is_not_taken_for_damage(small):
    small.trained(updates=16)
    folder = small.folder / "run"
    newest = list_checkpoints(folder)[-1] / "state.json"
    newest.write_text(json.dumps({**json.loads(newest.read_text()), "format": 99}))
    before = sorted(folder.rglob("*"))
    for look in (latest_checkpoint, prepare_resume, lambda folder: average_last(folder, 2)):
        with pytest.raises(
            NewerVersionError, match=r"update-000000016.*newer version.*format 99.*Install the newer version"
        ):
            look(folder)
    assert sorted(folder.rglob("*")) == before


def test_a_checkpoint_of_another_format_is_refused(small):
    small.trained(updates=16)
    for path in list_checkpoints(small.folder / "run"):
        state = json.loads((path / "state.json").read_text())
        (path / "state.json").write_text(json.dumps({**state, "format": state["format"] - 1}))
    with pytest.raises(CheckpointError, match=r"no checkpoint can be used.*not of format \d"):
        small.train()


def test_the_state_of_a_snapshot_is_a_copy_too(model):
    state = TrainingState(update=3, data={"epoch": 1})
    snapshot = take_snapshot(model, make_optimizer(model, TrainingConfig()), state, None)
    state.update, state.data["epoch"] = 4, 2
    assert (snapshot.state["update"], snapshot.state["data"]["epoch"]) == (3, 1)
