"""A rehearsal of the full WMT14 run: the whole chain by its own commands, on classroom text in WMT14's layout.

It is not WMT14, and its BLEU is none of WMT14. What is recorded: each command with its time and its last words, the
training's log with one stop by SIGTERM in the middle, where the heads looked at each validation, and the report.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from annotated.runs import TrainingMonitor, read_records
from annotated.runs.report.report import RunReport
from annotated.runs.validation_callbacks import HEADS, SentenceHeads, read_heads
from annotated.storage import atomic_write
from annotated.wmt14.mirror import write_mirror
from annotated_book.training.first_run.experiment import SAMPLES

MARK = "A rehearsal on classroom text, in WMT14's own layout. It is not WMT14."
PAIRS = 30_000
SENTENCES = SAMPLES[:3]
UPDATES, STOP_AT, EVERY = 1200, 540, 60
"""Updates in all, after which the signal comes, and between two validations."""
KEPT = Path(__file__).with_name("heads.zip")
WORK = Path("build") / "full_run"
"""Where the rehearsal takes place, and stays: the mirror, the prepared data and the run."""
_LAST_LINES = 12
_MODEL = "--model.d-model 128 --model.d-ff 512 --model.d-k 32 --model.d-v 32"
_TRAINING = (
    f"--training.updates {UPDATES} --training.batch-tokens 2500 --training.warmup 500 --training.log-every 20 "
    f"--training.validate-every {EVERY} --training.validate-bleu 60 --training.checkpoint-every {EVERY} "
    "--training.device cpu"
)
JOB = f"--preset wmt14-tiny {_MODEL} {_TRAINING}"
TRAIN = f"annotated train run {JOB} --data.prepared data --samples {shlex.join(SENTENCES)}"
COMMANDS = {
    "data": "annotated data wmt14 data --catalogue mirror/catalogue.json --mirror mirror --jobs 1",
    "rehearse": f"annotated rehearse --run run {JOB} --data data --updates 60 --warm-up 6",
    "preflight": f"annotated preflight --run run {JOB} --data data --price-per-hour 1",
    "train": TRAIN,
    "go on": TRAIN,
    "finish": "annotated finish run",
}


def run(work: Path = WORK) -> dict[str, Any]:
    """All of the chain, in a folder that is emptied first and stays afterwards.

    Returns
    -------
    dict
        'steps': command, seconds, status and last words of each; 'log'; 'samples'; 'report'; 'data': counts of each
        stage; 'pairs'.
    """
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    write_mirror(work / "mirror", pairs=PAIRS)
    steps = [_step(work, name, command) for name, command in COMMANDS.items()]
    keep(work)
    log = [_short(record) for record in read_records(work / "run") if record["kind"] not in ("checkpoint", "heads")]
    return {
        "steps": steps,
        "log": log,
        "samples": list(SENTENCES),
        "report": RunReport.read(work / "run").content,
        "data": _counts(work / "data"),
        "pairs": PAIRS,
    }


def _step(work: Path, name: str, command: str) -> dict[str, Any]:
    words = [sys.executable, "-m", *shlex.split(command)]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "COLUMNS": "100", "NO_COLOR": "1"}
    began = time.monotonic()
    process = subprocess.Popen(
        words, cwd=work, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if name == "train":
        _stop_in_the_middle(process, work / "run")
    said, _ = process.communicate()
    expected = 128 + signal.SIGTERM if name == "train" else 0
    if process.returncode != expected:
        raise RuntimeError(f"{command} ended with status {process.returncode} in place of {expected}. It said:\n{said}")
    print(f"{name}: {time.monotonic() - began:.0f} s", flush=True)
    return {
        "name": name,
        "command": command,
        "seconds": round(time.monotonic() - began, 1),
        "status": process.returncode,
        "said": [line.rstrip() for line in said.splitlines() if line.strip()][-_LAST_LINES:],
    }


def _stop_in_the_middle(process: subprocess.Popen[str], folder: Path) -> None:
    monitor = TrainingMonitor(folder)
    while process.poll() is None and monitor.poll().update < STOP_AT:
        time.sleep(2)
    process.send_signal(signal.SIGTERM)


def _short(record: dict[str, Any]) -> dict[str, Any]:
    """Five digits of each number, and no configuration of no interest."""
    return {k: float(f"{v:.5g}") if isinstance(v, float) else v for k, v in record.items() if k != "seconds_left"}


def _counts(folder: Path) -> dict[str, Any]:
    from annotated.wmt14 import PreparedCorpus

    corpus = PreparedCorpus.open(folder)
    return {name: stage["counts"] for name, stage in corpus.manifest["stages"].items() if name != "download"}


def keep(work: Path) -> None:
    """Put the heads of the run beside the record: a file for each validation, in one archive."""
    with atomic_write(KEPT, "wb") as file, zipfile.ZipFile(file, "w") as archive:
        for path in sorted((work / "run" / HEADS).glob("update-*.npz")):
            archive.writestr(zipfile.ZipInfo(path.name), path.read_bytes())


def kept_heads(every: int = 1) -> dict[int, Sequence[SentenceHeads]]:
    """Where the heads of the recorded rehearsal looked, by update.

    Parameters
    ----------
    every
        1 for each validation, 2 for each second one, the last one always.
    """
    with zipfile.ZipFile(KEPT) as archive:
        names = sorted(archive.namelist())
        chosen = sorted({*names[::every], names[-1]})
        found: dict[int, Sequence[SentenceHeads]] = {}
        for name in chosen:
            with archive.open(name) as file:
                found[int(Path(name).stem.removeprefix("update-"))] = read_heads(file)
        return found
