"""What a measurement needs from the machine: who it is, CPU seconds, peak memory, quiet moments."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PACKAGES = ("torch", "numpy", "tokenizers", "transformers", "ctranslate2", "joeynmt")


def processor() -> str:
    """The processor's model name, or its architecture where the system does not tell."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def describe() -> dict[str, Any]:
    """Cores, processor, memory, Python and package versions: what a reader needs to judge a number, and no more."""
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "cores": os.cpu_count(),
        "processor": processor(),
        "instructions": instructions(),
        "memory_gib": round(memory, 1),
        "system": platform.system(),
        "python": platform.python_version(),
        "versions": versions,
    }


def instructions() -> str:
    """The instruction set that torch uses, 'AVX512' or 'AVX2': ratios to other engines differ with it.

    ATEN_CPU_CAPABILITY=avx2, ONEDNN_MAX_CPU_ISA=AVX2 and CT2_FORCE_CPU_ISA=AVX2 hold all engines to AVX2.
    """
    import torch  # here: only who describes a machine needs it

    return torch.backends.cpu.get_cpu_capability()


def cpu_seconds(pid: int | None = None) -> float:
    """CPU seconds used so far by the whole machine (stolen time too), or by one process."""
    tick = os.sysconf("SC_CLK_TCK")
    if pid is not None:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / tick
    fields = Path("/proc/stat").read_text(encoding="utf-8").splitlines()[0].split()[1:9]
    ticks = [int(field) for field in fields]
    idle = ticks[3] + ticks[4]
    return (sum(ticks) - idle) / tick


def wait_for_quiet(limit: float = 0.25, patience: int = 10) -> None:
    """Wait until others use less than `limit` of the machine, for `patience` half seconds at most."""
    for _ in range(patience):
        start = cpu_seconds()
        time.sleep(0.5)
        if cpu_seconds() - start < limit * 0.5 * (os.cpu_count() or 1):
            return


def reset_peak_memory() -> None:
    """Restart the kernel's high-water mark of this process's resident memory (Linux)."""
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")


def peak_memory_mib() -> float:
    """The high-water mark of this process's resident memory, in MiB (Linux)."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    line = next(line for line in lines if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def timed(call: Callable[..., Any], *arguments: Any) -> tuple[float, float, Any]:
    """Wall seconds, CPU seconds of all threads of this process, and the result of one call."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = call(*arguments)
    return time.perf_counter() - wall, time.process_time() - cpu, result


def gpu() -> dict[str, Any]:
    """Driver, CUDA and cuDNN of the GPU that torch uses; empty without one. nvidia-smi alone knows the driver."""
    import torch

    if not torch.cuda.is_available():
        return {}
    asked = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        said = subprocess.run(asked, capture_output=True, text=True, timeout=20, check=True).stdout.split()
    except (OSError, subprocess.SubprocessError):
        said = []
    total = torch.cuda.get_device_properties(0).total_memory / 2**30
    return {
        "driver": said[0] if said else None,
        "cuda": torch.version.cuda,
        "cudnn": torch.backends.cudnn.version(),
        "gpus": torch.cuda.device_count(),
        "gpu_memory_gib": round(total, 1),
    }
