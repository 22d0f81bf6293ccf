"""Lending of started workers: torch is imported once for a class, in a template, whose copies serve the answers.

To import torch takes seconds, and to check most answers less than one. An answer's process is as closed, as empty of
what others did, and as short-lived as one that starts from nothing: see `template`.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from annotated_grader.sandbox.mounts import ENVIRONMENT, sandbox_paths

HOLD = "import ctypes; ctypes.CDLL(None).prctl(4, 0, 0, 0, 0); print(flush=True); input()"
"""What waits within an answer's walls for the worker, and goes when the grader does. It is not dumpable: no answer can
reach into its memory, not even one of the same user."""
FLAGS = ["-I", "-S", "-B", "-X", "utf8"]

_lenders: list[socket.socket] = []
"""The template that is used now, if there is one; children of the grader use their parent's."""


def is_lending() -> bool:
    """Whether copies are to be had."""
    return bool(_lenders)


def lend(requests: int, replies: int, errors: int, within: int) -> None:
    """Have a copy go within the walls around a process, and serve there.

    Parameters
    ----------
    within
        The number of that process.

    Raises
    ------
    OSError
        If the template has ended.
    """
    walls = os.pidfd_open(within)
    try:
        socket.send_fds(_lenders[-1], [b"c"], [requests, replies, errors, walls])
    finally:
        os.close(walls)


@contextmanager
def started_once(level: str) -> Iterator[int | None]:
    """A block in which sandboxes of this process and of its children are copies of one template; gives its number.

    Other levels than bubblewrap's have no walls that one could go into, and start each worker by itself.
    """
    if level != "bubblewrap" or not shutil.which("bwrap"):
        yield None
        return
    where = sandbox_paths()
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    command = [where.python, *FLAGS, where.worker("none"), "template", str(theirs.fileno())]
    with ours:
        with theirs:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, pass_fds=[theirs.fileno()],
                env={**ENVIRONMENT, "PWD": "/tmp"}, cwd="/", start_new_session=True,
            )  # fmt: skip
        try:
            ours.send("\0".join(where.sites).encode())
            _lenders.append(ours)  # what asks before torch is there waits
            yield process.pid
        finally:
            _lenders.remove(ours)
            process.kill()
            process.wait()
