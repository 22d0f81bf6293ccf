"""Records of the small Table 3, and what they say so far of rows, deviations and needs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean, variance
from typing import Any

from annotated_book.experiments.queue import Run
from annotated_book.experiments.runs_file import RUNS, read_runs
from annotated_book.experiments.settings import Size
from annotated_book.results.table_3.rows import ROWS

RECORDS = Path(__file__).parent / RUNS
"""The runs of all sizes."""
SEEDS, MORE_SEEDS = 3, 5
"""Of every row; of base, and of each row that is close to it."""
CLOSE = 2.0
"""Standard deviations between the means of two rows that are called close."""


def run_name(row: str, seed: int, size: Size) -> str:
    """Name of a run in the file."""
    return f"{size.name}/{row}-{seed}"


def claim_file(row: str, seed: int, size: Size, work: Path) -> Path:
    """The file whose lock is held by the process that makes a run."""
    return work / size.name / "claims" / f"{row}-{seed}.lock"


def recorded_runs(size: Size, records: Path = RECORDS) -> dict[Run, dict[str, Any]]:
    """All runs of a size that are on record."""
    found = [one for name, one in read_runs(records).items() if name.startswith(f"{size.name}/")]
    return {(one["row"], one["seed"]): one for one in found}


def losses_by_seed(runs: Mapping[Run, dict[str, Any]]) -> dict[str, dict[int, float]]:
    """The validation losses of each row by their seeds; a run that diverged has none."""
    found: dict[str, dict[int, float]] = {}
    for (row, seed), one in sorted(runs.items()):
        if one.get("valid_loss") is not None:
            found.setdefault(row, {})[seed] = one["valid_loss"]
    return found


def losses(runs: Mapping[Run, dict[str, Any]]) -> dict[str, list[float]]:
    """The validation losses of each row, in the order of the seeds; a run that diverged has none."""
    return {row: list(one.values()) for row, one in losses_by_seed(runs).items()}


def cpu_seconds(runs: Sequence[Mapping[str, Any]]) -> float:
    """CPU seconds of one run of a row: the mean of its records that were made without a stop.

    A record that was stopped has only the seconds since its last start; where all were, the longest is taken.
    """
    whole = [one["cpu_seconds"] for one in runs if one["starts"] == 1]
    return mean(whole) if whole else max(one["cpu_seconds"] for one in runs)


def pooled_deviation(groups: Iterable[Sequence[float]]) -> float:
    """Standard deviation of one run about the mean of its row, from all rows with two runs or more; NaN if none has."""
    several = [group for group in groups if len(group) > 1]
    freedom = sum(len(group) - 1 for group in several)
    return math.sqrt(sum((len(g) - 1) * variance(g) for g in several) / freedom) if freedom else math.nan


def separation(first: Sequence[float], second: Sequence[float]) -> float:
    """Mean of the second group less that of the first, in pooled standard deviations of one run."""
    return (mean(second) - mean(first)) / pooled_deviation([first, second])


def close_rows(runs: dict[Run, dict[str, Any]]) -> list[str]:
    """The rows whose mean loss is within `CLOSE` deviations of the base model's, base left out.

    Read from the first `SEEDS` seeds alone: further runs of base or of a close row do not change which rows are close.
    """
    found = losses({run: one for run, one in runs.items() if run[1] < SEEDS})
    deviation = pooled_deviation(found.values())
    if "base" not in found or math.isnan(deviation):
        return []
    centre = mean(found["base"])
    return [r for r in ROWS if r != "base" and r in found and abs(mean(found[r]) - centre) <= CLOSE * deviation]


def needed_runs(
    runs: dict[Run, dict[str, Any]], rows: Sequence[str] = ROWS, seeds: int = SEEDS, more: int = MORE_SEEDS
) -> Iterator[Run]:
    """The runs that are missing, the most needed first.

    Every row gets its first seed before any gets its second. When all have `seeds`, base and the rows that are close
    to it get `more`; which are close is only known then.
    """
    ordered = [row for row in ROWS if row in rows]
    missing = [(row, seed) for seed in range(seeds) for row in ordered if (row, seed) not in runs]
    yield from missing
    if missing:
        return
    further = [row for row in ordered if row == "base" or row in close_rows(runs)]
    yield from ((row, seed) for seed in range(seeds, more) for row in further if (row, seed) not in runs)
