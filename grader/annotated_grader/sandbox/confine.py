"""Confinement: what a process gives up so that the code it runs next can do little.

This file stands alone: it runs inside the sandbox, before an answer's code. Nothing here can be undone by that code.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Mapping, Sequence
from typing import Any

try:
    from annotated_grader.sandbox.seccomp import refuse_system_calls
except ImportError:  # inside the sandbox, where this file lies beside `seccomp`
    from seccomp import refuse_system_calls  # type: ignore[no-redef,import-not-found]

_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS, _SIGKILL = 1, 38, 9


def confine(settings: Mapping[str, Any]) -> None:
    """Give up, for good, what an answer does not need.

    Parameters
    ----------
    settings
        `uid`: another user to become (only as root), or None. `limits`: the fields of `process.SandboxLimits`.
        `readable`, `listable`, `scratch`: paths to which Landlock narrows the file system; `readable` is None to leave
        it alone.

    Raises
    ------
    OSError
        If the system refuses a step.
    """
    if (uid := settings.get("uid")) is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)  # away from uid 0: the kernel takes all capabilities
    set_limits(settings["limits"])
    if sys.platform != "linux":
        return
    _libc().prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0)  # no answer outlives a grader that was killed
    _check(_libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    narrowed = settings.get("readable") is not None
    if narrowed:
        restrict_files(settings["readable"], settings["listable"], settings["scratch"])
        drop_capabilities()
    refuse_system_calls(owners_and_modes=narrowed)


def set_limits(limits: Mapping[str, int]) -> None:
    """Limits of memory, processor time, files and threads; those that this system knows."""
    try:
        import resource
    except ImportError:  # Windows
        return
    wanted = {
        "RLIMIT_AS": limits["memory"], "RLIMIT_CPU": limits["cpu_seconds"], "RLIMIT_FSIZE": limits["file_bytes"],
        "RLIMIT_NOFILE": limits["open_files"], "RLIMIT_CORE": 0, "RLIMIT_NPROC": limits["threads"],
        "RLIMIT_MSGQUEUE": 0, "RLIMIT_MEMLOCK": 0,
    }  # fmt: skip
    for name, value in wanted.items():
        which = getattr(resource, name, None)
        if which is None or (sys.platform != "linux" and name in ("RLIMIT_AS", "RLIMIT_NPROC")):
            continue  # macOS accepts neither: its numbers count other things
        _, hard = resource.getrlimit(which)
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(which, (value, value))


def drop_capabilities() -> None:
    """Give up root's powers while staying user 0, whose files must stay readable."""
    header = struct.pack("=Ii", 0x20080522, 0)
    _check(_libc().capset(header, bytes(24)), "capset")


def restrict_files(readable: Sequence[str], listable: Sequence[str], scratch: str) -> None:
    """Narrow the file system, with Landlock, to reading what is named, and making files in one folder only.

    Raises
    ------
    OSError
        If the kernel has no Landlock (before 5.13, or switched off).
    """
    create, add, restrict = 444, 445, 446
    execute, write, read, list_folder = 1, 2, 4, 8  # bits 4 to 12 remove and make, 13 and 14 came with versions 2 and 3
    call = _libc().syscall
    version = _check(call(create, None, 0, 1), "Landlock")
    every = (1 << min(12 + version, 15)) - 1
    # From version 6 it also keeps signals, and sockets that have names in no file, among the processes so narrowed.
    attributes = struct.pack("=QQQ", every, 0, 3) if version >= 6 else struct.pack("=Q", every)
    rules = _check(call(create, attributes, len(attributes), 0), "Landlock")
    files_only = every & ~sum(1 << bit for bit in (6, 9, 10, 11, 12))  # neither devices, sockets, pipes nor links
    for path in (*readable, *listable, scratch):
        try:
            file = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue
        rights = execute | read | (list_folder if os.path.isdir(path) else write if path.startswith("/dev/") else 0)
        rights = list_folder if path in listable else files_only if path == scratch else rights
        _check(call(add, rules, 1, struct.pack("=Qi", rights, file), 0), f"Landlock for {path}")
        os.close(file)
    _check(call(restrict, rules, 0), "Landlock")
    os.close(rules)


def can_open(path: str) -> bool:
    """Whether a file or folder can be opened for reading."""
    try:
        os.close(os.open(path, os.O_RDONLY))
    except OSError:
        return False
    return True


def powers() -> dict[str, bool]:
    """What this process can still do, found out by trying."""
    return {"fork": _can_fork(), "network": _can_connect(), "root": hasattr(os, "getuid") and os.getuid() == 0}


def _can_fork() -> bool:
    try:
        child = os.fork()
    except (OSError, AttributeError):
        return False
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return True


def _can_connect() -> bool:
    import socket

    try:
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close()
    except OSError:
        return False
    return True


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result
