"""Data parallel training on two processes: what the exchange of gradients and the loader cost of a step."""

from __future__ import annotations

import argparse
import itertools
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from annotated.config import DataConfig, TrainingConfig, base
from annotated.data import TokenBatches, Tokenizer, TokenStore, open_corpus
from benchmarks import machine

REAL = Path("../shared/data/en-de/train.tsv.zst")
PAPER_TOKENS = 12_500
"""Target tokens of one of two processes in an update of 25,000."""
PROMISES = {"exchange_share": 0.10, "exchange_share_at_paper_batch": 0.10, "loader_share": 0.05}
"""Shares of a step's wall seconds, at most. CPU seconds stand beside them, for a machine that others use too."""


def now() -> tuple[float, float]:
    """Seconds on the wall, and CPU seconds of all threads of this process."""
    return time.perf_counter(), time.process_time()


def child(folder: Path, tokens: int, steps: int) -> None:
    """One of the processes: the training's own step, with a clock between its parts; rank 0 prints."""
    import torch
    import torch.distributed as dist

    from annotated.model import Transformer
    from annotated.speed.machine.distributed import process_group
    from annotated.speed.steps import packed_loss
    from annotated.speed.steps.exchange import GradientExchange
    from annotated.training import make_optimizer
    from annotated.training.optimizer import gradient_norm

    torch.set_num_threads(1)
    torch.manual_seed(0)
    with process_group("cpu", TrainingConfig().peer_timeout) as processes:
        model = Transformer(base())
        optimizer, exchange = make_optimizer(model, TrainingConfig()), GradientExchange(model, processes)
        store = TokenStore.open(folder / "store")
        batches = TokenBatches(store, tokens * processes.world_size, seed=0, pool_pairs=16_384)
        next(batches)  # sorts the first pool
        rows: list[dict[str, float]] = []
        for _ in range(steps + 1):
            clock = [now()]
            next(batches)
            shard, all_tokens = batches.next_shard(processes.rank, processes.world_size, 1)
            clock.append(now())
            for batch in shard:
                loss, _ = packed_loss(model, batch, 0.1)
                (loss / all_tokens).backward()
            clock.append(now())
            dist.barrier()  # who has the shorter sentences waits: not the exchange's fault, and counted apart
            clock.append(now())
            exchange.sum_gradients()
            clock.append(now())
            gradient_norm(list(model.parameters()))
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            clock.append(now())
            names = ("loader", "model", "wait", "exchange", "optimizer")
            row = {"tokens": float(sum(batch.target_tokens for batch in shard))}
            for name, before, after in zip(names, clock, clock[1:], strict=False):
                row |= {name: after[0] - before[0], f"{name}_cpu": after[1] - before[1]}
            rows.append(row)
        if processes.is_main:
            print(json.dumps({"parameters": model.num_parameters(), "steps": rows[1:]}))


def measure(folder: Path, tokens: int, steps: int, processes: int) -> dict[str, Any]:
    """The steps of rank 0 among so many processes of one thread each."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    group = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": str(processes)}
    command = [sys.executable, "-m", "benchmarks.data_parallel", "--child", str(folder)]
    command += ["--tokens", str(tokens), "--steps", str(steps)]
    running = [
        subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **group, "RANK": str(rank), "LOCAL_RANK": str(rank), "OMP_NUM_THREADS": "1"},
        )
        for rank in range(processes)
    ]
    said = [process.communicate()[0] for process in running]
    if any(process.returncode for process in running):
        raise ValueError("a process failed; what it said stands above")
    return json.loads(said[0])


def shares(measured: dict[str, Any]) -> dict[str, float]:
    """Medians of the parts of a step, and what they make of a step; at the paper's batch the model's part grows."""
    rows = measured["steps"]
    names = ("loader", "model", "exchange", "optimizer")
    seconds = {name: statistics.median(row[name] for row in rows) for name in names}
    step = sum(seconds.values())
    cpu = {name: statistics.median(row[f"{name}_cpu"] for row in rows) for name in names}
    grown = PAPER_TOKENS / statistics.median(row["tokens"] for row in rows)
    paper_step = (seconds["model"] + seconds["loader"]) * grown + seconds["exchange"] + seconds["optimizer"]
    return {
        **{f"{name}_seconds": value for name, value in seconds.items()},
        "wait_seconds": statistics.median(row["wait"] for row in rows),
        "step_seconds": step,
        "target_tokens_a_process": statistics.median(row["tokens"] for row in rows),
        "exchange_share": seconds["exchange"] / step,
        "exchange_share_at_paper_batch": seconds["exchange"] / paper_step,
        "exchange_cpu_share": cpu["exchange"] / sum(cpu.values()),
        "loader_share": seconds["loader"] / step,
    }


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks data_parallel", description=__doc__)
    parser.add_argument("--corpus", help="as for `annotated train` (default: the real text if it is there)")
    parser.add_argument("--pairs", type=int, default=40_000, help="pairs of it to use (default %(default)s)")
    parser.add_argument("--tokens", type=int, default=2048, help="of a side, a process and step (default %(default)s)")
    parser.add_argument("--steps", type=int, default=5, help="after one to warm up (default %(default)s)")
    parser.add_argument("--processes", type=int, default=2, help="default %(default)s")
    parser.add_argument(
        "--out", type=Path, default=Path("build/benchmarks/data_parallel.json"), help="default %(default)s"
    )
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def main(arguments: Sequence[str]) -> None:
    """Measure, print and write."""
    options = parse(arguments)
    if options.child:
        return child(options.child, options.tokens, options.steps)
    spec = options.corpus or (str(REAL) if REAL.exists() else "classroom")
    if not options.corpus and spec == "classroom":
        print("*** the real text is not there: measuring on the classroom corpus", file=sys.stderr)
    corpus = open_corpus(spec, "train", DataConfig(classroom_pairs=options.pairs))
    pairs = list(itertools.islice(corpus, options.pairs))
    with tempfile.TemporaryDirectory() as folder:
        tokenizer = Tokenizer.train(list(itertools.chain.from_iterable(pairs)), 8000)
        TokenStore.build(Path(folder) / "store", pairs, tokenizer, max_length=256)
        machine.wait_for_quiet()
        busy, began = machine.cpu_seconds(), time.monotonic()
        measured = measure(Path(folder), options.tokens, options.steps, options.processes)
        load = (machine.cpu_seconds() - busy) / ((time.monotonic() - began) * (os.cpu_count() or 1))
    result = shares(measured)
    about = {
        "command": ("python -m benchmarks data_parallel " + " ".join(arguments)).strip(),
        "corpus": spec,
        "machine": machine.describe(),
        "load_average": os.getloadavg(),
        "machine_busy_share": load,
    }
    options.out.parent.mkdir(parents=True, exist_ok=True)
    content = {**about, **result, "promises": PROMISES, **measured}
    options.out.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    for name, value in result.items():
        bound = PROMISES.get(name)
        verdict = "" if bound is None else f" (promised <= {bound:g}: {'met' if value <= bound else 'NOT MET'})"
        print(f"{name}: {value:.4g}{verdict}")


if __name__ == "__main__":
    main(sys.argv[1:])
