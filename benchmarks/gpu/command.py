"""Command line of the GPU benchmark."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import torch

import benchmarks.gpu
from annotated.speed.machine.nvidia_driver import explain_missing_gpu
from benchmarks.gpu import lent, measure, outcomes, report, runner
from benchmarks.gpu.modes import SIDES, needs_gpu
from benchmarks.gpu.signals import exits_by_signal

SHAPES = ("base", "big", "small", "tiny")
OUT = Path("build/benchmarks/gpu.json")


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The options."""
    how = argparse.RawDescriptionHelpFormatter
    about = benchmarks.gpu.__doc__
    parser = argparse.ArgumentParser(prog="python -m benchmarks gpu", description=about, formatter_class=how)
    add = parser.add_argument
    add("--device", default="cuda", choices=("cuda", "cpu"), help="cpu only to try the script")
    add("--tokens", type=int, help="of each side (default 25,000; on a CPU 200)")
    add("--shapes", default="base,big", help=f"comma-separated, of {', '.join(SHAPES)}")
    add("--sides", help=f"comma-separated, of {', '.join(SIDES)} (default: all)")
    add("--minutes", type=float, default=10, help="for all of it; 0 for no limit (default %(default)s)")
    add("--start", type=int, default=20, help="batches in which a side starts, before the fresh ones")
    add("--fresh", type=int, default=50, help="batches that none has seen, timed one by one (default %(default)s)")
    add("--batches", type=int, default=3, help="of those seen before, at quantiles of size (default %(default)s)")
    add("--passes", type=int, default=5, help="over these, of which the best counts (default %(default)s)")
    add("--precision", default="bf16", choices=("bf16", "fp32"), help="fp32 for a CPU without bf16")
    add("--out", type=Path, default=OUT, help="results; measured sides in it are kept (default %(default)s)")
    add("--again", action="store_true", help="measure everything anew")
    writing = argparse.BooleanOptionalAction
    add(
        "--write",
        action=writing,
        help="results into benchmarks/gpu.md (default: on a GPU, if all shapes are the paper's)",
    )
    add("--profile", metavar="SIDE", help="print the kernels of one side, and measure nothing")
    add("--lent", action="store_true", help="what is wanted of a GPU that is lent for some minutes, step by step")
    add("--seconds", type=float, default=780, help="for all of --lent (default %(default)s)")
    add("--text", type=Path, metavar="FOLDER", help="of --lent: train.tsv, valid.tsv and test.tsv, compressed or not")
    add("--step", help=argparse.SUPPRESS)  # a process of --lent
    add("--one", help=argparse.SUPPRESS)  # a process of one side: SHAPE/SIDE
    options = parser.parse_args(arguments)
    options.tokens = options.tokens or (25_000 if options.device == "cuda" else 200)
    _check(parser, options)
    return options


def _check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    usual = [side for side in SIDES if options.device == "cuda" or not needs_gpu(side)]
    options.sides = options.sides.split(",") if options.sides else usual
    options.shapes = options.shapes.split(",")
    for name in [*options.sides, *([options.profile] if options.profile else [])]:
        if name not in SIDES:
            parser.error(f"no side {name!r}; there are {', '.join(SIDES)}")
    for name in options.shapes:
        if name not in SHAPES:
            parser.error(f"no shape {name!r}; there are {', '.join(SHAPES)}")
    if min(options.start, options.fresh - 1, options.batches - 1, options.passes - 1) < 0:
        parser.error("--fresh, --batches and --passes must be at least 1, --start at least 0")
    if options.write is None:
        options.write = options.device == "cuda" and set(options.shapes) <= {"base", "big"} and options.out == OUT


def main(arguments: Sequence[str]) -> None:
    """Measure, print and write."""
    options = parse(arguments)
    if options.device == "cuda" and not torch.cuda.is_available():
        raise SystemExit(
            f"benchmarks: torch sees no GPU here. {explain_missing_gpu()}; "
            "`--device cpu --shapes tiny` tries the script without"
        )
    if options.one:
        runner.one_side(options)
    elif options.step:
        lent.one_step(options)
    else:
        with exits_by_signal():  # not in the processes above: what ends those must not wait for Python
            _measure(options, "python -m benchmarks gpu " + " ".join(arguments))


def _measure(options: argparse.Namespace, command: str) -> None:
    if options.profile:
        taken = measure.profile(options.shapes[0], options.profile, options)
        order = "self_cuda_time_total" if options.device == "cuda" else "self_cpu_time_total"
        print(taken.key_averages().table(sort_by=order, row_limit=40, max_name_column_width=80))
    else:
        result = (lent if options.lent else runner).run(options, command)
        if options.lent:
            print(lent.table(result["steps"]))
        print(report.table(result))
        if not any(report.measured(shape) for shape in result["shapes"].values()):
            left = ", ".join(result["left_out"])
            how = "--seconds" if options.lent else "--minutes, 0 for no limit"
            more = f"; no time was left for {left}: give more {how}" if left else ""
            raise SystemExit(f"benchmarks: nothing was measured{more}")
        if options.write:
            outcomes.write(result)
            print(f"written into {outcomes.DOCUMENT.relative_to(runner.ROOT)}")
