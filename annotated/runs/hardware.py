"""What a training runs on: processor, memory and GPUs, as numbers that a report can hold.

Paper: section 5.2 (hardware and schedule)
"""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch


def describe_machine() -> dict[str, Any]:
    """Processor, cores, memory in bytes, GPUs, Python and torch: what a reader needs to judge a number.

    Paper: section 5.2
    """
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
    """Cores that this process may use, which containers and batch systems make fewer than the machine has.

    Paper: section 5.2
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def memory_bytes() -> int | None:
    """Main memory that this process may use: the machine's, or less where a control group says so; None if unknown.

    Paper: section 5.2
    """
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
    """Name and memory in bytes of each GPU that torch sees.

    Paper: section 5.2
    """
    if not torch.cuda.is_available():
        return []
    found = (torch.cuda.get_device_properties(number) for number in range(torch.cuda.device_count()))
    return [{"name": gpu.name, "memory_bytes": gpu.total_memory} for gpu in found]


def peak_process_bytes() -> int | None:
    """The most main memory that this process has used so far; None where the system does not tell.

    Paper: section 5.2
    """
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

    Paper: section 5.2
    """
    names = [gpu["name"] for gpu in machine.get("gpus", [])]
    if not names:
        return f"{machine.get('cores', '?')} cores of {machine.get('processor', 'an unknown processor')}"
    return ", ".join(f"{names.count(name)} x {name}" for name in dict.fromkeys(names))


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())
