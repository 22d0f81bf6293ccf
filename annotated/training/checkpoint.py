"""Training checkpoints: all that a run needs to go on as if it had never stopped.

A checkpoint is a folder `checkpoints/update-000001000` that holds a model folder (`annotated.training.model_folder`),
Adam's moments, and `state.json` with the position in the data, the random states and the configuration. It
appears whole or not at all, and is checked against its SHA-256 sums before it is used.

Paper: sections 5.2 and 6.1 (the last 5 or 20 checkpoints are averaged)
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from torch import Tensor
from torch.optim import Optimizer

from annotated.data.tokenizer import Tokenizer
from annotated.model import Transformer
from annotated.training.files import (
    CheckpointError,
    describe_files,
    find_damage,
    read_json,
    read_tensors,
    sweep,
    whole_folder,
    write_json,
    write_tensors,
)
from annotated.training.model_folder import FORMAT, load_weights, write_model_files

CHECKPOINTS = "checkpoints"
_NAME = re.compile(r"update-(\d{9,})")
_DAMAGED = ".damaged"


@dataclass
class TrainingState:
    """Where a run stands, apart from weights and moments: what `state.json` holds."""

    update: int = 0
    """Updates made."""
    tokens_seen: int = 0
    """Target tokens trained on, repetitions included."""
    elapsed: float = 0.0
    """Seconds of all the run's processes so far."""
    data: dict[str, Any] = field(default_factory=dict)
    """Position in the data: `TokenBatches.state_dict()`."""
    random: dict[str, Any] = field(default_factory=dict)
    """See `annotated.training.random_states`."""
    scaler: dict[str, Any] = field(default_factory=dict)
    """The scale of fp16 gradients; empty with other precisions."""
    interim: bool = False
    """Saved because a signal came, between two regular checkpoints: deleted when the next is saved, so that it is not
    averaged and a stopped run ends like one that was not."""
    configuration: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The three configurations, as dictionaries: 'model', 'training', 'data'."""


def save_checkpoint(
    folder: Path, model: Transformer, optimizer: Optimizer, state: TrainingState, tokenizer: Tokenizer | None, keep: int
) -> Path:
    """Write `folder/checkpoints/update-...`, then delete all but the newest `keep`.

    Returns
    -------
    Path
        The checkpoint.

    Raises
    ------
    DiskFullError
        If the disk is full; the checkpoints before are untouched.
    """
    target = checkpoint_path(folder, state.update)
    with whole_folder(target) as partial:
        write_model_files(partial, model.config, model.state_dict(), tokenizer)
        write_tensors(partial / "optimizer.safetensors", _moments(model, optimizer))
        files = describe_files(partial)
        write_json(partial / "state.json", {"format": FORMAT, **asdict(state), "files": files})
    _prune(folder, keep)
    return target


def load_checkpoint(path: Path, model: Transformer, optimizer: Optimizer) -> TrainingState:
    """Put a checkpoint's weights and moments into `model` and `optimizer`; return where the run stood.

    Raises
    ------
    CheckpointError
        If the checkpoint is damaged, or belongs to another model.
    """
    content = _read_state(path)
    load_weights(model, read_tensors(path / "model.safetensors"), path / "model.safetensors")
    _set_moments(model, optimizer, read_tensors(path / "optimizer.safetensors"), path / "optimizer.safetensors")
    return TrainingState(**{name: content[name] for name in TrainingState.__dataclass_fields__})


def checkpoint_path(folder: Path, update: int) -> Path:
    """Where the checkpoint after an update lies."""
    return folder / CHECKPOINTS / f"update-{update:09d}"


def list_checkpoints(folder: Path) -> list[Path]:
    """All checkpoints of a run, oldest first, unchecked."""
    paths = [path for path in (folder / CHECKPOINTS).glob("update-*") if _NAME.fullmatch(path.name)]
    return sorted(paths, key=_update_of)


def latest_checkpoint(folder: Path) -> tuple[Path | None, list[str]]:
    """The newest checkpoint that is whole, and what is wrong with those that are newer; changes nothing on disk.

    Returns
    -------
    path, reports
        None if the run has no checkpoint yet; sentences for the user, empty if all is well.

    Raises
    ------
    CheckpointError
        If there are checkpoints and none is whole.
    """
    damaged: list[tuple[Path, str]] = []
    for good in reversed(list_checkpoints(folder)):
        problem = check_checkpoint(good)
        if problem is None:
            break
        damaged.append((good, problem))
    else:
        if not damaged:
            return None, []
        listed = "; ".join(f"{path.name}: {problem}" for path, problem in damaged)
        raise CheckpointError(
            f"{folder / CHECKPOINTS}: no checkpoint can be used ({listed}). Put a good copy back, or delete the folder "
            "to begin again from update 1"
        )
    reports = []
    for path, problem in damaged:
        lost = _update_of(path) - _update_of(good)
        reports.append(f"{path.name} is damaged ({problem}); going on from {good.name}: {lost} updates are repeated")
    return good, reports


def make_ready_to_resume(folder: Path) -> tuple[Path | None, list[str]]:
    """`latest_checkpoint`, with the folder tidied up for a training that goes on from there.

    Checkpoints newer than that one, which are damaged, get the ending `.damaged`, for you to look at; they are deleted
    when the run has come as far again. What a killed process left half written is swept up.
    """
    sweep(folder / CHECKPOINTS)
    good, reports = latest_checkpoint(folder)
    for path in list_checkpoints(folder):
        if good is not None and _update_of(path) > _update_of(good):
            path.rename(_free_name(path.with_name(path.name + _DAMAGED)))
    return good, reports


def check_checkpoint(path: Path) -> str | None:
    """What is wrong with a checkpoint, in a few words; None if it is whole."""
    try:
        return find_damage(path, _read_state(path)["files"])
    except CheckpointError as error:
        return str(error).removeprefix(f"{path}/")


def _read_state(path: Path) -> dict[str, Any]:
    content = read_json(path / "state.json")
    missing = [name for name in (*TrainingState.__dataclass_fields__, "files") if name not in content]
    if content.get("format") != FORMAT or missing:
        raise CheckpointError(f"{path / 'state.json'}: not of format {FORMAT}, which this version reads")
    return content


def _moments(model: Transformer, optimizer: Optimizer) -> dict[str, Tensor]:
    moments = {}
    for name, parameter in model.named_parameters():
        for kind, value in optimizer.state.get(parameter, {}).items():
            moments[f"{name}|{kind}"] = value
    return moments


def _set_moments(model: Transformer, optimizer: Optimizer, moments: Mapping[str, Tensor], path: Path) -> None:
    by_name: dict[str, dict[str, Tensor]] = {}
    for key, value in moments.items():
        name, kind = key.rsplit("|", 1)
        by_name.setdefault(name, {})[kind] = value
    names = [name for name, parameter in model.named_parameters() if parameter.requires_grad]
    if by_name and set(by_name) != set(names):
        odd = sorted(set(by_name) ^ set(names))
        raise CheckpointError(f"{path}: these are another model's moments ({', '.join(odd[:3])} do not match)")
    # Through load_state_dict, which puts every tensor on the device where the (fused) kernel wants it.
    groups = optimizer.state_dict()["param_groups"]
    order = [name for name in names if name in by_name]
    optimizer.load_state_dict({"state": {i: by_name[name] for i, name in enumerate(order)}, "param_groups": groups})


def _prune(folder: Path, keep: int) -> None:
    checkpoints = list_checkpoints(folder)
    interim = [path for path in checkpoints[:-1] if _is_interim(path)]
    regular = [path for path in checkpoints if path not in interim]
    for path in (*interim, *regular[:-keep]):
        shutil.rmtree(path, ignore_errors=True)
    newest = _update_of(checkpoints[-1])
    for path in (folder / CHECKPOINTS).glob(f"update-*{_DAMAGED}*"):
        if _update_of(path) <= newest:
            shutil.rmtree(path, ignore_errors=True)


def _is_interim(path: Path) -> bool:
    try:
        return bool(_read_state(path)["interim"])
    except CheckpointError:
        return False


def _update_of(path: Path) -> int:
    found = _NAME.match(path.name)
    return int(found[1]) if found else -1


def _free_name(path: Path) -> Path:
    while path.exists():
        path = path.with_name(path.name + "'")
    return path
