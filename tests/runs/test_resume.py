"""A run killed at any moment goes on, and ends as if nothing had happened: bit for bit."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
from pathlib import Path

import pytest
from safetensors.torch import load_file

import annotated.runs.loop as loop
import annotated.runs.observer as observer
from annotated.runs import latest_checkpoint, list_checkpoints, read_records
from annotated.saving import load_model
from annotated.training import CheckpointError

pytestmark = [pytest.mark.process, pytest.mark.oldest_torch]


def assert_same_run(one: Path, other: Path, checkpoint: str) -> None:
    for name in ("model.safetensors", "optimizer.safetensors"):
        first, second = load_file(one / checkpoint / name), load_file(other / checkpoint / name)
        assert first.keys() == second.keys()
        different = [key for key in first if not first[key].equal(second[key])]
        assert not different
    first, second = (json.loads((run / checkpoint / "state.json").read_text()) for run in (one, other))
    for state in (first, second):  # times differ, and with them sums over files; paths may
        for name in ("elapsed", "files", "configuration"):
            del state[name]
    assert first == second


def assert_log_is_whole(folder: Path, updates: int, every: int) -> None:
    made = [record["update"] for record in read_records(folder) if record["kind"] == "train" and "loss" in record]
    assert made == sorted(set(made)), "an update was logged twice"
    assert set(range(every, updates + 1, every)) <= set(made)


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs fork")
def test_what_a_death_left_of_a_tokenizer_is_swept_up(small):
    _, tokenizer = load_model(small.trained("other", updates=1) / "model")
    folder = small.folder / "run"

    def dies() -> None:
        os.replace = lambda *_: os._exit(9)
        tokenizer.save(folder / "tokenizer.json")

    process = multiprocessing.get_context("fork").Process(target=dies)
    process.start()
    process.join()
    assert process.exitcode == 9 and len(list(folder.glob(".*"))) == 1 and not (folder / "tokenizer.json").exists()
    small.train(updates=1)
    assert not list(folder.rglob(".*")) and (folder / "tokenizer.json").exists()


@pytest.mark.parametrize("seed", [0, pytest.param(3, marks=pytest.mark.nightly)])
def test_stopped_politely_and_resumed(small, seed, monkeypatch):
    small.training = small.training.replace(seed=seed)
    small.trained("whole")
    rate = loop.learning_rate

    def interrupting(update: int, *others) -> float:
        if update == 13:
            os.kill(os.getpid(), signal.SIGTERM)
        return rate(update, *others)

    monkeypatch.setattr(loop, "learning_rate", interrupting)
    stopped = small.train("halves")
    assert (stopped.finished, stopped.stopped_by, stopped.update) == (False, "SIGTERM", 13)
    assert list_checkpoints(stopped.folder)[-1].name == "update-000000013"
    monkeypatch.undo()
    assert small.train("halves").finished
    assert_same_run(small.folder / "whole", small.folder / "halves", "checkpoints/update-000000024")
    # The checkpoint of update 13 is not one of those that are averaged.
    models = [load_file(small.folder / run / "model" / "model.safetensors") for run in ("whole", "halves")]
    assert all(models[0][name].equal(models[1][name]) for name in models[0])
    assert_log_is_whole(small.folder / "halves", 24, 4)


def test_another_seed_is_another_run(small):
    small.train("one", updates=4)
    small.train("other", updates=4, seed=1)
    with pytest.raises(AssertionError):
        assert_same_run(small.folder / "one", small.folder / "other", "checkpoints/update-000000004")


def test_a_damaged_checkpoint_is_passed_over_and_reported(small):
    small.trained("whole")
    small.trained("damaged", updates=16)
    newest = list_checkpoints(small.folder / "damaged")[-1]
    weights = bytearray((newest / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (newest / "model.safetensors").write_bytes(weights)
    path, reports = latest_checkpoint(small.folder / "damaged")
    assert path is not None and path.name == "update-000000008"
    assert len(reports) == 1
    assert len(list_checkpoints(small.folder / "damaged")) == 2, "looking changes nothing"
    for part in ("update-000000016 is damaged", "model.safetensors", "SHA-256", "update-000000008", "8 updates"):
        assert part in reports[0]
    small.train("damaged")
    assert_same_run(small.folder / "whole", small.folder / "damaged", "checkpoints/update-000000024")
    assert [path.name for path in list_checkpoints(small.folder / "damaged")] == [
        "update-000000008",
        "update-000000016",
        "update-000000024",
    ]
    assert not list((small.folder / "damaged" / "checkpoints").glob("*.damaged*"))


@pytest.mark.parametrize("damage", ["missing", "truncated", "state"])
def test_other_kinds_of_damage(small, damage):
    small.trained(updates=16)
    newest = list_checkpoints(small.folder / "run")[-1]
    if damage == "missing":
        (newest / "optimizer.safetensors").unlink()
    elif damage == "truncated":
        os.truncate(newest / "optimizer.safetensors", 100)
    else:
        (newest / "state.json").write_text('{"format": 1, "upda')
    path, reports = latest_checkpoint(small.folder / "run")
    assert path is not None and path.name == "update-000000008"
    assert "update-000000016" in reports[0]
    assert ("optimizer.safetensors" in reports[0]) == (damage != "state")


def test_no_checkpoint_is_whole(small):
    small.trained(updates=16)
    for path in list_checkpoints(small.folder / "run"):
        (path / "state.json").unlink()
    with pytest.raises(CheckpointError, match="no checkpoint can be used.*state.json"):
        small.train()
    assert len(list_checkpoints(small.folder / "run")) == 2, "nothing was thrown away"


def test_a_finished_run_can_be_made_longer(small):
    small.trained("whole")
    small.trained("parts", updates=16)
    small.train("parts", updates=24)
    assert_same_run(small.folder / "whole", small.folder / "parts", "checkpoints/update-000000024")


def test_a_run_begun_before_ties_could_be_random_goes_on_with_its_batches(small, capsys):
    small.trained("whole")
    small.trained("parts", updates=16)
    state_file = list_checkpoints(small.folder / "parts")[-1] / "state.json"
    state = json.loads(state_file.read_text())
    del state["data"]["data"]["length_ties"], state["configuration"]["data"]["length_ties"]
    state_file.write_text(json.dumps(state))
    small.data = small.data.replace(length_ties="random")  # as a recipe says it now
    loop.train(small.model, small.training.replace(updates=20), small.data, small.folder / "parts")
    assert "begun with length_ties 'sorted' and goes on with the same batches" in capsys.readouterr().err
    small.train("parts")
    assert_same_run(small.folder / "whole", small.folder / "parts", "checkpoints/update-000000024")


def test_a_field_that_a_run_did_not_know_had_its_default(small):
    """A run of an older version is not resumed with an option that changes its arithmetic."""
    small.trained(updates=8)
    state_file = list_checkpoints(small.folder / "run")[-1] / "state.json"
    state = json.loads(state_file.read_text())
    del state["configuration"]["training"]["vocabulary_precision"]
    state_file.write_text(json.dumps(state))
    with pytest.raises(CheckpointError, match="training.vocabulary_precision was 'same' and is now 'fp8'"):
        small.train(vocabulary_precision="fp8")
    assert small.train(updates=10).update == 10


def test_the_order_of_a_run_that_named_one_cannot_be_changed(small):
    small.trained(updates=8)
    small.data = small.data.replace(length_ties="random")
    with pytest.raises(CheckpointError, match="data.length_ties was 'sorted' and is now 'random'"):
        small.train()


def test_the_folder_and_the_corpus_may_move(small, tmp_path):
    small.trained("whole")
    small.trained("parts", updates=16)
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    for side in ("train", "valid"):
        (moved / f"{side}.tsv").write_bytes(Path(getattr(small.data, side)).read_bytes())
    (small.folder / "parts").rename(small.folder / "moved")
    small.data = small.data.replace(train=str(moved / "train.tsv"), valid=str(moved / "valid.tsv"))
    small.train("moved")
    assert_same_run(small.folder / "whole", small.folder / "moved", "checkpoints/update-000000024")


def test_another_configuration_is_refused_by_name(small):
    small.trained(updates=8)
    with pytest.raises(CheckpointError) as error:
        small.train(updates=8, warmup=11, label_smoothing=0.2, log_every=1)
    message = str(error.value)
    assert "training.warmup was 10 and is now 11" in message
    assert "training.label_smoothing was 0.1 and is now 0.2" in message
    assert "log_every" not in message
    with pytest.raises(CheckpointError, match="training.layout was 'packed' and is now 'padded'"):
        small.train(updates=8, layout="padded")
    assert small.train(updates=8, layout="static", micro_batch_tokens=100).finished, (
        "the same batches, so it may change"
    )
    small.model = small.model.replace(d_ff=64)
    with pytest.raises(CheckpointError, match="model.d_ff was 32 and is now 64"):
        small.train(updates=8)


def test_other_data_are_refused(small, tmp_path):
    small.trained(updates=8)
    lines = Path(small.data.train).read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "other.tsv").write_text("".join(lines[1:]))
    small.data = small.data.replace(train=str(tmp_path / "other.tsv"))
    with pytest.raises(CheckpointError, match=r"trained on other data than this .*other.tsv, or the text has changed"):
        small.train(updates=16)


def test_one_training_at_a_time(small, monkeypatch):
    snapshot, refused = observer.take_snapshot, []

    def train_again_and_save(*arguments, **named):
        with pytest.raises(CheckpointError, match="another process is training in this folder"):
            small.train(updates=8)
        refused.append(True)
        return snapshot(*arguments, **named)

    monkeypatch.setattr(observer, "take_snapshot", train_again_and_save)
    assert small.train(updates=8).finished and refused


def test_resume_false_protects_a_run(small):
    small.trained(updates=8)
    with pytest.raises(CheckpointError, match="already holds a training run"):
        small.train(resume=False)
