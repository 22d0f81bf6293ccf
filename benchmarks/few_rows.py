"""Products of few rows, as a decoder's steps have: `F.linear` beside the same product with its sides exchanged.

Both sides take turns, call by call, on weights that together are larger than a core's cache, as a decoder's are. A
number above 1 says that the exchanged product, `annotated.speed.kernels.few_rows.exchanged_linear`, is the faster one.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from annotated.speed.kernels.few_rows import FEW, WIDE, exchanged_linear
from benchmarks.machine import describe

ROWS = (1, 2, 4, 8, 12, 16, 24, 32, 40, 48, 64, 128)
SIZES = ((256, 256), (256, 1024), (512, 512), (512, 2048), (2048, 512), (512, 8000))
"""Width in and width out of matrices of a small model and of the base model."""
WEIGHTS = 6 * 512 * 2048  # numbers in all of one size's matrices, 24 MiB


def main(arguments: Sequence[str]) -> None:
    """`python -m benchmarks few_rows`: a table of rows and sizes, and its record."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks few_rows", description=__doc__)
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="default: all cores")
    parser.add_argument("--calls", type=int, default=40, help="of each product; default %(default)s")
    parser.add_argument("--out", type=Path, default=Path("build/benchmarks/few_rows.json"), help="default %(default)s")
    options = parser.parse_args(arguments)
    torch.set_num_threads(options.threads)
    gains = {str(rows): measure(rows, options.calls) for rows in ROWS}
    command = f"python -m benchmarks few_rows --threads {options.threads} --calls {options.calls}"
    record: dict[str, Any] = {"command": command, "machine": describe(), "threads": options.threads, "gains": gains}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(record, indent=1) + "\n")
    print(table(gains))


def measure(rows: int, calls: int) -> dict[str, float]:
    """For each size the time of `F.linear` by that of the exchanged product, each the median of its calls."""
    torch.manual_seed(0)
    found = {}
    for width, out in SIZES:
        weights = [torch.randn(out, width) for _ in range(max(2, WEIGHTS // (width * out)))]
        x, bias = torch.randn(rows, width), torch.zeros(out)
        sides: tuple[Callable[..., Tensor], ...] = (F.linear, exchanged_linear)
        seconds: list[list[float]] = [[], []]
        with torch.inference_mode():
            for _ in range(calls):
                for side, times in zip(sides, seconds, strict=True):
                    start = time.perf_counter()
                    for weight in weights:
                        side(x, weight, bias)
                    times.append(time.perf_counter() - start)
        plain, exchanged = (sorted(times)[len(times) // 2] for times in seconds)
        found[f"{width} to {out}"] = round(plain / exchanged, 2)
    return found


def table(gains: dict[str, dict[str, float]]) -> str:
    """In Markdown; what the library exchanges is bold."""
    heads = [f"{width} to {out}" for width, out in SIZES]
    wide = [min(size) >= WIDE for size in SIZES]
    lines = ["| rows | " + " | ".join(heads) + " |", "|--:|" + "--:|" * len(heads)]
    for rows, found in gains.items():
        marks = ["**" if one and int(rows) in FEW else "" for one in wide]
        cells = [f"{mark}{found[head]:.2f}{mark}" for head, mark in zip(heads, marks, strict=True)]
        lines.append(" | ".join([f"| {rows}", *cells]) + " |")
    return "\n".join(lines)
