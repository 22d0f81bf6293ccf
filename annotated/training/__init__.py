"""Training. Read loss, schedule, optimizer, update; then precision, distributed, averaging. Runs: `annotated.runs`."""

from annotated.saving import CheckpointError
from annotated.storage import DiskFull
from annotated.training.averaging import average_checkpoints
from annotated.training.loss import batch_loss, label_smoothed_cross_entropy, projected_cross_entropy
from annotated.training.optimizer import make_optimizer
from annotated.training.schedule import learning_rate
from annotated.training.validation import validation_loss

__all__ = [
    "CheckpointError",
    "DiskFull",
    "average_checkpoints",
    "batch_loss",
    "label_smoothed_cross_entropy",
    "learning_rate",
    "make_optimizer",
    "projected_cross_entropy",
    "validation_loss",
]
