"""A sandbox without walls, forked in milliseconds: the real worker and the real conversation, for our own tests.

It isolates nothing. What runs in it is what the tests themselves write.
"""

from __future__ import annotations

import contextlib
import io
import os
import resource
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from annotated_grader.exercise import catalogue
from annotated_grader.instructor import remote
from annotated_grader.instructor.grade_folder import GradingOptions, grade_folder
from annotated_grader.instructor.gradebook import Graded
from annotated_grader.instructor.limited import Bounds
from annotated_grader.sandbox import cells, codec, interpreter, process, worker
from annotated_grader.sandbox.mounts import SandboxPaths
from annotated_grader.sandbox.process import SandboxLimits
from tests.grader.sandbox.attacks import make_exercise

LIMITS = SandboxLimits(call_seconds=4, total_seconds=12, restarts=1)
BOUNDS = Bounds(cpu_seconds=4, wall_seconds=120)
SALT = "forked"
RIGHT = "def weights(x):\n    return x.softmax(-1)\n"
WRONG = "def weights(x):\n    return x.softmax(0)\n"
_EVIL = """
import struct, sys
main = sys.modules["__main__"]
real = main.codec.encode
def frame(data):
    return struct.pack(">I", len(data)) + data
"""
"""The beginning of code that forges replies: it then sets `main.codec.encode`."""


def forging(code: str) -> str:
    """A right answer that first runs this code, which finds `main`, `real` and `frame`."""
    first = (
        f"if 'forged' not in sys.modules:\n        sys.modules['forged'] = sys\n        exec({_EVIL + code!r}, {{}})"
    )
    return f"import sys\ndef weights(x):\n    {first}\n    return x.softmax(-1)\n"


class _Worker:
    """What `Process` needs of a `Popen`."""

    def __init__(self, pid: int, stdin: Any, stdout: Any) -> None:
        self.pid, self.stdin, self.stdout, self._status = pid, stdin, stdout, None

    def poll(self) -> int | None:
        if self._status is None:
            ended, status = os.waitpid(self.pid, os.WNOHANG)
            self._status = status if ended else None
        return self._status

    def wait(self, seconds: float | None = None) -> int | None:
        while self.poll() is None:
            time.sleep(0.001)
        return self._status

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)


class Forked(process.Process):
    """A worker in a fork of this process."""

    def _start(self, where: SandboxPaths) -> None:
        requests, replies = os.pipe(), os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                os.close(requests[1])
                os.close(replies[0])
                _serve(requests[0], replies[1])
            finally:
                os._exit(0)
        os.close(requests[0])
        os.close(replies[1])
        self._requests, self._replies = requests[1], replies[0]
        os.set_blocking(self._requests, False)
        made = _Worker(pid, os.fdopen(requests[1], "wb", 0), os.fdopen(replies[0], "rb", 0))
        self._process = made  # type: ignore[assignment]

    def _handshake(self, settings: dict[str, Any]) -> dict[str, Any]:
        return {}


def _serve(requests: int, replies: int) -> None:
    """The worker's loop. A forger finds `codec` in `__main__`, as in the real one."""
    worker.lift_bounds()
    resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
    os.setsid()
    worker.interpreter, worker.codec, worker.cells = interpreter, codec, cells
    for module in (interpreter, codec, cells):  # the files beside the worker, by the names that it knows them by
        sys.modules[module.__name__.rpartition(".")[2]] = module
    sys.modules["__main__"] = worker
    output = worker.Output()
    sys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = output  # type: ignore[assignment,misc]
    sys.stdin = io.StringIO()
    channel = worker.Channel.__new__(worker.Channel)
    channel._requests, channel._replies = requests, replies
    answer = worker.Worker(output)
    while True:
        channel.send(answer.answer(channel.receive()))


def use_forks(patch: pytest.MonkeyPatch, top: Path) -> Path:
    """Grade in forks from now on, with the exercise ex99-1 of the attacks; the folder of the class."""
    patch.setattr(remote, "Process", Forked)
    if not (top / "exercises").exists():
        make_exercise(top / "exercises")
    patch.setenv(catalogue.PLACE, str(top / "exercises"))
    (top / "class").mkdir(exist_ok=True)
    return top / "class"


def grade(folder: Path, out: Path, jobs: int = 2, bounds: Bounds = BOUNDS, **more: Any) -> dict[str, Graded]:
    """Grade a class in forks; the grades by student."""
    options = GradingOptions("none", salt=SALT, jobs=jobs, limits=LIMITS, bounds=bounds, **more)
    with contextlib.suppress(FileNotFoundError):
        (out / "run.log").unlink()
    return {graded.student: graded for graded in grade_folder(folder, out, options).graded}


def marks(graded: Graded) -> tuple[Any, ...]:
    """All of a grade but where and how long."""
    return graded.score, graded.maximum, graded.status, graded.note, graded.checks, graded.output, graded.misconception
