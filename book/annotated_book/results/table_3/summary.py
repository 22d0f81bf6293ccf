"""Summary of Table 3 at a size that two cores can bear: what the recorded runs of all rows say together.

The runs themselves take hours: `python -m annotated_book.results.table_3 run` makes those that are missing. This only
collects them.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from annotated_book.results.table_3.pilot import chosen_size
from annotated_book.results.table_3.records import Run, close_rows, cpu_seconds, losses, pooled_deviation, recorded_runs
from annotated_book.results.table_3.row_results import row_results
from annotated_book.results.table_3.rows import ROWS


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
        "cpu_seconds": round(sum(len(those) * cpu_seconds(those) for those in _by_row(runs)), 1),
    }


def _by_row(runs: dict[Run, dict[str, Any]]) -> list[list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for (row, _), one in runs.items():
        found.setdefault(row, []).append(one)
    return list(found.values())
