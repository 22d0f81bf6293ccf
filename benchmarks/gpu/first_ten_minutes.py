"""First ten minutes on a new GPU: what could differ from the predictions, tried in the order of its weight.

A step has its own time, a failure does not stop the next one, and at the end a table says of each what came out and
what to do. `--device cpu --shapes tiny` tries the steps themselves.
"""

from __future__ import annotations

import argparse
import json
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from annotated.storage import atomic_write
from benchmarks.gpu import children, trials
from benchmarks.gpu.trials import Finding

OUT = "first_ten_minutes"


@dataclass(frozen=True)
class Step:
    """One thing to try."""

    name: str
    seconds: float
    """Its share of ten minutes; what a step leaves over belongs to those after it."""
    what: str
    here: Callable[[argparse.Namespace, float, Path], Finding] | None = None
    """Tries it from this process, by commands of its own; None for one that `trials.TRIALS` makes in a new process."""


STEPS = (
    Step("preflight", 120, "annotated preflight --dry-run", trials.preflight),
    Step("kernels", 50, "20 updates under the profiler: does attention go to cuDNN?"),
    Step("recompilations", 130, "300 compiled updates on new batches: how many graphs?"),
    Step("sides", 150, "bf16, bf16_compiled, bf16_static_graphs on 50 fresh batches", trials.sides),
    Step("losses", 90, "200 updates of static + graphs beside packed, loss by loss"),
    Step("resume", 60, "stop and resume on two ranks", trials.resume),
)


def main(options: argparse.Namespace) -> None:
    """Try every step, and print the table."""
    out = options.out.with_name(f"{OUT}.json")
    found: list[tuple[Step, Finding]] = []
    owed = 0.0
    for step in STEPS:
        limit = step.seconds * options.minutes / 10 + owed if options.minutes else 1800.0
        print(f"{step.name}: {step.what} (at most {limit:.0f} s)", flush=True)
        began = time.monotonic()
        finding = try_step(step, options, limit, children.log_of(out, step.name))
        owed = max(0.0, limit - (time.monotonic() - began))
        found.append((step, finding))
        print(f"  {finding.outcome}: {finding.text}", flush=True)
        with atomic_write(out) as file:
            file.write(json.dumps({one.name: asdict(what) for one, what in found}, indent=1) + "\n")
    print(table(found))


def try_step(step: Step, options: argparse.Namespace, limit: float, log: Path) -> Finding:
    """A step's finding, whatever happens in it."""
    try:
        if step.here is not None:
            return step.here(options, limit, log)
        settings = [*children.options_of(options), "--shapes", options.shapes[0]]
        said = children.answer(["--step", step.name, *settings], limit, log)
    except Exception as error:
        traceback.print_exc()
        return Finding("FAILED", children.in_a_line(f"{type(error).__name__}: {error}"), f"read {log}")
    if "failed" in said:
        return Finding("FAILED", said["failed"], f"read {log}, mend it, and try the step again")
    return Finding(**said)


def one_step(options: argparse.Namespace) -> None:
    """Make one step in this process, and write its finding to `--out`."""
    try:
        said = asdict(trials.TRIALS[options.step](options))
    except Exception as error:
        traceback.print_exc()
        said = {"failed": f"{type(error).__name__}: {error}"}
    with atomic_write(options.out) as file:
        file.write(json.dumps(said) + "\n")


def table(found: list[tuple[Step, Finding]]) -> str:
    """Step, outcome, what to do."""
    rows = [("step", "outcome", "what came out", "what to do")]
    rows += [(step.name, finding.outcome, finding.text, finding.do) for step, finding in found]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    lines = []
    for name, outcome, text, do in rows:
        lines.append(f"{name:<{widths[0]}}  {outcome:<{widths[1]}}  {text}")
        if do and name != "step":
            lines.append(f"{'':<{sum(widths) + 2}}  -> {do}")
    return "\n".join(lines)
