"""Doors that the sandbox shuts: what an answer can do all the same, and what it is told where it cannot.

This file stands alone: it lies beside the worker in the sandbox too.
"""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Iterator
from types import TracebackType
from typing import Any

_PROCESSES = ("/subprocess.py", "/multiprocessing/", "/concurrent/futures/process.py", "/pty.py")
_NETWORK = ("/socket.py", "/ssl.py")
_REFUSED = (errno.EPERM, errno.EAGAIN, errno.EACCES)
_IN_THIS_PROCESS = {"num_workers": 0, "prefetch_factor": None, "persistent_workers": False, "timeout": 0}
_IN_THIS_PROCESS |= {"multiprocessing_context": None}
_shut = False


def open_side_doors(torch: Any) -> None:
    """Do in the answer's own process what others or a compiler would do elsewhere, with the same result."""
    global _shut
    _shut = True
    torch.compile = _uncompiled
    loader = torch.utils.data.DataLoader
    begin = loader.__init__

    def __init__(self: Any, dataset: Any, batch_size: Any = 1, *args: Any, **kwargs: Any) -> None:
        begin(self, dataset, batch_size, *_without_workers(args), **{**kwargs, **_given(kwargs)})

    loader.__init__ = __init__
    base: Any = asyncio.selector_events.BaseSelectorEventLoop
    base._make_self_pipe, base._close_self_pipe = _make_self_pipe, _close_self_pipe


def _uncompiled(model: Any = None, **_: Any) -> Any:
    """`torch.compile` without a compiler: the function itself."""
    return model if model is not None else lambda function: function


def _given(kwargs: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in _IN_THIS_PROCESS.items() if name in kwargs}


def _without_workers(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments by place behind the batch size, of which `num_workers` is the fourth."""
    return (*args[:3], 0, *args[4:]) if len(args) > 3 else args


class _PipeEnd:
    """One end of a pipe with the methods of a socket that an event loop uses to wake itself; sockets are refused."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        os.set_blocking(descriptor, False)

    def fileno(self) -> int:
        """The descriptor."""
        return self.descriptor

    def recv(self, count: int) -> bytes:
        """Read."""
        return os.read(self.descriptor, count)

    def send(self, data: bytes) -> int:
        """Write."""
        return os.write(self.descriptor, data)

    def close(self) -> None:
        """Close."""
        os.close(self.descriptor)


def _make_self_pipe(loop: Any) -> None:
    loop._ssock, loop._csock = map(_PipeEnd, os.pipe())
    loop._internal_fds += 1
    loop._add_reader(loop._ssock.fileno(), loop._read_from_self)


def _close_self_pipe(loop: Any) -> None:
    loop._remove_reader(loop._ssock.fileno())
    for end in (loop._ssock, loop._csock):
        end.close()
    loop._ssock = loop._csock = None
    loop._internal_fds -= 1


def shut_door(error: BaseException, line: str = "") -> str:
    """Which door of the sandbox an error comes from, in words; empty if from none, and on a learner's own machine.

    Parameters
    ----------
    line
        The answer's line that raised it.
    """
    if not (_shut and isinstance(error, OSError)):
        return ""
    files = "\n".join(_files(error)).replace(os.sep, "/")
    if any(part in files for part in _NETWORK):
        return "the grader has no network"
    if error.errno in _REFUSED and ("fork" in line or any(part in files for part in _PROCESSES)):
        return "the grader starts no other processes"
    return ""


def _files(error: BaseException) -> Iterator[str]:
    """The files that an error went through, with those of the errors before it."""
    seen: list[BaseException] = []
    waiting: list[Any] = [error]
    while waiting and len(seen) < 10:
        one = waiting.pop()
        if isinstance(one, BaseException) and one not in seen:
            seen.append(one)
            step: TracebackType | None = one.__traceback__
            while step is not None:
                yield step.tb_frame.f_code.co_filename
                step = step.tb_next
            waiting += [one.__cause__, one.__context__, getattr(one, "reason", None)]
