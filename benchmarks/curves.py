"""Loss curves of one recipe under several training configurations: what an option of speed does to the loss.

Every variant begins with the same weights and reads the same batches in the same order, unless it changes the seed. So
the difference of two curves is what the option did, and a variant that changes nothing but the seed shows how large a
difference means nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from annotated.config import TrainingConfig
from annotated.recipes import Recipe, recipe
from annotated.runs import read_records, train
from annotated.storage import atomic_write
from benchmarks import machine

EVERY = 20
"""Updates that a point of a curve is the mean of."""
LAST = 10
"""Points whose mean is compared: single ones swing with the batch."""


def parse_variant(text: str) -> tuple[str, dict[str, Any]]:
    """A variant's name and the fields of `TrainingConfig` that it changes: 'bf16:precision=bf16,clip_norm=1.0'.

    Values are read as JSON, and else as a word. 'plain' or 'plain:' changes nothing.

    Raises
    ------
    ValueError
        If a change has no '='.
    """
    name, _, changes = text.partition(":")
    fields: dict[str, Any] = {}
    for change in filter(None, changes.split(",")):
        field, equals, value = change.partition("=")
        if not equals:
            raise ValueError(f"variant {text!r}: {change!r} is no change; write NAME:FIELD=VALUE,FIELD=VALUE")
        try:
            fields[field] = json.loads(value)
        except json.JSONDecodeError:
            fields[field] = value
    return name, fields


def curve(start: Recipe, training: TrainingConfig) -> dict[str, Any]:
    """Train, and return the loss of every `EVERY` updates and the validations, in nats per target token.

    The loss of the training batches is smoothed as the training smooths it; the validation loss never is.
    """
    with tempfile.TemporaryDirectory(prefix="annotated-curve-") as folder:
        busy = time.process_time()
        result = train(start.model, training, start.data, folder, quiet=True)
        records = read_records(folder)
    trained = [record for record in records if record["kind"] == "train"]
    valid = [record for record in records if record["kind"] == "valid" and not record.get("averaged")]
    losses = [record["loss"] for record in trained]
    return {
        "updates": [record["update"] for record in trained],
        "loss": losses,
        "last_loss": sum(losses[-LAST:]) / len(losses[-LAST:]),
        "valid": {record["update"]: record["valid_loss"] for record in valid},
        "final_valid_loss": result.valid_loss,
        "cpu_seconds": time.process_time() - busy,
    }


def compare(curves: dict[str, dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Of each variant but the first: how far it lies above the first, relative to it, and at most at any point."""
    (_, first), *others = curves.items()
    return {
        name: {
            "last_loss": other["last_loss"] / first["last_loss"] - 1,
            "final_valid_loss": other["final_valid_loss"] / first["final_valid_loss"] - 1,
            "largest": max(abs(a / b - 1) for a, b in zip(other["loss"], first["loss"], strict=True)),
        }
        for name, other in others
    }


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks curves", description=__doc__)
    parser.add_argument("variants", nargs="+", help="NAME:FIELD=VALUE,FIELD=VALUE of the training; first the plain one")
    parser.add_argument("--recipe", default="classroom-small", help="default %(default)s")
    parser.add_argument("--updates", type=int, default=2000, help="default %(default)s")
    parser.add_argument("--out", type=Path, default=Path("build/benchmarks/curves.json"), help="default %(default)s")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str]) -> None:
    """Train each variant, and write after each."""
    options = parse(arguments)
    start = recipe(options.recipe)
    variants = dict(map(parse_variant, options.variants))
    plain = start.training.replace(
        updates=options.updates, log_every=EVERY, validate_every=max(options.updates // 4, 1), validate_bleu=0,
        checkpoint_every=options.updates, keep_checkpoints=1, keep_best=0, average_last=1,
    )  # fmt: skip
    every = {name: plain.replace(**changes) for name, changes in variants.items()}  # a wrong name is told now
    content: dict[str, Any] = {
        "command": "python -m benchmarks curves " + " ".join(arguments),
        "recipe": options.recipe,
        "variants": variants,
        "machine": {**machine.describe(), "threads": os.environ.get("OMP_NUM_THREADS")},
        "curves": {},
    }
    options.out.parent.mkdir(parents=True, exist_ok=True)
    for name, training in every.items():
        content["curves"][name] = curve(start, training)
        content["beside_the_first"] = compare(content["curves"])
        with atomic_write(options.out) as file:
            file.write(json.dumps(content, indent=1) + "\n")
        found = content["curves"][name]
        print(f"{name}: last {found['last_loss']:.4f}, validation {found['final_valid_loss']:.4f}", flush=True)
    for name, difference in content["beside_the_first"].items():
        print(name, {what: f"{100 * value:+.3f} %" for what, value in difference.items()})


if __name__ == "__main__":
    main(sys.argv[1:])
