"""Records of experiments: what was measured, by which command, on what machine."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent.parent / "assets" / "recorded"


@dataclass(frozen=True)
class Record:
    """What an experiment found, and where that comes from.

    Paper: none; how this book keeps what it measured
    """

    name: str
    command: str
    date: str
    machine: dict[str, Any]
    cpu_seconds: float
    results: dict[str, Any]

    def caption(self) -> str:
        """One sentence for beside the numbers: when, on what, how long, by which command."""
        minutes = self.cpu_seconds / 60
        took = f"{self.cpu_seconds:.0f} CPU seconds" if minutes < 2 else f"{minutes:.0f} CPU minutes"
        return (
            f"Recorded on {self.date} with torch {self.machine['torch']} on {self.machine['cores']} cores of "
            f"{self.machine['processor']}, in {took}, by: {self.command}"
        )


def recorded(name: str) -> Record:
    """Read the record of an experiment.

    Raises
    ------
    FileNotFoundError
        If there is none: the message says which command makes it.

    Paper: none; how this book keeps what it measured
    """
    path = FOLDER / f"{name}.json"
    if not path.is_file():
        raise FileNotFoundError(f"no record at {path}; `python -m annotated.experiments {name}` makes one")
    return Record(name=name, **json.loads(path.read_text(encoding="utf-8")))


def make(name: str, run: Callable[[], dict[str, Any]], folder: Path = FOLDER) -> Path:
    """Run an experiment and write its record; an interrupted run leaves the old record as it was.

    Returns
    -------
    Path
        The file that holds the record.
    """
    from annotated.training.hardware import describe_machine  # here: who only reads records needs no training

    start = _cpu_seconds()
    results = run()
    record = {
        "command": f"python -m annotated.experiments {name}",
        "date": date.today().isoformat(),
        "machine": describe_machine(),
        "cpu_seconds": round(_cpu_seconds() - start, 1),
        "results": results,
    }
    folder.mkdir(parents=True, exist_ok=True)
    path, draft = folder / f"{name}.json", folder / f".{name}.json"
    draft.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    draft.replace(path)
    return path


def _cpu_seconds() -> float:
    """Of this process, and of those that it started and waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
