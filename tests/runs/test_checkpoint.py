from __future__ import annotations

import errno
import json
import os
import random
from pathlib import Path

import numpy as np
import pytest
import safetensors.torch
import torch

from annotated import saving
from annotated.config import ModelConfig, TrainingConfig
from annotated.data.batching import collate_ids
from annotated.data.tokenizer import Tokenizer
from annotated.model import Transformer
from annotated.runs import TrainingState, latest_checkpoint, list_checkpoints, load_checkpoint, read_records
from annotated.runs.checkpoint import (
    checkpoint_path,
    prepare_resume,
    prune_checkpoints,
    take_snapshot,
    write_snapshot,
)
from annotated.runs.random_states import random_states, seed_everything, set_random_states
from annotated.saving import load_model, save_pretrained
from annotated.speed.steps import packed_loss
from annotated.training import CheckpointError, DiskFull, make_optimizer

pytestmark = pytest.mark.oldest_torch

SHAPE = {
    "d_model": 16,
    "d_ff": 32,
    "num_heads": 2,
    "d_k": 8,
    "d_v": 8,
    "num_encoder_layers": 1,
    "num_decoder_layers": 1,
}


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.train(["the cat sleeps", "the dog sleeps"] * 4, 270)


def make_model(vocab_size: int, **changes) -> Transformer:
    torch.manual_seed(0)
    return Transformer(ModelConfig(vocab_size=vocab_size, **{**SHAPE, **changes}))


def same_weights(one: torch.nn.Module, other: torch.nn.Module) -> bool:
    states = one.state_dict(), other.state_dict()
    return states[0].keys() == states[1].keys() and all(t.equal(states[1][name]) for name, t in states[0].items())


@pytest.mark.parametrize("changes", [{}, {"tie_embeddings": False, "positions": "learned", "norm": "pre"}])
def test_a_model_comes_back_as_it_was(tmp_path, tokenizer, changes):
    model = make_model(tokenizer.vocab_size, **changes)
    save_pretrained(tmp_path / "model", model, tokenizer)
    assert {path.name for path in (tmp_path / "model").iterdir()} == {
        "model.safetensors", "config.json", "tokenizer.json"
    }  # fmt: skip
    loaded, loaded_tokenizer = load_model(tmp_path / "model")
    assert loaded.config == model.config
    assert same_weights(loaded, model)
    assert not loaded.training
    assert loaded_tokenizer is not None and loaded_tokenizer.fingerprint == tokenizer.fingerprint


def test_a_model_without_a_tokenizer(tmp_path):
    model = make_model(50)
    save_pretrained(tmp_path / "model", model)
    loaded, none = load_model(tmp_path / "model")
    assert none is None and same_weights(loaded, model)


def test_saving_replaces_what_was_there(tmp_path):
    save_pretrained(tmp_path / "model", make_model(50))
    save_pretrained(tmp_path / "model", make_model(60))
    assert load_model(tmp_path / "model")[0].config.vocab_size == 60
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_model_and_tokenizer_must_agree_when_saved(tmp_path, tokenizer):
    with pytest.raises(CheckpointError, match="do not belong together"):
        save_pretrained(tmp_path / "model", make_model(tokenizer.vocab_size + 1), tokenizer)
    assert not list(tmp_path.iterdir())


def test_a_tokenizer_of_another_model_is_refused(tmp_path, tokenizer):
    save_pretrained(tmp_path / "model", make_model(tokenizer.vocab_size), tokenizer)
    other = Tokenizer.train(["ein hund schreibt", "eine katze bleibt"] * 4, tokenizer.vocab_size)
    assert other.vocab_size == tokenizer.vocab_size
    other.save(tmp_path / "model" / "tokenizer.json")
    with pytest.raises(CheckpointError, match="not the tokenizer that the model was trained with"):
        load_model(tmp_path / "model")
    Tokenizer.train(["ein hund schreibt"], 261).save(tmp_path / "model" / "tokenizer.json")
    with pytest.raises(CheckpointError, match=r"261 entries and the model \d+, so they do not belong together"):
        load_model(tmp_path / "model")
    (tmp_path / "model" / "tokenizer.json").unlink()
    with pytest.raises(CheckpointError, match="tokenizer.json: no such file"):
        load_model(tmp_path / "model")


def test_weights_of_another_model_are_refused(tmp_path):
    save_pretrained(tmp_path / "one", make_model(50))
    save_pretrained(tmp_path / "other", make_model(50, d_ff=48))
    weights = (tmp_path / "other" / "model.safetensors").read_bytes()
    (tmp_path / "one" / "model.safetensors").write_bytes(weights)
    with pytest.raises(
        CheckpointError, match=r"weights and config.json do not belong together.*\[48, 16\], not \[32, 16\]"
    ):
        load_model(tmp_path / "one")


def test_flipped_bytes_of_the_weights_are_found(tmp_path):
    """Of a length that no other check sees; a folder of a version that wrote no checksum is loaded as before."""
    model = make_model(50)
    save_pretrained(tmp_path / "model", model)
    weights, about = tmp_path / "model" / "model.safetensors", tmp_path / "model" / "config.json"
    raw = bytearray(weights.read_bytes())
    raw[-200:-198] = bytes(255 - byte for byte in raw[-200:-198])
    weights.write_bytes(raw)
    with pytest.raises(CheckpointError, match=r"damaged \(model.safetensors has changed.*copy it anew"):
        load_model(tmp_path / "model")
    spoilt = bytearray(bytes(raw))
    spoilt[20] ^= 1  # in the header: a weight's name changes
    weights.write_bytes(spoilt)
    with pytest.raises(CheckpointError, match=r"damaged|not as it was written"):
        load_model(tmp_path / "model")
    weights.write_bytes(raw)
    content = json.loads(about.read_text())
    del content["files"]
    about.write_text(json.dumps(content))
    assert not same_weights(load_model(tmp_path / "model")[0], model)


def test_a_folder_with_something_else_is_not_replaced(tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "thesis.txt").write_text("years")
    with pytest.raises(FileExistsError, match=r"mine: not replaced, for it holds thesis\.txt; give"):
        save_pretrained(folder, make_model(50))
    assert [path.name for path in folder.iterdir()] == ["thesis.txt"]
    (tmp_path / "file").write_text("text")
    with pytest.raises(FileExistsError, match="a file stands where a folder is needed"):
        save_pretrained(tmp_path / "file", make_model(50))
    (tmp_path / "empty").mkdir()
    save_pretrained(tmp_path / "empty", make_model(50))
    assert load_model(tmp_path / "empty")


def test_checkpoints_are_listed_by_a_path_as_text(tmp_path):
    (tmp_path / "checkpoints" / "update-000000007").mkdir(parents=True)
    assert list_checkpoints(str(tmp_path)) == [tmp_path / "checkpoints" / "update-000000007"]
    with pytest.raises(CheckpointError, match="no checkpoint can be used"):
        latest_checkpoint(str(tmp_path))
    assert latest_checkpoint(str(tmp_path / "checkpoints")) == (None, [])


@pytest.mark.parametrize("name", ["model.safetensors", "config.json"])
def test_missing_and_damaged_files_of_a_model(tmp_path, name):
    save_pretrained(tmp_path / "model", make_model(50))
    path = tmp_path / "model" / name
    path.write_bytes(path.read_bytes()[:20])
    with pytest.raises(CheckpointError, match=f"{name}: damaged or incomplete"):
        load_model(tmp_path / "model")
    path.unlink()
    with pytest.raises(CheckpointError, match=f"{name}: no such file"):
        load_model(tmp_path / "model")
    with pytest.raises(CheckpointError, match="no such folder"):
        load_model(tmp_path / "nowhere")


def test_a_configuration_of_another_version_is_refused(tmp_path):
    save_pretrained(tmp_path / "model", make_model(50))
    path = tmp_path / "model" / "config.json"
    about = json.loads(path.read_text())
    path.write_text(json.dumps({**about, "format": 99}))
    with pytest.raises(CheckpointError, match="format 99"):
        load_model(tmp_path / "model")
    path.write_text(json.dumps({**about, "model": {**about["model"], "flux": 1}}))
    with pytest.raises(CheckpointError, match="no field flux"):
        load_model(tmp_path / "model")


def step(model: Transformer, optimizer: torch.optim.Optimizer) -> None:
    optimizer.param_groups[0]["lr"] = 0.01
    loss, tokens = packed_loss(model, collate_ids([([5, 6], [7, 8, 9]), ([4], [5])]), 0.1)
    (loss / tokens).backward()
    optimizer.step()
    optimizer.zero_grad()


def save(
    folder: Path, model: Transformer, optimizer: torch.optim.Optimizer, state: TrainingState, tokenizer=None
) -> Path:
    return write_snapshot(take_snapshot(model, optimizer, state, tokenizer), checkpoint_path(folder, state.update))


def test_a_checkpoint_holds_adam_too(tmp_path):
    model = make_model(50)
    optimizer = make_optimizer(model, TrainingConfig())
    step(model, optimizer)
    state = TrainingState(update=1, tokens_seen=6, elapsed=2.5, data={"epoch": 3}, random={"a": 1})
    save(tmp_path, model, optimizer, state)
    copy = make_model(50)
    copy_optimizer = make_optimizer(copy, TrainingConfig())
    path, reports = latest_checkpoint(tmp_path)
    assert path is not None and reports == []
    assert load_checkpoint(path, copy, copy_optimizer) == state
    for one, other in ((model, optimizer), (copy, copy_optimizer)):
        torch.manual_seed(5)  # dropout
        step(one, other)
    assert same_weights(model, copy)


def test_a_checkpoint_is_a_model_folder(tmp_path, tokenizer):
    model = make_model(tokenizer.vocab_size)
    path = save(tmp_path, model, make_optimizer(model, TrainingConfig()), TrainingState(), tokenizer)
    loaded, loaded_tokenizer = load_model(path)
    assert same_weights(loaded, model) and loaded_tokenizer is not None


def test_the_oldest_checkpoints_go(tmp_path):
    model = make_model(50)
    optimizer = make_optimizer(model, TrainingConfig())
    for update in range(1, 6):
        save(tmp_path, model, optimizer, TrainingState(update=update))
        prune_checkpoints(tmp_path, keep=2)
    assert [path.name for path in list_checkpoints(tmp_path)] == ["update-000000004", "update-000000005"]


def test_without_checkpoints_there_is_none(tmp_path):
    assert latest_checkpoint(tmp_path) == (None, [])
    (tmp_path / "checkpoints" / ".partial-update-000000001-7").mkdir(parents=True)
    assert latest_checkpoint(tmp_path) == (None, [])
    assert prepare_resume(tmp_path) == (None, [])
    assert not list((tmp_path / "checkpoints").iterdir())


def full_disk(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Writing a file of this name finds no space, after a part of it was written."""
    write = saving.write_tensors

    def write_some(path: Path, tensors) -> None:
        write(path, tensors)
        if path.name == name:
            os.truncate(path, path.stat().st_size // 2)
            raise OSError(errno.ENOSPC, "No space left on device", str(path))

    for module in ("annotated.runs.checkpoint", "annotated.saving"):
        monkeypatch.setattr(f"{module}.write_tensors", write_some)


def test_tensors_are_written_as_safetensors_writes_them(tmp_path):
    torch.manual_seed(0)
    tensors = {
        "b": torch.randn(3, 5), "a": torch.randn(2).to(torch.bfloat16), "c": torch.tensor(7.0), "ä": torch.randn(0, 4),
        "d": torch.arange(6).reshape(2, 3).t(), "e": torch.randn(3, dtype=torch.float64), "f": torch.tensor([True]),
        "g": torch.randn(1).half(), "h": torch.arange(3, dtype=torch.uint8), "i": torch.arange(3, dtype=torch.int32),
    }  # fmt: skip
    saving.write_tensors(tmp_path / "ours", tensors)
    expected = safetensors.torch.save({name: tensor.contiguous() for name, tensor in tensors.items()})
    read = saving.read_tensors(tmp_path / "ours")
    assert all(read[name].equal(tensor) and read[name].dtype == tensor.dtype for name, tensor in tensors.items())
    assert (tmp_path / "ours").read_bytes() == expected


def test_a_full_disk_leaves_the_last_checkpoint(small, monkeypatch):
    small.trained(updates=8)
    full_disk(monkeypatch, "optimizer.safetensors")
    with pytest.raises(DiskFull) as error:
        small.train(updates=16)
    message = str(error.value)
    for part in (
        "the disk is full",
        "update-000000016",
        "MB are free",
        "Free some space",
        "run the same command again",
    ):
        assert part in message
    folder = small.folder / "run" / "checkpoints"
    assert [path.name for path in folder.iterdir()] == ["update-000000008"]
    monkeypatch.undo()
    assert small.train(updates=16).finished
    made = [record["update"] for record in read_records(small.folder / "run") if record["kind"] == "train"]
    assert made == [4, 8, 12, 16]


def test_a_full_disk_leaves_the_model_that_was_there(tmp_path, monkeypatch):
    save_pretrained(tmp_path / "model", make_model(50))
    full_disk(monkeypatch, "model.safetensors")
    with pytest.raises(DiskFull):
        save_pretrained(tmp_path / "model", make_model(60))
    assert load_model(tmp_path / "model")[0].config.vocab_size == 50
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_random_states_survive_json():
    seed_everything(3)
    random.gauss(0, 1), np.random.randn(), torch.randn(3)
    states = json.loads(json.dumps(random_states()))
    expected = random.random(), random.gauss(0, 1), np.random.randn(3).tolist(), torch.randn(4).tolist()
    seed_everything(4)
    set_random_states(states)
    assert (random.random(), random.gauss(0, 1), np.random.randn(3).tolist(), torch.randn(4).tolist()) == expected
