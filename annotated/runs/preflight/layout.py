"""Preflight check of the layout: which one 'auto' is here, and whether the one that was asked for is fast."""

from __future__ import annotations

from annotated.config import ModelConfig, TrainingConfig
from annotated.runs.preflight.table import PreflightCheck
from annotated.speed.layouts.auto import resolve_layout, static_problem
from annotated.speed.machine.distributed import choose_device


def check_layout(training: TrainingConfig, model: ModelConfig) -> PreflightCheck:
    """That batches can be laid out as asked on this device, and what `auto` chooses."""
    try:
        device = choose_device(training.device)
    except (ValueError, RuntimeError) as error:
        return PreflightCheck("layout", "warn", f"{training.layout}; {error}", "see devices")
    _, reason = resolve_layout(training, model, device)
    missing = static_problem(training, model, device) if training.layout == "static" else None
    if missing is not None:
        fails = device.type == "cuda"
        return PreflightCheck(
            "layout", "fail" if fails else "warn", f"static: {missing}", "use --training.layout auto, or packed"
        )
    return PreflightCheck("layout", "ok", reason)
