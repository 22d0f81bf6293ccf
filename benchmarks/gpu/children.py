"""Processes of the GPU benchmark: one for each side or step, with a time limit; a crash takes nothing else with it."""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from benchmarks.gpu import with_parent
from benchmarks.gpu.plan import Job

ROOT = Path(__file__).resolve().parents[2]
LONGEST_REASON = 300


def options_of(options: argparse.Namespace) -> list[str]:
    """The settings that a process needs to measure as this one would."""
    names = ("device", "tokens", "start", "fresh", "batches", "passes", "precision")
    return [part for name in names for part in (f"--{name}", str(getattr(options, name)))]


def measured(job: Job, options: argparse.Namespace, limit: float) -> dict[str, Any]:
    """What a process of its own finds about a side; why it found nothing, under 'failed'."""
    return answer(["--one", str(job), *options_of(options)], limit, log_of(options.out, str(job)))


def log_of(out: Path, name: str) -> Path:
    """Where a process of a run says what it has to say."""
    return out.parent / f"{out.stem}.logs" / f"{name.replace('/', '-')}.log"


def answer(arguments: Sequence[str], limit: float, log: Path) -> dict[str, Any]:
    """What `python -m benchmarks gpu ARGUMENTS --out FILE` writes into its file."""
    with tempfile.TemporaryDirectory(prefix="annotated-benchmark-") as folder:
        out = Path(folder) / "found.json"
        command = [sys.executable, "-m", "benchmarks", "gpu", *arguments, "--out", str(out)]
        status = run(command, limit, log)
        if out.exists():
            found: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
            if "failed" in found:
                found["failed"] = in_a_line(found["failed"])
            return found
    if status is None:
        return {"failed": f"not finished within {limit:.0f} s ({log})"}
    return {"failed": in_a_line(f"ended with status {status}: {last_line(log)} ({log})")}


def run(command: Sequence[str], limit: float, log: Path, **environment: str) -> int | None:
    """The exit status of a command in the repository's root; None if it was ended because its time was over."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w", encoding="utf-8") as file:
        process = start(command, file, **environment)
        try:
            return process.wait(limit)
        except subprocess.TimeoutExpired:
            return None
        finally:
            if process.poll() is None:
                end(process)


def start(command: Sequence[str], log: IO[str], **environment: str) -> subprocess.Popen[bytes]:
    """Start a command in the repository's root; on Linux it ends if this process is killed, whatever kills it.

    Parameters
    ----------
    command
        Begins with the path of a program.
    """
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.Popen(
        [sys.executable, "-I", with_parent.__file__, str(os.getpid()), *command],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path, "PYTHONUNBUFFERED": "1", **environment},
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,  # so that the compiler's own processes can be ended with it
    )


def end(process: subprocess.Popen[Any]) -> None:
    """End a process and all that it has started."""
    for how, patience in ((signal.SIGTERM, 5.0), (signal.SIGKILL, 30.0)):
        try:
            os.killpg(process.pid, how)
            process.wait(patience)
            return
        except (ProcessLookupError, subprocess.TimeoutExpired):
            continue


def last_line(log: Path) -> str:
    """The last line of a log that says something."""
    lines = [line.strip() for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    return lines[-1] if lines else "it said nothing"


def in_a_line(reason: str) -> str:
    """A reason that fits into a cell of a table."""
    return " ".join(reason.replace("|", "/").split())[:LONGEST_REASON]
