"""Script of a GPU that is lent for some minutes: what is wanted of it, in the order of its weight, kept step by step.

A step has a process of its own and a limit. What it found is on disk when it ends, so a cut loses one step at most; one
that fails, hangs or dies is recorded as that, and the next begins. The same command goes on with what is missing, first
with what was never tried. `--device cpu --shapes tiny` tries the script itself.
"""

from __future__ import annotations

import argparse
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.gpu import children, report, runner, trials
from benchmarks.gpu.modes import NO_CUDNN, needs_gpu, uncompiled
from benchmarks.gpu.plan import Budget, Job
from benchmarks.gpu.trials import FAILED, GOOD, SKIPPED, Finding

CUT = "cut short"
SHORTEST = 5.0
"""Seconds; less than this starts no step."""


@dataclass(frozen=True)
class Step:
    """One thing that is wanted of the GPU."""

    name: str
    seconds: float
    """What it is expected to need; of the last step, what the others leave it at least."""
    what: str
    side: str | None = None
    """A side of the benchmark, at the first of the shapes; neither this nor `here` for one of `trials.TRIALS`."""
    largest: bool = False
    """Take the last of the shapes."""
    here: Callable[[argparse.Namespace, float, Path], Finding] | None = None
    """Does it from this process, by commands of its own."""


STEPS = (
    *(Step(f"profile_{name}", 20, "kernels of three batches, by sentences") for name in trials.PROFILED),
    Step("auto", 40, "fresh batches, as a training is by default", "bf16_static_graphs"),
    Step("flex", 40, "fresh batches, FlexAttention alone", "bf16_static_graphs_flex"),
    Step("all_levers", 40, "fresh batches, FlexAttention, row classes, bf16 residual stream", "bf16_all_levers_flex"),
    Step("hf_marian", 45, "the peer, compiled, on fresh batches", f"hf_marian_compiled{NO_CUDNN}"),
    Step("torch_nn", 45, "the peer, compiled, on fresh batches", f"torch_nn_compiled{NO_CUDNN}"),
    Step("big", 60, "the big model and its peak memory", "bf16_static_graphs", largest=True),
    Step("out_of_memory", 15, "too large a batch on a small card: is it told what to do?"),
    Step("small_card", 30, "wmt14-big on a small card: is the batch cut to it?"),
    Step("fp16", 15, "training in fp16, with loss scaling"),
    Step("text", 120, "real text at base width, as long as it lasts, then BLEU", here=trials.text),
)
LAST = STEPS[-1]


def limit(step: Step, later: Sequence[Step], remaining: float) -> float:
    """Seconds that a step may take: its own, and half of what nobody needs; a share where there is too little.

    So one that hangs takes from no other what that needs. The last has all that remains.
    """
    planned = sum(other.seconds for other in later)
    if not later:
        return remaining
    spare = remaining - step.seconds - planned
    return step.seconds + spare / 2 if spare > 0 else remaining * step.seconds / (step.seconds + planned)


def run(options: argparse.Namespace, command: str) -> dict[str, Any]:
    """All steps that are missing, as far as the seconds reach; the sides are where a run of the benchmark has them."""
    budget = Budget(options.seconds / 60)
    result = runner.begin(options, command)
    found = result.setdefault("steps", {})
    result["left_out"] = []
    wanted = [step for step in STEPS if step is not LAST or options.text is not None]
    missing = [step for step in wanted if found.get(step.name, {}).get("outcome") != GOOD]
    missing.sort(key=lambda step: (step is LAST, step.name in found))
    for number, step in enumerate(missing):
        seconds = limit(step, missing[number + 1 :], budget.remaining)
        if seconds < SHORTEST:
            result["left_out"].append(step.name)
            continue
        print(f"{step.name}: {step.what} (at most {seconds:.0f} s)", flush=True)
        # Before it begins: what took the whole run with it is not the first to be tried again.
        found[step.name] = asdict(Finding(CUT, "the run ended in this step"))
        runner.save(options.out, result)
        began = time.monotonic()
        finding = try_step(step, options, seconds, result)
        found[step.name] = asdict(finding) | {"took_s": round(time.monotonic() - began, 1)}
        print(f"  {finding.outcome}: {finding.text}", flush=True)
        runner.save(options.out, result)
    if options.text is None:
        found.setdefault(LAST.name, asdict(Finding(SKIPPED, "left out, for no --text FOLDER was given")))
    runner.save(options.out, result)
    return result


def try_step(step: Step, options: argparse.Namespace, seconds: float, result: dict[str, Any]) -> Finding:
    """A step's finding, whatever happens in it."""
    log = children.log_of(options.out, step.name)
    try:
        if step.side is not None:
            return _side(step, options, seconds, result)
        if step.here is not None:
            return step.here(options, seconds, log)
        settings = [*children.options_of(options), "--shapes", ",".join(options.shapes)]
        said = children.answer(["--step", step.name, *settings], seconds, log)
    except Exception as error:
        traceback.print_exc()
        said = {"failed": children.in_a_line(f"{type(error).__name__}: {error}")}
    return Finding(FAILED, said["failed"]) if "failed" in said else Finding(**said)


def _side(step: Step, options: argparse.Namespace, seconds: float, result: dict[str, Any]) -> Finding:
    side = str(step.side) if options.device == "cuda" else uncompiled(str(step.side))
    if options.device != "cuda" and needs_gpu(side):
        return Finding(SKIPPED, f"{side} needs a GPU")
    job = Job(options.shapes[-1 if step.largest else 0], side)
    if not runner.is_done(result, job):
        runner.measure_job(result, job, options, seconds)
    one = result["shapes"][job.shape]["sides"][side]
    outcome = GOOD if "fresh" in one else SKIPPED if "absent" in one else FAILED
    return Finding(outcome, " ".join(report.side_line(side, one).split()))


def one_step(options: argparse.Namespace) -> None:
    """Make one of `trials.TRIALS` in this process, and write its finding to `--out`."""
    runner.write_found(options.out, lambda: asdict(trials.TRIALS[options.step](options)))


def table(steps: dict[str, dict[str, Any]]) -> str:
    """Step, outcome, what came out."""
    rows = [("step", "outcome", "what came out")]
    rows += [(name, one["outcome"], one["text"]) for name, one in steps.items()]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    return "\n".join(f"{name:<{widths[0]}}  {outcome:<{widths[1]}}  {text}" for name, outcome, text in rows)
