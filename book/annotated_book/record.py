"""Records of experiments: what was measured, by which command, on what machine."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from annotated.storage import atomic_write
from annotated_book.pages import BOOK, page_folder

if TYPE_CHECKING:
    import pandas as pd

COMMAND = "python -m annotated_book"
_FORMER = "python -m annotated.chapters"
"""How the commands in older records begin: the package had another name."""


def record_path(name: str, folder: Path | None = None) -> Path:
    """Where a record lies: 'masks' in the page's folder as record.json, 'beam_search/tree' in another's as tree.json.

    Parameters
    ----------
    name
        Of a page, or of a page and a part.
    folder
        Where folders of pages lie side by side; None for those of the book.
    """
    page, _, part = name.partition("/")
    return (folder / page if folder else page_folder(page)) / f"{part or 'record'}.json"


def experiment_module(name: str) -> str:
    """The module that makes a record: 'masks' is made by masks.experiment, 'beam_search/tree' by beam_search.tree."""
    page, _, part = name.partition("/")
    package = ".".join(page_folder(page).relative_to(BOOK).parts)
    return f"annotated_book.{package}.{part or 'experiment'}"


def record_names() -> list[str]:
    """The names of all records in the package."""
    found = [path for pages in ("*", "*/*") for path in BOOK.glob(f"{pages}/*.json")]
    return sorted(path.parent.name + f"/{path.stem}" * (path.stem != "record") for path in found)


def code_commit() -> str | None:
    """The commit that the code is of, '-dirty' if files have changed since; None outside a repository."""
    words = ["git", "-C", str(BOOK), "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.strip() or None


@dataclass(frozen=True)
class Record:
    """What an experiment found, and where that comes from."""

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

    def table(self, *keys: str) -> pd.DataFrame:
        """Some of the results as a DataFrame: `recorded("subwords").table("real")`.

        Parameters
        ----------
        *keys
            The way to them through `results`: to a list of rows, each a mapping, or to a mapping of named rows, whose
            names become the index.

        Raises
        ------
        KeyError
            If `results` has no such key.
        ValueError
            If what is there is no rows.
        """
        import pandas as pd  # here: a caption needs no tables

        found: Any = self.results
        for key in keys:
            found = found[key]
        rows = list(found.values()) if isinstance(found, dict) else found
        if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
            raise ValueError(f"{' / '.join(keys) or 'the whole'} of the record {self.name!r} is not a list of rows")
        return pd.DataFrame(rows, index=list(found) if isinstance(found, dict) else None)


def recorded(name: str) -> Record:
    """Read the record of an experiment: of a chapter, 'masks', or of a part of one, 'beam_search/tree'.

    Raises
    ------
    FileNotFoundError
        If there is none: the message says which command makes it.
    """
    path = record_path(name)
    if not path.is_file():
        raise FileNotFoundError(f"no record at {path}; `{COMMAND} {name}` makes one")
    found = json.loads(path.read_text(encoding="utf-8"))
    if found["command"].startswith(_FORMER):
        found["command"] = f"{COMMAND} {name}"
    return Record(name=name, **found)


def make(name: str, run: Callable[[], dict[str, Any]], folder: Path | None = None) -> Path:
    """Run an experiment and write its record; an interrupted run leaves the old record as it was.

    An experiment that keeps what earlier calls finished returns the seconds of all of it as 'cpu_seconds' of its
    results.

    Returns
    -------
    Path
        The file that holds the record.
    """
    from annotated.runs.hardware import describe_machine  # here: reading records needs no training code

    start = _cpu_seconds()
    results = run()
    record = {
        "command": f"{COMMAND} {name}",
        "date": date.today().isoformat(),
        "machine": describe_machine(),
        "cpu_seconds": results.pop("cpu_seconds", round(_cpu_seconds() - start, 1)),
        "results": results,
    }
    path = record_path(name, folder)
    with atomic_write(path) as file:
        file.write(json.dumps(record, indent=1) + "\n")
    return path


def _cpu_seconds() -> float:
    """Of this process, and of those that it started and waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
