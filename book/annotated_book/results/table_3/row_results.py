"""Results of one row of the small Table 3: what it costs, and what its seeds reached."""

from __future__ import annotations

from statistics import mean, stdev
from typing import Any

from annotated.analysis.parameters import count_parameters
from annotated_book.experiments.settings import Size
from annotated_book.results.table_3.records import Run, cpu_seconds


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
        "cpu_minutes": round(cpu_seconds(mine) / 60, 1) if mine else None,
        "curves": [[point["validation_loss"] for point in one["curve"]] for one in mine],
        "updates": [point["update"] for point in mine[0]["curve"]] if mine else [],
    }
