"""Measurement of one side: the batches in which it starts, 50 batches that it has never seen, and three seen again."""

from __future__ import annotations

import argparse
import functools
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch

from benchmarks.gpu import watch
from benchmarks.gpu.pairs import Work, wmt_like_store
from benchmarks.gpu.sides import Side, flops, open_side, paper_shapes
from benchmarks.peers.workload import Shape

PAPER_STEPS = 100_000


def measure_side(shape_name: str, name: str, options: argparse.Namespace) -> dict[str, Any]:
    """Everything about one side at one shape.

    Raises
    ------
    PeerAbsent
        If its package is not installed.
    """
    shape, tokens, device = paper_shapes(shape_name), options.tokens, options.device
    # A CPU without bf16 is set against its own products in float32.
    peak = watch.product_peak(device, torch.float32 if options.precision == "fp32" else torch.bfloat16)
    store = wmt_like_store(tokens, shape.vocab)
    began = time.perf_counter()
    opened = open_side(name, shape, store, tokens, device, options.precision)
    with watch.LimitWarnings() as limit, opened as side:
        opening = time.perf_counter() - began  # in which ours records the shapes to come
        result: dict[str, Any] = first_step(side)
        start, seen = run_batches(side, device, options.start)
        before = watch.compilations(), side.recordings()
        fresh, works = run_batches(side, device, options.fresh)
        found = watch.compilations() - before[0], side.recordings() - before[1]
        result |= {
            "start": {"batches": options.start, "seconds": opening + start.wall + result.pop("first_step_s")}
            | {"graphs": before[0], "recordings": before[1], "graphs_from_disk": watch.reused()},
            "fresh": summary(fresh, works, shape, tokens, peak)
            | {"graphs": found[0], "recordings": found[1], "memory_growth_mib": fresh.memory_growth_mib},
            "steady": steady(side, by_size([*seen, *works], options.batches), options, shape, peak),
            "fill": sum(work.tokens for work in works) / sum(work.padded for work in works),
            "memory": watch.memory(device),
            "limit_hits": limit.count,
            "product_peak_tflops": peak / 1e12,
        }
    return result


def first_step(side: Side) -> dict[str, Any]:
    """What the very first step finds: for each mode of ours from the same weights on the same batch."""
    found: dict[str, Any] = {}
    work = side.probe if side.probe is not None else side.take()

    def step() -> None:
        found["first_loss"] = float(side.step(work))

    seconds = watch.clock("cpu", step)  # reading the loss waits for the device
    if side.norm is not None:
        found["first_norm"] = float(side.norm())
    return {**found, "first_step_s": seconds}


def run_batches(side: Side, device: str, count: int) -> tuple[watch.Steps, list[Work]]:
    """Steps on so many batches that the side has never seen."""
    works = [] if side.loads_in_time else [side.take() for _ in range(count)]

    def loaded() -> None:
        works.append(side.take())
        side.step(works[-1])

    steps: list[Callable[[], object]] = [functools.partial(side.step, work) for work in works]
    return watch.timed_steps(device, steps or [loaded] * count, side.recordings), works


def summary(steps: watch.Steps, works: Sequence[Work], shape: Shape, tokens: int, peak: float) -> dict[str, Any]:
    """The numbers of batches never seen: all that happened counts, and beside it the steps without a stall."""
    milliseconds = [1e3 * seconds for seconds in steps.seconds]
    calm = [(works[number], steps.seconds[number]) for number in steps.calm]
    undisturbed = None
    if calm:
        undisturbed = rates([w for w, _ in calm], sum(s for _, s in calm), shape, tokens, peak)["ms_a_step"]
    return {
        "batches": len(works),
        **rates(works, sum(steps.seconds), shape, tokens, peak),
        "ms_without_stalls": undisturbed,
        "stalled_steps": sum(steps.stalled),
        "stalled": [number for number, stalled in enumerate(steps.stalled) if stalled],
        "median_ms": statistics.median(milliseconds),
        "worst_ms": max(milliseconds),
        "ms": [round(one, 3) for one in milliseconds],
        "sentences": [work.sentences for work in works],
    }


def rates(works: Sequence[Work], seconds: float, shape: Shape, tokens: int, peak: float) -> dict[str, float]:
    """Speed of some batches in so many seconds; a step is the paper's batch, `tokens` of each side."""
    rate = sum(work.tokens for work in works) / seconds
    return {
        "ms_a_step": 2e3 * tokens / rate,
        "tokens_s": rate,
        "share_of_peak": flops(shape, works) / seconds / peak,
        "minutes_for_100k": PAPER_STEPS * 2 * tokens / rate / 60,
    }


def by_size(works: Sequence[Work], count: int) -> list[Work]:
    """Batches at even quantiles of size; those of a static shape are all of one size, and differ in sentences."""
    ordered = sorted(works, key=lambda work: (work.padded, work.sentences, work.tokens))
    return [ordered[int((i + 0.5) * len(ordered) / count)] for i in range(count)]


def steady(
    side: Side, works: Sequence[Work], options: argparse.Namespace, shape: Shape, peak: float
) -> dict[str, float]:
    """The time of batches that were seen before, again and again: the best of a few passes."""

    def one_pass() -> None:
        for work in works:
            side.step(work)

    taken = [watch.clock(options.device, one_pass) for _ in range(options.passes)]
    return rates(works, min(taken), shape, options.tokens, peak)


def profile(shape_name: str, name: str, options: argparse.Namespace) -> torch.profiler.profile:
    """The kernels of some batches of a side, after those in which it starts."""
    shape, tokens, device = paper_shapes(shape_name), options.tokens, options.device
    store = wmt_like_store(tokens, shape.vocab)
    with open_side(name, shape, store, tokens, device, options.precision) as side:
        return profile_batches(side, device, options.start, min(options.fresh, 20))


def profile_batches(side: Side, device: str, start: int, count: int) -> torch.profiler.profile:
    """The kernels of `count` batches, after `start` others."""
    run_batches(side, device, start)
    return profiled(lambda: run_batches(side, device, count), device)


def profiled(call: Callable[[], object], device: str) -> torch.profiler.profile:
    """The kernels of a call, and of all that it left the device to do."""
    kinds = torch.profiler.ProfilerActivity
    with torch.profiler.profile(activities=[kinds.CPU, *([kinds.CUDA] if device == "cuda" else [])]) as taken:
        call()
        watch.wait(device)
    return taken
