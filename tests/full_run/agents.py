"""`torchrun` as a user starts it, with real interpreters; its workers can be found, and none outlives its test."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import annotated
from annotated.runs import read_records, train_command
from tests.full_run.processes import Setting

ROOT = Path(annotated.__file__).resolve().parents[1]
_PATIENCE = 900.0
_PAUSE = 0.1


class Agent:
    """One `torchrun ... -m annotated train RUN ...`.

    Parameters
    ----------
    options
        Of torchrun, before `-m annotated`.
    prefix
        Words before the command, such as `ip netns exec NAME`.
    """

    def __init__(
        self,
        setting: Setting,
        run: str,
        options: Sequence[str],
        *,
        prefix: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        **changes: Any,
    ) -> None:
        self.folder = setting.folder / run
        command = train_command(self.folder, setting.model, setting.training.replace(**changes), setting.data)
        number = sum(1 for _ in setting.folder.glob("agent*.output"))
        self._output = setting.folder / f"agent{number}.output"
        torchrun = [*prefix, sys.executable, "-m", "torch.distributed.run", *options, "-m", *command]
        with self._output.open("wb") as output:
            self.process = subprocess.Popen(
                torchrun,
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, "OMP_NUM_THREADS": "1", **(environment or {})},
            )

    def said(self) -> str:
        """What the agent and its workers wrote."""
        return self._output.read_text(encoding="utf-8", errors="replace")

    def workers(self) -> dict[int, int]:
        """Rank to process number, of the workers alive now."""
        found = {}
        for pid in descendants(self.process.pid):
            rank = _environment(pid).get("RANK")
            if rank is not None:
                found[int(rank)] = pid
        return found

    def until(self, condition: Callable[[], Any], what: str, seconds: float = _PATIENCE) -> Any:
        """The condition's value, as soon as it is true."""
        deadline = time.monotonic() + seconds
        while not (value := condition()):
            if self.process.poll() is not None or time.monotonic() > deadline:
                status = self.process.poll()
                raise AssertionError(f"waited for {what} (status {status}). It said:\n{self.said()[-6000:]}")
            time.sleep(_PAUSE)
        return value

    def until_update(self, update: int) -> None:
        """Return as soon as the log knows of an update."""
        self.until(lambda: updates_made(self.folder) >= update, f"update {update}")

    def wait(self, seconds: float = _PATIENCE) -> int:
        """The agent's exit status."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"still running after {seconds:.0f} s. It said:\n{self.said()[-6000:]}") from None

    def end(self) -> None:
        """Leave no process behind."""
        everything = [self.process.pid, *descendants(self.process.pid)]
        for pid in everything:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()


def descendants(pid: int) -> list[int]:
    """The processes that a process started, and those that they started (Linux)."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in map(int, task.read_text().split()):
                found += [child, *descendants(child)]
    return found


def _environment(pid: int) -> dict[str, str]:
    try:
        entries = Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return {}
    return dict(entry.split("=", 1) for entry in entries if "=" in entry)


def updates_made(folder: Path) -> int:
    """The last update that the log of a run knows of; 0 without a log."""
    with contextlib.suppress(FileNotFoundError):
        return max((record["update"] for record in read_records(folder) if record["kind"] == "train"), default=0)
    return 0


def starts(folder: Path) -> list[dict[str, Any]]:
    """The log's records of processes that began."""
    with contextlib.suppress(FileNotFoundError):
        return [record for record in read_records(folder) if record["kind"] == "start"]
    return []


@contextlib.contextmanager
def ended(agents: list[Agent]) -> Iterator[list[Agent]]:
    """End all agents that were put into the list."""
    try:
        yield agents
    finally:
        for agent in agents:
            agent.end()
