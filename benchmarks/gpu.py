"""One paper-base step of 25,000 source and 25,000 target tokens in bf16, beside torch.nn.Transformer and MarianMT.

All three in one run, in turns, under the same settings: bf16 autocast over float32 weights, fused Adam, dropout in
the paper's places, the same batches of pairs of like length. Reported: real tokens a second, the share of the
measured bf16 matrix-product peak, and from that the time of 100,000 steps of 50,000 real tokens.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from benchmarks import machine
from benchmarks.peers import registry, workload
from benchmarks.peers.adapter import Adapter, PeerAbsent
from benchmarks.peers.workload import SHAPES, Shape, WorkBatch

SIDES = ("annotated", "torch_nn_bucketed_same_dropout_fused_adam", "hf_marian_same_dropout_fused_adam")
PAPER_STEPS = 100_000
SHAPE_NAMES = ("base", "small", "tiny")


def sample_batches(shape: Shape, tokens: int) -> list[WorkBatch]:
    """Batches as a loader makes them: pairs of like length, about `tokens` on each side, at three quantiles of size."""
    pairs = workload.ragged_pairs(max(400, tokens * 4 // 5), vocab=shape.vocab, seed=11)
    return workload.sample(workload.token_buckets(pairs, max_tokens=tokens), 3)


def clock(device: str, call: Callable[[], None]) -> float:
    """Seconds of a call, its work on the device included."""
    if device == "cuda":
        torch.cuda.synchronize()
    start = time.perf_counter()
    call()
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - start


def product_peak(device: str) -> float:
    """FLOP a second of the best bf16 matrix product among a few shapes, each the best of five."""
    sizes = ((8192, 8192, 8192), (25_600, 512, 2048), (16_384, 4096, 4096)) if device == "cuda" else ((256, 256, 256),)
    best = 0.0
    for m, k, n in sizes:
        a = torch.randn(m, k, device=device, dtype=torch.bfloat16)
        b = torch.randn(n, k, device=device, dtype=torch.bfloat16).T
        torch.mm(a, b)

        def twenty(a: torch.Tensor = a, b: torch.Tensor = b) -> None:
            for _ in range(20):
                torch.mm(a, b)

        best = max(best, 20 * 2 * m * k * n / min(clock(device, twenty) for _ in range(5)))
    return best


def step(peer: Adapter, batch: Any) -> torch.Tensor:
    """One update; the loss stays on the device, for asking for it would make the device wait."""
    peer.optimiser.zero_grad(set_to_none=True)
    loss = peer.loss(batch)
    loss.backward()
    peer.optimiser.step()
    return loss.detach()


def build(name: str, shape: Shape, batches: list[WorkBatch], device: str, compiled: bool) -> Callable[[], None]:
    """A side's steps, one for each batch, ready to be called."""
    registry.require(name)
    torch.manual_seed(0)
    peer = registry.create(name)
    with torch.device(device):
        peer.build(shape)
    peer.model.train()
    if compiled:
        peer.model.compile(dynamic=True)
    ready = [peer.prepare(batch.to(device)) for batch in batches]

    def run() -> None:
        for batch in ready:
            with torch.autocast(device, torch.bfloat16):
                step(peer, batch)

    return run


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """All sides in turns."""
    shape = SHAPES[options.shape]
    if options.shape == "base":
        shape = Shape(vocab=37_000)
    batches = sample_batches(shape, options.tokens)
    tokens = sum(batch.tokens for batch in batches)
    flops = sum(workload.train_flops(shape, b.source_lengths, b.target_lengths) for b in batches)
    sides: dict[str, Callable[[], None]] = {}
    for name in options.only.split(",") if options.only else SIDES:
        try:
            sides[name] = build(name, shape, batches, options.device, options.compile)
        except PeerAbsent as reason:
            print(f"*** PEER LEFT OUT: {name}: {reason}", file=sys.stderr)
    peak = product_peak(options.device)
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for call in sides.values():
        for _ in range(options.warm):
            call()
    for _ in range(options.rounds):
        for name, call in sides.items():
            seconds[name].append(min(clock(options.device, call) for _ in range(options.steps)))
    rows = {}
    for name, times in seconds.items():
        rate = tokens / statistics.median(times)
        paper = PAPER_STEPS * 2 * options.tokens / rate / 60
        share = flops / statistics.median(times) / peak
        rows[name] = {"step_s": 2 * options.tokens / rate, "tokens_s": rate, "share_of_peak": share}
        rows[name]["paper_steps_minutes"] = paper
    about: dict[str, Any] = {
        "tokens": tokens,
        "batches": len(batches),
        "padded": sum(batch.padded for batch in batches),
    }
    about |= {"flops": flops, "product_peak_tflops": peak / 1e12, "compiled": options.compile}
    return {**about, "sides": rows}


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The options."""
    how = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m benchmarks gpu", description=__doc__, formatter_class=how)
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"), help="cpu only to try the script")
    parser.add_argument("--tokens", type=int, default=25_000, help="of each side (default %(default)s)")
    parser.add_argument("--shape", default="base", choices=SHAPE_NAMES, help="base has the paper's 37,000 entries")
    parser.add_argument("--only", help=f"comma-separated sides (default {','.join(SIDES)})")
    parser.add_argument("--compile", action="store_true", help="run every side through torch.compile")
    parser.add_argument("--warm", type=int, default=3, help="steps before measuring (default %(default)s)")
    parser.add_argument(
        "--steps",
        type=int,
        default=5,
        help="per side and round, the best counts; a step is one pass over three batches (default %(default)s)",
    )
    parser.add_argument("--rounds", type=int, default=5, help="the median over them counts (default %(default)s)")
    parser.add_argument("--out", type=Path, default=Path("build/benchmarks/gpu.json"), help="default %(default)s")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str]) -> None:
    """Measure, print and write."""
    options = parse(arguments)
    if options.device == "cuda" and not torch.cuda.is_available():
        raise SystemExit("benchmarks: there is no GPU here; `--device cpu --tokens 200 --shape tiny` tries the script")
    result = measure(options)
    device = torch.cuda.get_device_name() if options.device == "cuda" else "cpu"
    command = "python -m benchmarks gpu " + " ".join(arguments)
    about = {"command": command.strip(), "device": device, "machine": machine.describe()}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps({**about, **result}, indent=1) + "\n", encoding="utf-8")
    print(f"{device}: bf16 matrix products at {result['product_peak_tflops']:.3f} TFLOP/s")
    for name, row in result["sides"].items():
        minutes = f"{PAPER_STEPS:,} steps in {row['paper_steps_minutes']:.0f} minutes"
        rate = (
            f"{row['step_s'] * 1e3:8.1f} ms a step {row['tokens_s']:10.0f} tokens/s {row['share_of_peak']:6.1%} of peak"
        )
        print(f"{name:44} {rate}, {minutes}")


if __name__ == "__main__":
    main(sys.argv[1:])
