"""Last checkpoints of a run: which they are, and their average."""

from __future__ import annotations

import itertools
from pathlib import Path

import torch
from torch import Tensor

from annotated.runs.checkpoint import check_checkpoint, list_checkpoints
from annotated.saving import CheckpointError
from annotated.training.averaging import average_checkpoints


def average_last(folder: str | Path, count: int) -> tuple[dict[str, Tensor], list[Path]]:
    """The mean of the last `count` checkpoints of a run (of all, if there are fewer), and which they are.

    Damaged ones are left out, and older ones taken in their place.

    Raises
    ------
    CheckpointError
        If there is none.
    """
    whole = (path for path in reversed(list_checkpoints(Path(folder))) if check_checkpoint(path) is None)
    chosen = list(itertools.islice(whole, count))[::-1]
    if not chosen:
        raise CheckpointError(f"{folder}: no checkpoints to average")
    with torch.no_grad():
        return average_checkpoints(chosen), chosen
