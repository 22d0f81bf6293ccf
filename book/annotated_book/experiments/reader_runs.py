"""Runs that a reader makes on his own machine: rows of Table 3 on the classroom's text, a file for each.

The folder of such runs has the size that they have in common, their records, the text, and what is not finished yet.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any

from annotated.locks import Locked, exclusive_lock
from annotated.ownership import is_json_of, require_our_folder
from annotated.storage import atomic_write
from annotated_book.experiments.queue import Run
from annotated_book.experiments.sentences import classroom_text
from annotated_book.experiments.settings import READER_SMOKE, ClassroomSize
from annotated_book.record import code_commit
from annotated_book.results.table_3.rows import ROWS

SIZE = "size.json"
"""What all runs of a folder have in common."""
_WRITTEN = (SIZE, "runs", "claims", "text", "text.lock", *(f"{row}-*.json" for row in ROWS))
Say = Callable[[str], None]


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
    FileExistsError
        If it holds what no such run wrote, under names that runs write.
    """
    require_our_folder(folder, _WRITTEN, _is_ours)
    if not (folder / SIZE).is_file():
        _write(folder / SIZE, asdict(size))
    elif (found := folder_size(folder)) != size:
        old, new = asdict(found), asdict(size)
        differing = ", ".join(f"{name} {old[name]} and not {new[name]}" for name in old if old[name] != new[name])
        raise ValueError(f"{folder} holds runs of another size ({differing}): name another folder with --out")


def _is_ours(folder: Path) -> bool:
    return is_json_of(folder / SIZE, "divisor")


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


def wanted_runs(rows: Sequence[str], seeds: int) -> list[Run]:
    """The runs of these rows and of base, in the order in which they are made: a seed of all rows, then the next."""
    ordered = [row for row in ROWS if row == "base" or row in rows]
    return [(row, seed) for seed in range(seeds) for row in ordered]


def make_runs(
    rows: Sequence[str],
    seeds: int,
    folder: Path,
    size: ClassroomSize,
    say: Say = lambda line: None,
    *,
    say_taken: bool = True,
) -> str | None:
    """Train what is missing of some rows, and of base.

    Several processes may work in one folder: each run is claimed by a lock, which ends with the process that holds it.
    A process that is killed leaves the run's last checkpoint, from which the next one goes on.

    Parameters
    ----------
    say
        Called with sentences for the user.
    say_taken
        Tell which runs other processes are making.

    Returns
    -------
    str or None
        The signal that ended it early, after a checkpoint was saved; None if none came.

    Raises
    ------
    ValueError
        If the folder holds runs of another size.
    annotated.storage.DiskFull
        If there is no space for a checkpoint or a record.
    """
    open_folder(folder, size)
    classroom_text(size, folder, say)
    for row, seed in _missing(rows, seeds, folder):
        try:
            with exclusive_lock(claim_path(row, seed, folder), wait_seconds=0.5):
                # Who let go of the claim in the meantime has recorded the run before.
                made = record_path(row, seed, folder).is_file()
                stopped_by = None if made else make_run(row, seed, folder, size, say)
        except Locked as taken:
            if say_taken:
                say(f"{row}, seed {seed}: in work elsewhere ({taken.holder})")
            continue
        if stopped_by is not None:
            return stopped_by
    return None


def _missing(rows: Sequence[str], seeds: int, folder: Path) -> Iterator[Run]:
    return (run for run in wanted_runs(rows, seeds) if not record_path(*run, folder).is_file())


def make_run(row: str, seed: int, folder: Path, size: ClassroomSize, say: Say = lambda line: None) -> str | None:
    """Train one row with one seed, on one thread, and write its record; the checkpoints are removed then.

    Returns
    -------
    str or None
        The signal that ended it early.
    """
    from annotated.runs.hardware import describe_machine
    from annotated_book.experiments.train_one import Stopped, train_row  # here: a table needs no torch

    commit, began, place = code_commit(), time.process_time(), folder / "runs" / f"{row}-{seed}"
    text, training = classroom_text(size, folder), size.training(row, seed)
    say(f"{row}, seed {seed}: {training.updates:,} updates of {training.batch_tokens:,} tokens")
    try:
        content, result = train_row(row, seed, size, text, place)
    except Stopped as stopped:
        say(f"{row}, seed {seed}: stopped after update {stopped.update:,}, which is saved")
        return stopped.stopped_by or "SIGTERM"
    content |= {
        "valid_loss": None if result is None or result.valid_loss is None else round(result.valid_loss, 5),
        # Of a run that went on after an end only the last part is known.
        "cpu_seconds": round(time.process_time() - began, 1) if content["starts"] == 1 else None,
        "machine": describe_machine(),
        "commit": commit,
        "date": date.today().isoformat(),
        "command": f"annotated table3 run {row} --seeds {seed + 1}" + (" --smoke" if size == READER_SMOKE else ""),
    }
    _write(record_path(row, seed, folder), content)
    shutil.rmtree(place, ignore_errors=True)
    loss = "diverged" if content["valid_loss"] is None else f"validation loss {content['valid_loss']:.4f}"
    say(f"{row}, seed {seed}: {loss}, {content['seconds']:.0f} s")
    return None


def _write(path: Path, content: dict[str, Any]) -> None:
    with atomic_write(path) as file:
        file.write(json.dumps(content, indent=1) + "\n")


def _read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))
