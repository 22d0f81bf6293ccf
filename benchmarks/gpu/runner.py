"""Run of the GPU benchmark: sides in processes of their own, results on disk after each, resumed by repeating."""

from __future__ import annotations

import argparse
import hashlib
import json
import time
import traceback
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import torch

from annotated.storage import atomic_write
from benchmarks import machine
from benchmarks.gpu import children, measure, report
from benchmarks.gpu.modes import SIDES
from benchmarks.gpu.plan import Budget, Job, in_order
from benchmarks.peers.adapter import PeerAbsent

ROOT = Path(__file__).resolve().parents[2]


def one_side(options: argparse.Namespace) -> None:
    """Measure one side, in this process, and write what was found to `--out`; a failure is a finding."""
    shape, name = options.one.split("/")
    write_found(options.out, lambda: measure.measure_side(shape, name, options))


def write_found(path: Path, find: Callable[[], dict[str, Any]]) -> None:
    """Write what a process of its own finds, or why it finds nothing."""
    try:
        found = find()
    except PeerAbsent as reason:
        found = {"absent": str(reason)}
    except Exception as error:
        traceback.print_exc()
        found = {"failed": f"{type(error).__name__}: {error}"}
    with atomic_write(path) as file:
        file.write(json.dumps(found) + "\n")


def run(options: argparse.Namespace, command: str) -> dict[str, Any]:
    """All sides of all shapes, as far as the minutes reach; the results are on disk after each of them."""
    result = begin(options, command.strip())
    budget = Budget(options.minutes)
    jobs = in_order(options.shapes, options.sides)
    wanted = [job for job in jobs if not is_done(result, job)]
    result["left_out"] = []
    for number, job in enumerate(wanted):
        limit = budget.limit(job, wanted[number + 1 :])
        if limit is None:
            result["left_out"].append(str(job))
            continue
        print(f"{job} (at most {limit:.0f} s) ...", flush=True)
        found = measure_job(result, job, options, limit)
        if "fresh" in found:
            budget.taken.append((job, found["took_s"]))
        print("  " + report.side_line(job.side, found), flush=True)
        save(options.out, result)
    save(options.out, result)
    return result


def measure_job(result: dict[str, Any], job: Job, options: argparse.Namespace, limit: float) -> dict[str, Any]:
    """Measure a side in a process of its own; what was found is in the results, too."""
    began = time.monotonic()
    found = children.measured(job, options, limit)
    sides = result["shapes"].setdefault(job.shape, {"sides": {}})["sides"]
    sides[job.side] = {**found, "took_s": round(time.monotonic() - began, 1)}
    result["shapes"][job.shape]["sides"] = {name: sides[name] for name in SIDES if name in sides}
    done: dict[str, Any] = sides[job.side]
    return done


def is_done(result: dict[str, Any], job: Job) -> bool:
    """True if a side was measured, or cannot be for want of its package; what failed is tried again."""
    found = result["shapes"].get(job.shape, {"sides": {}})["sides"].get(job.side, {})
    return "fresh" in found or "absent" in found


def begin(options: argparse.Namespace, command: str) -> dict[str, Any]:
    """The results so far, if they are of the same settings, machine and code; else new ones, and the old set aside."""
    gpu = options.device == "cuda"
    who = machine.describe() | (machine.gpu() if gpu else {})
    names = ("tokens", "precision", "start", "fresh", "batches", "passes")
    settings = {name: getattr(options, name) for name in names} | {"code": code_identity()}
    head = {"device": torch.cuda.get_device_name() if gpu else "cpu", "machine": who, "settings": settings}
    if options.out.exists():
        old = json.loads(options.out.read_text(encoding="utf-8"))
        if not options.again and all(old.get(name) == value for name, value in head.items()):
            print(f"{options.out} is of the same code, settings and machine: what it has is not measured again")
            return {**old, "command": command}
        aside = options.out.with_suffix(".before.json")
        options.out.replace(aside)
        print(f"everything is measured anew; what {options.out} held is in {aside}")
    return {"command": command, "date": date.today().isoformat(), **head, "shapes": {}, "left_out": []}


def save(path: Path, result: dict[str, Any]) -> None:
    """Write the results, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as file:
        file.write(json.dumps(result, indent=1) + "\n")


def code_identity() -> str:
    """A short hash of the code that is measured: results of other code are not mixed with these."""
    files = sorted(path for part in ("annotated", "benchmarks") for path in (ROOT / part).rglob("*.py"))
    content = hashlib.sha256()
    for path in files:
        content.update(path.relative_to(ROOT).as_posix().encode() + path.read_bytes())
    return content.hexdigest()[:12]
