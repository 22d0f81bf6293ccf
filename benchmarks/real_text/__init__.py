"""Real text for a budget of seconds: `annotated` and The Annotated Transformer's own code, side by side.

python -m benchmarks real_text run        everything below, in order; both sides train at the same time
python -m benchmarks real_text prepare    tokenizer and encoded text, outside the budget
python -m benchmarks real_text ours       one side alone (so that a slow machine can take them in turn)
python -m benchmarks real_text theirs     the other; needs PEERS_SRC (benchmarks/README.md)
python -m benchmarks real_text evaluate   sacreBLEU of our model on test.tsv
python -m benchmarks real_text compare    time to loss, from the two logs
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks import machine
from benchmarks.real_text.settings import Settings

COMMANDS = ("run", "prepare", "ours", "theirs", "evaluate", "compare")


def parse(arguments: Sequence[str]) -> tuple[str, Settings]:
    """The command, and the settings: every field is an option."""
    how = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m benchmarks real_text", description=__doc__, formatter_class=how)
    parser.add_argument("command", choices=COMMANDS)
    for field in dataclasses.fields(Settings):
        parser.add_argument(f"--{field.name}", type=type(field.default), default=field.default, help="%(default)s")
    values = vars(parser.parse_args(arguments))
    return values.pop("command"), Settings(**values)


def prepare(settings: Settings) -> None:
    """What both sides need before the clock starts."""
    from benchmarks.real_text import corpus, ours

    corpus.prepare(settings)
    ours.prepare(settings)


def run(settings: Settings) -> None:
    """Both sides at once, each with its own threads; then the comparison and the test set."""
    from benchmarks.peers.adapter import source_dir
    from benchmarks.real_text import compare, ours

    source_dir("annotated-transformer")  # fail now, not after the preparation
    command = "python -m benchmarks " + " ".join(sys.argv[1:])
    settings.save(Path(settings.recorded) / "config.json", command=command, machine=machine.describe())
    prepare(settings)
    options = [f"--{name}={value}" for name, value in dataclasses.asdict(settings).items()]
    threads = {"OMP_NUM_THREADS": str(settings.threads), "RAYON_NUM_THREADS": str(settings.threads)}
    environment = {**os.environ, **threads, "OMP_WAIT_POLICY": "passive", "TOKENIZERS_PARALLELISM": "false"}
    call = [sys.executable, "-m", "benchmarks", "real_text"]
    sides = {side: subprocess.Popen([*call, side, *options], env=environment) for side in ("theirs", "ours")}
    failed = [side for side, process in sides.items() if process.wait() != 0]
    if failed:
        raise SystemExit(f"benchmarks: {' and '.join(failed)} failed; the messages are above")
    compare.main(settings)
    ours.evaluate(settings)


def main(arguments: Sequence[str]) -> None:
    """Dispatch."""
    command, settings = parse(arguments)
    if command in ("run", "prepare"):
        return {"run": run, "prepare": prepare}[command](settings)
    if command in ("ours", "theirs"):
        import torch

        torch.set_num_threads(settings.threads)
    if command == "evaluate":
        return importlib.import_module("benchmarks.real_text.ours").evaluate(settings)
    return importlib.import_module(f"benchmarks.real_text.{command}").main(settings)
