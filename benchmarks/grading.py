"""The grader: how long a class takes, how long it takes to begin, and what memory the grader itself needs.

Right answers to as many exercises are graded as by `annotated exercise grade`, each in the strongest sandbox that works
here. Memory is that of the grader's own processes (proportional set size), sampled; the sandboxes are another account.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from annotated_grader.exercise.catalogue import all_exercises

_EVERY = 0.05


def submissions(folder: Path, count: int) -> None:
    """Right answers to exercises from all over the book, one by each student."""
    exercises = all_exercises()
    chosen = exercises[:: max(1, len(exercises) // count)][:count]
    for number, exercise in enumerate(chosen):
        (folder / f"s{number:02}_{exercise.id}.py").write_text(exercise.solution_code, encoding="utf-8")


def memory_of_the_grader(process: int) -> int:
    """Bytes of a grader and the children that it has forked; not of the sandboxes that they start."""
    total = 0
    for pid in (process, *children_of(process)):
        try:
            # A fork has its parent's command line; a sandbox has another.
            if Path(f"/proc/{pid}/cmdline").read_bytes() == Path(f"/proc/{process}/cmdline").read_bytes():
                total += sum(
                    int(line.split()[1]) * 1024
                    for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8").splitlines()
                    if line.startswith("Pss:")
                )
        except OSError:
            continue  # it ended meanwhile
    return total


def children_of(process: int) -> list[int]:
    """Its children, at this moment."""
    try:
        return [
            int(pid) for pid in Path(f"/proc/{process}/task/{process}/children").read_text(encoding="utf-8").split()
        ]
    except OSError:
        return []


def measured(folder: Path, out: Path, jobs: int) -> dict[str, Any]:
    """Grade a folder in a process of its own, and watch it."""
    command = [sys.executable, "-m", "annotated", "exercise", "grade", str(folder), "-o", str(out), "--jobs", str(jobs)]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    began, most = 0.0, 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        while process.poll() is None:
            time.sleep(_EVERY)
            most = max(most, memory_of_the_grader(process.pid))
            began = began or (time.perf_counter() - start if (out / "run.log").exists() else 0.0)
        assert process.stdout is not None
        said = process.stdout.read().splitlines()
    seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    lost = [line for line in said if line.startswith("s") and "/" in line and not _full(line)]
    return {
        "start_seconds": round(began, 2), "grading_seconds": round(seconds - began, 2), "cpu_seconds": round(cpu, 2),
        "grader_megabytes": round(most / 1e6), "lost_points": lost, "load": os.getloadavg()[0],
    }  # fmt: skip


def _full(line: str) -> bool:
    score, _, maximum = line.split()[2].partition("/")
    return score == maximum


def main(arguments: Sequence[str]) -> None:
    """Print what was measured."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks grading", description=__doc__)
    parser.add_argument("--count", type=int, default=12, help="submissions, each of another exercise")
    parser.add_argument("--jobs", type=int, default=2, help="at a time (default: %(default)s)")
    parser.add_argument("--folder", type=Path, help="grade this folder instead")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        folder = options.folder or Path(name) / "class"
        if not options.folder:
            folder.mkdir()
            submissions(folder, options.count)
        print(json.dumps(measured(folder, Path(name) / "out", options.jobs), indent=1))
