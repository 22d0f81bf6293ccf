"""Rows of `annotated table3 run --preset paper`: each a run of `annotated train`, with its recipe and its checks, whose
folder is read for the table."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from annotated.cli.train import Train
from annotated.config import TABLE_3, ModelConfig
from annotated.recipes import TABLE_3_RECIPES, Recipe
from annotated.runs.log import LOG, read_records
from annotated_book.commands.table_3_jobs import say

DEVELOPMENT = "newstest2013"
"""The set that Table 3 is measured on."""


def train_rows(rows: Sequence[str], seeds: int, folder: Path, prepared: str | None, smoke: bool, quiet: bool) -> int:
    """Train each row with each seed, one after the other, in `folder/ROW-SEED`; under torchrun, in every process.

    Returns
    -------
    int
        0, or the status of the run that a signal has stopped.
    """
    runs = [(row, seed) for seed in range(seeds) for row in dict.fromkeys(rows)]
    for row, seed in runs:
        recipe, out = row_recipe(row, smoke), folder / f"{row}-{seed}"
        data = recipe.data if prepared is None else recipe.data.replace(prepared=prepared)
        if _has_ended(out):
            continue
        training = recipe.training.replace(seed=seed)
        status = Train(out, recipe.name, data=data, training=training, model=recipe.model, quiet=quiet).run()
        if status != 0:
            return status
    if os.environ.get("RANK", "0") == "0" and not quiet:
        for row, seed in runs:
            _say_next(folder / f"{row}-{seed}")
        say(f"and when there is base too, and two seeds of some row: annotated table3 show {shlex.quote(str(folder))}")
    return 0


def holds_runs(folder: Path) -> bool:
    """Whether a folder holds runs of this preset."""
    return any(True for _ in _runs(folder))


def paper_runs(folder: Path) -> tuple[dict[tuple[str, int], dict[str, Any]], Callable[[str], ModelConfig]]:
    """The runs that have ended, by row and seed, as the table needs them, and the models of their rows.

    `valid_loss` is that of the model that was saved, on the development set, in nats per token.
    """
    found: dict[tuple[str, int], dict[str, Any]] = {}
    models = {}
    for row, seed, run in _runs(folder):
        if not _has_ended(run):
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
        if row in TABLE_3 and seed.isdecimal():
            yield row, int(seed), log.parent


def _has_ended(run: Path) -> bool:
    """Whether a run has made all its updates and saved its model."""
    if not (run / LOG).is_file() or not (run / "model" / "config.json").is_file():
        return False
    last = read_records(run / LOG, strict=False)[-1]
    return bool(last["kind"] == "end" and last["finished"])


def row_recipe(row: str, smoke: bool) -> Recipe:
    """The recipe of a row; with `smoke` its model divided by 16 and a few small updates, on any device."""
    recipe = TABLE_3_RECIPES[f"table3-{row}"]
    if not smoke:
        return recipe
    from annotated.speed.machine.distributed import choose_device
    from annotated_book.results.table_3.rows import scaled

    on_cpu = choose_device("auto").type == "cpu"
    training = recipe.training.replace(
        updates=20, batch_tokens=1000, warmup=10, log_every=5, validate_every=10, validate_bleu=4, checkpoint_every=10,
        device="cpu" if on_cpu else "cuda", compile=not on_cpu, precision="fp32" if on_cpu else "bf16",
    )  # fmt: skip
    return recipe.replace(model=scaled(row, 16), training=training)


def _say_next(out: Path) -> None:
    """Which command scores a run."""
    from annotated.config import DataConfig
    from annotated.runs.report import development_set

    start = next(one for one in reversed(read_records(out)) if one["kind"] == "start")
    data = DataConfig.from_dict(start["configuration"]["data"])
    development = development_set(str(data.prepared)).name
    say(f"{out}: trained; scored on {development} without averaging, as Table 3 is, by")
    say(f"  annotated finish {shlex.quote(str(out))} --test {shlex.quote(development)} --average 1")
