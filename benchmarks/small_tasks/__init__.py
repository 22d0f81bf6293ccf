"""Small tasks of a dozen kinds under the training that `annotated train` chooses for a text of one's own.

python -m benchmarks small_tasks run now                              every task as it is trained by default
python -m benchmarks small_tasks run before:learning_rate_scale=1.0   with fields of the training changed
python -m benchmarks small_tasks run now --shorten 5                  the same schedule in a fifth of the updates
python -m benchmarks small_tasks table FILE                           the table of what was recorded

Runs that FILE has already are not made again, so a command that was stopped goes on.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from annotated.cli.train import train_defaults
from annotated.config import TrainingConfig
from annotated.runs import read_records, train
from annotated.runs.validation_callbacks import validation_bleu
from benchmarks import machine
from benchmarks.curves import parse_variant
from benchmarks.small_tasks.tasks import TASKS, make


def shortened(training: TrainingConfig, times: float) -> TrainingConfig:
    """The same schedule in fewer updates: it rises to the same rate, and falls as far from there, `times` as fast."""
    updates = round(training.updates / times)
    return training.replace(
        updates=updates, warmup=max(round(training.warmup / times), 1), validate_every=max(updates // 10, 1),
        checkpoint_every=max(updates // 25, 1), log_every=max(updates // 20, 1),
        learning_rate_scale=training.learning_rate_scale * times**-0.5,
    )  # fmt: skip


def trained(name: str, seed: int, changes: dict[str, Any], times: float = 1.0) -> dict[str, Any] | None:
    """Train a task as `annotated train RUN --data.train FILE --data.valid FILE` does; None if its text is not there."""
    with tempfile.TemporaryDirectory(prefix="annotated-small-task-") as place:
        files = make(name, seed, Path(place))
        if files is None:
            return None
        text = ("--data.train", str(files[0]), "--data.valid", str(files[1]))
        defaults = train_defaults(["train", "run", *text])
        training = shortened(defaults.training.replace(seed=seed, device="cpu", **changes), times)
        data = defaults.data.replace(train=text[1], valid=text[3])
        busy = time.process_time()
        folder = Path(place) / "run"
        result = train(defaults.model, training, data, folder, quiet=True, bleu=validation_bleu)
        if not result.finished:
            raise SystemExit(f"benchmarks: stopped by {result.stopped_by}; {name} is to be made again")
        records = read_records(folder)
    usual = TrainingConfig().to_dict()
    return {
        "pairs": TASKS[name].pairs,
        "training": {field: value for field, value in training.to_dict().items() if value != usual[field]},
        "validations": [
            [one["update"], round(one["valid_loss"], 4), round(one["bleu"], 2)]
            for one in records
            if one["kind"] == "valid" and not one["averaged"]
        ],
        "gradient_norm": round(max(one["gradient_norm"] for one in records if one["kind"] == "train"), 2),
        "model": [round(result.valid_loss or 0.0, 4), round(result.bleu or 0.0, 2)],
        "cpu_seconds": round(time.process_time() - busy, 1),
    }


def run(options: argparse.Namespace, command: str) -> None:
    """Train each task with each seed in each variant, and add a line for each to the record."""
    options.out.parent.mkdir(parents=True, exist_ok=True)
    made = _lines(options.out)
    known = {(one["task"], one["seed"], one["variant"]) for one in made}
    about = {**machine.describe(), "threads": os.environ.get("OMP_NUM_THREADS")}
    variants = dict(map(parse_variant, options.variants))
    wanted = [(task, seed, name) for seed in options.seeds for name in variants for task in options.tasks]
    for task, seed, name in wanted:
        if (task, seed, name) in known:
            continue
        found = trained(task, seed, variants[name], options.shorten)
        if found is not None:
            line = {"task": task, "seed": seed, "variant": name, **found, "command": command, "machine": about}
            with options.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
            print(f"{name} {task} {seed}: {found['validations']} -> {found['model']}", file=sys.stderr, flush=True)


def table(lines: Sequence[dict[str, Any]]) -> str:
    """For each run the best BLEU of a validation, the lowest after it, that of the last one, and that of the model."""
    rows = ["| task | pairs | variant | seed | best | lowest after it | last | model |", "|---" * 8 + "|"]
    for one in sorted(lines, key=lambda one: (list(TASKS).index(one["task"]), one["variant"], one["seed"])):
        scores = [score for _, _, score in one["validations"]]
        best = max(scores)
        after = min(scores[scores.index(best) :])
        cells = (one["task"], f"{one['pairs']:,}", one["variant"], one["seed"])
        numbers = (f"{number:.1f}" for number in (best, after, scores[-1], one["model"][1]))
        rows.append(f"| {' | '.join(map(str, (*cells, *numbers)))} |")
    return "\n".join(rows)


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.is_file() else []


def main(arguments: Sequence[str]) -> None:
    """Dispatch."""
    how = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m benchmarks small_tasks", description=__doc__, formatter_class=how)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("run")
    one.add_argument("variants", nargs="+", help="NAME or NAME:FIELD=VALUE,FIELD=VALUE of the training")
    one.add_argument("--tasks", nargs="+", choices=list(TASKS), default=list(TASKS))
    one.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    one.add_argument("--shorten", type=float, default=1.0, help="make the schedule so many times as short")
    one.add_argument("--out", type=Path, default=Path("build/benchmarks/small_tasks.jsonl"), help="default %(default)s")
    commands.add_parser("table").add_argument("file", type=Path)
    options = parser.parse_args(arguments)
    if options.command == "table":
        print(table(_lines(options.file)))
    else:
        run(options, "python -m benchmarks small_tasks " + shlex.join(arguments))
