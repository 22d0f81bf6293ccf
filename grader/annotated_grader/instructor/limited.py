"""Limited children: work on what strangers wrote, each piece in a forked process with bounds of time, memory and size.

Whatever a file does to the code that reads it, it does to its own child: that one is ended, with a reason, and neither
the run nor another submission notices. The parent starts no thread and reads nothing but bounded, plain JSON.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import random
import select
import signal
import sys
import tempfile
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

Key = TypeVar("Key")
"""What tells one piece of work from another."""
Work = Callable[[], Any]
"""What a child does; its result is plain data."""
_PR_SET_PDEATHSIG = 1
_SANDBOX = "annotated_grader.sandbox.process"
"""It needs torch, which takes seconds to import; folders are looked into without it."""


@dataclass(frozen=True)
class Bounds:
    """What one child may use.

    Attributes
    ----------
    memory
        Bytes of its own, beyond those that it shares with the parent. No exercise's checks need more than two thirds.
    cpu_seconds
        Processor time of its own; a sandbox that it waits for has another account.
    wall_seconds
        After which it is ended, whatever it waits for.
    result
        Bytes of what it gives back.
    """

    memory: int = 80 * 2**20
    cpu_seconds: int = 60
    wall_seconds: float = 1800.0
    result: int = 4 * 2**20


@dataclass(frozen=True)
class Ended:
    """How a child ended.

    Attributes
    ----------
    how
        `done`, with its `value`; `exhausted`: it met a bound, or crashed; `failed`: the code in it raised, or something
        outside ended it; `broken`: the sandbox does not work.
    reason
        One line, unless it is done.
    """

    how: Literal["done", "exhausted", "failed", "broken"]
    value: Any = None
    reason: str = ""


@dataclass
class _Child:
    pid: int
    pipe: int
    scratch: str
    end: float
    data: bytearray


def in_children(
    works: Iterable[tuple[Key, Work]], jobs: int = 1, bounds: Bounds | None = None
) -> Iterator[tuple[Key, Ended]]:
    """Do each piece of work in a child of its own, several at a time, and give what came of each, as they end.

    Raises
    ------
    GraderBroken
        If this system cannot fork.
    """
    if not hasattr(os, "fork"):
        from annotated_grader.sandbox.process import GraderBroken

        raise GraderBroken("grading wants Linux: on Windows, give the same command in WSL (`wsl --install` makes it)")
    bounds = bounds or Bounds()
    if not (works := list(works)):
        return
    waiting, running = deque(works), dict[int, tuple[Key, _Child]]()
    gc.collect()
    gc.freeze()  # children share these objects' memory as long as nobody writes into it, not even the collector
    try:
        while waiting or running:
            while waiting and len(running) < max(1, jobs):
                key, work = waiting.popleft()
                child = _start(work, bounds)
                running[child.pipe] = (key, child)
            for pipe, ended in _ended({pipe: child for pipe, (_, child) in running.items()}, bounds):
                yield running.pop(pipe)[0], ended
    finally:
        for _, child in running.values():
            _end(child)
        gc.unfreeze()


def _start(work: Work, bounds: Bounds) -> _Child:
    scratch = tempfile.mkdtemp(prefix="annotated-answer-")
    if sandbox := sys.modules.get(_SANDBOX):
        sandbox.pass_users()
    ours, theirs = os.pipe()
    parent = os.getpid()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads that a test runner may have
        pid = os.fork()
    if pid == 0:
        try:
            os.close(ours)
            _be_a_child(parent, scratch, bounds)
            _reply(theirs, _done(work), bounds)
            os._exit(0)
        finally:
            os._exit(1)
    os.close(theirs)
    return _Child(pid, ours, scratch, time.monotonic() + bounds.wall_seconds, bytearray())


def _be_a_child(parent: int, scratch: str, bounds: Bounds) -> None:
    """End with the parent, start from the same random numbers as every other child, and accept the bounds."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its children
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)
    tempfile.tempdir = scratch
    random.seed(0)
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(1)
        torch.manual_seed(0)
    _limit("RLIMIT_CPU", bounds.cpu_seconds)
    with contextlib.suppress(OSError, ValueError):
        pages = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[5])
        _limit("RLIMIT_DATA", pages * os.sysconf("SC_PAGE_SIZE") + bounds.memory)


def _limit(name: str, value: int | None) -> None:
    """Set a soft limit, or lift it; the worker of a sandbox that is started from here lifts it, and sets its own."""
    import resource

    which = getattr(resource, name)
    _, hard = resource.getrlimit(which)
    with contextlib.suppress(OSError, ValueError):  # macOS has no bound of address space
        resource.setrlimit(which, (hard if value is None else value, hard))


def _done(work: Work) -> tuple[str, Any]:
    try:
        return "done", work()
    except _broken() as error:
        return "broken", str(error)
    except (MemoryError, RecursionError):
        return "exhausted", "it needs more memory than the grader gives to one submission"
    except Exception as error:
        how = "exhausted" if "can't allocate memory" in str(error) else "failed"  # torch has no error of its own
        return how, f"{type(error).__name__}: {error}"[:500]
    except BaseException as error:  # such as a panic of a library, which is no Exception
        return "exhausted", f"it ended the code that reads it ({type(error).__name__})"


def _broken() -> type[Exception] | tuple[()]:
    """The error of a sandbox that does not work; none where no sandbox was loaded."""
    return sandbox.GraderBroken if (sandbox := sys.modules.get(_SANDBOX)) else ()


def _reply(pipe: int, reply: tuple[str, Any], bounds: Bounds) -> None:
    _limit("RLIMIT_DATA", None)
    data = json.dumps(reply).encode()
    if len(data) > bounds.result:
        data = json.dumps(("exhausted", f"its result has {len(data):,} bytes, more than {bounds.result:,}")).encode()
    view = memoryview(data)
    while view:
        view = view[os.write(pipe, view) :]


def _ended(running: dict[int, _Child], bounds: Bounds) -> Iterator[tuple[int, Ended]]:
    """Wait until something happens, and give the children that have ended."""
    first = min(child.end for child in running.values())
    ready, _, _ = select.select(list(running), [], [], max(0.0, first - time.monotonic()))
    for pipe in ready:
        child = running[pipe]
        part = os.read(pipe, 2**20)
        child.data += part
        if not part:
            yield pipe, _result(child, _end(child))
        elif len(child.data) > bounds.result:
            _end(child)
            yield pipe, Ended("exhausted", reason="its result is too large")
    for pipe, child in running.items():
        if pipe not in ready and child.end < time.monotonic():
            _end(child)
            yield pipe, Ended("exhausted", reason=f"it took longer than {bounds.wall_seconds:g} seconds")


def _end(child: _Child) -> int:
    """See a child off, and remove what it left; its status."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(child.pid, 0 if _has_ended(child) else signal.SIGKILL)
    _, status = os.waitpid(child.pid, 0)
    os.close(child.pipe)
    try:
        os.rmdir(child.scratch)
    except OSError:  # it was ended before it could tidy up
        from annotated_grader.sandbox.process import remove_folder

        remove_folder(child.scratch)
    return os.waitstatus_to_exitcode(status)


def _has_ended(child: _Child) -> bool:
    """Whether it has closed its pipe, which is the last thing that it does."""
    poll = select.poll()
    poll.register(child.pipe, select.POLLHUP)
    return any(event & select.POLLHUP for _, event in poll.poll(0))


def _result(child: _Child, status: int) -> Ended:
    if status == 0:
        with contextlib.suppress(ValueError, TypeError):
            how, value = json.loads(child.data)
            return Ended("done", value) if how == "done" else Ended(how, reason=str(value))
    if status == -signal.SIGKILL:
        return Ended("failed", reason="something ended the process that read it; the machine may be short of memory")
    if status == -signal.SIGXCPU:
        return Ended("exhausted", reason="reading and checking it takes more time than the grader gives")
    return Ended("exhausted", reason=f"it ended the process that read it (status {status})")
