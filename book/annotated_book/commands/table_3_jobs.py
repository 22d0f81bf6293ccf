"""Jobs of `annotated table3 run`: several runs at a time, each in a process of its own, which all end together."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from annotated.cli.errors import explain

if TYPE_CHECKING:
    from annotated_book.experiments.settings import ClassroomSize

_SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGHUP", "SIGBREAK") if hasattr(signal, name))


class JobsFailed(RuntimeError):
    """A process could not make its runs; it has said why."""


def make_together(
    rows: Sequence[str], seeds: int, folder: Path, size: ClassroomSize, jobs: int, quiet: bool
) -> str | None:
    """Make the runs that are missing in a folder of that size, so many at a time.

    Returns
    -------
    str or None
        The signal that ended them early, after each saved a checkpoint.

    Raises
    ------
    JobsFailed
        If one of several processes failed.
    """
    from annotated_book.experiments.reader_runs import make_runs
    from annotated_book.experiments.sentences import classroom_text

    if jobs == 1:
        return make_runs(rows, seeds, folder, size, silent if quiet else say)
    classroom_text(size, folder, silent if quiet else say)  # once, before all
    context = multiprocessing.get_context("spawn")
    asked: list[str] = []
    children = [context.Process(target=_work, args=(rows, seeds, folder, size, quiet)) for _ in range(jobs)]

    def pass_on(number: int, _: FrameType | None = None) -> None:
        asked.append(signal.Signals(number).name)
        for child in children:
            if child.is_alive() and os.name != "nt":  # there the console asks each, and `terminate` lets none save
                child.terminate()

    before = [(number, signal.signal(number, pass_on)) for number in _SIGNALS]
    try:
        for child in children:
            child.start()
        for child in children:
            child.join()
    finally:
        for number, handler in before:
            signal.signal(number, handler)
    if asked:
        return asked[0]
    if any(child.exitcode for child in children):
        raise JobsFailed("not all runs could be made, see above; the same command goes on with them")
    return None


def _work(rows: Sequence[str], seeds: int, folder: Path, size: ClassroomSize, quiet: bool) -> None:
    """In a new process; Ctrl-C does not reach it, but what its parent passes on does."""
    if hasattr(os, "setsid"):
        os.setsid()
    from annotated_book.experiments.reader_runs import make_runs

    try:
        stopped_by = make_runs(rows, seeds, folder, size, silent if quiet else say, say_taken=False)
    except Exception as error:
        print(f"annotated: {explain(error, ['table3'])}", file=sys.stderr, flush=True)
        sys.exit(1)
    sys.exit(0 if stopped_by is None else 1)


def say(line: str) -> None:
    """A line for the user, on standard error."""
    print(f"table3: {line}", file=sys.stderr, flush=True)


def silent(line: str) -> None:
    """No line."""
