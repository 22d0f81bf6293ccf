"""Rows of `annotated table3 run --preset paper`: each a run of `annotated train`, with its recipe and its checks."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path

from annotated.cli.table_3_jobs import say
from annotated.cli.train import Train
from annotated.recipes import TABLE_3_RECIPES, Recipe

DEVELOPMENT = "newstest2013"
"""The set that Table 3 is measured on."""


def train_rows(rows: Sequence[str], seeds: int, folder: Path, prepared: str | None, smoke: bool, quiet: bool) -> int:
    """Train each row with each seed, one after the other, in `folder/ROW-SEED`; under torchrun, in every process.

    Returns
    -------
    int
        0, or the status of the run that a signal has stopped.
    """
    from annotated.chapters.table_3.laptop.paper import has_ended, run_folder

    runs = [(row, seed) for seed in range(seeds) for row in dict.fromkeys(rows)]
    for row, seed in runs:
        recipe, out = row_recipe(row, smoke), run_folder(row, seed, folder)
        data = recipe.data if prepared is None else recipe.data.replace(prepared=prepared)
        if has_ended(out):
            continue
        status = Train(out, recipe.name, recipe.model, recipe.training.replace(seed=seed), data, quiet=quiet).run()
        if status != 0:
            return status
    if os.environ.get("RANK", "0") == "0" and not quiet:
        for row, seed in runs:
            _say_next(run_folder(row, seed, folder))
        say(f"and when there is base too, and two seeds of some row: annotated table3 show {shlex.quote(str(folder))}")
    return 0


def row_recipe(row: str, smoke: bool) -> Recipe:
    """The recipe of a row; with `smoke` its model divided by 16 and a few small updates, on any device."""
    recipe = TABLE_3_RECIPES[f"table3-{row}"]
    if not smoke:
        return recipe
    from annotated.chapters.table_3.rows import scaled
    from annotated.speed.machine.distributed import choose_device

    on_cpu = choose_device("auto").type == "cpu"
    training = recipe.training.replace(
        updates=20, batch_tokens=1000, warmup=10, log_every=5, validate_every=10, validate_bleu=4, checkpoint_every=10,
        device="cpu" if on_cpu else "cuda", compile=not on_cpu, precision="fp32" if on_cpu else "bf16",
    )  # fmt: skip
    return recipe.replace(model=scaled(row, 16), training=training)


def _say_next(out: Path) -> None:
    """Which command scores a run."""
    from annotated.config import DataConfig
    from annotated.runs import read_records
    from annotated.runs.report import development_set

    start = next(one for one in reversed(read_records(out)) if one["kind"] == "start")
    data = DataConfig.from_dict(start["configuration"]["data"])
    development = development_set(str(data.prepared)).name
    say(f"{out}: trained; scored on {development} without averaging, as Table 3 is, by")
    say(f"  annotated finish {shlex.quote(str(out))} --test {shlex.quote(development)} --average 1")
