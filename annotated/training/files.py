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
import torch
from torch import Tensor

_PARTIAL = ".partial-"
_REPLACED = ".replaced-"


class CheckpointError(RuntimeError):
    """A checkpoint or model folder is missing, damaged, or belongs to something else; the message says what to do."""


class NewerVersionError(CheckpointError):
    """A file was written by a newer version of this library; updating it is what helps."""


class DiskFullError(OSError):
    """The disk is full, or a quota; what was saved before is untouched, and the message says what could be deleted."""


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
        if not is_disk_full(error):
            raise
        raise disk_full(target) from None
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
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


_DTYPES = {
    torch.int64: "I64", torch.float64: "F64", torch.float32: "F32", torch.int32: "I32", torch.bfloat16: "BF16",
    torch.float16: "F16", torch.uint8: "U8", torch.bool: "BOOL",
}  # fmt: skip
"""The names of safetensors, in the order in which it lays tensors out."""


def write_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Write tensors by name, as safetensors: the bytes of its own `save_file`.

    That would gather a second copy in memory, hold up all other threads for as long, and turn a full disk into an error
    of its own. This writes one tensor after the other, straight from its memory.
    """
    order = list(_DTYPES)
    named = sorted(tensors.items(), key=lambda item: (order.index(item[1].dtype), item[0]))
    about, end = {}, 0
    for name, tensor in named:
        begin, end = end, end + tensor.numel() * tensor.element_size()
        about[name] = {"dtype": _DTYPES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [begin, end]}
    header = json.dumps(about, separators=(",", ":"), ensure_ascii=False).encode()
    header += b" " * (-len(header) % 8)
    with path.open("wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        for _, tensor in named:
            file.write(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)


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


def check_version(found: Any, known: int, path: Path) -> None:
    """Make sure that a file is not from the future.

    Raises
    ------
    NewerVersionError
        If its format is higher than the highest that this version knows.
    """
    if isinstance(found, int) and found > known:
        raise NewerVersionError(
            f"{path}: written by a newer version of this library (format {found}; this one reads up to {known}). "
            "Update the package: pip install --upgrade annotated-attention"
        )


def describe_files(folder: Path) -> dict[str, dict[str, Any]]:
    """Size and SHA-256 of each file in a folder, by name."""
    return {path.name: describe_file(path) for path in sorted(folder.iterdir())}


def describe_file(path: Path) -> dict[str, Any]:
    """Size and SHA-256 of a file."""
    return {"bytes": path.stat().st_size, "sha256": _sha256(path)}


def replace_text(path: Path, text: str) -> None:
    """Write a UTF-8 file as `replace_bytes` does."""
    replace_bytes(path, text.encode())


def replace_bytes(path: Path, content: bytes) -> None:
    """Write a file so that a kill at any moment leaves the old one or the new one, whole.

    Raises
    ------
    OSError
        If it cannot be written; the old one is untouched.
    """
    partial = path.with_name(f"{_PARTIAL}{path.name}-{os.getpid()}")
    try:
        partial.write_bytes(content)
        _force_to_disk(partial)
        os.replace(partial, path)
        _force_to_disk(path.parent)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


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


def is_disk_full(error: OSError) -> bool:
    """Whether there is no space left: on the disk, in a quota, or below the largest size of a file."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def disk_full(target: Path) -> DiskFullError:
    """The error for what could not be saved at `target`."""
    free = shutil.disk_usage(next(path for path in (target, *target.parents) if path.exists())).free
    return DiskFullError(
        errno.ENOSPC,
        f"the disk is full: {target} could not be saved ({free / 1e6:,.0f} MB are free; or a quota, or a limit of the "
        "size of a file). What was saved before is untouched. Free some space (older checkpoints in "
        f"{target.parent} can go, all but the newest; or set keep_checkpoints lower), then run the same command again: "
        "it goes on from the last checkpoint",
    )
