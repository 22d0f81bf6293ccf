"""Pilot of the small Table 3: the smallest size at which N=2 is told from base by five deviations of seeds.

The rule was fixed before the first recorded run. Sizes are tried in the order of `SIZES`. At each, base and row C1
(N=2) are trained with seed 0; where C1 is not the worse one, as it is in the paper, the size is given up. Otherwise
both get three seeds. The first size at which the mean of C1 is above that of base by more than five standard
deviations of one run is the size of all rows. With six runs the deviation itself is known to within a factor of about
two only.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal, NamedTuple

from annotated_book.experiments.settings import SIZES, Size
from annotated_book.results.table_3.records import RECORDS, losses, pooled_deviation, recorded_runs, separation

PILOT_ROWS, PILOT_SEEDS = ("base", "C1"), 3
ENOUGH = 5.0
"""Deviations."""
Verdict = Literal["first pair", "three seeds", "given up", "too close", "chosen"]


class PilotResult(NamedTuple):
    """Two rows at one size, as far as they are recorded."""

    verdict: Verdict
    """'first pair' and 'three seeds' are missing; or what was decided."""
    losses: dict[str, list[float]]
    """Of each row, in the order of the seeds; a run that diverged has none."""
    separation: float | None
    """Deviations between the means, positive if N=2 is the worse; None before all seeds are recorded."""


def compare(size: Size, records: Path = RECORDS) -> PilotResult:
    """What the pilot says of a size."""
    runs = {key: one for key, one in recorded_runs(size, records).items() if key[0] in PILOT_ROWS}
    runs = {key: one for key, one in runs.items() if key[1] < PILOT_SEEDS}
    found = {row: losses(runs).get(row, []) for row in PILOT_ROWS}
    first = [runs.get((row, 0)) for row in PILOT_ROWS]
    if None in first:
        return PilotResult("first pair", found, None)
    base, shallow = (one["valid_loss"] for one in first if one is not None)
    if base is None or shallow is None or shallow <= base:
        return PilotResult("given up", found, None)
    if len(runs) < PILOT_SEEDS * len(PILOT_ROWS):
        return PilotResult("three seeds", found, None)
    if min(map(len, found.values())) < PILOT_SEEDS:  # a run has diverged
        return PilotResult("given up", found, None)
    gap = separation(found["base"], found["C1"])
    return PilotResult("chosen" if gap > ENOUGH else "too close", found, gap)


def current_size(records: Path = RECORDS) -> tuple[Size, Verdict] | None:
    """The size to work at: the chosen one, or the one that the pilot has come to; None if it has tried all in vain."""
    for size in SIZES.values():
        verdict = compare(size, records).verdict
        if verdict not in ("given up", "too close"):
            return size, verdict
    return None


def chosen_size(records: Path = RECORDS) -> Size | None:
    """The size of the small Table 3; None before the pilot has decided."""
    found = current_size(records)
    return found[0] if found is not None and found[1] == "chosen" else None


def _described(size: Size) -> dict[str, Any]:
    from annotated_book.results.table_3.row_results import row_results  # here: a queue needs no torch

    runs = {run: one for run, one in recorded_runs(size).items() if run[1] < PILOT_SEEDS}
    found, mine = compare(size), {row: [one for run, one in runs.items() if run[0] == row] for row in PILOT_ROWS}
    return {
        "size": {"name": size.name, **asdict(size)},
        "rows": [row_results(row, runs, size) for row in PILOT_ROWS],
        "verdict": found.verdict,
        "cpu_seconds": {row: [one["cpu_seconds"] for one in ones] for row, ones in mine.items()},
        "deviation": None if found.separation is None else round(pooled_deviation(found.losses.values()), 5),
        "separation": None if found.separation is None else round(found.separation, 2),
    }


def run() -> dict[str, Any]:
    """What the pilot found at each size that it has decided on; the run of `__main__` goes on."""
    chosen = chosen_size()
    decided = [size for size in SIZES.values() if compare(size).verdict in ("given up", "too close", "chosen")]
    described = [_described(size) for size in decided]
    return {
        "enough": ENOUGH,
        "rows": PILOT_ROWS,
        "chosen": None if chosen is None else chosen.name,
        "sizes": described,
        "cpu_seconds": round(sum(sum(seconds) for one in described for seconds in one["cpu_seconds"].values()), 1),
    }
