"""One preparation in a folder at a time.

Paper: none; two preparations at once would mix their files
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path

from annotated.data.file_lock import release_lock, take_lock
from annotated.data.preparation.options import PreparationError

LOCK = "preparation.lock"
_PATIENCE, _PAUSE = 2.0, 0.05
"""Seconds to try for the lock: the processes of a killed preparation end a moment after it."""


@contextlib.contextmanager
def only_one_here(folder: Path) -> Iterator[None]:
    """Keep a second preparation out of a folder; the lock ends with the process that holds it, however it ends.

    Raises
    ------
    PreparationError
        If another process prepares there.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOCK).open("a+", encoding="utf-8") as file:
        deadline = time.monotonic() + _PATIENCE
        while not take_lock(file):
            if time.monotonic() > deadline:
                file.seek(0)
                raise PreparationError(
                    f"{folder}: another process prepares data in this folder ({file.read().strip()}); wait for it, "
                    "stop it, or choose another folder"
                )
            time.sleep(_PAUSE)
        file.truncate(0)
        file.write(f"process {os.getpid()} on {socket.gethostname()}\n")
        file.flush()
        try:
            yield
        finally:
            release_lock(file)  # the processes that this one started may live on for a moment
