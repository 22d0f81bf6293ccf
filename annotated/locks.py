"""File locks between processes, of one machine or of several, which end with the process that holds them.

A lock is the lock of a file, never its presence: nothing is left over by a process that was killed. The file says who
held it last.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, TextIO

_PAUSE = 0.05
_UNSIGNED_SECONDS = 0.5
"""How long a process that has just taken a lock may need to write down who it is."""


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
    before: set[str] = set()
    with contextlib.suppress(FileNotFoundError):
        before = {*os.listdir(path.parent)}
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
        with contextlib.ExitStack() as closed:
            file = closed.enter_context(_opened(path))
            while not lock_descriptor(file.fileno(), blocking=False):
                if deadline is not None and time.monotonic() > deadline:
                    raise Locked(path, last_lock_holder(path) or LockHolder(0, ""))
                time.sleep(_PAUSE)
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(file.fileno()), path.stat()):
                    closed.pop_all()
                    return file


def _opened(path: Path) -> TextIO:
    """The file of a lock, and the folders above it, made where they are missing."""
    for left in reversed(range(99)):  # whoever held it may take the folder back between the two calls
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            return path.open("a+", encoding="utf-8", errors="replace")
        except FileNotFoundError:
            if not left:
                raise
    raise AssertionError("not reached")


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
