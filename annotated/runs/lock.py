"""The lock of a run's folder: one process trains in it at a time, which others can find and send a signal to."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from annotated.locks import Locked, LockHolder, exclusive_lock, last_lock_holder, lock_holder
from annotated.saving import CheckpointError

LOCK = "training.lock"
_WAIT_SECONDS, _PAUSE = 0.5, 0.05
"""How long to try for the lock, and between two tries: somebody who only looks holds it for a moment."""


def agent_of_this_process() -> int:
    """The number of the torchrun that started this process; 0 if none did."""
    return os.getppid() if "TORCHELASTIC_RUN_ID" in os.environ and os.name != "nt" else 0


@contextlib.contextmanager
def run_lock(folder: Path) -> Iterator[None]:
    """Keep a second training out of a folder, also while torchrun is about to start the first one again.

    Raises
    ------
    CheckpointError
        If another process trains there.
    """
    path, agent = folder / LOCK, agent_of_this_process()
    before, deadline = last_lock_holder(path), time.monotonic() + _WAIT_SECONDS
    refused = CheckpointError(
        f"{folder}: another process is training in this folder; wait for it, stop it, or choose another folder"
    )
    while before is not None and before.agent != agent and is_restarting(before):
        if time.monotonic() > deadline:
            raise refused
        time.sleep(_PAUSE)
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(exclusive_lock(path, _WAIT_SECONDS, agent=agent))
        except Locked:
            raise refused from None
        yield


def run_lock_holder(folder: Path) -> LockHolder | None:
    """The process that trains in a folder, of several the main one; None if none does.

    Where torchrun lives, its training does, even in the moment in which its processes are being started again.
    """
    before = last_lock_holder(folder / LOCK)
    holder = lock_holder(folder / LOCK)
    return before if holder is None and before is not None and is_restarting(before) else holder


def is_restarting(holder: LockHolder) -> bool:
    """Whether torchrun lives, here, and is about to start its processes again (or to end, when they have)."""
    return bool(holder.agent) and holder.is_here and _is_torchrun(holder.agent)


def _is_torchrun(pid: int) -> bool:
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()  # empty for a process that has ended
    except OSError:
        return False
    return b"torchrun" in command or b"torch.distributed.run" in command
