"""Layout 'auto': the fastest that this machine has kernels for, decided once, before anything reads the layout."""

from __future__ import annotations

import torch

from annotated.config import ModelConfig, TrainingConfig
from annotated.data.buckets import Layout
from annotated.speed.kernels.fused import has_varlen_kernel, varlen_problem

_DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}


def resolve_layout(training: TrainingConfig, model: ModelConfig, device: torch.device) -> tuple[TrainingConfig, str]:
    """The training with a layout that can be computed with, and a sentence that says why it is this one.

    'auto' becomes 'static' where the static layout is fast: compiled, and with PyTorch's kernel for segments of
    different lengths. Elsewhere it becomes 'packed', which makes the same updates. Any other layout stays as it is.

    Returns
    -------
    training, reason
        The reason begins with the layout's name.
    """
    if training.layout != "auto":
        return training, f"{training.layout}, as asked"
    if training.attention_kernel == "flex":
        return training.replace(layout="static"), "static, for which attention_kernel 'flex' is made"
    missing = "it needs compile=True" if not training.compile else static_problem(training, model, device)
    if missing is None:
        found = f"PyTorch {torch.__version__} has the kernel for segments on this {device.type} device"
        return training.replace(layout="static"), f"static, chosen because the step is compiled and {found}"
    return training.replace(layout="packed"), f"packed, chosen because static would be slow here: {missing}"


def batch_layout(training: TrainingConfig) -> Layout:
    """How batches of this training are laid out, once that is decided.

    Raises
    ------
    ValueError
        If it is not.
    """
    if training.layout == "auto":
        raise ValueError("the layout 'auto' is not decided yet: take the training that resolve_layout returns")
    return training.layout


def static_problem(training: TrainingConfig, model: ModelConfig, device: torch.device) -> str | None:
    """What the static layout lacks here; None if PyTorch's attention over segments takes this model on this device."""
    dtype = _DTYPES.get(training.precision, torch.float32)
    if device.type != "cuda":
        return f"a {device.type} device has no attention kernel for segments"
    if training.precision not in _DTYPES:
        return "it needs precision bf16 or fp16"
    if training.attention_kernel == "flex":  # which has its own conditions, and does without the kernel for segments
        return None
    if model.attention_dropout != 0:
        return "its kernel has no attention_dropout"
    if has_varlen_kernel(device, dtype, model.d_k, model.d_v):
        return None
    if too_old := varlen_problem(device):
        return too_old
    return "it needs torch 2.11 or newer, and heads with d_k = d_v a multiple of 8 and at most 256"
