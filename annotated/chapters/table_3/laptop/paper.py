"""Runs of Table 3's rows as the paper has them, read from the folders that `annotated train` makes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from annotated.chapters.table_3.records import Run
from annotated.chapters.table_3.rows import ROWS
from annotated.config import ModelConfig
from annotated.runs.log import LOG, read_records


def run_folder(row: str, seed: int, folder: Path) -> Path:
    """The folder of one run."""
    return folder / f"{row}-{seed}"


def is_paper(folder: Path) -> bool:
    """Whether a folder holds such runs."""
    return any(True for _ in _runs(folder))


def has_ended(run: Path) -> bool:
    """Whether a run has made all its updates and saved its model."""
    if not (run / LOG).is_file() or not (run / "model" / "config.json").is_file():
        return False
    last = read_records(run / LOG, strict=False)[-1]
    return bool(last["kind"] == "end" and last["finished"])


def paper_runs(folder: Path) -> tuple[dict[Run, dict[str, Any]], Callable[[str], ModelConfig]]:
    """The runs that have ended, as the table needs them, and the models of their rows.

    `valid_loss` is that of the model that was saved, on the development set, in nats per token.
    """
    found: dict[Run, dict[str, Any]] = {}
    models = {}
    for row, seed, run in _runs(folder):
        if not has_ended(run):
            continue
        records = read_records(run / LOG, strict=False)
        start = next(one for one in reversed(records) if one["kind"] == "start")
        valid = next(one for one in reversed(records) if one["kind"] == "valid")
        found[row, seed] = {
            "row": row, "seed": seed, "parameters": start["parameters"], "valid_loss": valid["valid_loss"],
        }  # fmt: skip
        models[row] = ModelConfig.from_dict(start["configuration"]["model"])
    return found, models.__getitem__


def _runs(folder: Path) -> Iterator[tuple[str, int, Path]]:
    for log in sorted(folder.glob(f"*-*/{LOG}")):
        row, _, seed = log.parent.name.partition("-")
        if row in ROWS and seed.isdecimal():
            yield row, int(seed), log.parent
