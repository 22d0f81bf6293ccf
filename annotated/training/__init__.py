"""Training. Read loss, schedule, optimizer, update; then validation, averaging. Runs: `annotated.runs`; faster steps:
`annotated.speed.steps`.
"""

from annotated.saving import CheckpointError
from annotated.storage import DiskFull
from annotated.training.averaging import average_checkpoints
from annotated.training.loss import batch_loss, label_smoothed_cross_entropy
from annotated.training.optimizer import make_optimizer
from annotated.training.schedule import learning_rate
from annotated.training.update import Step, fit
from annotated.training.validation import validation_loss

__all__ = [
    "CheckpointError",
    "DiskFull",
    "Step",
    "average_checkpoints",
    "batch_loss",
    "fit",
    "label_smoothed_cross_entropy",
    "learning_rate",
    "make_optimizer",
    "validation_loss",
]
