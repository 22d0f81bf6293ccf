"""Preflight checks of the machine: software, devices, precision, memory, cores."""

from __future__ import annotations

import os
import shutil

import torch
import torch.distributed as dist

from annotated.config import ModelConfig, TrainingConfig
from annotated.runs.dry_run import DryRun
from annotated.runs.hardware import gpus, memory_bytes, name_machine, usable_cores
from annotated.runs.preflight.memory import (
    BYTES_PER_WEIGHT,
    MOST_TO_FILL,
    device_tokens,
    fit_micro_batch,
    fitting_tokens,
    training_bytes,
)
from annotated.runs.preflight.start import LARGE_FOR_A_CPU, accidental_cpu
from annotated.runs.preflight.table import PreflightCheck
from annotated.speed.layouts.auto import resolve_layout, static_problem
from annotated.speed.machine.compiler_tools import WITHOUT_COMPILING, missing_compiler_tools
from annotated.speed.machine.distributed import choose_device
from annotated.speed.machine.nvidia_driver import gpu_without_kernels
from annotated.speed.steps.fp8 import require_fp8
from annotated.speed.steps.precision import Precision, bf16_problem, has_bf16, resolve_precision
from annotated.storage import format_bytes

OLDEST_TORCH = (2, 3)
LEAST_SHARED_MEMORY = 1_000_000_000
"""Bytes in /dev/shm for eight processes that talk through it."""
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
    kind = "cuda" if torch.cuda.is_available() and not training.device.startswith("cpu") else "cpu"
    if training.compile and (missing := missing_compiler_tools(kind)):
        found += f"; to compile there is {'; '.join(missing)}"
        return PreflightCheck("software", "fail", found, f"get what is missing; or {WITHOUT_COMPILING}")
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
        return _failed("devices", error)
    if device.type != "cuda":
        if problem := accidental_cpu(training, weights):
            return _failed("devices", problem)
        advice = "a training of this size takes weeks on a CPU: rent a GPU, or take the recipe wmt14-tiny"
        name = name_machine({"cores": usable_cores(), "processor": "this processor"})
        large = weights > LARGE_FOR_A_CPU
        return PreflightCheck("devices", "warn" if large else "ok", f"no GPU is used: {name}", advice if large else "")
    found = gpus()
    described = f"{name_machine({'gpus': found})}, {format_bytes(found[0]['memory_bytes'])} each"
    if problem := gpu_without_kernels(range(torch.cuda.device_count())):
        return _failed("devices", problem)
    if len(found) > 1:
        if not (dist.is_available() and dist.is_nccl_available()):
            return PreflightCheck(
                "devices", "fail", described, "this torch has no NCCL: install a build that has, or use one GPU"
            )
        shared = _shared_memory_bytes()
        if shared is not None and shared < LEAST_SHARED_MEMORY:
            described += f"; {format_bytes(shared)} in /dev/shm, too little for NCCL where GPUs have no NVLink"
            return PreflightCheck("devices", "warn", described, "start the container with --shm-size 8g or --ipc=host")
        return PreflightCheck(
            "devices", "ok", described, f"for all: torchrun --nproc-per-node {len(found)} -m annotated train ..."
        )
    return PreflightCheck("devices", "ok", described)


def check_precision(training: TrainingConfig) -> PreflightCheck:
    """That the device computes in the chosen precision."""
    try:
        device = choose_device(training.device)
    except (ValueError, RuntimeError):
        return PreflightCheck("precision", "fail", f"{training.precision}, on no device", "choose one that is there")
    asked, training = training.precision, resolve_precision(training, device)
    if problem := bf16_problem(training, device):
        return _failed("precision", problem)
    fp8 = training.vocabulary_precision == "fp8"
    if fp8:
        try:
            require_fp8(device)
        except ValueError as error:
            return PreflightCheck("precision", "fail", str(error), "choose --training.vocabulary-precision same")
    try:
        Precision(training, device)
    except (ValueError, RuntimeError) as error:
        return PreflightCheck("precision", "fail", str(error), "choose --training.precision fp32 or bf16")
    name = training.precision
    also = ", which 'auto' is here" if asked == "auto" else ""
    if fp8:
        also += ", FP8 in the products with the vocabulary" + ("" if device.type == "cuda" else " (emulated)")
    if device.type == "cuda":
        if name == "bf16" and not has_bf16(device):
            found = f"bf16 is emulated on this GPU, slowly{also}"
            return PreflightCheck("precision", "warn", found, "use --training.precision fp16")
        if name == "fp32" and has_bf16(device):
            return PreflightCheck(
                "precision", "warn", f"fp32{also}", "--training.precision bf16 is several times as fast here"
            )
    elif name != "fp32":
        return PreflightCheck(
            "precision", "warn", f"{name} on a CPU{also}", "most CPUs are faster with --training.precision fp32"
        )
    return PreflightCheck("precision", "ok", name + also)


def check_layout(training: TrainingConfig, model: ModelConfig) -> PreflightCheck:
    """That batches can be laid out as asked on this device, and what `auto` chooses."""
    try:
        device = choose_device(training.device)
    except (ValueError, RuntimeError) as error:
        return PreflightCheck("layout", "warn", f"{training.layout}; {error}", "see devices")
    training = resolve_precision(training, device)
    _, reason = resolve_layout(training, model, device)
    missing = static_problem(training, model, device) if training.layout == "static" else None
    if missing is not None:
        fails = device.type == "cuda"
        return PreflightCheck(
            "layout", "fail" if fails else "warn", f"static: {missing}", "use --training.layout auto, or packed"
        )
    return PreflightCheck("layout", "ok", reason)


def check_memory(training: TrainingConfig, model: ModelConfig, weights: int, known: DryRun | None) -> PreflightCheck:
    """That weights, gradients and moments fit, and on a GPU activations too; with a dry run, that everything did.

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
        text = f"{format_bytes(known.peak_memory_bytes)} of {format_bytes(there)} {whose} in the dry run"
        tight = known.peak_memory_bytes * _ROOM > there
        return PreflightCheck("memory", "warn" if tight else "ok", text, advice if tight else "")
    text = f"{format_bytes(there)} {whose}; weights, gradients and moments take {format_bytes(least)}, activations more"
    if not on_gpu or least > there:
        return PreflightCheck("memory", "fail" if least > there else "ok", text, advice if least > there else "")
    fitted = fit_micro_batch(training, model, weights, [gpu["memory_bytes"] for gpu in found])
    needed = training_bytes(model, training.precision, weights, device_tokens(fitted, len(found)))
    text = f"{format_bytes(there)} {whose}; compiled, the training takes about {format_bytes(needed)}"
    if fitted != training:
        text += f", because it is cut to {fitted.micro_batch_tokens} tokens at a time, which makes the same updates"
    if needed <= MOST_TO_FILL * there:
        return PreflightCheck("memory", "ok", text)
    if tokens := fitting_tokens(model, training.precision, weights, there):
        advice = f"--training.micro-batch-tokens {tokens} makes the same updates in smaller pieces"
    return PreflightCheck("memory", "fail" if needed > there else "warn", text, advice)


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


def _failed(name: str, problem: Exception | str) -> PreflightCheck:
    """The first sentence of a problem is what was found; the others say what to do."""
    found, _, advice = str(problem).partition(". ")
    return PreflightCheck(name, "fail", found, advice)


def _shared_memory_bytes() -> int | None:
    """Of the memory through which processes exchange gradients; containers have 64 MB of it if nobody asks for more."""
    try:
        return shutil.disk_usage("/dev/shm").total
    except OSError:  # not Linux
        return None
