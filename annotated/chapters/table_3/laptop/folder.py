"""Folder of the rows that a reader trains: its size, and a record of every run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from annotated.chapters.table_3.laptop.size import ClassroomSize
from annotated.chapters.table_3.records import Run
from annotated.chapters.table_3.rows import ROWS
from annotated.storage import atomic_write

SIZE = "size.json"
"""What all runs of a folder have in common."""


def record_path(row: str, seed: int, folder: Path) -> Path:
    """Where the record of a run lies."""
    return folder / f"{row}-{seed}.json"


def claim_path(row: str, seed: int, folder: Path) -> Path:
    """The file whose lock is held by the process that makes a run."""
    return folder / "claims" / f"{row}-{seed}.lock"


def open_folder(folder: Path, size: ClassroomSize) -> None:
    """Make the folder of a size, or see that it is one.

    Raises
    ------
    ValueError
        If it holds runs of another size, or its size cannot be read; the message says what to do.
    """
    if not (folder / SIZE).is_file():
        write_json_lines(folder / SIZE, size.to_dict())
    elif (found := folder_size(folder)) != size:
        old, new = found.to_dict(), size.to_dict()
        differing = ", ".join(f"{name} {old[name]} and not {new[name]}" for name in old if old[name] != new[name])
        raise ValueError(f"{folder} holds runs of another size ({differing}): name another folder with --out")


def folder_size(folder: Path) -> ClassroomSize:
    """The size of the runs in a folder.

    Raises
    ------
    FileNotFoundError
        If no run was begun there.
    ValueError
        If the file is damaged.
    """
    try:
        return ClassroomSize(**_read(folder / SIZE))
    except FileNotFoundError:
        raise FileNotFoundError(
            f"{folder}: no rows of Table 3 in it; train some: annotated table3 run C1 --out {folder}"
        ) from None
    except (TypeError, ValueError) as error:
        raise ValueError(f"{folder / SIZE} is damaged ({error}): name another folder with --out") from None


def recorded(folder: Path) -> dict[Run, dict[str, Any]]:
    """All runs of a folder that are on record.

    Raises
    ------
    ValueError
        If a record is damaged; the message names it.
    """
    found = {}
    for path in sorted(folder.glob("*-*.json")):
        try:
            one = _read(path)
            run, _ = (one["row"], one["seed"]), (one["valid_loss"], one["parameters"])
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"{path} is not a whole record ({type(error).__name__}: {error}): remove it, and give the command "
                "again that trains that row"
            ) from None
        if run[0] not in ROWS or path != record_path(*run, folder):
            raise ValueError(f"{path} is the record of row {run[0]}, seed {run[1]}: give it that name, or remove it")
        found[run] = one
    return found


def write_json_lines(path: Path, content: dict[str, Any]) -> None:
    """Write a JSON file that people can read, whole or not at all."""
    with atomic_write(path) as file:
        file.write(json.dumps(content, indent=1) + "\n")


def _read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))
