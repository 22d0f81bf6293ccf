"""Last checkpoints of a run: which they are, and their average."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from annotated.runs.checkpoint import best_checkpoints, check_checkpoint, list_checkpoints, update_of
from annotated.runs.divergence import ValidationHistory
from annotated.saving import CheckpointError
from annotated.training.averaging import average_checkpoints

ChoosesWeights = Callable[[Path, int], tuple[dict[str, Tensor], list[Path]]]
"""From a run and a number of checkpoints to weights, and of which checkpoints they are."""


def average_last(folder: str | Path, count: int) -> tuple[dict[str, Tensor], list[Path]]:
    """The mean of the last `count` checkpoints of a run (of all, if there are fewer), and which they are.

    Damaged ones are left out, and older ones taken in their place. So are those after which the validation loss was
    well above its best, as the log of the run tells; if no other is left, the best one of `best/` stands alone.

    Raises
    ------
    CheckpointError
        If there is none.
    """
    folder = Path(folder)
    whole = (path for path in reversed(sound_checkpoints(folder)) if check_checkpoint(path) is None)
    chosen = list(itertools.islice(whole, count))[::-1]
    if not chosen:
        raise CheckpointError(f"{folder}: no checkpoints to average")
    with torch.no_grad():
        return average_checkpoints(chosen), chosen


def final_weights(folder: str | Path, count: int) -> tuple[dict[str, Tensor], list[Path]]:
    """The weights of a run's model: as `average_last`, or the checkpoint in `best/` that beats that average.

    Which is better, the log tells, once the average was validated: the one of the lower loss.

    Raises
    ------
    CheckpointError
        If there is no checkpoint.
    """
    averaged = ValidationHistory.of(folder).averaged
    for loss, path in best_checkpoints(Path(folder))[:1]:
        if averaged is not None and loss < averaged and check_checkpoint(path) is None:
            return average_checkpoints([path]), [path]
    return average_last(folder, count)


def sound_checkpoints(folder: Path) -> list[Path]:
    """The checkpoints that may be averaged, oldest first: all, unless the run diverged."""
    checkpoints, until = list_checkpoints(folder), ValidationHistory.of(folder).sound_until
    if until is None:
        return checkpoints
    sound = [path for path in checkpoints if update_of(path) <= until]
    return sound or [path for _, path in best_checkpoints(folder)[:1]] or checkpoints
