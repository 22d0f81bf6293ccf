"""Files of runs: JSON Lines, one for each chapter, a run a line in the order of their names.

Any number of processes may add runs to a file: each reads it, adds its run and replaces the file under a lock, which
ends with the process that holds it. A process that is killed leaves the file as it was.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from annotated.locks import exclusive_lock
from annotated.storage import atomic_write

RUNS = "runs.jsonl"
"""Name of a chapter's file, in the chapter's folder."""


def read_runs(path: Path) -> dict[str, dict[str, Any]]:
    """The records of all runs by name, in the order of the names; none if there is no file.

    Raises
    ------
    ValueError
        If a line is damaged; the message names it.
    """
    if not path.is_file():
        return {}
    found = {}
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            try:
                one = json.loads(line)
                found[one.pop("name")] = one
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                raise ValueError(f"{path}, line {number}, is no whole record ({error}): remove the line") from None
    return found


def write_run(path: Path, name: str, content: dict[str, Any]) -> None:
    """Add the record of a run to a file, or replace it; a loss that is no number becomes null."""
    known = json.loads(json.dumps(content), parse_constant=lambda constant: None)
    with exclusive_lock(path.with_name(f".{path.name}.lock")):
        runs = {**read_runs(path), name: known}
        with atomic_write(path) as file:
            file.writelines(json.dumps({"name": one, **runs[one]}) + "\n" for one in sorted(runs))
