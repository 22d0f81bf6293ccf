"""Training checkpoints: all that a run needs to go on as if it had never stopped.

A checkpoint is a folder `checkpoints/update-000001000` that holds a model folder (`annotated.saving`),
Adam's moments, and `state.json` with the position in the data, the random states and the configuration. It
appears whole or not at all, and is checked against its SHA-256 sums before it is used.

Those of the lowest validation loss may be kept besides, in `best/`: folders of the same kind, which can be loaded and
trained on, and which are never averaged, for averaging takes what is in `checkpoints/`. The best one is the model of
the run if the average has a higher loss.
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

from annotated.config import ModelConfig
from annotated.data.tokenizer import Tokenizer
from annotated.model import Transformer
from annotated.ownership import is_json_of, require_our_folder
from annotated.saving import (
    CheckpointError,
    NewerVersionError,
    check_version,
    load_weights,
    read_json,
    read_tensors,
    write_model_files,
    write_tensors,
)
from annotated.storage import atomic_folder, checksums, sweep, verify_checksums, write_json

CHECKPOINTS = "checkpoints"
BEST = "best"
FORMAT = 2
"""Of `state.json`."""
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
    """See `annotated.runs.random_states`."""
    scaler: dict[str, Any] = field(default_factory=dict)
    """The scale of fp16 gradients; empty with other precisions."""
    interim: bool = False
    """Saved because a signal came, between two regular checkpoints: deleted when the next is saved, so that it is not
    averaged and a stopped run ends like one that was not."""
    configuration: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The three configurations, as dictionaries: 'model', 'training', 'data'; and 'corpus', whose 'prepared' is the
    identity of the prepared corpus."""
    valid_loss: float | None = None
    """Of the last validation, nats per target token; None before the first."""


@dataclass(frozen=True)
class Snapshot:
    """What a checkpoint will hold, in memory."""

    config: ModelConfig
    weights: dict[str, Tensor]
    moments: dict[str, Tensor]
    state: dict[str, Any]
    tokenizer: Tokenizer | None
    longest_source: int | None = None
    """As `annotated.saving.save_pretrained` takes it."""


def take_snapshot(
    model: Transformer,
    optimizer: Optimizer,
    state: TrainingState,
    tokenizer: Tokenizer | None,
    longest_source: int | None = None,
) -> Snapshot:
    """What there is to save, as it is now, in memory of its own: training may go on.

    Parameters
    ----------
    longest_source
        As `annotated.saving.save_pretrained` takes it.
    """

    def taken(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        return {name: tensor.detach().to("cpu", copy=True) for name, tensor in tensors.items()}

    weights, moments = taken(model.state_dict()), taken(_moments(model, optimizer))
    return Snapshot(model.config, weights, moments, asdict(state), tokenizer, longest_source)


def write_snapshot(snapshot: Snapshot, target: Path) -> Path:
    """Write a snapshot as the folder `target`, whole or not at all; a checkpoint that is there is replaced.

    Raises
    ------
    FileExistsError
        If there is a folder that is no checkpoint.
    DiskFull
        If the disk is full; what was saved before is untouched.
    """
    require_our_folder(target, ("*",), lambda place: is_json_of(place / "state.json", "files"))
    with atomic_folder(target, advice=disk_full_advice(target.parent)) as partial:
        write_model_files(partial, snapshot.config, snapshot.weights, snapshot.tokenizer, snapshot.longest_source)
        write_tensors(partial / "optimizer.safetensors", snapshot.moments)
        files = checksums(partial)
        write_json(partial / "state.json", {"format": FORMAT, **snapshot.state, "files": files})
    return target


def disk_full_advice(checkpoints: Path) -> str:
    """What to do when a run finds the disk full; `checkpoints` is the folder of those that may be deleted."""
    return (
        f"What was saved before is untouched. Free some space (older checkpoints in {checkpoints} can go, all but the "
        "newest; or set keep_checkpoints lower), then run the same command again: it goes on from the last checkpoint"
    )


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


def best_path(folder: Path, update: int) -> Path:
    """Where the checkpoint after an update lies, if it is one of the best."""
    return folder / BEST / f"update-{update:09d}"


def best_checkpoints(folder: Path) -> list[tuple[float, Path]]:
    """The checkpoints that are kept for their validation loss, and that loss: best first."""
    found = []
    for path in (folder / BEST).glob("update-*"):
        try:
            loss = _read_state(path).get("valid_loss")
        except CheckpointError:
            continue
        if loss is not None:
            found.append((float(loss), path))
    return sorted(found)


def list_checkpoints(folder: str | Path) -> list[Path]:
    """All checkpoints of a run, oldest first, unchecked; not those in `best/`."""
    paths = [path for path in (Path(folder) / CHECKPOINTS).glob("update-*") if _NAME.fullmatch(path.name)]
    return sorted(paths, key=update_of)


def newest_update(folder: str | Path) -> int:
    """The update of a run's newest checkpoint, by its name, unread; 0 if there is none."""
    return max(map(update_of, list_checkpoints(folder)), default=0)


def latest_checkpoint(folder: str | Path) -> tuple[Path | None, list[str]]:
    """The newest checkpoint that is whole, and what is wrong with those that are newer; changes nothing on disk.

    Returns
    -------
    path, reports
        None if the run has no checkpoint yet; sentences for the user, empty if all is well.

    Raises
    ------
    CheckpointError
        If there are checkpoints and none is whole.
    NewerVersionError
        If one was written by a newer version of the library, which may have been trained on since.
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
            f"{Path(folder) / CHECKPOINTS}: no checkpoint can be used ({listed}). Put a good copy back, or delete "
            "the folder to begin again from update 1"
        )
    reports = []
    for path, problem in damaged:
        lost = update_of(path) - update_of(good)
        reports.append(f"{path.name} is damaged ({problem}); going on from {good.name}: {lost} updates are repeated")
    return good, reports


def prepare_resume(folder: Path) -> tuple[Path | None, list[str]]:
    """`latest_checkpoint`, with the folder tidied up for a training run that goes on from there.

    Checkpoints newer than that one, which are damaged, get the ending `.damaged`, for you to look at; they are deleted
    when the run has come as far again. What a killed process left half written is swept up.
    """
    for place in (folder, folder / CHECKPOINTS, folder / BEST):
        sweep(place)
    good, reports = latest_checkpoint(folder)
    for path in list_checkpoints(folder):
        if good is not None and update_of(path) > update_of(good):
            path.rename(_free_name(path.with_name(path.name + _DAMAGED)))
    return good, reports


def check_checkpoint(path: Path) -> str | None:
    """What is wrong with a checkpoint, in a few words; None if it is whole.

    Raises
    ------
    NewerVersionError
        If a newer version of the library wrote it: that is no damage.
    """
    try:
        return verify_checksums(path, _read_state(path)["files"])
    except NewerVersionError:
        raise
    except CheckpointError as error:
        return str(error).removeprefix(f"{path}/")


def _read_state(path: Path) -> dict[str, Any]:
    content = read_json(path / "state.json")
    check_version(content.get("format"), FORMAT, path / "state.json")
    if content.get("format") != FORMAT or {*TrainingState.__dataclass_fields__, "files"} - set(content):
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


def prune_checkpoints(folder: Path, keep: int, sound_until: int | None = None) -> None:
    """Delete all but the newest `keep`, interim ones that others have followed, and damaged ones that were redone.

    Parameters
    ----------
    sound_until
        Of a run that diverged, the last update before that: the newest `keep` up to there are kept besides.
    """
    checkpoints = list_checkpoints(folder)
    interim = [path for path in checkpoints[:-1] if _is_interim(path)]
    regular = [path for path in checkpoints if path not in interim]
    sound = [path for path in regular if sound_until is not None and update_of(path) <= sound_until]
    for path in (*interim, *(one for one in regular[:-keep] if one not in sound[-keep:])):
        shutil.rmtree(path, ignore_errors=True)
    newest = update_of(checkpoints[-1])
    for path in (folder / CHECKPOINTS).glob(f"update-*{_DAMAGED}*"):
        if update_of(path) <= newest:
            shutil.rmtree(path, ignore_errors=True)


def _is_interim(path: Path) -> bool:
    try:
        return bool(_read_state(path)["interim"])
    except CheckpointError:
        return False


def update_of(path: Path) -> int:
    """The update after which a checkpoint was taken, by its name; -1 if that is no checkpoint's."""
    found = _NAME.match(path.name)
    return int(found[1]) if found else -1


def _free_name(path: Path) -> Path:
    while path.exists():
        path = path.with_name(path.name + "'")
    return path
