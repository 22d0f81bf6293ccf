"""Process for strangers' code: it can compute, and hardly anything else; requests go in, replies come out."""

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
from pathlib import Path
from typing import Any, Literal

import torch

from annotated.grading.sandbox.codec import CodecError, decode
from annotated.grading.sandbox.mounts import SandboxPaths, bubblewrap_arguments, sandbox_paths

Level = Literal["bubblewrap", "landlock", "none"]
"""How a process is closed in; `isolation` says what each level promises."""

_HANDSHAKE_SECONDS = 90  # importing torch on a busy machine
_FIRST_UID, _UIDS = 61184, 4000
_uids = itertools.count(os.getpid())
_ENVIRONMENT = {"HOME": "/tmp", "MPLCONFIGDIR": "/tmp", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
_MOST_OF_A_HEADER = 4 * 2**20


class GraderBroken(Exception):
    """The grader itself does not work here. Nobody's answer is at fault, so nothing is scored."""


class OutOfTime(Exception):
    """No reply within the time that there was."""


class Died(Exception):
    """The process ended, or broke the rules of the conversation."""


@dataclass(frozen=True)
class SandboxLimits:
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

    def __init__(
        self, level: Level, limits: SandboxLimits, library: bool = False, hidden: tuple[str, ...] = ()
    ) -> None:
        if sys.platform == "win32":
            raise GraderBroken(
                "grading in a process of its own needs Linux or macOS; on Windows use WSL or a container"
            )
        self.level, self.limits = level, limits
        self._inside: int | None = None
        self._received = 0
        where = sandbox_paths(library)
        self._own_scratch = tempfile.mkdtemp(prefix="annotated-answer-") if level == "landlock" else ""
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  closed by `close`
        self._start(where)
        try:
            self.hello = self._handshake(self._settings(where, hidden))
        except BaseException:
            self.close()
            raise

    def _settings(self, where: SandboxPaths, hidden: tuple[str, ...]) -> dict[str, Any]:
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
            settings["readable"], settings["listable"] = where.landlock_rules()
        if not as_root:
            limits["threads"] += _threads_of(os.getuid())  # older kernels count all that the user runs
        return settings

    def _start(self, where: SandboxPaths) -> None:
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
            command = [program, *bubblewrap_arguments(where, _ENVIRONMENT, self.limits.scratch, child_end), *command]
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
        except (OutOfTime, Died, CodecError) as error:
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


def _threads_of(uid: int) -> int:
    """How many threads a user runs on this machine."""
    count = 0
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if process.stat().st_uid == uid:
                count += len(os.listdir(process / "task"))
    return count
