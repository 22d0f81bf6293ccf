"""Atomic files and folders, checksums, and the error of a full disk, for all that the library writes.

A file or folder is written under a partial name beside its place, forced to the disk, and renamed: a process that is
killed at any moment leaves the old state or the new one, and at worst something that `sweep` removes.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import secrets
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, BinaryIO, Literal, TextIO, overload

PARTIAL = ".partial-"
"""How the name of everything begins that is half written."""
_REPLACED = ".replaced-"
ADVICE = "What was there before is untouched: free some space, and give the same command again"
_IN_USE = "no permission, or open in another program: close that, and give the same command again"
_PAUSE, _IN_USE_SECONDS = 0.05, 2.0

Advice = str | Callable[[], str]
"""What to do about a full disk: words, or what gives them when they are needed."""


def format_bytes(count: float) -> str:
    """'1.70 GB', in powers of ten as disks are sold."""
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:,.2f} {unit}"
    return f"{int(count)} bytes"


class DiskFull(OSError):
    """The disk is full, or a quota; the message says what could not be saved, and what to do."""

    path = ""
    """What could not be saved."""


def is_disk_full(error: OSError) -> bool:
    """Whether there is no space left: on the disk, in a quota, or below the largest size of a file."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextlib.contextmanager
def translate_disk_full(path: str | Path, advice: Advice = ADVICE) -> Iterator[None]:
    """Turn the errors of a full disk into `DiskFull`; of several around one error, the innermost advice counts.

    Parameters
    ----------
    path
        What is being written. An error that names another file than a partial one speaks of that.
    advice
        What to do: sentences for the user, without the last full stop; or a function that makes them.

    Raises
    ------
    DiskFull
        In the place of an OSError with ENOSPC, EDQUOT or EFBIG; all other errors pass.
    """
    try:
        yield
    except OSError as error:
        if not is_disk_full(error) or (isinstance(error, DiskFull) and not str(error).endswith(ADVICE)):
            raise
        named = error.path if isinstance(error, DiskFull) else str(error.filename or PARTIAL)
        place = Path(path if PARTIAL in named else named)
        free = shutil.disk_usage(next(one for one in (place, *place.absolute().parents) if one.exists())).free
        translated = DiskFull(
            error.errno,
            f"the disk is full: {place} could not be saved ({free / 1e6:,.0f} MB are free; or a quota, or a limit "
            f"of the size of a file). {advice if isinstance(advice, str) else advice()}",
        )
        translated.path = str(place)
        raise translated from None


@overload
def atomic_write(
    path: str | Path, mode: Literal["w"] = ..., *, permissions: int = ...
) -> contextlib.AbstractContextManager[TextIO]: ...
@overload
def atomic_write(
    path: str | Path, mode: Literal["wb"], *, permissions: int = ...
) -> contextlib.AbstractContextManager[BinaryIO]: ...
@contextlib.contextmanager  # type: ignore[misc]
def atomic_write(path: str | Path, mode: Literal["w", "wb"] = "w", *, permissions: int = 0o666) -> Iterator[IO[Any]]:
    r"""A file to write, which takes its place whole when the block ends; if the block fails, the old file stays.

    Parameters
    ----------
    path
        Its folder is made if it is missing. What is there and no file, such as /dev/null or a pipe, is never replaced
        but written to directly.
    mode
        "w" for text in UTF-8 whose lines end with "\n" on every system, "wb" for bytes.
    permissions
        Of the file, less what the user's mask takes away.

    Raises
    ------
    DiskFull
        If there is no space for it.
    OSError
        If it cannot be written for another reason.
    """
    path = Path(path)
    partial = _partial_name(path)
    text = {} if "b" in mode else {"encoding": "utf-8", "newline": "\n"}
    if path.exists() and not path.is_file():
        with open(path, mode, **text) as file:  # type: ignore[call-overload]
            yield file
        return
    try:
        with translate_disk_full(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            with open(partial, mode, **text, opener=lambda name, flags: os.open(name, flags, permissions)) as file:  # type: ignore[call-overload]
                yield file
                file.flush()
                os.fsync(file.fileno())
            rename(partial, path)
            fsync(path.parent)
    except BaseException:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise


def write_json(path: str | Path, content: Any) -> None:
    """Write JSON that people can read too, whole or not at all."""
    with atomic_write(path) as file:
        file.write(json.dumps(content, indent=2, ensure_ascii=False) + "\n")


@contextlib.contextmanager
def atomic_folder(path: str | Path, *, advice: Advice = ADVICE) -> Iterator[Path]:
    """An empty folder to fill, which becomes `path` when the block ends and replaces what was there.

    Raises
    ------
    DiskFull
        If the disk is full. What was at `path` is untouched, and the folder that was filled is gone.
    """
    path = Path(path)
    partial = _partial_name(path)
    try:
        with translate_disk_full(path, advice):
            path.parent.mkdir(parents=True, exist_ok=True)
            partial.mkdir()
            yield partial
            for made in (*partial.rglob("*"), partial):
                fsync(made)
            _replace_folder(partial, path)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def sweep(folder: str | Path) -> None:
    """Remove what a process that was killed while writing left in `folder`: no other may be writing there now."""
    folder = Path(folder)
    for path in folder.glob(f"{_REPLACED}*"):
        # Killed between the two renames of _replace_folder: the old state is the only one.
        target = folder / path.name.removeprefix(_REPLACED)
        if not target.exists():
            rename(path, target)
    for path in (*folder.glob(f"{PARTIAL}*"), *folder.glob(f"{_REPLACED}*")):
        shutil.rmtree(path, ignore_errors=True)  # which leaves a file as it is
        with contextlib.suppress(OSError):
            path.unlink()


def rename(source: Path, target: Path) -> None:
    """Rename, over what was there. Windows refuses while a program has it open: a virus scanner is waited for."""
    deadline = time.monotonic() + _IN_USE_SECONDS
    while True:
        try:
            return os.replace(source, target)
        except PermissionError as error:
            if os.name != "nt":
                raise
            if time.monotonic() > deadline:
                raise PermissionError(error.errno, _IN_USE, str(target)) from None
        time.sleep(_PAUSE)


def fsync(path: str | Path) -> None:
    """Force a file or a folder to the disk, so that it is there after a power failure too."""
    if os.name == "nt" and Path(path).is_dir():  # folders cannot be opened there
        return
    handle = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sha256(path: str | Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def checksum(path: str | Path) -> dict[str, Any]:
    """Size and SHA-256 of a file: {"bytes": ..., "sha256": ...}."""
    return {"bytes": Path(path).stat().st_size, "sha256": sha256(path)}


def checksums(folder: str | Path) -> dict[str, dict[str, Any]]:
    """The `checksum` of each file in a folder, by name."""
    return {path.name: checksum(path) for path in sorted(Path(folder).iterdir())}


def verify_checksums(folder: str | Path, expected: Mapping[str, Mapping[str, Any]]) -> str | None:
    """What is wrong with the files of a folder whose `checksums` were taken; None if nothing is."""
    for name, one in expected.items():
        path = Path(folder) / name
        if not path.is_file():
            return f"{name} is missing"
        if path.stat().st_size != one["bytes"]:
            return f"{name} has {path.stat().st_size:,} bytes instead of {one['bytes']:,}"
        if sha256(path) != one["sha256"]:
            return f"{name} has changed: its SHA-256 differs"
    return None


def _partial_name(path: Path) -> Path:
    return path.with_name(f"{PARTIAL}{path.name}-{secrets.token_hex(4)}")


def _replace_folder(partial: Path, path: Path) -> None:
    replaced = path.with_name(_REPLACED + path.name)
    if path.exists():
        shutil.rmtree(replaced, ignore_errors=True)  # of a process that was killed before its last step
        rename(path, replaced)
    rename(partial, path)
    fsync(path.parent)
    shutil.rmtree(replaced, ignore_errors=True)
