"""Queue of runs: so many at a time, for so many hours, each in a process of its own.

A run is claimed by the lock of a file, which ends with the process that holds it: several queues share the work, and a
killed one leaves nothing behind but checkpoints, from which the next one goes on.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from annotated.locks import lock_holder

TAKEN = 75
"""Exit status of a run that another process has claimed."""
MOST_FAILURES = 3
_GRACE_SECONDS = 120.0
"""How long a run may take to save itself before it is killed."""

Run = tuple[str, int]
"""A row and a seed."""


def _say(line: str) -> None:
    print(f"table_3: {line}", file=sys.stderr, flush=True)


@dataclass
class Queue:
    """Runs that are needed, the most needed first; a run that has failed is not tried again."""

    needed: Callable[[], Iterable[Run]]
    """The runs that are not recorded, read anew: what has been recorded may change what is needed."""
    claim: Callable[[Run], Path]
    """The file whose lock is held by the process that makes a run."""
    command: Callable[[Run], list[str]]
    """The command of a run: it claims it, and has recorded it when it ends with 0."""
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
        return not any(True for _ in self.needed())

    def _asked(self, number: int, _: FrameType | None = None) -> None:
        self._stop = signal.Signals(number).name

    def _held(self, run: Run) -> bool:
        return lock_holder(self.claim(run)) is not None

    def _next(self) -> Run | None:
        """The most needed run that nobody makes now."""
        mine = self.failed | set(self._children)
        free = (run for run in self.needed() if run not in mine and not self._held(run))
        # Who let go of a run in the meantime has recorded it before.
        return next((run for run in free if run in self.needed()), None)

    def _others(self) -> bool:
        """Whether other processes make runs, after which more may be needed."""
        return any(self._held(run) for run in self.needed() if run not in self.failed)

    def _start(self, jobs: int) -> None:
        while len(self._children) < jobs and (run := self._next()) is not None:
            threads = {"OMP_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive"}
            # A session of its own: Ctrl-C reaches this process alone, which then asks the runs to save themselves.
            self._children[run] = subprocess.Popen(
                self.command(run), env={**os.environ, **threads}, start_new_session=True
            )
            _say(f"{run[0]} with seed {run[1]} started")

    def _collect(self) -> None:
        for run, process in list(self._children.items()):
            status = process.poll()
            if status is None:
                continue
            del self._children[run]
            if status == 0 and run not in self.needed():
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
