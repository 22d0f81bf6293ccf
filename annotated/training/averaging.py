"""The average of checkpoints, which translates better than the last one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from torch import Tensor

from annotated.saving import CheckpointError, read_tensors


def average_checkpoints(folders: Sequence[str | Path]) -> dict[str, Tensor]:
    """The mean of the weights of some checkpoints or model folders, summed in float64.

    Parameters
    ----------
    folders
        Folders that hold a `model.safetensors`, of one model.

    Returns
    -------
    dict
        A state for `Transformer.load_state_dict`, in the weights' own dtype.

    Raises
    ------
    CheckpointError
        If there is none, one is damaged, or they are of different models.

    Paper: section 6.1
    """
    if not folders:
        raise CheckpointError("there are no checkpoints to average")
    paths = [Path(folder) / "model.safetensors" for folder in folders]
    first = read_tensors(paths[0])
    total = {name: tensor.double() for name, tensor in first.items()}
    for path in paths[1:]:
        state = read_tensors(path)
        if {n: t.shape for n, t in state.items()} != {n: t.shape for n, t in first.items()}:
            raise CheckpointError(f"{path} and {paths[0]} are of different models, so they have no average")
        for name, tensor in state.items():
            total[name] += tensor.double()
    return {name: (total[name] / len(paths)).to(first[name].dtype) for name in first}
