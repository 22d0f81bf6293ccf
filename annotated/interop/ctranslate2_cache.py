"""Cache of models as CTranslate2 reads them: converted once, checked at every opening, and made anew when stale.

A model folder keeps its conversions in `ctranslate2/COMPUTE_TYPE`. Those of a model in memory, of one in the package,
and of one whose folder cannot be written to are in the user's cache folder, which `ANNOTATED_CACHE` names. Any of them
may be deleted.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

from annotated.data.tokenizer import Tokenizer
from annotated.interop._common import export_folder, optional
from annotated.interop.ctranslate2 import FILES, write_ctranslate2
from annotated.locks import exclusive_lock
from annotated.model import Transformer
from annotated.saving import CheckpointError, read_json
from annotated.storage import checksums, is_disk_full, sweep, verify_checksums, write_json

VARIABLE = "ANNOTATED_CACHE"
FOLDER = "ctranslate2"
"""Name of the folder of conversions, in a model folder and in the user's cache."""
RECORD = "annotated.json"
"""What says, in a conversion, which model it was made from, and the checksums of its files."""
_PACKAGE = Path(__file__).resolve().parent.parent


def user_cache() -> Path:
    """The folder that `ANNOTATED_CACHE` names, else `annotated` in the user's cache folder.

    Raises
    ------
    CheckpointError
        If that begins with the home of a user who has none.
    """
    named = os.environ.get(VARIABLE)
    try:
        return Path(named).expanduser() if named else _cache_of_the_system()
    except RuntimeError:
        place = f"{VARIABLE}={named} names a home folder" if named else "the user's cache is in a home folder"
        raise CheckpointError(
            f"{place} that this system does not know: name a folder by its whole path in the environment variable "
            f"{VARIABLE}"
        ) from None


def _cache_of_the_system() -> Path:
    if sys.platform == "win32":
        folder = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        folder = Path.home() / "Library" / "Caches"
    else:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return folder / "annotated"


def conversion_key(model: Transformer, tokenizer: Tokenizer, compute_type: str, max_positions: int) -> str:
    """SHA-256 of all that a conversion is made from: every weight's content, shape, vocabulary, numbers, converter."""
    about = {
        "model": model.config.to_dict(),
        "tokenizer": tokenizer.fingerprint,
        "compute_type": compute_type,
        "max_positions": max_positions,
        "ctranslate2": optional("ctranslate2").__version__,
    }
    digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode())
    for name, tensor in model.state_dict().items():
        digest.update(f"\n{name} {tensor.dtype} {list(tensor.shape)}\n".encode())
        digest.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def open_conversion(
    model: Transformer,
    tokenizer: Tokenizer,
    compute_type: str,
    max_positions: int,
    opener: Callable[[Path], Any],
    model_folder: Path | None = None,
) -> Any:
    """Open the conversion of a model; make it first if there is none, or the one that is there is stale or damaged.

    Parameters
    ----------
    model, tokenizer
        What is converted.
    compute_type
        How weights are written.
    max_positions
        Longest sequence that the engine will take.
    opener
        Reads the folder that it is given. No other process replaces the folder meanwhile.
    model_folder
        Where the model was read from, if its weights are still those.

    Raises
    ------
    PermissionError
        If no folder can be written to; the message names the variable that chooses another.
    DiskFull
        If the disk is full.
    CheckpointError
        If the user's cache is needed and its place is not known.
    """
    key = conversion_key(model, tokenizer, compute_type, max_positions)
    refused: list[str] = []
    for place, name in _places(model_folder, key, compute_type):
        try:
            place.mkdir(parents=True, exist_ok=True)
            with exclusive_lock(place / "lock"):
                problem = _problem(place / name, key)
                if problem is not None:
                    if problem:
                        warnings.warn(f"{place / name}: {problem}; the model is converted anew", stacklevel=2)
                    sweep(place)
                    _convert(place / name, key, model, tokenizer, compute_type, max_positions)
                return opener(place / name)
        except OSError as error:
            if is_disk_full(error):
                raise
            if _problem(place / name, key) is None:  # a folder that nobody can write to, with all that is needed
                return opener(place / name)
            refused.append(f"{place} ({_reason(error, place / name)})")
    raise PermissionError(
        f"the converted model cannot be kept in {' or in '.join(refused)}: "
        f"name a folder that can be written to in the environment variable {VARIABLE}"
    )


def _reason(error: OSError, conversion: Path) -> str:
    if isinstance(error, FileExistsError):
        return f"{error.filename or conversion} is none of ours: move it away"
    return error.strerror or str(error)


def _places(model_folder: Path | None, key: str, compute_type: str) -> Iterator[tuple[Path, str]]:
    """Folders of conversions to try in turn, and the conversion's name in each."""
    if model_folder is not None and not model_folder.resolve().is_relative_to(_PACKAGE):
        yield model_folder / FOLDER, compute_type
    yield user_cache() / FOLDER, f"{key[:16]}-{compute_type}"


def _problem(folder: Path, key: str) -> str | None:
    """None if the conversion may be used; else what is damaged, or "" if it is missing or of another model."""
    if not folder.exists():
        return ""
    try:
        record = read_json(folder / RECORD)
    except CheckpointError as error:
        return str(error)
    if record.get("key") != key:
        return ""
    files = record.get("files")
    if not isinstance(files, dict) or not set(FILES) <= set(files):
        return f"{RECORD} does not list the files"
    try:
        return verify_checksums(folder, files)
    except (KeyError, TypeError, ValueError):
        return f"{RECORD} does not say what each file holds"


def _convert(
    folder: Path, key: str, model: Transformer, tokenizer: Tokenizer, compute_type: str, max_positions: int
) -> None:
    with export_folder(folder, (*FILES, RECORD), lambda place: True) as partial:
        write_ctranslate2(model, tokenizer, partial, None if compute_type == "float32" else compute_type, max_positions)
        write_json(partial / RECORD, {"key": key, "compute_type": compute_type, "files": checksums(partial)})
