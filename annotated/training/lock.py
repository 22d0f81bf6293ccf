"""One training in a folder, and who it is: a lock that ends with the process that holds it, however it ends.

Paper: none; this is what lets a notebook find its training again
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple

from annotated.training.files import CheckpointError

LOCK = "training.lock"
_PATIENCE, _PAUSE = 0.5, 0.05
"""Seconds to try for the lock, and between two tries: somebody who only looks (`who_trains`) holds it for a moment."""


class Trainer(NamedTuple):
    """The process that trains in a folder."""

    pid: int
    host: str

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
        except ProcessLookupError:
            return True
        except PermissionError:  # it is somebody else's
            return False
        return False


@contextlib.contextmanager
def only_one_here(folder: Path) -> Iterator[None]:
    """Keep a second training out of a folder; the lock ends with the process that holds it, however it ends.

    Raises
    ------
    CheckpointError
        If another process trains there.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOCK).open("a", encoding="utf-8") as file:
        deadline = time.monotonic() + _PATIENCE
        while not _take(file):
            if time.monotonic() > deadline:
                raise CheckpointError(
                    f"{folder}: another process is training in this folder; wait for it, stop it, or choose another "
                    "folder"
                )
            time.sleep(_PAUSE)
        file.truncate(0)
        file.write(f"{os.getpid()} {socket.gethostname()}\n")
        file.flush()
        yield


def who_trains(folder: Path) -> Trainer | None:
    """The process that holds the lock of a folder, or None.

    A number left over from a dead process does not count: neither where nobody holds the lock, nor in the moment in
    which a new process holds it and has not written its own number yet.
    """
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            with (folder / LOCK).open(encoding="utf-8") as file:
                if _take(file, shared=True):
                    return None
                words = file.read().split()
        except FileNotFoundError:
            return None
        if len(words) == 2 and not (trainer := Trainer(int(words[0]), words[1])).is_gone:
            return trainer
        if time.monotonic() > deadline:  # locked, but unsigned: not by this version
            return Trainer(0, "")
        time.sleep(_PAUSE)


def _take(file: IO[str], shared: bool = False) -> bool:
    """Take the lock of an open file, which goes when the file is closed; False if somebody has it."""
    try:
        import fcntl  # not on Windows, where nothing keeps a second training out
    except ImportError:
        return True
    try:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
