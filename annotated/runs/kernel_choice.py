"""Choice of the attention kernel for layout 'auto': a dry run measures the kernels, a new run takes the fastest.

The run keeps it, with the reason, in its configuration: what is measured later changes nothing in a run that goes on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from annotated.config import ModelConfig, TrainingConfig
from annotated.runs.hardware import gpus
from annotated.saving import CheckpointError, read_json
from annotated.speed.layouts.auto import resolve_layout
from annotated.speed.layouts.tiles import require_flex_attention
from annotated.speed.steps.precision import resolve_precision

RECORD = "rehearsal.json"
"""Name of a dry run's record in the folder of a run; it has had this one from the beginning."""
MARGIN = 0.02
"""Share of an update's time by which another kernel must be faster than the first, so that no chance decides."""
_OF_SPEED = (
    "batch_tokens", "precision", "vocabulary_precision", "residual_precision", "row_classes",
    "compile", "layout", "attention_kernel", "gradient_exchange",
)  # fmt: skip
"""Fields of a training on which the time of an update depends."""


@dataclass(frozen=True)
class KernelChoice:
    """A value for `TrainingConfig.attention_kernel`, and why it is this one."""

    kernel: str
    why: str
    """Begins with the name of the layout."""


def kernels_to_time(training: TrainingConfig, model: ModelConfig, device: torch.device) -> tuple[str, ...]:
    """The kernels between which only a measurement can decide, that of `resolve_layout` first.

    One if there is nothing to decide: where the layout or the kernel was asked for, or the device lacks one of them.
    """
    decided, _ = resolve_layout(resolve_precision(training, device), model, device)
    if (training.layout, training.attention_kernel, decided.layout) != ("auto", "auto", "static"):
        return (training.attention_kernel,)
    try:
        require_flex_attention(model, decided.replace(attention_kernel="flex"), device)
    except ValueError:
        return ("auto",)
    return "auto", "flex"


def choose_kernel(seconds: Mapping[str, float]) -> KernelChoice | None:
    """The first of some kernels, unless another is faster by more than `MARGIN`; None if there is no other.

    Parameters
    ----------
    seconds
        Of an update, by the name of the kernel.
    """
    if len(seconds) < 2:
        return None
    first, best = next(iter(seconds)), min(seconds, key=lambda kernel: seconds[kernel])
    kernel = best if seconds[best] < (1 - MARGIN) * seconds[first] else first
    times = ", ".join(f"{1e3 * taken:.1f} ms with {name!r}" for name, taken in seconds.items())
    return KernelChoice(kernel, f"static with attention_kernel {kernel!r}: in a dry run here an update took {times}")


def measured_choice(folder: Path, training: TrainingConfig, model: ModelConfig, processes: int) -> KernelChoice | None:
    """What the dry run in a run's folder decides, if it was one of this training on GPUs of this kind; else None.

    Parameters
    ----------
    training
        As it was asked for, with nothing resolved.
    processes
        That train together.
    """
    try:
        record = read_json(folder / RECORD)
        then, asked = record["configuration"], {"model": model.to_dict(), "training": training.to_dict()}
        same = then["model"] == asked["model"] and all(
            then["training"].get(name) == asked["training"][name] for name in _OF_SPEED
        )
        here = record["machine"].get("gpus") == gpus() and record["devices"] == processes
        return choose_kernel(record.get("kernels", {})) if same and here else None
    except (CheckpointError, KeyError, TypeError, AttributeError):  # none, or damaged: nothing was measured
        return None


def kept_choice(recorded: Mapping[str, Any]) -> KernelChoice | None:
    """The choice that a run was begun with, from the configuration in its checkpoint."""
    return KernelChoice(**recorded["kernel"]) if recorded.get("kernel") else None
