"""Losses of the small Table 3 as a row's part plus a seed's, so that runs with one seed are compared with each other.

Runs with the same seed read the same sentences in the same order, which moves the losses of all rows together. Least
squares separate this common part from the rows': what is left is the noise of a difference between rows. With every
row trained with every seed a difference is the mean of the row's distances from base with the same seed; where runs are
missing, the seeds of the other rows correct for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class SeedFit:
    """Rows and seeds of a table of losses, in nats per token."""

    rows: list[str]
    seeds: list[int]
    row_losses: NDArray[np.float64]
    """Loss of each row with an average seed."""
    seed_effects: NDArray[np.float64]
    """What each seed adds to every row; they sum to zero."""
    deviation: float
    """Standard deviation of a run about the sum of the two parts; NaN without a degree of freedom."""
    freedom: int
    """Runs less what was fitted to them."""
    covariance: NDArray[np.float64]
    """Of the errors of `row_losses`, in squared deviations."""

    def difference(self, row: str, other: str) -> tuple[float, float]:
        """Loss of one row less that of another, and the standard deviation of this difference."""
        sign = np.zeros(len(self.rows))
        sign[self.rows.index(row)], sign[self.rows.index(other)] = 1, -1
        return float(sign @ self.row_losses), self.deviation * float(np.sqrt(sign @ self.covariance @ sign))


def fit_rows_and_seeds(losses: Mapping[str, Mapping[int, float]]) -> SeedFit:
    """Fit each run's loss by the sum of a part of its row and one of its seed.

    Parameters
    ----------
    losses
        For each row its seeds and their validation losses, in nats per token; 'base' is one of the rows. Runs with a
        seed that base lacks are left out.

    Raises
    ------
    ValueError
        If base has no run.
    """
    if not losses.get("base"):
        raise ValueError("a comparison with base needs runs of base")
    seeds = sorted(losses["base"])
    rows = [row for row, runs in losses.items() if runs.keys() & set(seeds)]
    runs = [(row, seed) for row in rows for seed in seeds if seed in losses[row]]
    design = np.array([_design_line(rows.index(row), seeds.index(seed), rows, seeds) for row, seed in runs])
    found = np.array([losses[row][seed] for row, seed in runs])
    parts = np.linalg.lstsq(design, found, rcond=None)[0]
    left, freedom = found - design @ parts, len(runs) - design.shape[1]
    of_seeds = parts[len(rows) :]
    return SeedFit(
        rows,
        seeds,
        row_losses=parts[: len(rows)],
        seed_effects=np.append(of_seeds, -of_seeds.sum()),
        deviation=float(np.sqrt(left @ left / freedom)) if freedom else float("nan"),
        freedom=freedom,
        covariance=np.linalg.inv(design.T @ design)[: len(rows), : len(rows)],
    )


def _design_line(row: int, seed: int, rows: Sequence[str], seeds: Sequence[int]) -> NDArray[np.float64]:
    """What a run is made of: its row, and its seed as one of effects that sum to zero, the last being implied."""
    line = np.zeros(len(rows) + len(seeds) - 1)
    line[row] = 1
    if seed < len(seeds) - 1:
        line[len(rows) + seed] = 1
    else:
        line[len(rows) :] = -1
    return line
