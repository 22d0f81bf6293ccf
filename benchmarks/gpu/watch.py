"""Watching a training on a device: time of each step, compilations, recordings, memory that the allocator holds."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch._dynamo.utils import counters

from benchmarks import machine


def clock(device: str, call: Callable[[], Any]) -> float:
    """Seconds of a call, its work on the device included."""
    wait(device)
    start = time.perf_counter()
    call()
    wait(device)
    return time.perf_counter() - start


def wait(device: str) -> None:
    """Wait for all work on the device."""
    if device == "cuda":
        torch.cuda.synchronize()


def product_peak(device: str, dtype: torch.dtype = torch.bfloat16) -> float:
    """FLOP a second of the best matrix product among a few shapes, each the best of five."""
    sizes = ((8192, 8192, 8192), (25_600, 512, 2048), (16_384, 4096, 4096)) if device == "cuda" else ((256, 256, 256),)
    best = 0.0
    for m, k, n in sizes:
        a = torch.randn(m, k, device=device, dtype=dtype)
        b = torch.randn(n, k, device=device, dtype=dtype).T
        torch.mm(a, b)

        def twenty(a: torch.Tensor = a, b: torch.Tensor = b) -> None:
            for _ in range(20):
                torch.mm(a, b)

        best = max(best, 20 * 2 * m * k * n / min(clock(device, twenty) for _ in range(5)))
    return best


def compilations() -> int:
    """Graphs that torch.compile has made in this process so far."""
    return int(counters["stats"]["unique_graphs"])


def reused() -> int:
    """Graphs whose kernels came from the compiler's cache on disk: compiled on another day, or by another side."""
    return int(counters["inductor"]["fxgraph_cache_hit"])


class LimitWarnings(logging.Handler):
    """Counts the warnings that a function has been compiled too often and runs eagerly from now on."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.count = 0

    def __enter__(self) -> LimitWarnings:
        logging.getLogger("torch._dynamo").addHandler(self)
        return self

    def __exit__(self, *error: object) -> None:
        logging.getLogger("torch._dynamo").removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        self.count += "recompile_limit" in record.getMessage() or "cache_size_limit" in record.getMessage()


def memory(device: str) -> dict[str, float]:
    """MiB that the allocator holds now and held at most; without a GPU, the most that the process held."""
    if device != "cuda":
        return {"process_mib": round(machine.peak_memory_mib(), 1)}
    numbers = torch.cuda.memory_reserved(), torch.cuda.max_memory_reserved(), torch.cuda.max_memory_allocated()
    found = dict(zip(("reserved_mib", "peak_reserved_mib", "peak_used_mib"), numbers, strict=True))
    retries = torch.cuda.memory_stats().get("num_alloc_retries", 0)
    return {**{name: round(count / 2**20, 1) for name, count in found.items()}, "retries": retries}


def held(device: str) -> float:
    """MiB that belong to this training and are not given back."""
    found = memory(device)
    return found.get("reserved_mib", found.get("process_mib", 0.0))


@dataclass
class Steps:
    """What was seen of some steps in turn."""

    seconds: list[float]
    """Of each, on the device's own clock: a wait of the device for the processor belongs to it."""
    stalled: list[bool]
    """True where the compiler made a new graph, or one was recorded."""
    wall: float
    """Seconds of all."""
    memory_growth_mib: float
    """By which the memory that is held grew meanwhile."""

    @property
    def calm(self) -> list[int]:
        """Numbers of the steps in which nothing was compiled or recorded."""
        return [number for number, stalled in enumerate(self.stalled) if not stalled]


def timed_steps(device: str, steps: Sequence[Callable[[], Any]], recordings: Callable[[], int]) -> Steps:
    """Make steps one after the other, the processor at most one step ahead of the device, as in a training."""
    gpu, before_all = device == "cuda", held(device)
    wait(device)
    began = time.perf_counter()
    marks: list[Any] = [_mark(gpu)]
    stalled = []
    for step in steps:
        before = compilations() + recordings()
        step()
        marks.append(_mark(gpu))
        stalled.append(compilations() + recordings() > before)
        if gpu:
            marks[-2].synchronize()  # the step before this one
    wait(device)
    wall = time.perf_counter() - began
    pairs = zip(marks, marks[1:], strict=False)
    seconds = [(a.elapsed_time(b) / 1e3 if gpu else b - a) for a, b in pairs]
    return Steps(seconds, stalled, wall, round(held(device) - before_all, 1))


def _mark(gpu: bool) -> Any:
    if not gpu:
        return time.perf_counter()
    event = torch.cuda.Event(enable_timing=True)
    event.record()
    return event
