"""Start checks of a training run: mistakes of machine and device that would show only after minutes, or never."""

from __future__ import annotations

import os
import sys
import warnings

import torch

from annotated.config import ModelConfig, TrainingConfig
from annotated.model import Transformer
from annotated.runs.hardware import usable_cores
from annotated.speed.machine.compiler_tools import WITHOUT_COMPILING, missing_compiler_tools
from annotated.speed.machine.distributed import choose_device
from annotated.speed.machine.nvidia_driver import explain_missing_gpu, find_driver, gpu_without_kernels
from annotated.speed.steps.precision import bf16_problem

LARGE_FOR_A_CPU = 20_000_000
"""Weights from which on a training takes weeks on a CPU; multi30k has 17 million, the paper's base model 63."""
COMPILE_THREADS = "TORCHINDUCTOR_COMPILE_THREADS"


def count_weights(config: ModelConfig) -> int:
    """Numbers in the weights of a model, without making it."""
    with torch.device("meta"):
        return Transformer(config).num_parameters()


def accidental_cpu(training: TrainingConfig, weights: int) -> str | None:
    """Why this training would run on a CPU though a GPU is meant, and what to do; None if there is no sign of that.

    Nobody typed 'cpu', torch sees no GPU, and there is a sign that one is meant: a driver that torch cannot use, or a
    torch for GPUs with a model that is large for a CPU. A torch without CUDA may train small models where it likes.

    Parameters
    ----------
    weights
        Numbers in the model's weights.
    """
    if training.device != "auto" or torch.cuda.is_available():
        return None
    large, for_gpus = weights > LARGE_FOR_A_CPU, torch.version.cuda is not None
    if (large and for_gpus) or ((large or for_gpus) and find_driver().found):
        return f"nobody asked for the CPU, but torch sees no GPU here. {explain_missing_gpu()}"
    return None


def check_start(model_config: ModelConfig, training: TrainingConfig) -> None:
    """Refuse a training that would run where nobody wants it, or fail in its first update.

    A small model may be trained on a CPU by accident, and processes may share a core; a warning says so.

    Raises
    ------
    ValueError
        If there is no such device, or a large model would be trained on a CPU by accident, or torch has no kernels for
        the GPU or for bf16 on it, or `torch.compile` lacks a tool there. The message says what to do.
    """
    rank_here = int(os.environ.get("LOCAL_RANK", 0))
    device = choose_device(training.device, rank_here)
    if rank_here == 0 and (problem := too_few_cores()):
        warnings.warn(problem, stacklevel=3)
    if device.type == "cpu" and training.device == "auto":
        weights = count_weights(model_config)
        if problem := accidental_cpu(training, weights):
            if weights > LARGE_FOR_A_CPU:
                raise ValueError(problem)
            if int(os.environ.get("RANK", 0)) == 0:
                warnings.warn(f"trained on the CPU: {problem}", stacklevel=3)
    if device.type == "cuda" and (problem := gpu_without_kernels([device.index])):
        raise ValueError(problem)
    if problem := bf16_problem(training, device):
        raise ValueError(problem)
    if training.compile and device.type == "cuda" and (missing := missing_compiler_tools(device.type)):
        raise ValueError(f"torch.compile on a GPU lacks tools: {'; '.join(missing)}. Or {WITHOUT_COMPILING}")


def too_few_cores() -> str | None:
    """Why the processes of this machine slow each other down, and what to do; None if each has a core or more."""
    cores, processes = usable_cores(), int(os.environ.get("LOCAL_WORLD_SIZE", 1))
    if cores >= processes:
        return None
    return (
        f"{processes} processes share {cores} of this machine's cores; each needs one to itself. "
        "A job on Slurm gets them by `srun --cpus-per-task`"
    )


def share_compile_threads() -> None:
    """Let the processes of a machine share its cores while they compile, if nobody set another number.

    The compiler starts as many workers as there are cores, in every process: eight on a machine of 16 cores would start
    128, of some hundred megabytes each.
    """
    processes = int(os.environ.get("LOCAL_WORLD_SIZE", 1))
    if processes == 1 or COMPILE_THREADS in os.environ:
        return
    threads = max(1, usable_cores() // processes)
    os.environ[COMPILE_THREADS] = str(threads)
    compiler = sys.modules.get("torch._inductor.config")
    if compiler is not None:  # which read the variable when it was imported
        compiler.compile_threads = threads  # type: ignore[attr-defined]
