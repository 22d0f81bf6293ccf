"""Rounds: every peer does a task before any peer does the next, so that slow drifts of the machine hit all alike."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.peers import registry, report
from benchmarks.peers.adapter import PeerAbsent
from benchmarks.peers.report import TASKS, TRAINING

ROOT = Path(__file__).resolve().parents[2]


class Worker:
    """One peer's process."""

    def __init__(self, name: str, threads: int, logs: Path) -> None:
        # passive: a waiting thread sleeps. Spinning ones make a shared machine up to 30 times slower.
        quiet = {"OMP_WAIT_POLICY": "passive", "KMP_BLOCKTIME": "0", "TOKENIZERS_PARALLELISM": "false"}
        counts = {"OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads)}
        self.log = open(logs / f"{name}.log", "w", encoding="utf-8")  # noqa: SIM115 - lives as long as the process
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.peers.worker", name],
            cwd=ROOT,
            env={**os.environ, **quiet, **counts},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
        )
        assert self.process.stdout is not None
        self.process.stdout.readline()  # torch is loaded: start-up must not disturb the others

    def ask(self, task: str) -> dict[str, Any]:
        """One task; the share of the machine that others took meanwhile is in `others`."""
        assert self.process.stdin is not None and self.process.stdout is not None
        machine.wait_for_quiet()
        pid, wall = self.process.pid, time.perf_counter()
        whole, own = machine.cpu_seconds(), machine.cpu_seconds(pid)
        try:
            self.process.stdin.write(json.dumps(task) + "\n")
            self.process.stdin.flush()
            result = json.loads(self.process.stdout.readline())
        except (OSError, ValueError):
            return {"error": f"the worker ended (exit status {self.process.poll()}); see its log"}
        wall = time.perf_counter() - wall
        others = machine.cpu_seconds() - whole - (machine.cpu_seconds(pid) - own)
        return {**result, "others": round(others / wall / (os.cpu_count() or 1), 3)}

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()
        self.log.close()


def kind(task: str) -> str:
    """What a peer must be able to do for a task."""
    return "train" if task in TRAINING else task.rstrip("4")


def present(names: Sequence[str]) -> list[str]:
    """The peers that are installed; the others are reported on stderr, loudly."""
    found = []
    for name in names:
        try:
            registry.require(name)
            found.append(name)
        except PeerAbsent as reason:
            print(f"*** PEER LEFT OUT: {name}: {reason}", file=sys.stderr, flush=True)
    return found


def run(names: Sequence[str], tasks: Sequence[str], rounds: int, threads: int, out: Path, append: bool = False) -> None:
    """Measure, write `out` after every record, and print the tables.

    Parameters
    ----------
    names
        Peers, with or without the suffixes of a variant.
    tasks
        Some of TASKS.
    rounds
        Repetitions of everything; ratios are taken within a round, then their median.
    append
        Add rounds to the records that `out` holds already.
    """
    for task in tasks:
        if task not in TASKS:
            raise ValueError(f"no task {task!r}; there are {', '.join(TASKS)}")
    names = present(names)
    able = {name: registry.adapter_class(name).can for name in names}
    old = json.loads(out.read_text(encoding="utf-8")) if append and out.exists() else {"records": []}
    records = old["records"]
    first = 1 + max((record["round"] for record in records), default=-1)
    out.parent.mkdir(parents=True, exist_ok=True)
    logs = out.with_suffix(".logs")
    logs.mkdir(exist_ok=True)
    workers = {name: Worker(name, threads, logs) for name in ("limit", *names)}
    begin = time.perf_counter()
    for number in range(first, first + rounds):
        for task in ("limit", *tasks, "limit"):
            who = ["limit"] if task == "limit" else [name for name in names if kind(task) in able[name]]
            turn = number % max(len(who), 1)  # so that no peer is always the first
            for name in who[turn:] + who[:turn]:
                record = {"round": number, "task": task, "peer": name, **workers[name].ask(task)}
                records.append(record)
                print(f"{time.perf_counter() - begin:6.0f}s {report.line(record)}", flush=True)
                save(out, records, threads)
    for worker in workers.values():
        worker.close()
    print(report.tables(records))


def save(out: Path, records: list[dict[str, Any]], threads: int) -> None:
    """Machine, command, summary and every single record."""
    command = "python -m benchmarks " + " ".join(sys.argv[1:])
    head: dict[str, Any] = {"command": command, "threads": threads, "machine": machine.describe()}
    everything = {**head, "summary": report.summarise(records), "records": records}
    out.write_text(json.dumps(everything, indent=1) + "\n", encoding="utf-8")
