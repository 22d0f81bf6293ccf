"""Training. Read loss, then schedule, optimizer, loop; then checkpoint and distributed; last launch and monitor.

Paper: section 5
"""

from annotated.storage import DiskFull
from annotated.training.averaging import average_checkpoints, average_last
from annotated.training.checkpoint import (
    TrainingState,
    check_checkpoint,
    latest_checkpoint,
    list_checkpoints,
    load_checkpoint,
    save_checkpoint,
)
from annotated.training.files import CheckpointError
from annotated.training.launch import Launched, LaunchError, launch, running, stop, train_command
from annotated.training.loop import TrainingResult, train
from annotated.training.loss import batch_loss, label_smoothed_cross_entropy, projected_cross_entropy
from annotated.training.model_folder import load_model, save_pretrained
from annotated.training.monitor import TrainingMonitor, TrainingStatus
from annotated.training.optimizer import make_optimizer
from annotated.training.progress import read_log
from annotated.training.schedule import learning_rate
from annotated.training.stopping import NonFiniteLoss
from annotated.training.validation import validation_loss

__all__ = [
    "CheckpointError",
    "DiskFull",
    "LaunchError",
    "Launched",
    "NonFiniteLoss",
    "TrainingMonitor",
    "TrainingResult",
    "TrainingState",
    "TrainingStatus",
    "average_checkpoints",
    "average_last",
    "batch_loss",
    "check_checkpoint",
    "launch",
    "label_smoothed_cross_entropy",
    "latest_checkpoint",
    "learning_rate",
    "list_checkpoints",
    "load_checkpoint",
    "load_model",
    "make_optimizer",
    "projected_cross_entropy",
    "read_log",
    "running",
    "save_checkpoint",
    "save_pretrained",
    "stop",
    "train",
    "train_command",
    "validation_loss",
]
