"""Local attention by the clock and by memory: one layer over lengths, with all keys, with a mask, and in blocks."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from annotated.model import Masked, MultiHeadAttention, Recorded
from annotated_book.results.plans.banded import Banded, band_mask
from annotated_book.why.table_1.restricted import RestrictedSelfAttention
from annotated_book.why.table_1.timing import exponent, seconds

D_MODEL, HEADS, RADIUS, PASSES = 128, 4, 32, 2
LENGTHS = (256, 512, 1024, 2048, 4096, 8192, 16384)
WEIGHED = (1024, 4096, 16384)
"""Lengths at which the memory is measured, each way in a process of its own."""
LONGEST = {"equation 1 with a band mask": 4096, "fused, band mask": 8192}
"""Beyond these lengths a way with a mask of n² entries is not measured."""
WAYS = ("equation 1 with a band mask", "fused, band mask", "fused, all keys", "a window for each query", "blocks")


def layer(way: str, length: int) -> Callable[[Tensor], Tensor]:
    """One self-attention layer as a function of x `[1, n, D]`; the mask is made here, once, and is not timed."""
    if way == "a window for each query":
        return RestrictedSelfAttention(D_MODEL, HEADS, 2 * RADIUS + 1)
    attention = MultiHeadAttention(D_MODEL, HEADS)
    if way == "blocks":
        return lambda x: attention(x, x, x, Banded(RADIUS))
    if way == "fused, all keys":
        return lambda x: attention(x, x, x, Masked())
    mask = band_mask(length, RADIUS)
    fused = way.startswith("fused")
    return lambda x: attention(x, x, x, Masked(mask) if fused else Recorded(mask))


def measured_lengths(way: str, lengths: tuple[int, ...]) -> list[int]:
    """The lengths at which this way is measured."""
    return [n for n in lengths if n <= LONGEST.get(way, n)]


def milliseconds(way: str, length: int) -> float:
    """The processor time of one forward pass in one thread; the best of a few."""
    run, x = layer(way, length), torch.randn(1, length, D_MODEL)
    with torch.no_grad():
        return 1000 * seconds(lambda: run(x), repeats=3 if length <= 2048 else 1)


def mebibytes(way: str, length: int) -> float:
    """How much one forward pass raises the highest memory of a process of its own, the mask included."""
    command = [sys.executable, "-m", "annotated_book.results.plans.local", way, str(length)]
    return float(subprocess.run(command, check=True, text=True, capture_output=True).stdout)


def _child(way: str, length: int) -> float:
    torch.set_num_threads(1)
    x = torch.randn(1, length, D_MODEL)
    with torch.no_grad():
        layer(way, 64)(x[:, :64])  # what a first call loads is not the layer's
        before = _highest()
        layer(way, length)(x)
    return _highest() - before


def _highest() -> float:
    """The highest memory of this process so far, in MiB. (`ru_maxrss` would begin with that of the parent.)"""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / 1024


def run(smoke: bool = False) -> dict[str, Any]:
    """Time and memory of each way over the lengths, in one run; `smoke` takes two short ones."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    lengths = LENGTHS[:2] if smoke else LENGTHS
    cases = [(way, n) for n in lengths for way in WAYS if n in measured_lengths(way, lengths)]
    best: dict[tuple[str, int], float] = {}
    for _ in range(1 if smoke else PASSES):
        for case in cases:
            best[case] = min(milliseconds(*case), best.get(case, float("inf")))
    rows: list[dict[str, Any]] = []
    for way, n in cases:
        space = round(mebibytes(way, n), 1) if n in WEIGHED or smoke else None
        rows.append({"way": way, "n": n, "ms": float(f"{best[way, n]:.4g}"), "MiB": space})
    growth = {}
    for way in WAYS:
        own = [row for row in rows if row["way"] == way][-3:]
        growth[way] = round(exponent([row["n"] for row in own], [row["ms"] for row in own]), 2)
    return {"d_model": D_MODEL, "heads": HEADS, "radius": RADIUS, "passes": PASSES, "rows": rows, "growth": growth}


if __name__ == "__main__":
    print(_child(sys.argv[1], int(sys.argv[2])))
