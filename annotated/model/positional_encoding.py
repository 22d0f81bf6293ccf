"""Positions: sinusoids that extend to any length, or a learned table."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def sinusoidal_encoding(length: int, d_model: int) -> Tensor:
    """PE(pos, 2i) = sin(pos / 10000^(2i / d_model)) and PE(pos, 2i + 1) = cos of the same angle.

    Sines and cosines alternate, as printed; the released code puts all sines before all cosines and
    spaces its frequencies slightly differently.

    Returns
    -------
    Tensor
        float32 `[length, D]`

    Raises
    ------
    ValueError
        If d_model is odd: sines and cosines come in pairs.

    Paper: section 3.5
    """
    if d_model % 2:
        raise ValueError(f"sinusoids come in sine-cosine pairs: d_model must be even, not {d_model}")
    positions = torch.arange(length, dtype=torch.float64)
    divisors = 10000 ** (torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    angles = positions[:, None] / divisors  # float64: at position 10,000 float32 would be off by 5e-4
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1).float()


class SinusoidalPositions(nn.Module):
    """The sinusoids, computed once and extended when a longer sentence comes; not in the state dict.

    Paper: section 3.5
    """

    table: Tensor

    def __init__(self, d_model: int, length: int = 512) -> None:
        super().__init__()
        self.register_buffer("table", sinusoidal_encoding(length, d_model), persistent=False)

    def forward(self, length: int) -> Tensor:
        """The encodings of positions 0..length - 1, `[length, D]`."""
        if length > self.table.size(0):
            longer = sinusoidal_encoding(max(length, 2 * self.table.size(0)), self.table.size(1))
            self.table = longer.to(self.table)
        return self.table[:length]


class LearnedPositions(nn.Module):
    """A trained vector for each of the first `max_positions` positions.

    Paper: section 3.5; Table 3, row E
    """

    def __init__(self, d_model: int, max_positions: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.empty(max_positions, d_model))
        nn.init.normal_(self.table, std=d_model**-0.5)

    def forward(self, length: int) -> Tensor:
        """The encodings of positions 0..length - 1, `[length, D]`.

        Raises
        ------
        ValueError
            If the model has no vector for some of them.
        """
        if length > self.table.size(0):
            raise ValueError(
                f"the model learned {self.table.size(0)} positions and cannot read {length}: "
                "shorten the sentence, or train with a larger max_positions"
            )
        return self.table[:length]
