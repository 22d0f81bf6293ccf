"""Loading of trained models, by name or by path."""

from __future__ import annotations

import dataclasses
import warnings
from importlib.resources import files
from pathlib import Path
from typing import Any

from annotated.config import DecodingConfig, EngineConfig
from annotated.runs.checkpoint import check_checkpoint, latest_checkpoint, update_of
from annotated.runs.last_checkpoints import sound_checkpoints
from annotated.saving import CheckpointError
from annotated.speed.machine.distributed import choose_device
from annotated.translator import Translator


class UnknownModel(ValueError):
    """There is no model of that name, and no folder either; the message lists the names."""


def builtin_models() -> list[str]:
    """Names of the models inside the package."""
    assets = files("annotated") / "assets"
    return sorted(e.name for e in assets.iterdir() if (e / "config.json").is_file()) if assets.is_dir() else []


def find_model(path_or_name: str | Path) -> Path:
    """The model folder behind a name or a path.

    Parameters
    ----------
    path_or_name
        A name of `builtin_models`; else a model folder, a checkpoint, or the folder of a training run (its
        final model, or while there is none its last good checkpoint: whole, and not from after the validation loss
        rose well above its best).

    Raises
    ------
    UnknownModel
        If it is neither.
    CheckpointError
        If it is a folder without a model.
    """
    if not isinstance(path_or_name, str | Path):
        raise UnknownModel(f"no model {path_or_name!r}: give a name or a path, and not {type(path_or_name).__name__}")
    names, folder = builtin_models(), Path(path_or_name)
    if str(path_or_name) in names:
        return Path(str(files("annotated") / "assets" / str(path_or_name)))
    if not folder.is_dir():
        if folder.is_file():
            raise UnknownModel(f"{folder} is a file, and a model is a folder, such as annotated train writes")
        known = f"the models inside the package are {', '.join(names)}" if names else "no model is inside the package"
        raise UnknownModel(f"no model {str(path_or_name)!r}: {known}; else give the path of a model folder")
    for candidate in (folder, folder / "model"):
        if (candidate / "config.json").is_file():
            return candidate
    if (folder / "checkpoints").is_dir():
        checkpoint, reports = latest_checkpoint(folder)
        if checkpoint is not None:
            for report in reports:  # 'update-9 is damaged (why); what a training does about it'
                warnings.warn(f"{folder}: {report.partition(';')[0]}; {checkpoint.name} is used instead", stacklevel=3)
            whole = (path for path in reversed(sound_checkpoints(folder)) if check_checkpoint(path) is None)
            sound = next(whole, checkpoint)
            if update_of(sound) < update_of(checkpoint):
                warnings.warn(
                    f"{folder}: the validation loss is well above its best since; {sound.name} is used", stacklevel=3
                )
            return sound
    raise CheckpointError(
        f"{folder} holds no model: expected config.json and model.safetensors, or the folder of a training run"
    )


def load(
    path_or_name: str | Path,
    device: str = "cpu",
    decoding: DecodingConfig | None = None,
    *,
    engine: str = EngineConfig.engine,
    compute_type: str = EngineConfig.compute_type,
    **options: Any,
) -> Translator:
    """A translator from a model folder, or one inside the package by name ('classroom'); nothing is downloaded.

    Parameters
    ----------
    path_or_name
        As in `find_model`. A name wins over a folder of that name: write './classroom' for the folder.
    device
        A torch device name, or 'auto'.
    decoding
        How to search.
    engine, compute_type
        What runs the model, as in `Translator`.
    **options
        Fields of `DecodingConfig` to change.

    Raises
    ------
    UnknownModel
        If there is neither a model nor a folder of that name.
    CheckpointError
        If a file is missing or damaged, or model and tokenizer do not belong together.
    """
    decoding = dataclasses.replace(decoding or DecodingConfig(), **options)
    folder = find_model(path_or_name)
    return Translator.from_pretrained(folder, choose_device(device), decoding, engine, compute_type)
