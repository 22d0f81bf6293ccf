"""Atomic files and folders, checksums, file locks, and the error of a full disk, for all that the library writes.

A file or folder is written under a partial name beside its place, forced to the disk, and renamed: a process that is
killed at any moment leaves the old state or the new one, and at worst something that `sweep` removes.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import secrets
import shutil
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, BinaryIO, Literal, NamedTuple, TextIO, overload

PARTIAL = ".partial-"
"""How the name of everything begins that is half written."""
_REPLACED = ".replaced-"
ADVICE = "What was there before is untouched: free some space, and give the same command again"
_IN_USE = "no permission, or open in another program: close that, and give the same command again"
_PAUSE, _IN_USE_SECONDS = 0.05, 2.0
_UNSIGNED_SECONDS = 0.5
"""How long a process that has just taken a lock may need to write down who it is."""

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
    path: str | Path, mode: Literal["w"] = ..., *, advice: Advice = ..., permissions: int = ...
) -> contextlib.AbstractContextManager[TextIO]: ...
@overload
def atomic_write(
    path: str | Path, mode: Literal["wb"], *, advice: Advice = ..., permissions: int = ...
) -> contextlib.AbstractContextManager[BinaryIO]: ...
@contextlib.contextmanager  # type: ignore[misc]
def atomic_write(
    path: str | Path, mode: Literal["w", "wb"] = "w", *, advice: Advice = ADVICE, permissions: int = 0o666
) -> Iterator[IO[Any]]:
    r"""A file to write, which takes its place whole when the block ends; if the block fails, the old file stays.

    Parameters
    ----------
    path
        Its folder is made if it is missing. What is there and no file, such as /dev/null or a pipe, is never replaced
        but written to directly.
    mode
        "w" for text in UTF-8 whose lines end with "\n" on every system, "wb" for bytes.
    advice
        What to do if the disk is full, as in `translate_disk_full`.
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
        with translate_disk_full(path, advice):
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


class LockHolder(NamedTuple):
    """The process that holds a lock; printed, 'process 123 on host'."""

    pid: int
    """0 if it has not said who it is."""
    host: str
    agent: int = 0
    """The process on that machine that starts it again when it dies, as torchrun does; 0 if there is none."""

    @property
    def signal_pid(self) -> int:
        """The process to send a signal to."""
        return self.agent or self.pid

    @property
    def is_here(self) -> bool:
        """Whether it runs on this machine, where it can be sent a signal."""
        return self.host == socket.gethostname()

    @property
    def is_gone(self) -> bool:
        """Whether it ran on this machine and runs no more."""
        if not self.is_here or os.name == "nt":  # there, signal 0 would end it
            return False
        try:
            os.kill(self.pid, 0)
        except OSError as error:  # of somebody else's process it is PermissionError
            return isinstance(error, ProcessLookupError)
        return False

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}" if self.pid else "another process"


class Locked(RuntimeError):
    """Another process holds the lock: `holder`, as far as the lock's file tells."""

    def __init__(self, path: Path, holder: LockHolder) -> None:
        super().__init__(f"{path}: held by {holder}")
        self.holder = holder


@contextlib.contextmanager
def exclusive_lock(path: str | Path, wait_seconds: float | None = None, *, agent: int = 0) -> Iterator[None]:
    """Hold the lock of a file, alone among all processes; it ends with the process, however that ends.

    The lock is `flock`, on Windows `LockFileEx`. It keeps out processes of this machine, and of other machines where
    the file system passes locks on: NFS 4 does, and Lustre and BeeGFS if they are mounted so. What it cannot see: a
    second machine on a mount that keeps locks to itself (`nolock`, `local_lock`, Lustre with `localflock`, most object
    stores behind FUSE).

    Parameters
    ----------
    path
        The lock's file, made if it is missing. It stays, and says who held it last; but with a block that fails before
        anything was written beside it, what was made for it goes again.
    wait_seconds
        How long to try; None waits until the lock is free.
    agent
        See `LockHolder`.

    Raises
    ------
    Locked
        If another process has held it for all that time.
    OSError
        If the file cannot be made, or its file system knows no locks; also if a file of that name is no lock.
    """
    from filelock import unlock_descriptor  # not needed to import the library

    path = Path(path)
    new = [one for one in (path, *path.parents) if not one.exists()]
    before: set[str] = set() if path.parent in new else {*os.listdir(path.parent)}
    with _locked(path, wait_seconds) as file:
        try:
            file.seek(0)
            if (there := file.read(20)) and not there.split(" ")[0].isdecimal():
                raise FileExistsError(f"{path}: no lock of ours, so it is left as it is; move it away")
            file.truncate(0)
            file.write(f"{os.getpid()} {socket.gethostname()}" + (f" {agent}\n" if agent else "\n"))
            file.flush()
            yield
        except BaseException:
            if new and {*os.listdir(path.parent)} - before == {path.name}:
                with contextlib.suppress(OSError):  # Windows removes no open file
                    for one in new:
                        one.rmdir() if one.is_dir() else one.unlink()
            raise
        finally:
            unlock_descriptor(file.fileno())  # closing would leave it to a process that was forked meanwhile


def _locked(path: Path, wait_seconds: float | None) -> TextIO:
    """The file of a lock, opened and locked."""
    from filelock import lock_descriptor

    deadline = None if wait_seconds is None else time.monotonic() + wait_seconds
    while True:  # whoever held it may have taken the file back
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.ExitStack() as closed:
            file = closed.enter_context(path.open("a+", encoding="utf-8", errors="replace"))
            while not lock_descriptor(file.fileno(), blocking=False):
                if deadline is not None and time.monotonic() > deadline:
                    raise Locked(path, last_lock_holder(path) or LockHolder(0, ""))
                time.sleep(_PAUSE)
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(file.fileno()), path.stat()):
                    closed.pop_all()
                    return file


def lock_holder(path: str | Path) -> LockHolder | None:
    """The process that holds the `exclusive_lock` of a file now; None if nobody does.

    A number left over from a dead process does not count: neither where nobody holds the lock, nor in the moment in
    which a new process holds it and has not written its own number yet.
    """
    deadline = time.monotonic() + _UNSIGNED_SECONDS
    while True:
        holder = last_lock_holder(path)
        if not _is_held(Path(path)):
            return None
        if holder is not None and not holder.is_gone:
            return holder
        if time.monotonic() > deadline:
            return LockHolder(0, "")
        time.sleep(_PAUSE)


def last_lock_holder(path: str | Path) -> LockHolder | None:
    """The process that is written in a lock's file, also if another holds the lock now; None if none is."""
    try:
        words = Path(path).read_text(encoding="utf-8").split()
    except OSError:  # there is no such file; or Windows, where a locked file cannot be read
        return None
    if len(words) not in (2, 3) or not all(word.isdecimal() for word in words[::2]):
        return None
    return LockHolder(int(words[0]), words[1], *map(int, words[2:]))


def _is_held(path: Path) -> bool:
    with contextlib.suppress(FileNotFoundError), path.open("rb") as file:
        try:
            import fcntl
        except ImportError:
            from filelock import lock_descriptor

            return not lock_descriptor(file.fileno(), blocking=False)
        try:  # shared: of several processes that look, none takes another for the holder
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


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
