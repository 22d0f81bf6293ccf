"""Queue of the runs of the small Table 3: so many at a time, for so many hours, each in a process of its own.

A run is claimed by the lock of a file, which ends with the process that holds it: several queues share the work, and a
killed one leaves nothing behind but checkpoints, from which the next one goes on.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from annotated.chapters.table_3.records import MORE_SEEDS, RUNS, SEEDS, Run, needed_runs, record_file, recorded_runs
from annotated.chapters.table_3.rows import ROWS
from annotated.chapters.table_3.size import Size
from annotated.chapters.table_3.text import WORK
from annotated.storage import exclusive_lock, lock_holder

TAKEN = 75
"""Exit status of a run that another process has claimed."""
MOST_FAILURES = 3
_GRACE_SECONDS = 120.0
"""How long a run may take to save itself before it is killed."""


def claim_file(row: str, seed: int, size: Size, work: Path = WORK) -> Path:
    """The file whose lock is held by the process that makes a run."""
    return work / size.name / "claims" / f"{row}-{seed}.lock"


def claimed(row: str, seed: int, size: Size, work: Path = WORK) -> AbstractContextManager[None]:
    """Hold a run's claim for the length of a `with` block.

    Raises
    ------
    annotated.storage.Locked
        If another process has it.
    """
    return exclusive_lock(claim_file(row, seed, size, work), wait_seconds=0.5)


def run_command(row: str, seed: int, size: Size) -> list[str]:
    """The command of one run."""
    return [sys.executable, "-m", "annotated.chapters.table_3", "one", row, str(seed), "--size", size.name]


def _say(line: str) -> None:
    print(f"table_3: {line}", file=sys.stderr, flush=True)


@dataclass
class Queue:
    """Runs of one size, those that are needed most first; a run that has failed is not tried again."""

    size: Size
    work: Path = WORK
    records: Path = RUNS
    rows: Sequence[str] = ROWS
    seeds: int = SEEDS
    more: int = MORE_SEEDS
    command: Callable[[str, int, Size], list[str]] = run_command
    pause: float = 2.0
    """Seconds between two looks at what has ended."""
    failed: set[Run] = field(default_factory=set)
    _children: dict[Run, subprocess.Popen[bytes]] = field(default_factory=dict)
    _stop: str | None = None

    def run(self, hours: float, jobs: int) -> bool:
        """Make runs until none is needed, the time is over, or a signal comes.

        Returns
        -------
        bool
            Whether no run is needed any more. A run that is cut short saves a checkpoint, and is the next to be made.
        """
        until = time.monotonic() + 3600 * hours
        previous = [(number, signal.signal(number, self._asked)) for number in (signal.SIGTERM, signal.SIGINT)]
        try:
            while self._stop is None and time.monotonic() < until and len(self.failed) < MOST_FAILURES:
                self._collect()
                self._start(jobs)
                if not self._children and self._next() is None and not self._others():
                    break
                time.sleep(self.pause)
        finally:
            self._end_children()
            for number, handler in previous:
                signal.signal(number, handler)
        return not self._missing()

    def _asked(self, number: int, _: FrameType | None = None) -> None:
        self._stop = signal.Signals(number).name

    def _missing(self) -> list[Run]:
        runs = recorded_runs(self.size, self.records)
        return list(needed_runs(runs, self.rows, self.seeds, self.more))

    def _held(self, run: Run) -> bool:
        return lock_holder(claim_file(*run, self.size, self.work)) is not None

    def _next(self) -> Run | None:
        """The most needed run that nobody makes now."""
        mine = self.failed | set(self._children)
        free = (run for run in self._missing() if run not in mine and not self._held(run))
        # Who let go of a run in the meantime has recorded it before.
        return next((run for run in free if not record_file(*run, self.size, self.records).exists()), None)

    def _others(self) -> bool:
        """Whether other processes make runs, after which more may be needed."""
        return any(self._held(run) for run in self._missing() if run not in self.failed)

    def _start(self, jobs: int) -> None:
        while len(self._children) < jobs and (run := self._next()) is not None:
            threads = {"OMP_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive"}
            # A session of its own: Ctrl-C reaches this process alone, which then asks the runs to save themselves.
            self._children[run] = subprocess.Popen(
                self.command(*run, self.size), env={**os.environ, **threads}, start_new_session=True
            )
            _say(f"{run[0]} with seed {run[1]} started")

    def _collect(self) -> None:
        for run, process in list(self._children.items()):
            status = process.poll()
            if status is None:
                continue
            del self._children[run]
            done = run in recorded_runs(self.size, self.records)
            if status == 0 and done:
                _say(f"{run[0]} with seed {run[1]} recorded")
            elif status != TAKEN:
                self.failed.add(run)
                _say(f"{run[0]} with seed {run[1]} FAILED with status {status}; not tried again now")

    def _end_children(self) -> None:
        for process in self._children.values():
            with suppress(ProcessLookupError):
                process.terminate()
        for process in self._children.values():
            try:
                process.wait(_GRACE_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._children.clear()
