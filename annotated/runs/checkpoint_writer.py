"""Checkpoints that are written while training goes on.

Training stops only for as long as the weights and moments take to be copied in memory; a thread writes the copy, forces
it to the disk and renames it. One is written at a time: if the disk is slower than the training, the next copy waits.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple, Self

from annotated.runs.checkpoint import (
    Snapshot,
    best_checkpoints,
    best_path,
    checkpoint_path,
    prune_checkpoints,
    write_snapshot,
)


class Saved(NamedTuple):
    """A checkpoint that is on the disk, whole."""

    update: int
    path: Path
    is_best: bool
    """True for one in `best/`."""


class CheckpointWriter:
    """Writes the checkpoints of a run, one at a time, in a thread. Leaving its context waits for the last one.

    Parameters
    ----------
    folder
        Of the run.
    keep
        Newest checkpoints to keep.
    keep_best
        Checkpoints of the lowest validation loss to keep besides.
    on_saved
        Called for each checkpoint that has become whole: by `save`, `collect` or the end, not by the thread.
    """

    def __init__(self, folder: Path, keep: int, keep_best: int, on_saved: Callable[[Saved], None]) -> None:
        self.folder, self.keep, self.keep_best, self.on_saved = folder, keep, keep_best, on_saved
        self.sound_until: int | None = None
        """As in `prune_checkpoints`."""
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="checkpoint")
        self._pending: Future[list[Saved]] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        self._pool.shutdown(wait=True)  # what is half written becomes whole, whatever ended the training
        with contextlib.nullcontext() if kind is None else contextlib.suppress(OSError):  # the first error is the one
            self.collect(wait=True)

    def is_among_best(self, valid_loss: float) -> bool:
        """Whether a checkpoint of this validation loss would be kept for it."""
        kept = best_checkpoints(self.folder)
        return self.keep_best > 0 and (len(kept) < self.keep_best or valid_loss < kept[self.keep_best - 1][0])

    def save(self, snapshot: Snapshot, *, regular: bool = True, best: bool = False) -> None:
        """Begin to write a snapshot, when the one before is on the disk.

        Parameters
        ----------
        snapshot
            A copy, which nobody changes.
        regular
            Into `checkpoints/`.
        best
            Into `best/`.

        Raises
        ------
        DiskFull
            If the one *before* could not be saved.
        """
        self.collect(wait=True)
        self._pending = self._pool.submit(self._write, snapshot, regular, best)

    def collect(self, wait: bool = False) -> None:
        """See whether the checkpoint that is being written has become whole.

        Parameters
        ----------
        wait
            Until it has.

        Raises
        ------
        DiskFull
            If it could not be saved; those before are untouched.
        """
        if self._pending is None or not (wait or self._pending.done()):
            return
        pending, self._pending = self._pending, None
        for saved in pending.result():
            self.on_saved(saved)

    def _write(self, snapshot: Snapshot, regular: bool, best: bool) -> list[Saved]:
        update, saved = int(snapshot.state["update"]), []
        if regular:
            saved.append(Saved(update, write_snapshot(snapshot, checkpoint_path(self.folder, update)), False))
            prune_checkpoints(self.folder, self.keep, self.sound_until)
        if best:
            saved.append(Saved(update, write_snapshot(snapshot, best_path(self.folder, update)), True))
            for _, path in best_checkpoints(self.folder)[self.keep_best :]:
                shutil.rmtree(path, ignore_errors=True)
        return saved
