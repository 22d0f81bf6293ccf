"""Steps of 25,000 source and 25,000 target tokens on a GPU: every mode of ours, and the peers, in one run.

    python -m benchmarks gpu                                   all of it, base then big
    python -m benchmarks gpu --shapes base --sides bf16_static_graphs,torch_nn_compiled
    python -m benchmarks gpu --profile bf16_static_compiled    which kernels take the time
    python -m benchmarks gpu --device cpu --shapes tiny        tries every path, without a GPU

In turns, under the same settings: float32 weights with bf16 autocast (but for `fp32` and `tf32`), fused Adam, dropout
in the paper's places, the same ragged pairs, each side in batches as its own loader cuts them, at quantiles of size. A
step is everything of an update. Ours includes laying out the batch and copying it to the GPU; the peers' batches lie
there already. Reported: real tokens a second, the time of 50,000 of them (the paper's batch), the share of the
matrix-product peak measured in the same run. Results are written after every shape. A mode whose first loss or gradient
differs from those of the others is marked: its speed would mean nothing.
"""

from __future__ import annotations

import argparse
import functools
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from benchmarks import machine
from benchmarks.gpu_sides import MODES, SIDES, Side, build, paper_shapes
from benchmarks.peers import workload
from benchmarks.peers.adapter import PeerAbsent
from benchmarks.peers.workload import Shape

PAPER_STEPS = 100_000
SHAPES = ("base", "big", "small", "tiny")
MOST_MS, AIM_MS, BEST_PEER, BIG_SHARE = 30.0, 22.0, 1.5, 0.45
AGREE = {"first_loss": 0.01, "first_norm": 0.1}
"""How far a mode's first step may be from our first side's, as a share; dropout differs, so it is never nothing."""


def clock(device: str, call: Callable[[], Any]) -> float:
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


def one_pass(side: Side) -> None:
    """A step on each batch."""
    for number in range(len(side.batches)):
        side.step(number)


def warmed(name: str, side: Side, options: argparse.Namespace) -> dict[str, float]:
    """Compile and record; what the very first step found, from the same weights for every side of ours."""
    began = time.perf_counter()
    first = {"first_loss": float(side.step(0))}
    if side.norm is not None:
        first["first_norm"] = float(side.norm())
    for _ in range(options.warm):
        one_pass(side)
    clock(options.device, lambda: None)
    first["warm_up_s"] = time.perf_counter() - began
    print(f"  {name}: ready after {first['warm_up_s']:.0f} s, first loss {first['first_loss']:.4f}", flush=True)
    return first


def measure(shape_name: str, options: argparse.Namespace) -> dict[str, Any]:
    """All sides of one shape, in turns."""
    shape, tokens = paper_shapes(shape_name), options.tokens
    pairs = workload.ragged_pairs(max(400, tokens * 4 // 5), vocab=shape.vocab, seed=11)
    sides, firsts = {}, {}
    for name in options.sides.split(","):
        try:
            sides[name] = build(name, shape, pairs, tokens, options.batches, options.device, options.precision)
            firsts[name] = warmed(name, sides[name], options)
        except PeerAbsent as reason:
            sides.pop(name, None)
            print(f"*** PEER LEFT OUT: {name}: {reason}", file=sys.stderr)
        except (RuntimeError, ValueError) as reason:  # a mode that fails must not take the others' minutes with it
            sides.pop(name, None)
            print(f"*** FAILED: {name}: {type(reason).__name__}: {str(reason)[:500]}", file=sys.stderr)
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(options.rounds):
        for name, side in sides.items():
            taken = [clock(options.device, functools.partial(one_pass, side)) for _ in range(options.steps)]
            seconds[name].append(min(taken))
    peak = product_peak(options.device)
    about = {
        "tokens_a_side": tokens,
        "precision": options.precision,
        "batches": options.batches,
        "product_peak_tflops": peak / 1e12,
    }
    rows = {name: row(side, shape, seconds[name], tokens, peak) | firsts[name] for name, side in sides.items()}
    return {**about, "sides": rows, "disagree": disagreeing(rows)}


def row(side: Side, shape: Shape, seconds: list[float], tokens: int, peak: float) -> dict[str, Any]:
    """The numbers of a side: its median round."""
    taken = statistics.median(seconds)
    rate = side.tokens / taken
    return {
        "ms_a_step": 2e3 * tokens / rate,
        "tokens_s": rate,
        "share_of_peak": side.flops(shape) / taken / peak,
        "minutes_for_100k": PAPER_STEPS * 2 * tokens / rate / 60,
        "fill": side.tokens / sum(batch.padded for batch in side.batches),
        "seconds": seconds,
    }


def disagreeing(rows: dict[str, dict[str, Any]]) -> list[str]:
    """Modes of ours whose first step is not that of our first mode, from the same weights on the same batch."""
    ours = [name for name in rows if name in MODES]
    return [
        f"{name}: {key} {rows[name][key]:.4f}, {ours[0]} has {rows[ours[0]][key]:.4f}"
        for name in ours[1:]
        for key, share in AGREE.items()
        if not abs(rows[name][key] - rows[ours[0]][key]) <= share * rows[ours[0]][key]
    ]


def promises(shapes: dict[str, Any]) -> list[tuple[str, bool]]:
    """What was promised, and whether the run keeps it; what was not measured is not in the list."""
    found: list[tuple[str, bool]] = []
    for shape, result in shapes.items():
        rows = result["sides"]
        ours = {name: rows[name] for name in rows if name in MODES and MODES[name].precision == "bf16"}
        peers = {name: rows[name] for name in rows if name not in MODES}
        if not ours:
            continue
        name, best = min(ours.items(), key=lambda one: one[1]["ms_a_step"])
        if shape == "base":
            text = f"base: a step of at most {MOST_MS:.0f} ms (aim {AIM_MS:.0f}): {best['ms_a_step']:.1f} ms ({name})"
            found.append((text, best["ms_a_step"] <= MOST_MS))
        if shape == "big":
            text = f"big: at least {BIG_SHARE:.0%} of the product peak: {best['share_of_peak']:.1%} ({name})"
            found.append((text, best["share_of_peak"] >= BIG_SHARE))
        if peers:
            peer, theirs = max(peers.items(), key=lambda one: one[1]["tokens_s"])
            ratio = best["tokens_s"] / theirs["tokens_s"]
            text = f"{shape}: at least {BEST_PEER} times the best peer ({peer}): {ratio:.2f}"
            found.append((text, ratio >= BEST_PEER))
    return found


def profile(name: str, options: argparse.Namespace) -> str:
    """The kernels of one pass of a side, by their time."""
    shape = paper_shapes(options.shapes.split(",")[0])
    pairs = workload.ragged_pairs(max(400, options.tokens * 4 // 5), vocab=shape.vocab, seed=11)
    side = build(name, shape, pairs, options.tokens, options.batches, options.device, options.precision)
    warmed(name, side, options)
    gpu = options.device == "cuda"
    kinds = torch.profiler.ProfilerActivity
    with torch.profiler.profile(activities=[kinds.CPU, *([kinds.CUDA] if gpu else [])]) as taken:
        one_pass(side)
        clock(options.device, lambda: None)
    order = "self_cuda_time_total" if gpu else "self_cpu_time_total"
    return taken.key_averages().table(sort_by=order, row_limit=40, max_name_column_width=80)


def table(shapes: dict[str, Any]) -> str:
    """What was measured, for people."""
    lines = []
    for shape, result in shapes.items():
        lines.append(f"{shape}: bf16 matrix products at {result['product_peak_tflops']:.3f} TFLOP/s")
        for name, one in result["sides"].items():
            speed = f"{one['ms_a_step']:9.1f} ms a step {one['tokens_s']:10.0f} tokens/s"
            share = (
                f"{one['share_of_peak']:6.1%} of peak, {PAPER_STEPS:,} steps in {one['minutes_for_100k']:.0f} minutes"
            )
            lines.append(f"  {name:30} {speed} {share}")
        lines += [f"  *** NOT THE SAME TRAINING: {line}" for line in result["disagree"]]
    lines += [f"promise {'kept' if kept else 'MISSED'}: {text}" for text, kept in promises(shapes)]
    return "\n".join(lines)


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The options."""
    how = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m benchmarks gpu", description=__doc__, formatter_class=how)
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"), help="cpu only to try the script")
    parser.add_argument("--tokens", type=int, help="of each side (default 25,000; on a CPU 200)")
    parser.add_argument("--shapes", default="base,big", help=f"comma-separated, of {', '.join(SHAPES)}")
    parser.add_argument("--sides", default=",".join(SIDES), help="comma-separated (default %(default)s)")
    parser.add_argument("--profile", metavar="SIDE", help="print the kernels of one side, and measure nothing")
    parser.add_argument("--precision", default="bf16", choices=("bf16", "fp32"), help="fp32 for a CPU without bf16")
    parser.add_argument("--batches", type=int, default=3, help="at quantiles of size (default %(default)s)")
    parser.add_argument("--warm", type=int, default=2, help="passes over the batches before measuring")
    parser.add_argument("--steps", type=int, default=3, help="passes per side and round, the best counts")
    parser.add_argument("--rounds", type=int, default=5, help="the median over them counts (default %(default)s)")
    parser.add_argument("--out", type=Path, default=Path("build/benchmarks/gpu.json"), help="default %(default)s")
    options = parser.parse_args(arguments)
    options.tokens = options.tokens or (25_000 if options.device == "cuda" else 200)
    for name in [*options.sides.split(","), *([options.profile] if options.profile else [])]:
        if name not in SIDES:
            parser.error(f"no side {name!r}; there are {', '.join(SIDES)}")
    return options


def main(arguments: Sequence[str]) -> None:
    """Measure, print and write."""
    options = parse(arguments)
    if options.device == "cuda" and not torch.cuda.is_available():
        raise SystemExit("benchmarks: there is no GPU here; `--device cpu --shapes tiny` tries the script")
    if options.profile:
        print(profile(options.profile, options))
        return
    command = "python -m benchmarks gpu " + " ".join(arguments)
    device = torch.cuda.get_device_name() if options.device == "cuda" else "cpu"
    result: dict[str, Any] = {"command": command.strip(), "device": device, "machine": machine.describe(), "shapes": {}}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    for shape in options.shapes.split(","):
        print(f"{shape}, on {device}", flush=True)
        result["shapes"][shape] = measure(shape, options)
        options.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        if options.device == "cuda":
            torch.cuda.empty_cache()
    print(table(result["shapes"]))


if __name__ == "__main__":
    main(sys.argv[1:])
