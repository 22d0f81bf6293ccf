"""Where strangers' code runs: a process that can compute, and hardly anything else.

Three levels. `bubblewrap`: namespaces of its own (no network, no other processes, a file system with Python in it and
nothing more), another user, limits, and a filter of system calls. `landlock`: the same limits and filter, and a kernel
rule that only Python's files can be read, and files made only in a folder that is deleted afterwards; for machines that
forbid namespaces. It hides the contents of files, not their names, and bounds neither the number of files in that
folder nor, where root grades, of threads. `none`: limits only, where there is neither; for code that you trust.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import torch

from annotated.grading.places import Places, places
from annotated.grading.wire import WireError, decode

Level = Literal["bubblewrap", "landlock", "none"]
LEVELS: tuple[Level, ...] = ("bubblewrap", "landlock", "none")

_HANDSHAKE_SECONDS = 90  # importing torch on a busy machine
_FIRST_UID, _UIDS = 61184, 4000
_uids = itertools.count(os.getpid())
_ENVIRONMENT = {"HOME": "/tmp", "MPLCONFIGDIR": "/tmp", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
_MOST_OF_A_HEADER = 4 * 2**20


class GraderBroken(Exception):
    """The grader itself does not work here. Nobody's answer is at fault, so nothing is scored."""


class NotIsolated(RuntimeError):
    """Strangers' code would run without isolation."""


class OutOfTime(Exception):
    """No reply within the time that there was."""


class Died(Exception):
    """The process ended, or broke the rules of the conversation."""


@dataclass(frozen=True)
class Limits:
    """What one submission may use.

    Attributes
    ----------
    call_seconds
        For one thing that a check asks, and for one cell of the notebook.
    total_seconds
        For all of it.
    memory
        Address space, in bytes; torch itself takes 0.6 GB of it.
    scratch, file_bytes
        Bytes under /tmp (in memory), and in one file.
    reply
        Bytes of one reply; `replies` bounds their sum.
    restarts
        How often a new process is started after one died or ran out of time.
    """

    call_seconds: float = 10.0
    total_seconds: float = 90.0
    memory: int = 4 * 2**30
    scratch: int = 64 * 2**20
    file_bytes: int = 16 * 2**20
    open_files: int = 128
    threads: int = 64
    reply: int = 16 * 2**20
    replies: int = 256 * 2**20
    restarts: int = 2


@dataclass(frozen=True)
class Availability:
    """Whether a level works here, found out by running it; if not, the reason."""

    level: Level
    works: bool
    reason: str = ""


@cache
def available(level: Level) -> Availability:
    """Start a process at this level, and see whether it is as closed as it must be."""
    try:
        Process(level, Limits()).close()
    except (GraderBroken, OSError) as error:
        return Availability(level, False, str(error))
    return Availability(level, True)


def best_level(trust: bool = False) -> Level:
    """The strongest level that works here.

    Raises
    ------
    NotIsolated
        If it is `none` and the code is not trusted.
    """
    reasons = []
    for level in LEVELS[:-1]:
        found = available(level)
        if found.works:
            return level
        reasons.append(f"{level}: {found.reason}")
    if trust:
        return "none"
    raise NotIsolated(
        f"this machine cannot isolate strangers' code ({'; '.join(reasons)}). Install bubblewrap (Debian: apt install "
        "bubblewrap), or grade on a Linux machine of its own; --trust runs the code as you, with all that you can do"
    )


class Process:
    """A worker that has shut its doors and said hello.

    Parameters
    ----------
    level
        How it is closed in.
    library
        Whether `annotated` can be imported there, without its grading and its exercises.
    hidden
        Further paths that must not be readable there; the handshake makes sure.

    Raises
    ------
    GraderBroken
        If it does not start, or is not as closed as its level promises.
    """

    def __init__(self, level: Level, limits: Limits, library: bool = False, hidden: tuple[str, ...] = ()) -> None:
        if sys.platform == "win32":
            raise GraderBroken(
                "grading in a process of its own needs Linux or macOS; on Windows use WSL or a container"
            )
        self.level, self.limits = level, limits
        self._inside: int | None = None
        self._received = 0
        where = places(library)
        self._own_scratch = tempfile.mkdtemp(prefix="annotated-answer-") if level == "landlock" else ""
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  closed by `close`
        self._start(where)
        try:
            self.hello = self._handshake(self._settings(where, hidden))
        except BaseException:
            self.close()
            raise

    def _settings(self, where: Places, hidden: tuple[str, ...]) -> dict[str, Any]:
        limits = asdict(self.limits)
        limits["cpu_seconds"] = int(self.limits.total_seconds) + 5
        as_root = os.getuid() == 0
        settings: dict[str, Any] = {
            "library": where.package(self.level), "paths": where.sites, "hidden": [*where.private, *hidden],
            "limits": limits,
            "uid": _FIRST_UID + next(_uids) % _UIDS if as_root and self.level == "bubblewrap" else None,
            "readable": None, "scratch": self._own_scratch or "/tmp",
        }  # fmt: skip
        if self.level == "landlock":
            settings["readable"], settings["listable"] = where.rules()
        if not as_root:
            limits["threads"] += _threads_of(os.getuid())  # older kernels count all that the user runs
        return settings

    def _start(self, where: Places) -> None:
        flags = ["-I", "-S", "-B", "-X", "utf8"]
        command = [where.python, *flags, where.worker(self.level)]
        info = None
        inherited: tuple[int, ...] = ()
        if self.level == "bubblewrap":
            program = shutil.which("bwrap")
            if program is None:
                raise GraderBroken("bubblewrap is not installed (apt install bubblewrap)")
            info, child_end = os.pipe()
            inherited = (child_end,)
            command = [program, *_closed(where, self.limits, child_end), *command]
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, pass_fds=inherited,
                env={} if info else _ENVIRONMENT, cwd="/", start_new_session=True, bufsize=0,
            )  # fmt: skip
        except OSError as error:
            raise GraderBroken(f"the sandbox does not start: {error}") from None
        finally:
            for descriptor in inherited:
                os.close(descriptor)
        assert self._process.stdin and self._process.stdout
        self._requests, self._replies = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._requests, False)
        if info is not None:
            with os.fdopen(info, "rb") as file, contextlib.suppress(ValueError, KeyError):
                self._inside = int(json.loads(file.read())["child-pid"])

    def _handshake(self, settings: dict[str, Any]) -> dict[str, Any]:
        try:
            self.send(json.dumps(settings).encode(), _HANDSHAKE_SECONDS)
            hello = decode(self.receive(_HANDSHAKE_SECONDS))
        except (OutOfTime, Died, WireError) as error:
            self._process.kill()
            self._errors.seek(0)
            said = self._errors.read(20_000).decode(errors="replace").strip().splitlines()
            raise GraderBroken(f"the sandbox does not start: {said[-1] if said else error}") from None
        if hello["torch"] != torch.__version__:
            raise GraderBroken(f"the sandbox found torch {hello['torch']}, the grader has {torch.__version__}")
        if self.level != "none":
            open_doors = [name for name in ("fork", "network") if hello["powers"][name]] + list(hello["visible"])
            open_doors += ["root"] if hello["powers"]["root"] and self.level == "bubblewrap" else []
            if open_doors:
                raise GraderBroken(f"the sandbox is not closed: {', '.join(open_doors)}")
        return hello

    def send(self, data: bytes, seconds: float) -> None:
        """Send a request.

        Raises
        ------
        OutOfTime, Died
        """
        end = time.monotonic() + seconds
        view = memoryview(struct.pack(">I", len(data)) + data)
        while view:
            _, ready, _ = select.select([], [self._requests], [], max(0.0, end - time.monotonic()))
            if not ready:
                raise OutOfTime
            try:
                view = view[os.write(self._requests, view) :]
            except BlockingIOError:
                continue
            except OSError:
                raise Died("the process ended: out of memory, or an exit in the code?") from None

    def receive(self, seconds: float) -> bytes:
        """A reply, of bounded size.

        Raises
        ------
        OutOfTime, Died
        """
        end = time.monotonic() + seconds
        (length,) = struct.unpack(">I", self._read(4, end))
        self._received += length
        if length > self.limits.reply or self._received > self.limits.replies:
            raise Died(f"a result of {length:,} bytes is too large to be checked")
        data = self._read(length, end)
        if len(data) >= 4 and struct.unpack(">I", data[:4])[0] > _MOST_OF_A_HEADER:
            raise Died("a result of so many parts is too large to be checked")
        return data

    def _read(self, count: int, end: float) -> bytes:
        parts = bytearray()
        while len(parts) < count:
            ready, _, _ = select.select([self._replies], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                raise OutOfTime
            part = os.read(self._replies, min(count - len(parts), 2**20))
            if not part:
                raise Died("the process ended: out of memory, or an exit in the code?")
            parts += part
        return bytes(parts)

    def close(self) -> None:
        """End it and everything in it; nothing remains, not even a zombie."""
        # Killing the first process of a namespace ends all others in it, and then bubblewrap, which waits for it.
        for victim in (self._inside, self._process.pid):
            with contextlib.suppress(ProcessLookupError, PermissionError, subprocess.TimeoutExpired):
                if victim is not None and self._process.poll() is None:
                    os.kill(victim, signal.SIGKILL)
                    self._process.wait(5)
        self._process.wait()
        for file in (self._process.stdin, self._process.stdout, self._errors):
            with contextlib.suppress(OSError):
                file.close()  # type: ignore[union-attr]
        if self._own_scratch:
            shutil.rmtree(self._own_scratch, ignore_errors=True)

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _closed(where: Places, limits: Limits, info: int) -> list[str]:
    """Bubblewrap's arguments."""
    arguments = ["--die-with-parent", "--new-session", "--clearenv", "--info-fd", str(info)]
    arguments += [f"--unshare-{space}" for space in ("ipc", "pid", "net", "uts", "cgroup-try")]
    if os.getuid() == 0:
        # Not user 0 of a user namespace, who is user 0 outside too: Linux would let it write /proc/sys, and no limit of
        # processes would hold. The worker becomes another user instead, before it does anything else.
        arguments += ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        arguments += ["--unshare-user", "--uid", "65534", "--gid", "65534"]
    arguments += ["--size", str(limits.scratch), "--perms", "1777", "--tmpfs", "/tmp"]  # before binds that lie in /tmp
    arguments += where.mounts()
    arguments += ["--proc", "/proc", "--dev", "/dev", "--size", str(2**20), "--tmpfs", "/dev/shm"]
    for place in ("/dev", "/proc", "/"):
        arguments += ["--remount-ro", place]
    for name, value in _ENVIRONMENT.items():
        arguments += ["--setenv", name, value]
    return [*arguments, "--chdir", "/tmp", "--"]


def _threads_of(uid: int) -> int:
    """How many threads a user runs on this machine."""
    count = 0
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if process.stat().st_uid == uid:
                count += len(os.listdir(process / "task"))
    return count
