"""Trials of the first ten minutes on a GPU: each tries one thing and says what came out and what to do."""

from __future__ import annotations

import argparse
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from annotated.config import TrainingConfig
from annotated.model import Transformer
from annotated.runs.checkpoint import list_checkpoints
from annotated.runs.log import read_records
from annotated.saving import read_tensors
from annotated.speed.kernels.cudnn import without_cudnn_attention
from benchmarks.gpu import children, measure, report, runner, watch
from benchmarks.gpu.modes import MODES
from benchmarks.gpu.pairs import our_batches, our_work, wmt_like_store
from benchmarks.gpu.sides import open_side, open_training, paper_shapes, use_cudnn_attention
from benchmarks.peers.project import model_config

GOOD, LOOK, FAILED, SKIPPED = "as it should be", "LOOK", "FAILED", "skipped"
GRAPHS_EXPECTED = 4
"""Of a compiled packed run: one or two of the model, one of the loss; and one to spare."""
UPDATES = {"kernels": 20, "recompilations": 300, "losses": 200}
LOSS_BOUND = 0.005
"""How far the loss of static + graphs may be from that of packed rows in any of 200 updates, as a share: both round to
bf16, in other places."""
SIDES = ("bf16", "bf16_compiled", "bf16_static_graphs")
PREPARED = Path("data/wmt14-en-de")
_CLASSROOM = ("--data.classroom-pairs", "3000", "--data.vocab-size", "400", "--training.validate-bleu", "5")
_SMALL = ("--preset", "tiny", "--model.num-encoder-layers", "1", "--model.num-decoder-layers", "1", *_CLASSROOM)
_ATTENTION = re.compile(r"flash|fmha|attention|sdpa", re.IGNORECASE)


@dataclass(frozen=True)
class Finding:
    """What a trial found."""

    outcome: str
    text: str
    do: str = ""
    """What to do about it."""


def preflight(options: argparse.Namespace, limit: float, log: Path) -> Finding:
    """The checks of a machine, with 220 updates of a dry run; of the paper's own run if its data is prepared."""
    run = options.out.with_name("preflight")
    if options.device == "cpu":
        how = [*_SMALL, "--training.device", "cpu", "--training.batch-tokens", "200"]
    elif (children.ROOT / PREPARED / "manifest").is_dir():
        how = ["--preset", "wmt14-base"]
    else:
        how = ["--preset", "base", "--training.precision", "bf16", "--training.compile", "--data.vocab-size", "8000"]
        how += ["--training.device", "cuda", "--training.validate-bleu", "20"]
    asked = [sys.executable, "-m", "annotated", "preflight", str(run.resolve()), "--dry-run", *how]
    status = children.run(asked, limit, log)
    said = log.read_text(encoding="utf-8", errors="replace").splitlines()
    bad = [" ".join(line.split()) for line in said if line.startswith(("fail", "warn"))]
    if status is None:
        return Finding(FAILED, f"not finished within {limit:.0f} s", f"read {log}; run it alone: {' '.join(asked[1:])}")
    if status:
        return Finding(FAILED, "; ".join(bad) or f"status {status}: {children.last_line(log)}", f"read {log}")
    time_line = next((" ".join(line.split()[4:]) for line in said if "time and cost" in line), "no time")
    return Finding(LOOK if bad else GOOD, "; ".join([*bad, time_line]), "what each warning says" if bad else "")


def kernels(options: argparse.Namespace) -> Finding:
    """Which attention kernels an ordinary training starts."""
    shape, tokens, device = paper_shapes(options.shapes[0]), options.tokens, options.device
    store = wmt_like_store(tokens, shape.vocab)
    training = TrainingConfig(batch_tokens=tokens, precision=options.precision, device=device)
    torch.manual_seed(0)
    # PyTorch's own choice before, and the library's context around, as a training has it.
    use_cudnn_attention(True)
    opened = open_training(Transformer(model_config(shape)), training, store)
    with without_cudnn_attention(device), opened as side:
        taken = measure.profile_batches(side, device, 3, UPDATES["kernels"])
    names = sorted({event.key for event in taken.key_averages()})
    print(taken.key_averages().table(row_limit=60, max_name_column_width=100))
    return judge_kernels(names, options.device)


def judge_kernels(names: Sequence[str], device: str) -> Finding:
    """What the names of kernels tell."""
    attention = [name for name in names if _ATTENTION.search(name)]
    cudnn = [name for name in attention if "cudnn" in name.lower()]
    shown = ", ".join(name[:60] for name in attention[:4]) or "no attention kernel by name"
    if device == "cpu":
        return Finding(SKIPPED, f"no GPU, so no kernels of one; here: {shown}")
    if cudnn:
        do = "annotated.speed.kernels.cudnn.without_cudnn_attention has to keep it out around a training: report this"
        return Finding(LOOK, f"attention goes to cuDNN, which builds a plan for every new shape: {cudnn[0][:80]}", do)
    return Finding(GOOD, f"no cuDNN attention: {shown}")


def recompilations(options: argparse.Namespace) -> Finding:
    """How often a compiled packed training compiles, over batches that never come twice."""
    torch._logging.set_logs(recompiles=True)
    shape, count = paper_shapes(options.shapes[0]), UPDATES["recompilations"]
    store = wmt_like_store(options.tokens, shape.vocab)
    opened = open_side("bf16_compiled", shape, store, options.tokens, options.device, options.precision)
    with watch.LimitWarnings() as limit, opened as side:
        steps, _ = measure.run_batches(side, options.device, count)
    return judge_recompilations(watch.compilations(), limit.count, steps)


def judge_recompilations(graphs: int, limit_hits: int, steps: watch.Steps) -> Finding:
    """What the number of graphs tells, and when the last one came."""
    stalls = [number + 1 for number, stalled in enumerate(steps.stalled) if stalled]
    lost = sum(steps.seconds[number - 1] for number in stalls)
    text = f"{graphs} graphs in {len(steps.seconds)} updates, in updates {stalls}, {lost:.0f} s in these"
    do = "the step's log names the guard that failed; layout static compiles once"
    if limit_hits:
        return Finding(LOOK, f"{text}; torch gave up compiling and goes on eagerly", do)
    late = bool(stalls) and stalls[-1] > len(steps.seconds) // 2
    return Finding(LOOK if graphs > GRAPHS_EXPECTED or late else GOOD, text, do if graphs > GRAPHS_EXPECTED else "")


def sides(options: argparse.Namespace, limit: float, log: Path) -> Finding:
    """Three sides of the benchmark on batches never seen."""
    few = argparse.Namespace(**vars(options))
    few.sides, few.shapes, few.minutes = [name for name in SIDES if name in MODES], options.shapes[:1], limit / 60
    few.out, few.again = options.out.with_name("first_ten_minutes_sides.json"), False
    result = runner.run(few, f"python -m benchmarks gpu --sides {','.join(few.sides)} --shapes {few.shapes[0]}")
    log.parent.mkdir(parents=True, exist_ok=True)
    found = result["shapes"].get(few.shapes[0], {"sides": {}})
    return judge_sides(found["sides"], result["left_out"])


def judge_sides(found: dict[str, dict[str, object]], left_out: Sequence[str]) -> Finding:
    """Fresh against seen before: what new shapes cost."""
    rows = report.measured({"sides": found})
    text, slow = [], []
    for name, one in rows.items():
        fresh, before = one["fresh"], one["steady"]["ms_a_step"]
        text.append(f"{name} {fresh['ms_a_step']:.1f} ms fresh, {before:.1f} seen before")
        if fresh["ms_a_step"] > 1.5 * before:
            slow.append(name)
    missing = [name for name in SIDES if name not in rows]
    strange = report.disagreeing(rows)
    if missing:
        why = [str(found[name].get("failed")) for name in missing if name in found] or list(left_out)
        return Finding(FAILED, "; ".join([*text, f"not measured: {', '.join(missing)} ({'; '.join(why)})"]), why[0])
    if strange:
        return Finding(LOOK, "; ".join(strange), "a mode does not train as the first one does: trust no speed of it")
    do = "new batches stall: see the worst step and the new graphs of the results" if slow else ""
    return Finding(LOOK if slow else GOOD, "; ".join(text), do)


def losses(options: argparse.Namespace) -> Finding:
    """The loss of each of 200 updates, static + graphs beside packed: the same weights and batches, no dropout."""
    tokens, shape = options.tokens, paper_shapes(options.shapes[0])
    store = wmt_like_store(tokens, shape.vocab)
    batches = our_batches(store, tokens)
    works = [our_work(next(batches)) for _ in range(UPDATES["losses"])]
    curves: list[list[float]] = []
    for name in ("bf16", "bf16_static_graphs"):
        torch.manual_seed(0)
        model = Transformer(model_config(shape, dropout=0.0))
        fields = {"precision": options.precision, "batch_tokens": tokens, "device": options.device}
        training = TrainingConfig(**{**fields, **MODES[name].training})
        with without_cudnn_attention(options.device), open_training(model, training, store, MODES[name]) as side:
            curves.append(torch.stack([side.step(work) for work in works]).double().tolist())
        torch._dynamo.reset()
    return judge_losses(curves[0], curves[1])


def judge_losses(packed: Sequence[float], static: Sequence[float], bound: float = LOSS_BOUND) -> Finding:
    """How far two curves are apart."""
    apart = [abs(s - p) / p if p else float("nan") for p, s in zip(packed, static, strict=True)]
    worst = max(range(len(apart)), key=lambda number: (apart[number] != apart[number], apart[number]))
    text = (
        f"loss {packed[0]:.4f} to {packed[-1]:.4f}; at most {apart[worst]:.1e} apart (update {worst + 1}), "
        f"{sum(apart) / len(apart):.1e} on average; bound {bound:.1e}"
    )
    if all(one <= bound for one in apart):
        return Finding(GOOD, text)
    return Finding(LOOK, text, "do not train with static + graphs here: layout packed, and report the two curves")


def resume(options: argparse.Namespace, limit: float, log: Path) -> Finding:
    """A run of two ranks that is stopped and resumed, beside one that is not."""
    two = options.device == "cuda" and torch.cuda.device_count() > 1
    device = "cuda" if two else "cpu"
    why = "" if two else "on the CPU by gloo, for NCCL needs a GPU for each rank; "
    until = time.monotonic() + limit
    root = options.out.with_name("resume")
    whole, stopped = root / "whole", root / "stopped"
    shutil.rmtree(root, ignore_errors=True)
    updates = "30" if device == "cpu" else "300"
    how = ["--training.device", device, "--training.updates", updates, "--training.log-every", "1"]
    how += ["--training.checkpoint-every", updates, "--training.validate-every", updates]
    train = [*_SMALL, "--training.batch-tokens", "400", *how, "--training.validate-bleu", "0", "--quiet"]
    ranks = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", "annotated"]
    asked = [[*ranks, "train", str(run.resolve()), *train] for run in (whole, stopped)]
    if status := children.run(asked[0], until - time.monotonic(), log):
        return Finding(
            FAILED, f"{why}the run without a stop: status {status}: {children.last_line(log)}", f"read {log}"
        )
    at = _stopped_at(asked[1], stopped, int(updates) // 3, until, log)
    status = children.run(asked[1], max(1.0, until - time.monotonic()), log)
    if status != 0 or not list_checkpoints(whole) or at is None:
        return Finding(FAILED, f"{why}stopped at update {at}, resumed with status {status}", f"read {log}")
    ends = [read_tensors(list_checkpoints(run)[-1] / "model.safetensors") for run in (whole, stopped)]
    apart = max(float((ends[0][name] - ends[1][name]).abs().max()) for name in ends[0])
    text = f"{why}stopped after update {at} of {updates}, resumed; weights at most {apart:.1e} apart"
    good = apart == 0 if device == "cpu" else apart < 1e-2
    return Finding(GOOD if good else LOOK, text, "" if good else "a resumed run must be the run that was not stopped")


def _stopped_at(asked: Sequence[str], run: Path, update: int, until: float, log: Path) -> int | None:
    """Start a run, end it as a scheduler does once it has made so many updates; where it stopped."""
    with log.open("a", encoding="utf-8") as file:
        process = children.start(asked, file, OMP_NUM_THREADS="1")
        try:
            while process.poll() is None and time.monotonic() < until and _updates(run) < update:
                time.sleep(0.1)
            process.send_signal(signal.SIGTERM)
            process.wait(max(1.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            return None
        finally:
            if process.poll() is None:
                children.end(process)
    return _updates(run)


def _updates(run: Path) -> int:
    if not (run / "log.jsonl").exists():
        return 0
    return max((record.get("update", 0) for record in read_records(run)), default=0)


TRIALS: dict[str, Callable[[argparse.Namespace], Finding]] = {
    "kernels": kernels,
    "recompilations": recompilations,
    "losses": losses,
}
"""Those that need a process of their own."""
