"""Hardware of a training run: processor, memory, GPUs and their speed in matrix products, as plain numbers."""

from __future__ import annotations

import ctypes
import functools
import os
import platform
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

SIZES = {"cpu": 512, "cuda": 8192}
"""Rows and columns of the matrices: large enough to be fast, small enough to take no time."""
_DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
_SECONDS = 0.1  # of products
_MOST = 20  # products
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # from malloc.h
_LARGEST_MMAP_THRESHOLD = 32 * 2**20  # glibc refuses more
_NEVER_TRIM_BELOW = 2**31 - 1


def describe_machine() -> dict[str, Any]:
    """Processor, cores, memory in bytes, GPUs, Python and torch: what a reader needs to judge a number."""
    return {
        "processor": _processor(),
        "cores": usable_cores(),
        "memory_bytes": memory_bytes(),
        "gpus": gpus(),
        "system": platform.system(),
        "python": platform.python_version(),
        "torch": version("torch"),
    }


def usable_cores() -> int:
    """Cores that this process may use, which containers and batch systems make fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def memory_bytes() -> int | None:
    """Main memory that this process may use: the machine's, or less where a control group says so; None if unknown."""
    found = []
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for limit in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            found.append(int(Path(limit).read_text(encoding="ascii")))
        except (OSError, ValueError):  # no such group, or the word "max"
            continue
    return min(found, default=None)


def gpus() -> list[dict[str, Any]]:
    """Name and memory in bytes of each GPU that torch sees."""
    if not torch.cuda.is_available():
        return []
    found = (torch.cuda.get_device_properties(number) for number in range(torch.cuda.device_count()))
    return [{"name": gpu.name, "memory_bytes": gpu.total_memory} for gpu in found]


def usable_gpu_bytes(device: torch.device) -> int:
    """Memory of a GPU that this process may use: all, or what `torch.cuda.set_per_process_memory_fraction` left it."""
    whole = torch.cuda.get_device_properties(device).total_memory
    share = getattr(torch.cuda, "get_per_process_memory_fraction", None)  # not in torch 2.3
    return whole if share is None else int(whole * share(device))


def peak_process_bytes() -> int | None:
    """The most main memory that this process has used so far; None where the system does not tell."""
    try:
        import resource  # not on Windows
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024  # which counts in bytes, and others in KiB


def name_machine(machine: dict[str, Any]) -> str:
    """A machine in a few words: '8 x NVIDIA H100', or '2 cores of AMD EPYC' where there is no GPU.

    Parameters
    ----------
    machine
        As `describe_machine` makes it.
    """
    names = [gpu["name"] for gpu in machine.get("gpus", [])]
    if not names:
        return f"{machine.get('cores', '?')} cores of {machine.get('processor', 'an unknown processor')}"
    return ", ".join(f"{names.count(name)} x {name}" for name in dict.fromkeys(names))


def matmul_benchmark(device: torch.device | str, precision: str) -> float | None:
    """Floating-point operations per second in a large matrix product, two for each multiplication with addition.

    Data sheets quote rates that no program reaches. This one is reached, by one product of the kind that a Transformer
    is made of, so a training run's share of it says how much is lost on everything else.

    The best of as many products as fit into a tenth of a second, with as many threads as the process has. No random
    number is drawn, so a training run that measures it is the same training.

    Parameters
    ----------
    device
        To measure.
    precision
        'fp32', 'bf16' or 'fp16', as `TrainingConfig.precision`.

    Returns
    -------
    float or None
        None if the device cannot do it.
    """
    return _measured(str(torch.device(device)), precision, torch.get_num_threads())


@functools.lru_cache(maxsize=16)
def _measured(name: str, precision: str, threads: int) -> float | None:
    device = torch.device(name)
    size = SIZES.get(device.type, SIZES["cpu"])
    try:
        # Not all the same number: a GPU draws less power on constant data, and runs faster than it ever will.
        values = torch.arange(size * size, device=device, dtype=torch.float32).mul_(0.618).frac_().sub_(0.5)
        left = values.view(size, size).to(_DTYPES[precision])
        right, out = left.t().contiguous(), torch.empty_like(left)
        best, began = float("inf"), time.perf_counter()
        for number in range(_MOST + 1):
            _wait(device)
            start = time.perf_counter()
            torch.mm(left, right, out=out)
            _wait(device)
            took = time.perf_counter() - start
            if number:  # the first one warms up
                best = min(best, took)
            if number and time.perf_counter() - began > _SECONDS:
                break
    except (RuntimeError, NotImplementedError):  # no memory left, or no such product on this device
        return None
    return 2 * size**3 / best


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def keep_freed_memory() -> bool:
    """Ask the C library to reuse freed memory instead of returning it; True if it agreed, False if it is not glibc.

    A training step frees and asks again for the same large tensors. By default glibc returns them to the kernel,
    which hands them back page by page, zeroed: 5 % of a small model's step on a CPU. Peak memory is the same.
    """
    if not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    accepted = mallopt(_M_MMAP_THRESHOLD, _LARGEST_MMAP_THRESHOLD) and mallopt(_M_TRIM_THRESHOLD, _NEVER_TRIM_BELOW)
    return bool(accepted)


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())
