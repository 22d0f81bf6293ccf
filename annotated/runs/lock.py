"""One training in a folder, and who it is: a lock that ends with the process that holds it, however it ends.

The lock is `flock`. It keeps out processes of this machine, and of other machines where the folder's file system passes
locks on: NFS 4 does, and Lustre and BeeGFS if they are mounted so. What it cannot see: a second machine on a mount
that keeps locks to itself (`nolock`, `local_lock`, Lustre with `localflock`, most object stores behind FUSE), and
Windows. There, nothing but you keeps two trainings apart.

Paper: none; this is what lets a notebook find its training again
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from annotated.data.file_lock import take_lock
from annotated.training.files import CheckpointError

LOCK = "training.lock"
_PATIENCE, _PAUSE = 0.5, 0.05
"""Seconds to try for the lock, and between two tries: somebody who only looks (`who_trains`) holds it for a moment."""


class Trainer(NamedTuple):
    """The process that trains in a folder; of several, the main one."""

    pid: int
    host: str
    agent: int = 0
    """torchrun's process on that machine, which starts the others again when one dies; 0 if there is none."""

    @property
    def leader(self) -> int:
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
        except ProcessLookupError:
            return True
        except PermissionError:  # it is somebody else's
            return False
        return False

    @property
    def is_restarting(self) -> bool:
        """Whether torchrun lives, here, and is about to start its processes again (or to end, when they have)."""
        return bool(self.agent) and self.is_here and _is_torchrun(self.agent)


def agent_of_this_process() -> int:
    """The number of the torchrun that started this process; 0 if none did."""
    return os.getppid() if "TORCHELASTIC_RUN_ID" in os.environ and os.name != "nt" else 0


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
        deadline, agent = time.monotonic() + _PATIENCE, agent_of_this_process()
        before = _signed(folder)
        while not take_lock(file) or (before is not None and before.agent != agent and before.is_restarting):
            if time.monotonic() > deadline:
                raise CheckpointError(
                    f"{folder}: another process is training in this folder; wait for it, stop it, or choose another "
                    "folder"
                )
            time.sleep(_PAUSE)
        file.truncate(0)
        file.write(f"{os.getpid()} {socket.gethostname()}" + (f" {agent}\n" if agent else "\n"))
        file.flush()
        yield


def who_trains(folder: Path) -> Trainer | None:
    """The process that holds the lock of a folder, or None.

    A number left over from a dead process does not count: neither where nobody holds the lock, nor in the moment in
    which a new process holds it and has not written its own number yet. But where torchrun lives, its training does.
    """
    deadline = time.monotonic() + _PATIENCE
    while True:
        trainer = _signed(folder)
        try:
            with (folder / LOCK).open(encoding="utf-8") as file:
                if take_lock(file, shared=True):
                    return trainer if trainer is not None and trainer.is_restarting else None
        except FileNotFoundError:
            return None
        if trainer is not None and not trainer.is_gone:
            return trainer
        if time.monotonic() > deadline:  # locked, but unsigned: not by this version
            return Trainer(0, "")
        time.sleep(_PAUSE)


def _signed(folder: Path) -> Trainer | None:
    """What stands in the lock's file, whoever holds the lock now."""
    try:
        words = (folder / LOCK).read_text(encoding="utf-8").split()
    except FileNotFoundError:
        return None
    if len(words) not in (2, 3) or not all(word.isdecimal() for word in words[::2]):
        return None
    return Trainer(int(words[0]), words[1], *map(int, words[2:]))


def _is_torchrun(pid: int) -> bool:
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()  # empty for a process that has ended
    except OSError:
        return False
    return b"torchrun" in command or b"torch.distributed.run" in command
