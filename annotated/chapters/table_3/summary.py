"""Summary of Table 3 at a size that two cores can bear: what the recorded runs of all rows say together.

The runs themselves take hours: `python -m annotated.chapters.table_3 run` makes those that are missing. This only
collects them.
"""

from __future__ import annotations

from dataclasses import asdict
from statistics import mean, stdev
from typing import Any

from annotated.analysis.parameters import count_parameters
from annotated.chapters.table_3.pilot import chosen_size
from annotated.chapters.table_3.records import Run, close_rows, losses, pooled_deviation, recorded_runs
from annotated.chapters.table_3.rows import ROWS
from annotated.chapters.table_3.size import Size


def row_results(row: str, runs: dict[Run, dict[str, Any]], size: Size) -> dict[str, Any]:
    """A row of the table: what it costs, and what its seeds reached.

    Returns
    -------
    dict
        `seeds`, `valid_losses` (nats per token), `bleus` and `curves` (the validation losses after `updates`) in one
        order; `deviation` is None for fewer than two seeds.
    """
    mine = [one for (name, _), one in sorted(runs.items()) if name == row and not one["diverged"]]
    found = [one["valid_loss"] for one in mine]
    return {
        "row": row,
        "parameters": count_parameters(size.model(row)),
        "gflop": mine[0]["gflop"] if mine else None,
        "seeds": [one["seed"] for one in mine],
        "diverged": [seed for (name, seed), one in sorted(runs.items()) if name == row and one["diverged"]],
        "valid_losses": found,
        "test_losses": [one["test_loss"] for one in mine],
        "bleus": [one["bleu"] for one in mine],
        "mean": round(mean(found), 4) if found else None,
        "deviation": round(stdev(found), 4) if len(found) > 1 else None,
        "cpu_minutes": round(mean(one["cpu_seconds"] for one in mine) / 60, 1) if mine else None,
        "curves": [[point["validation_loss"] for point in one["curve"]] for one in mine],
        "updates": [point["update"] for point in mine[0]["curve"]] if mine else [],
    }


def run() -> dict[str, Any]:
    """All rows as far as they are recorded; none before the pilot has chosen a size."""
    size = chosen_size()
    if size is None:
        return {"size": None, "runs": 0, "deviation": None, "close_to_base": [], "rows": [], "cpu_seconds": 0.0}
    runs = recorded_runs(size)
    deviation = pooled_deviation(losses(runs).values())
    return {
        "size": {"name": size.name, **asdict(size)},
        "runs": len(runs),
        "deviation": None if deviation != deviation else round(deviation, 5),
        "close_to_base": close_rows(runs),
        "rows": [row_results(row, runs, size) for row in ROWS],
        "cpu_seconds": round(sum(one["cpu_seconds"] for one in runs.values()), 1),
    }
