"""Process for strangers' code: it can compute, and hardly anything else; requests go in, replies come out.

Its clock runs while it is waited for, and not while it waits itself for a processor that others are using: an answer
has the time that it would have alone.
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
from pathlib import Path
from typing import Any, Literal

import torch

from annotated_grader.sandbox import lending
from annotated_grader.sandbox.cells import CALL_SECONDS
from annotated_grader.sandbox.mounts import ENVIRONMENT, SandboxPaths, bubblewrap_arguments, sandbox_paths

Level = Literal["bubblewrap", "landlock", "none"]
"""How a process is closed in; `isolation` says what each level promises."""

_LOOK_SECONDS = 0.25
_HANDSHAKE_SECONDS = 90  # importing torch on a busy machine
_FIRST_UID, _UIDS = 61184, 4000
_USERS_OF_A_COPY = 8
_uids = itertools.count(os.getpid())
_MOST_OF_A_HEADER = 4 * 2**20
_MOST_DELAYED = 10
"""How many times its seconds an answer may take, where others keep it from computing."""
_REMOVING_SECONDS = 60


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
        For one thing that a check asks, for one cell that the answer needs, and for all other cells together.
    total_seconds
        For all of it but those other cells.
    memory
        Address space, in bytes; torch itself takes 0.6 GB of it.
    scratch, file_bytes
        Bytes under /tmp (in memory), and in one file.
    files
        Files and folders under /tmp; looked at four times a second, and by bubblewrap only.
    reply
        Bytes of one reply; `replies` bounds their sum.
    restarts
        How often a new process is started after one died or ran out of time.
    """

    call_seconds: float = CALL_SECONDS
    total_seconds: float = 90.0
    memory: int = 4 * 2**30
    scratch: int = 64 * 2**20
    file_bytes: int = 16 * 2**20
    files: int = 20_000
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
    probe
        Only to find out whether its doors shut: it says hello and ends, without loading torch.

    Attributes
    ----------
    waited
        Seconds for which its replies were waited for, without those in which it had to wait for a processor.

    Raises
    ------
    GraderBroken
        If it does not start, or is not as closed as its level promises.
    """

    def __init__(
        self,
        level: Level,
        limits: SandboxLimits,
        library: bool = False,
        hidden: tuple[str, ...] = (),
        probe: bool = False,
    ) -> None:
        if sys.platform == "win32":
            raise GraderBroken("a sandbox wants Linux: on Windows, use WSL (`wsl --install` makes it)")
        self.level, self.limits = level, limits
        self.waited = 0.0
        self._received = 0
        self.hello: dict[str, Any] = {}
        where = sandbox_paths(library)
        self._own_scratch = tempfile.mkdtemp(prefix="annotated-answer-") if level == "landlock" else ""
        self._is_lent = level == "bubblewrap" and not probe and lending.is_lending()
        try:
            self._open(where, hidden, probe)
        except GraderBroken:  # an old kernel, or the template has ended: a worker that starts from nothing is as good
            if not self._is_lent:
                raise
            self._is_lent = False
            self._open(where, hidden, probe)

    def _open(self, where: SandboxPaths, hidden: tuple[str, ...], probe: bool) -> None:
        self._inside: int | None = None
        self._worker: int | None = None
        self._own_ends: list[int] = []
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  closed by `close`
        self._start(where)
        try:
            if self._is_lent:
                self._borrow()
            self.hello = self._handshake({**self._settings(where, hidden), "probe": probe})
        except BaseException:
            self.close()
            raise

    def _settings(self, where: SandboxPaths, hidden: tuple[str, ...]) -> dict[str, Any]:
        limits = asdict(self.limits)
        limits["cpu_seconds"] = int(self.limits.total_seconds + self.limits.call_seconds) + 5
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
        command = [where.python, *lending.FLAGS, where.worker(self.level)]
        if self._is_lent:  # within the walls something waits until a copy of the template has come
            command = [where.python, *lending.FLAGS, "-c", lending.HOLD]
        info = None
        inherited: tuple[int, ...] = ()
        if self.level == "bubblewrap":
            program = shutil.which("bwrap")
            if program is None:
                raise GraderBroken("bubblewrap is not installed (apt install bubblewrap)")
            info, child_end = os.pipe()
            inherited = (child_end,)
            walls = bubblewrap_arguments(where, ENVIRONMENT, self.limits.scratch, child_end)
            if self._is_lent:
                walls.insert(0, "--as-pid-1")  # in bubblewrap's own place: a worker has no other process beside it
            command = [program, *walls, *command]
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, pass_fds=inherited,
                env={} if info else ENVIRONMENT, cwd="/", start_new_session=True, bufsize=0,
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

    def _borrow(self) -> None:
        """Have a copy of the template come within the walls; from then on it is what is asked."""
        try:
            self._read(1, _Clock(self, _HANDSHAKE_SECONDS))  # bubblewrap is done
            assert self._inside is not None
            (requests, self._requests), (self._replies, replies) = os.pipe(), os.pipe()
            self._own_ends = [self._requests, self._replies]
            os.set_blocking(self._requests, False)
            try:
                lending.lend(requests, replies, self._errors.fileno(), self._inside)
            finally:
                os.close(requests)
                os.close(replies)
            self._worker = int(self._message(_Clock(self, _HANDSHAKE_SECONDS)))
        except (OutOfTime, Died, OSError, ValueError, AttributeError) as error:  # this Python may know no `pidfd_open`
            raise self._broken(error) from None

    def _handshake(self, settings: dict[str, Any]) -> dict[str, Any]:
        try:
            self.send(json.dumps(settings).encode(), _HANDSHAKE_SECONDS)
            hello = json.loads(self._message(_Clock(self, _HANDSHAKE_SECONDS)))
        except (OutOfTime, Died, ValueError) as error:
            raise self._broken(error) from None
        if not settings["probe"] and hello["torch"] != torch.__version__:
            raise GraderBroken(f"the sandbox found torch {hello['torch']}, the grader has {torch.__version__}")
        if self.level != "none":
            open_doors = [name for name in ("fork", "network") if hello["powers"][name]] + list(hello["visible"])
            open_doors += ["root"] if hello["powers"]["root"] and self.level == "bubblewrap" else []
            if open_doors:
                raise GraderBroken(f"the sandbox is not closed: {', '.join(open_doors)}")
        return hello

    def _broken(self, error: Exception) -> GraderBroken:
        """Why it does not start: what it said itself, or else this error."""
        self._process.kill()
        self._errors.seek(0)
        said = self._errors.read(20_000).decode(errors="replace").strip().splitlines()
        return GraderBroken(f"the sandbox does not start: {said[-1] if said else error}")

    def send(self, data: bytes, seconds: float) -> None:
        """Send a request.

        Raises
        ------
        OutOfTime, Died
        """
        clock = _Clock(self, seconds)
        view = memoryview(struct.pack(">I", len(data)) + data)
        while view:
            clock.wait([], [self._requests])
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
        data = self._message(_Clock(self, seconds))
        if len(data) >= 4 and struct.unpack(">I", data[:4])[0] > _MOST_OF_A_HEADER:
            raise Died("a result of so many parts is too large to be checked")
        return data

    def _message(self, clock: _Clock) -> bytes:
        (length,) = struct.unpack(">I", self._read(4, clock))
        self._received += length
        if length > self.limits.reply or self._received > self.limits.replies:
            raise Died(f"a result of {length:,} bytes is too large to be checked")
        return self._read(length, clock)

    def _read(self, count: int, clock: _Clock) -> bytes:
        parts = bytearray()
        while len(parts) < count:
            clock.wait([self._replies], [])
            part = os.read(self._replies, min(count - len(parts), 2**20))
            if not part:
                raise Died("the process ended: out of memory, or an exit in the code?")
            parts += part
        return bytes(parts)

    def count_files(self) -> None:
        """Look how many files and folders it has made: each takes kernel memory, which no limit of bytes counts.

        Raises
        ------
        Died
            If there are more than `SandboxLimits.files`.
        """
        if self._inside is None or not self.hello:  # only bubblewrap's /tmp is a file system of its own, when it stands
            return
        with contextlib.suppress(OSError):
            scratch = os.statvfs(f"/proc/{self._inside}/root/tmp")
            if scratch.f_files - scratch.f_ffree > self.limits.files:
                raise Died(f"it made more than {self.limits.files:,} files and folders")

    def delayed(self) -> float:
        """Seconds for which it was ready to compute and had no processor; 0 where the system does not say."""
        try:
            if self._worker is None and self._inside is not None:  # the first process of a namespace starts the worker
                children = Path(f"/proc/{self._inside}/task/{self._inside}/children").read_text(encoding="utf-8")
                self._worker = int(children.split()[0])
            elif self._worker is None:
                self._worker = self._process.pid
            return int(Path(f"/proc/{self._worker}/schedstat").read_text(encoding="utf-8").split()[1]) / 1e9
        except (OSError, ValueError, IndexError):
            return 0.0

    def close(self) -> None:
        """End it and everything in it; nothing remains, not even a zombie."""
        # Killing the first process of a namespace ends all others in it, and then bubblewrap, which waits for it.
        for victim in (self._inside, self._process.pid):
            with contextlib.suppress(ProcessLookupError, PermissionError, subprocess.TimeoutExpired):
                if victim is not None and self._process.poll() is None:
                    os.kill(victim, signal.SIGKILL)
                    self._process.wait(5)
        self._process.wait()
        while self._own_ends:
            os.close(self._own_ends.pop())
        for file in (self._process.stdin, self._process.stdout, self._errors):
            with contextlib.suppress(OSError):
                file.close()  # type: ignore[union-attr]
        if self._own_scratch:
            remove_folder(self._own_scratch)

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Clock:
    """A deadline for one thing that is asked of a process."""

    def __init__(self, process: Process, seconds: float) -> None:
        self._process, self._left, self._hard = process, seconds, _MOST_DELAYED * seconds

    def wait(self, readable: list[int], writable: list[int]) -> None:
        """Wait until one of these is ready; only this waiting counts.

        Raises
        ------
        OutOfTime
        Died
            If it has made too many files meanwhile.
        """
        ready = any(select.select(readable, writable, [], 0.0))
        while not ready:
            self._process.count_files()
            delayed, start = self._process.delayed(), time.monotonic()
            pause = max(0.0, min(self._left, self._hard, _LOOK_SECONDS))
            ready = any(select.select(readable, writable, [], pause))
            took = time.monotonic() - start
            own = max(0.0, took - (self._process.delayed() - delayed))
            self._process.waited += own
            self._left, self._hard = self._left - own, self._hard - took
            # The grader itself may have been late to look.
            ready = ready or any(select.select(readable, writable, [], 0.0))
            if not ready and min(self._left, self._hard) <= 0.001:
                raise OutOfTime


def remove_folder(folder: str) -> None:
    """Remove what an answer may have made, such as folders in folders without end, in bounded time."""
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        subprocess.run(["rm", "-rf", "--", folder], stderr=subprocess.DEVNULL, timeout=_REMOVING_SECONDS, check=False)


def pass_users() -> None:
    """Leave some user numbers out: they are for the processes of a copy of this process, which is forked next."""
    for _ in range(_USERS_OF_A_COPY):
        next(_uids)


def _threads_of(uid: int) -> int:
    """How many threads a user runs on this machine."""
    count = 0
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if process.stat().st_uid == uid:
                count += len(os.listdir(process / "task"))
    return count
