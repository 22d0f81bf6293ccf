"""Template of workers: it has torch, and nothing of the grader, an exercise or an answer; its copies serve answers.

This file stands alone beside the worker. The template never runs a stranger's code. Bubblewrap builds the walls of each
answer as always, around a process that only waits. A copy of the template goes in through the kernel's `setns`, and
then shuts its doors as a worker does that was started there.
"""

from __future__ import annotations

import ctypes
import os
import random
import signal
import socket
import struct
import sys
from collections.abc import Callable
from typing import Any

_NEW_CGROUP, _NEW_UTS, _NEW_IPC, _NEW_PID, _NEW_NET, _NEW_MOUNTS, _NEW_USERS = (
    0x02000000, 0x04000000, 0x08000000, 0x20000000, 0x40000000, 0x00020000, 0x10000000,
)  # fmt: skip
_WALLS = _NEW_CGROUP | _NEW_UTS | _NEW_IPC | _NEW_PID | _NEW_NET | _NEW_MOUNTS
_PR_SET_PDEATHSIG, _PR_CAPBSET_DROP = 1, 24
_FILES_OF_A_COPY = 4  # requests, replies, errors, and the process within the walls


def make_copies(descriptor: int, load: Callable[[list[str]], None]) -> None:
    """Load torch, then make a copy for each message that comes; returns in the copies, within their walls.

    Parameters
    ----------
    descriptor
        A socket. The first message is the folders of installed packages, each of the others the files of a copy.
    load
        Imports torch, from these folders.
    """
    lender = socket.socket(fileno=descriptor)
    load(lender.recv(2**16).decode().split("\0"))
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel sees the copies off
    lender.send(b"ready")
    while True:
        said, files, _, _ = socket.recv_fds(lender, 1, _FILES_OF_A_COPY)
        if not said:
            os._exit(0)  # the grader has ended
        if os.fork() == 0:
            try:
                lender.detach()  # `_enter` closes it
                return _enter(*files)
            except BaseException as error:
                os.write(files[2], f"{type(error).__name__}: {error}\n".encode())
                os._exit(1)
        for file in files:
            os.close(file)


def _enter(requests: int, replies: int, errors: int, within: int) -> None:
    """Go within the walls; what goes on there is a child, for a process cannot change its own number."""
    libc: Any = ctypes.CDLL(None, use_errno=True)
    is_root = os.getuid() == 0  # as whom bubblewrap makes no user namespace; `confine` makes another user of root
    _check(libc.setns(within, _WALLS if is_root else _WALLS | _NEW_USERS), "setns")
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if worker := os.fork():
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)  # the worker asks the same of this process: `confine`
        data = str(worker).encode()
        os.write(replies, struct.pack(">I", len(data)) + data)
        os.closerange(0, os.sysconf("SC_OPEN_MAX"))  # whoever reads replies sees when the worker has ended
        os.waitpid(worker, 0)  # the namespace is gone when nobody in it is left, not even a zombie
        os._exit(0)
    if not is_root:
        _give_up_powers(libc)
    os.setsid()
    for file, standard in ((requests, 0), (replies, 1), (errors, 2)):
        os.dup2(file, standard)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    os.chdir("/tmp")
    random.seed()  # every copy its own
    if numbers := sys.modules.get("numpy.random"):
        numbers.seed()


def _give_up_powers(libc: Any) -> None:
    """Who enters a user namespace has all powers in it; bubblewrap leaves none to what it starts there."""
    for power in range(64):
        if libc.prctl(_PR_CAPBSET_DROP, power, 0, 0, 0):
            break  # the kernel has no more
    _check(libc.capset(struct.pack("=Ii", 0x20080522, 0), bytes(24)), "capset")


def _check(result: int, what: str) -> None:
    if result:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
