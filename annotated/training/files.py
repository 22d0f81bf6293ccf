"""Folders that appear whole or not at all, and that say so when they are damaged.

Everything is written into a hidden folder beside its place, forced to the disk, and renamed: a process that is
killed at any moment leaves either the old state or the new one, and at worst a hidden folder to sweep up.

Paper: none; this is what keeps 100,000 updates (section 5.2) from being lost
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
from torch import Tensor

_PARTIAL = ".partial-"
_REPLACED = ".replaced-"


class CheckpointError(RuntimeError):
    """A checkpoint or model folder is missing, damaged, or belongs to something else; the message says what to do."""


class DiskFullError(OSError):
    """The disk is full; what was saved before is untouched, and the message says what could be deleted."""


@contextlib.contextmanager
def whole_folder(target: Path) -> Iterator[Path]:
    """A temporary folder to fill, which becomes `target` at the end, in one step, replacing what was there.

    Raises
    ------
    DiskFullError
        If the disk is full. `target` is as before, and the temporary folder is gone.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.parent / f"{_PARTIAL}{target.name}-{os.getpid()}"
    try:
        partial.mkdir()
        yield partial
        for path in (*partial.iterdir(), partial):
            _force_to_disk(path)
        _put_in_place(partial, target)
    except OSError as error:
        shutil.rmtree(partial, ignore_errors=True)
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise _disk_full(target) from None
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def sweep(folder: Path) -> None:
    """Tidy up what a process that was killed while saving left in `folder`: no other may be saving there now."""
    for path in folder.glob(f"{_REPLACED}*"):
        # Killed between the two renames of _put_in_place: the old state is the only one.
        target = folder / path.name.removeprefix(_REPLACED)
        if not target.exists():
            path.rename(target)
    for pattern in (_PARTIAL, _REPLACED):
        for path in folder.glob(f"{pattern}*"):
            shutil.rmtree(path, ignore_errors=True)


def write_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Write tensors by name, as safetensors."""
    # As bytes and not by save_file, which turns a full disk into an error of its own without the error number.
    path.write_bytes(safetensors.torch.save({name: t.detach().cpu().contiguous() for name, t in tensors.items()}))


def read_tensors(path: Path) -> dict[str, Tensor]:
    """The inverse of `write_tensors`.

    Raises
    ------
    CheckpointError
        If the file is missing or damaged.
    """
    try:
        return safetensors.torch.load_file(path)
    except FileNotFoundError:
        raise CheckpointError(f"{path}: no such file") from None
    except (safetensors.SafetensorError, OSError, ValueError) as error:
        raise CheckpointError(f"{path}: damaged or incomplete ({error})") from None


def write_json(path: Path, content: Any) -> None:
    """Write JSON that people can read too."""
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object from a file.

    Raises
    ------
    CheckpointError
        If the file is missing, damaged, or holds something else.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CheckpointError(f"{path}: no such file") from None
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{path}: damaged or incomplete ({error})") from None
    if not isinstance(content, dict):
        raise CheckpointError(f"{path}: not a JSON object, so not one of ours")
    return content


def describe_files(folder: Path) -> dict[str, dict[str, Any]]:
    """Size and SHA-256 of each file in a folder, by name."""
    return {path.name: {"bytes": path.stat().st_size, "sha256": _sha256(path)} for path in sorted(folder.iterdir())}


def find_damage(folder: Path, described: Mapping[str, Mapping[str, Any]]) -> str | None:
    """What is wrong with the files of a folder that `describe_files` described; None if nothing is."""
    for name, expected in described.items():
        path = folder / name
        if not path.is_file():
            return f"{name} is missing"
        if path.stat().st_size != expected["bytes"]:
            return f"{name} has {path.stat().st_size:,} bytes instead of {expected['bytes']:,}"
        if _sha256(path) != expected["sha256"]:
            return f"{name} has changed: its SHA-256 differs"
    return None


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _put_in_place(partial: Path, target: Path) -> None:
    replaced = target.parent / f"{_REPLACED}{target.name}"
    if target.exists():
        target.rename(replaced)
    partial.rename(target)
    _force_to_disk(target.parent)
    shutil.rmtree(replaced, ignore_errors=True)


def _force_to_disk(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _disk_full(target: Path) -> DiskFullError:
    free = shutil.disk_usage(target.parent).free
    return DiskFullError(
        errno.ENOSPC,
        f"the disk is full: {target} could not be saved ({free / 1e6:,.0f} MB are free). What was saved before is "
        f"untouched. Free some space (older checkpoints in {target.parent} can go, all but the newest; or set "
        "keep_checkpoints lower), then run the same command again: it goes on from the last checkpoint",
    )
