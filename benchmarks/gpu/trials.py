"""Trials on a GPU beside the benchmark's sides: kernels by name, too little memory, fp16, training on real text."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import functools
import io
import json
import math
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from annotated.cli import main as annotated
from annotated.runs.log import read_records
from benchmarks.gpu import children, measure, watch
from benchmarks.gpu.modes import MODES, needs_gpu, uncompiled
from benchmarks.gpu.pairs import wmt_like_store
from benchmarks.gpu.sides import open_mode, paper_shapes

GOOD, FAILED, SKIPPED = "as it should be", "FAILED", "skipped"
PROFILED = {"varlen": "bf16_static_graphs", "flex": "bf16_static_graphs_flex", "sdpa": "bf16"}
"""Attention kernels, and the side that each is looked at in; SDPA in one that compiles nothing."""
KERNELS = 12
"""So many of a step's kernels are kept by name, the longest."""
SMALL_CARD = 12e9
"""Bytes of a card for which the big model's batch is too large."""
_ATTENTION = re.compile(r"flash|fmha|flex|attention|attn|sdpa", re.IGNORECASE)
_CLASSROOM = ("--data.classroom-pairs", "6000", "--data.vocab-size", "400", "--training.validate-bleu", "0")
_BIG = ("--preset", "wmt14-big", "--data.prepared", "None", *_CLASSROOM)
_TINY = ("--preset", "tiny", "--model.num-encoder-layers", "1", "--model.num-decoder-layers", "1")
_FINISH = 90.0
"""Seconds that are kept for the test set, of real text."""


@dataclass(frozen=True)
class Finding:
    """What a step found."""

    outcome: str
    text: str
    numbers: dict[str, Any] = field(default_factory=dict)


def profile(side_name: str, options: argparse.Namespace) -> Finding:
    """Kernels of one step on each of three batches: with the fewest, about the mean, and the most sentences."""
    side_name = side_name if options.device == "cuda" else uncompiled(side_name)
    if options.device != "cuda" and needs_gpu(side_name):
        return Finding(SKIPPED, f"{side_name} needs a GPU")
    shape, device = paper_shapes(options.shapes[0]), options.device
    store = wmt_like_store(options.tokens, shape.vocab)
    found: list[dict[str, Any]] = []
    # Without graphs, for a replayed one may hide its kernels from the profiler.
    mode = dataclasses.replace(MODES[side_name], graphs=False)
    with open_mode(mode, shape, store, options.tokens, device, options.precision) as side:
        works = sorted((side.take() for _ in range(options.start + options.fresh)), key=lambda work: work.sentences)
        mean = statistics.mean(work.sentences for work in works)
        for work in (works[0], min(works, key=lambda one: abs(one.sentences - mean)), works[-1]):
            step = functools.partial(side.step, work)
            step()  # here kernels are compiled
            milliseconds = 1e3 * min(watch.clock(device, step) for _ in range(3))
            taken = measure.profiled(step, device)
            found.append({"sentences": work.sentences, "ms": milliseconds} | kernels(taken.key_averages(), device))
    times = (f"{one['sentences']} sentences {one['ms']:.1f} ms (attention {one['attention_ms']:.1f})" for one in found)
    return Finding(GOOD, f"{side_name}: {', '.join(times)}", {"batches": found})


def kernels(events: Iterable[Any], device: str) -> dict[str, Any]:
    """Milliseconds on the device: of all kernels, of attention, and of the longest by name; on a CPU, of operators."""
    gpu = device == "cuda"
    rows = [
        (event.key, (event.self_device_time_total if gpu else event.self_cpu_time_total) / 1e3, event.count)
        for event in events
        # Operators carry the time of the kernels that they start, and an annotation that of what happens within.
        if not gpu or (event.device_type.name == "CUDA" and not getattr(event, "is_user_annotation", False))
    ]
    attention = [row for row in rows if _ATTENTION.search(row[0])]
    longest = sorted(rows, key=lambda row: -row[1])[:KERNELS]
    return {
        "kernel_ms": sum(ms for _, ms, _ in rows),
        "attention_ms": sum(ms for _, ms, _ in attention),
        "attention": [name[:120] for name, _, _ in attention],
        "longest": [(name[:120], round(ms, 3), count) for name, ms, count in longest],
    }


def make_small(device: str) -> None:
    """Let this process have so little memory that a large batch does not fit: a share of the GPU, or of addresses."""
    if device == "cuda":
        whole = torch.cuda.get_device_properties(0).total_memory
        torch.cuda.set_per_process_memory_fraction(min(1.0, SMALL_CARD / whole))
        return
    import resource  # not on Windows

    torch.ones(2, 2).matmul(torch.ones(2, 2))  # its libraries and threads want their room before
    used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + 2**28, resource.RLIM_INFINITY))


def train_some(options: argparse.Namespace, *more: str) -> tuple[int, str, list[float]]:
    """Three updates by `annotated train` in this process: status, what it said, and the losses."""
    said = io.StringIO()
    how = ("--training.updates", "3", "--training.log-every", "1", "--training.device", options.device)
    with tempfile.TemporaryDirectory(prefix="annotated-benchmark-") as folder:
        run = Path(folder) / "run"
        with contextlib.redirect_stderr(said):
            status = annotated(["train", str(run), *how, *more])
        print(said.getvalue())
        records = read_records(run) if (run / "log.jsonl").exists() else []
    return status, said.getvalue(), [one["loss"] for one in records if one["kind"] == "train"]


def out_of_memory(options: argparse.Namespace) -> Finding:
    """A batch that somebody insists on and that does not fit: the end that is wanted is the sentence that says so."""
    make_small(options.device)
    big = options.device == "cuda"
    tokens = "25000" if big else "100000"
    how = (*_BIG, "--training.no-compile") if big else (*_TINY, *_CLASSROOM, "--training.batch-tokens", tokens)
    status, said, _ = train_some(options, *how, "--training.micro-batch-tokens", tokens)
    last = children.in_a_line(said.strip().splitlines()[-1] if said.strip() else "nothing was said")
    as_wanted = status == 1 and last.startswith("annotated: there is not enough memory: give --training.micro-batch")
    return Finding(GOOD if as_wanted else FAILED, f"status {status}: {last}")


def small_card(options: argparse.Namespace) -> Finding:
    """The big recipe on a card that its batch does not fit."""
    if options.device != "cuda":
        return Finding(SKIPPED, "batches are cut to a GPU's memory, and here is none")
    make_small(options.device)
    status, said, losses = train_some(options, *_BIG)
    cut = re.search(r"micro_batch_tokens [\d,]+", said)
    text = f"status {status}, {cut[0] if cut else 'not cut'}, {SMALL_CARD / 1e9:.0f} GB: {len(losses)} updates"
    memory = watch.memory(options.device)
    return Finding(GOOD if cut and status == 0 else FAILED, f"{text}, {memory['peak_reserved_mib']:.0f} MiB", memory)


def fp16(options: argparse.Namespace) -> Finding:
    """Three updates in fp16, of few layers; on a CPU in float32, for the path."""
    how = ("--preset", "base", "--training.compile", "--training.layout", "auto", "--training.precision", "fp16")
    few = ("--model.num-encoder-layers", "2", "--model.num-decoder-layers", "2")
    usual = (*_TINY, "--training.batch-tokens", str(options.tokens))
    status, said, losses = train_some(options, *((*how, *few) if options.device == "cuda" else usual), *_CLASSROOM)
    good = status == 0 and len(losses) == 3 and all(map(math.isfinite, losses))
    precision = "fp16" if options.device == "cuda" else "fp32, for a CPU trains in no fp16"
    ended = "" if status == 0 else f": {children.in_a_line(said.strip().splitlines()[-1])}"
    return Finding(GOOD if good else FAILED, f"{precision}: status {status}, losses {losses}{ended}")


def text(options: argparse.Namespace, limit: float, log: Path) -> Finding:
    """Train on a folder of text until the time is nearly over, then translate its test set."""
    until, run = time.monotonic() + limit, options.out.with_suffix(".text")
    files = {split: _file(options.text, split) for split in ("train", "valid", "test")}
    named = [part for split, file in files.items() for part in (f"--data.{split}", str(file))]
    kept = min(_FINISH, limit / 3)
    program = (sys.executable, "-m", "annotated")
    status = _train_until([*program, "train", str(run.resolve()), *named, *_text_options(options)], until - kept, log)
    numbers = _progress(run)
    told = f"status {status}; " + ", ".join(f"{name} {value:g}" for name, value in numbers.items())
    if status not in (0, 128 + signal.SIGTERM):
        return Finding(FAILED, f"{told}: {children.last_line(log)}", numbers)
    asked = [*program, "finish", str(run.resolve()), "--unfinished", "--no-compare-last", "--batch-tokens", "12000"]
    end_log = log.with_suffix(".finish.log")
    finished = children.run([*asked, "--quiet"], max(1.0, until - time.monotonic()), end_log)
    if finished != 0:
        why = "no time was left" if finished is None else children.last_line(end_log)
        return Finding(FAILED, f"{told}; the test set was not scored: {why}", numbers)
    report = json.loads((run / "report" / "report.json").read_text(encoding="utf-8"))
    scores = report["scores"]["average"]
    return Finding(GOOD, f"{told}; test set: {scores['sacrebleu']['detail']}", numbers | {"test": scores})


def _file(folder: Path, split: str) -> Path:
    found = sorted(folder.resolve().glob(f"{split}.tsv*"))
    if not found:
        raise ValueError(f"{folder} has no {split}.tsv (or .tsv.gz, .tsv.zst): it needs train, valid and test")
    return found[0]


def _text_options(options: argparse.Namespace) -> list[str]:
    """The paper's base model with the rate that it has after its own warm-up, reached in half as many updates."""
    if options.device != "cuda":
        how = [*_TINY, "--data.vocab-size", "400", "--training.batch-tokens", "1000"]
        often = ["--training.log-every", "20", "--training.checkpoint-every", "20", "--training.validate-bleu", "5"]
        return [*how, *often, "--training.device", "cpu", "--training.updates", "100000"]
    how = ["--preset", "base", "--training.device", "cuda", "--training.precision", "auto", "--training.compile"]
    rate = ["--training.warmup", "2000", "--training.learning-rate-scale", "0.7"]
    often = ["--training.checkpoint-every", "500", "--training.validate-every", "1000"]
    return [*how, *rate, *often, "--training.layout", "auto", "--data.vocab-size", "16000"]


def _train_until(command: Sequence[str], until: float, log: Path) -> int:
    """The status of a training that is told to stop, as a scheduler does it, and then has time to save itself."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w", encoding="utf-8") as file:
        process = children.start(command, file)
        try:
            return process.wait(max(1.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGTERM)
            return process.wait(30)
        finally:
            if process.poll() is None:
                children.end(process)


def _progress(run: Path) -> dict[str, Any]:
    """How far a run came: the last of each number in its log."""
    records = read_records(run) if (run / "log.jsonl").exists() else []
    names = ("update", "loss", "valid_loss", "bleu")
    return {name: record[name] for record in records for name in names if name in record}


TRIALS: dict[str, Callable[[argparse.Namespace], Finding]] = {
    **{f"profile_{name}": functools.partial(profile, side) for name, side in PROFILED.items()},
    "out_of_memory": out_of_memory,
    "small_card": small_card,
    "fp16": fp16,
}
"""Those that need a process of their own, by the names of their steps."""
