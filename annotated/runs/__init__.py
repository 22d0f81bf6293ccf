"""Runs: training that can be stopped, resumed on other machines, watched, checked, finished and recorded.

In the order of reading: `loop`, `setup`, `checkpoint`, `log`, `lock`; then `launch` and `monitor`, `preflight` and
`dry_run`, `report`. The mathematics of an update is in `annotated.training`.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from annotated.runs.checkpoint import (
        TrainingState,
        check_checkpoint,
        latest_checkpoint,
        list_checkpoints,
        load_checkpoint,
    )
    from annotated.runs.errors import NonFiniteLoss
    from annotated.runs.last_checkpoints import average_last
    from annotated.runs.launch import Launched, LaunchError, running, stop, train_command
    from annotated.runs.log import read_records
    from annotated.runs.log_table import read_log
    from annotated.runs.loop import TrainingResult, train
    from annotated.runs.monitor import TrainingMonitor, TrainingStatus

__all__ = [
    "LaunchError",
    "Launched",
    "NonFiniteLoss",
    "TrainingMonitor",
    "TrainingResult",
    "TrainingState",
    "TrainingStatus",
    "average_last",
    "check_checkpoint",
    "latest_checkpoint",
    "list_checkpoints",
    "load_checkpoint",
    "read_log",
    "read_records",
    "running",
    "stop",
    "train",
    "train_command",
]

_LATER = {
    "checkpoint": ("TrainingState", "check_checkpoint", "latest_checkpoint", "list_checkpoints", "load_checkpoint"),
    "errors": ("NonFiniteLoss",),
    "last_checkpoints": ("average_last",),
    "launch": ("LaunchError", "Launched", "running", "stop", "train_command"),
    "log": ("read_records",),
    "log_table": ("read_log",),
    "loop": ("TrainingResult", "train"),
    "monitor": ("TrainingMonitor", "TrainingStatus"),
}
"""Modules and the names in them that are imported when first asked for: who reads a log needs no training loop."""


def __getattr__(name: str) -> Any:
    for module, names in _LATER.items():
        if name in names:
            return getattr(importlib.import_module(f"annotated.runs.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
