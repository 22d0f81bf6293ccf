"""Preflight checks of the machine: software, devices, precision, memory, cores."""

from __future__ import annotations

import os
import shutil

import torch
import torch.distributed as dist

from annotated.config import TrainingConfig
from annotated.runs.dry_run import Rehearsal
from annotated.runs.hardware import gpus, memory_bytes, name_machine, usable_cores
from annotated.runs.preflight.table import PreflightCheck
from annotated.storage import format_bytes
from annotated.training.distributed import choose_device
from annotated.training.precision import Precision

OLDEST_TORCH = (2, 3)
BYTES_PER_WEIGHT = 16
"""Weight, gradient and Adam's two moments, in float32: what training needs before the first activation."""
_LARGE_FOR_A_CPU = 20_000_000
_ROOM = 1.1


def check_software(training: TrainingConfig) -> PreflightCheck:
    """torch, and what it needs to compile and to talk to other processes."""
    number = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
    found = f"torch {torch.__version__}"
    if torch.cuda.is_available():
        found += f", CUDA {torch.version.cuda}"
        if dist.is_available() and dist.is_nccl_available():
            found += f", NCCL {'.'.join(map(str, torch.cuda.nccl.version()))}"  # type: ignore[no-untyped-call]
    if number < OLDEST_TORCH:
        return PreflightCheck("software", "fail", found, "install torch 2.3 or newer")
    if training.compile and not _can_compile():
        return PreflightCheck(
            "software", "fail", f"{found}; nothing to compile with", "install a C++ compiler (on a GPU: triton)"
        )
    return PreflightCheck("software", "ok", found)


def check_devices(training: TrainingConfig, weights: int) -> PreflightCheck:
    """That there is a device of the kind that is asked for, and that it is up to the model.

    Parameters
    ----------
    weights
        Numbers in the model's weights.
    """
    try:
        device = choose_device(training.device)
    except (ValueError, RuntimeError) as error:
        return PreflightCheck(
            "devices", "fail", str(error), "run on a machine with a GPU, or give --training.device cpu"
        )
    found = gpus()
    if device.type != "cuda":
        advice = "a training of this size takes weeks on a CPU: rent a GPU, or take the recipe wmt14-tiny"
        name = name_machine({"cores": usable_cores(), "processor": "this processor"})
        large = weights > _LARGE_FOR_A_CPU
        return PreflightCheck("devices", "warn" if large else "ok", f"no GPU is used: {name}", advice if large else "")
    described = f"{name_machine({'gpus': found})}, {format_bytes(found[0]['memory_bytes'])} each"
    if len(found) > 1:
        if not (dist.is_available() and dist.is_nccl_available()):
            return PreflightCheck(
                "devices", "fail", described, "this torch has no NCCL: install a build that has, or use one GPU"
            )
        return PreflightCheck(
            "devices", "ok", described, f"for all: torchrun --nproc-per-node {len(found)} -m annotated train ..."
        )
    return PreflightCheck("devices", "ok", described)


def check_precision(training: TrainingConfig) -> PreflightCheck:
    """That the device computes in the chosen precision."""
    try:
        device = choose_device(training.device)
        Precision(training.precision, device)
    except (ValueError, RuntimeError) as error:
        return PreflightCheck("precision", "fail", str(error), "choose --training.precision fp32 or bf16")
    name = training.precision
    if device.type == "cuda":
        newer = torch.cuda.get_device_capability(device) >= (8, 0)
        if name == "bf16" and not newer:
            return PreflightCheck(
                "precision", "warn", "bf16 is emulated on this GPU, slowly", "use --training.precision fp16"
            )
        if name == "fp32" and newer:
            return PreflightCheck(
                "precision", "warn", "fp32", "--training.precision bf16 is several times as fast here"
            )
    elif name != "fp32":
        return PreflightCheck(
            "precision", "warn", f"{name} on a CPU", "most CPUs are faster with --training.precision fp32"
        )
    return PreflightCheck("precision", "ok", name)


def check_memory(training: TrainingConfig, weights: int, known: Rehearsal | None) -> PreflightCheck:
    """That weights, gradients and moments fit; with a rehearsal, that everything did.

    Parameters
    ----------
    weights
        Numbers in the model's weights.
    """
    found = gpus()
    on_gpu = training.device != "cpu" and bool(found)
    there = min(gpu["memory_bytes"] for gpu in found) if on_gpu else memory_bytes()
    whose = "GPU memory" if on_gpu else "main memory"
    least, advice = BYTES_PER_WEIGHT * weights, "use a device with more memory, or fewer --training.micro-batch-tokens"
    if there is None:
        return PreflightCheck(
            "memory", "warn", f"cannot be told here; the weights' part of it is {format_bytes(least)}"
        )
    if known is not None and known.peak_memory_bytes is not None and (known.memory_kind == "GPU") == on_gpu:
        text = f"{format_bytes(known.peak_memory_bytes)} of {format_bytes(there)} {whose} in the rehearsal"
        tight = known.peak_memory_bytes * _ROOM > there
        return PreflightCheck("memory", "warn" if tight else "ok", text, advice if tight else "")
    text = f"{format_bytes(there)} {whose}; weights, gradients and moments take {format_bytes(least)}, activations more"
    return PreflightCheck("memory", "fail" if least > there else "ok", text, advice if least > there else "")


def check_cores(training: TrainingConfig) -> PreflightCheck:
    """That there is a core for each device's process, which feeds it."""
    cores, devices = usable_cores(), max(1, len(gpus()))
    threads = os.environ.get("OMP_NUM_THREADS")
    found = f"{cores} cores" + (f", OMP_NUM_THREADS={threads}" if threads else "")
    if cores < devices:
        return PreflightCheck(
            "cores", "warn", f"{found} for {devices} GPUs", "each GPU's process needs a core to itself"
        )
    return PreflightCheck("cores", "ok", found)


def _can_compile() -> bool:
    if torch.cuda.is_available():
        from importlib.util import find_spec

        return find_spec("triton") is not None
    return any(shutil.which(name) for name in (os.environ.get("CXX", "g++"), "clang++", "c++"))
