"""Training of rows of Table 3 on the classroom's text, one run after the other, each with its record."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import torch

from annotated.chapters.record import code_commit
from annotated.chapters.table_3.laptop.folder import claim_path, open_folder, record_path, write_json_lines
from annotated.chapters.table_3.laptop.size import SMOKE, ClassroomSize
from annotated.chapters.table_3.laptop.text import classroom_text
from annotated.chapters.table_3.records import Run
from annotated.chapters.table_3.rows import ROWS
from annotated.chapters.table_3.training import LONGEST_POOL, _curve, _described
from annotated.config import DataConfig
from annotated.runs import TrainingResult, train
from annotated.runs.errors import NonFiniteLoss
from annotated.runs.hardware import describe_machine
from annotated.storage import Locked, exclusive_lock

Say = Callable[[str], None]


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
                stopped_by = (
                    None if record_path(row, seed, folder).is_file() else train_run(row, seed, folder, size, say)
                )
        except Locked as taken:
            if say_taken:
                say(f"{row}, seed {seed}: in work elsewhere ({taken.holder})")
            continue
        if stopped_by is not None:
            return stopped_by
    return None


def _missing(rows: Sequence[str], seeds: int, folder: Path) -> Iterator[Run]:
    return (run for run in wanted_runs(rows, seeds) if not record_path(*run, folder).is_file())


def train_run(row: str, seed: int, folder: Path, size: ClassroomSize, say: Say = lambda line: None) -> str | None:
    """Train one row with one seed, on one thread, and write its record; the checkpoints are removed then.

    Returns
    -------
    str or None
        The signal that ended it early.
    """
    torch.set_num_threads(1)  # with other numbers of threads sums are made in another order
    commit, began = code_commit(), time.process_time()
    data = DataConfig(prepared=str(classroom_text(size, folder)), pool_pairs=LONGEST_POOL)
    training, place = size.training(row, seed), folder / "runs" / f"{row}-{seed}"
    say(f"{row}, seed {seed}: {training.updates:,} updates of {training.batch_tokens:,} tokens")
    try:
        result: TrainingResult | None = train(size.model(row), training, data, place, quiet=True)
    except NonFiniteLoss:
        result = None
    if result is not None and not result.finished:
        say(f"{row}, seed {seed}: stopped after update {result.update:,}, which is saved")
        return result.stopped_by or "SIGTERM"
    described = _described(row, seed, size, training, place)
    content: dict[str, Any] = {
        **described,
        **_curve(place),
        "diverged": result is None,
        "valid_loss": None if result is None or result.valid_loss is None else round(result.valid_loss, 5),
        # Of a run that went on after an end only the last part is known.
        "cpu_seconds": round(time.process_time() - began, 1) if described["starts"] == 1 else None,
        "machine": describe_machine(),
        "commit": commit,
        "date": date.today().isoformat(),
        "command": f"annotated table3 run {row} --seeds {seed + 1}" + (" --smoke" if size == SMOKE else ""),
    }
    write_json_lines(record_path(row, seed, folder), content)
    shutil.rmtree(place, ignore_errors=True)
    loss = "diverged" if content["valid_loss"] is None else f"validation loss {content['valid_loss']:.4f}"
    say(f"{row}, seed {seed}: {loss}, {content['seconds']:.0f} s")
    return None
