"""Weights of a quarter of the size: each matrix as one signed byte a number, with a float32 scale for each row."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

SCALES = ".scales"
"""Ends the name of the scales that belong to a matrix."""
LARGEST = 127


def rounded_rows(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Weights to be written: matrices rounded to int8, their scales beside them, vectors as they are.

    A row's scale is its largest absolute value / 127, so no number moves by more than half of that.

    Parameters
    ----------
    state
        Weights by name, as `state_dict` gives them.
    """
    written: dict[str, Tensor] = {}
    for name, values in state.items():
        if values.ndim < 2:
            written[name] = values
            continue
        scales = (values.float().abs().amax(-1) / LARGEST).clamp(min=1e-12)
        written[name] = torch.round(values.float() / scales[..., None]).to(torch.int8)
        written[name + SCALES] = scales
    return written


def restored_rows(written: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Weights in float32, from what `rounded_rows` returned; weights that were not rounded are left as they are."""
    return {
        name: values.float() * written[name + SCALES][..., None] if name + SCALES in written else values
        for name, values in written.items()
        if not name.endswith(SCALES)
    }
