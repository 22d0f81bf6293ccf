"""Worker processes, whose results come in the order of the work: how many there are never changes a byte."""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.synchronize import Event
from typing import Any, TypeVar

from annotated.wmt14.options import PreparationError

T = TypeVar("T")
"""What a piece of work is."""
R = TypeVar("R")
"""What comes of it."""

_AHEAD = 2
"""Pieces of work for each process that are under way at once: bounds memory."""

_work: Callable[[Any], Any] | None = None
_enough: Event | None = None


def default_jobs() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def give_memory_back() -> None:
    """Return to the system what was freed: glibc keeps it, and processes forked later would count it as theirs."""
    with contextlib.suppress(OSError, AttributeError):  # not glibc
        ctypes.CDLL("libc.so.6").malloc_trim(0)


def in_order(work: Callable[[T], R], items: Iterable[T], jobs: int) -> Iterator[R]:
    """`work(item)` for each item, in the order of the items, by `jobs` processes.

    A single item, or a single job, is done in this process: small corpora start no others.

    Raises
    ------
    PreparationError
        If a process dies, most likely for want of memory.
    """
    remaining = iter(items)
    first = list(itertools.islice(remaining, 2))
    if jobs == 1 or len(first) < 2:
        yield from map(work, itertools.chain(first, remaining))
        return
    # Linux forks, as torch's data loaders do: the work (a tokenizer, a set of sentences) is there without a copy.
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    enough = context.Event()
    pool = ProcessPoolExecutor(jobs, context, initializer=_begin, initargs=(work, enough))
    pending: deque[Future[R]] = deque()
    try:
        with _no_interrupt():
            pending.append(pool.submit(_call, first[0]))  # this starts the processes
        for item in itertools.chain(first[1:], remaining):
            pending.append(pool.submit(_call, item))
            if len(pending) >= _AHEAD * jobs:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    except BrokenProcessPool:
        raise PreparationError(
            f"one of the {jobs} processes was killed, most likely because memory ran out: run the same command "
            "again with fewer --jobs; it goes on where it stopped"
        ) from None
    except BaseException:
        # Each process ends the piece in hand and leaves the rest. It must not be terminated: in the midst of sending a
        # result, that would leave this process waiting for the second half of it for ever.
        enough.set()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


@contextlib.contextmanager
def _no_interrupt() -> Iterator[None]:
    """Let Ctrl-C wait: a process that it met at its very start would die of it, and the pool with it."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # what is forked now inherits it
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(work: Callable[[Any], Any], enough: Event) -> None:
    """The first thing a process does."""
    global _work, _enough
    _work, _enough = work, enough
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the main process, which ends this one
    # The tokenizers library has threads of its own, which a forked process lacks; one process uses one core here.
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A main process that was killed cannot say so: without this, the others would wait for work for ever."""
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        os._exit(1)


def _call(item: Any) -> Any:
    assert _work is not None and _enough is not None
    return None if _enough.is_set() else _work(item)
