"""The ledger's page: reports of finished runs as a table, and BLEU of the last one computed again in the page."""

from __future__ import annotations

from pathlib import Path

from annotated.runs.report import RunReport

RUNS = Path(__file__).parent / "runs"
"""A folder for each run: `report.json` and, in the repository, what its scores rest on."""


def reports() -> list[RunReport]:
    """The reports of the runs on the page, by name."""
    return [RunReport.read(path) for path in sorted(RUNS.iterdir()) if path.is_dir()]


__all__ = ["RUNS", "reports"]
