from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from annotated.runs import TrainingState
from annotated.runs.checkpoint import FORMAT
from annotated.runs.last_checkpoints import average_last
from annotated.storage import checksums, write_json
from annotated.training import CheckpointError, average_checkpoints

pytestmark = pytest.mark.oldest_torch


def checkpoint(folder: Path, **tensors: torch.Tensor) -> Path:
    folder.mkdir(parents=True)
    save_file(tensors, folder / "model.safetensors")
    write_json(folder / "state.json", {"format": FORMAT, **asdict(TrainingState()), "files": checksums(folder)})
    return folder


def test_by_hand(tmp_path):
    folders = [checkpoint(tmp_path / str(i), a=torch.tensor([i, 10.0 * i])) for i in (1.0, 2.0, 6.0)]
    assert torch.equal(average_checkpoints(folders)["a"], torch.tensor([3.0, 30.0]))


def test_sums_in_float64(tmp_path):
    # In float32, 1e8 + 1 is 1e8: the ones would be lost.
    folders = [checkpoint(tmp_path / str(i), a=torch.tensor([value])) for i, value in enumerate((1e8, 1.0, 1.0, -1e8))]
    assert average_checkpoints(folders)["a"].item() == 0.5
    assert average_checkpoints(folders)["a"].dtype == torch.float32


def test_the_last_n_of_a_run(tmp_path):
    for update in (9, 10, 11, 100):  # in the order of numbers, not of letters
        checkpoint(tmp_path / "checkpoints" / f"update-{update:09d}", a=torch.tensor([float(update)]))
    state, chosen = average_last(tmp_path, 2)
    assert [path.name for path in chosen] == ["update-000000011", "update-000000100"]
    assert state["a"].item() == 55.5
    assert average_last(tmp_path, 10)[0]["a"].item() == 32.5
    newest = chosen[-1] / "model.safetensors"
    newest.write_bytes(newest.read_bytes()[:-1] + b"!")  # still readable, and wrong
    assert average_last(tmp_path, 2)[0]["a"].item() == 10.5


def test_what_has_no_average(tmp_path):
    with pytest.raises(CheckpointError, match="no checkpoints to average"):
        average_last(tmp_path, 2)
    with pytest.raises(CheckpointError, match="no checkpoints to average"):
        average_checkpoints([])
    one = checkpoint(tmp_path / "one", a=torch.zeros(2))
    other = checkpoint(tmp_path / "other", a=torch.zeros(3))
    with pytest.raises(CheckpointError, match="different models"):
        average_checkpoints([one, other])
    (other / "model.safetensors").write_bytes(b"nothing")
    with pytest.raises(CheckpointError, match="damaged"):
        average_checkpoints([one, other])
