"""Runs made and recorded on CPUs, by any number of processes, stopped at any time."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import torch

from annotated.locks import Locked, exclusive_lock
from annotated.model import Transformer
from annotated.runs.hardware import describe_machine
from annotated.saving import load_model
from annotated_book.experiments.catalogue import ChapterTraining
from annotated_book.experiments.runs_file import read_runs, write_run
from annotated_book.experiments.sentences import WORK, ShortSentences, prepared_text, short_pairs
from annotated_book.experiments.settings import Size
from annotated_book.experiments.train_one import scores, settings_of, train_one, train_row
from annotated_book.record import code_commit
from annotated_book.results.table_3.records import RECORDS, run_name


def make_one_by_one(
    experiments: Sequence[ChapterTraining],
    text: ShortSentences,
    out: Path,
    locks: Path,
    about: dict[str, Any],
    until: float,
) -> None:
    """Make what is not recorded yet, one after the other on the CPU, as long as there is time.

    What another process makes is left to it; a run that is killed is begun anew by whoever comes next.
    """
    torch.set_num_threads(1)
    for one in experiments:
        if time.monotonic() > until:
            return
        try:
            with exclusive_lock(locks / f"{one.chapter}-{one.row}-{one.seed}.lock", wait_seconds=0.1):
                if one.run not in read_runs(one.file(out)):
                    _make_one(one, text, out, about)
        except Locked:
            continue


def _make_one(one: ChapterTraining, text: ShortSentences, out: Path, about: dict[str, Any]) -> None:
    began = time.process_time()
    trained = train_one(one, text)
    content = {**described(one, trained.model, text), "curve": trained.curve, "diverged": trained.diverged}
    if not trained.diverged:
        content |= {"valid_loss": round(trained.valid_loss, 5), **translated(trained.model, text)}
    command = f"python -m annotated_book.experiments cpu --chapters {one.chapter} --rows {one.row} --seeds {one.seed}"
    seconds = round(time.process_time() - began, 1)
    write_run(one.file(out), one.run, {**content, "cpu_seconds": seconds, **about, "command": command})
    say(f"{one.name}: {content.get('valid_loss')} nats, BLEU {content.get('bleu')}, {seconds} s")


def make_row(row: str, seed: int, size: Size, work: Path = WORK, records: Path = RECORDS) -> None:
    """Train a row of the small Table 3 with one seed and record it; after a kill, go on from the last checkpoint.

    The record is written when the run has ended; the checkpoints are removed then.

    Raises
    ------
    annotated_book.experiments.train_one.Stopped
        If a signal asked for an end; a checkpoint was saved.
    FileNotFoundError
        If there is no real text.
    """
    text, commit, began = prepared_text(size, work), code_commit(), time.process_time()  # the code is loaded by now
    folder = work / size.name / f"{row}-{seed}"
    content, result = train_row(row, seed, size, text, folder)
    if result is not None:
        assert result.model_folder is not None and result.valid_loss is not None
        model, tokenizer = load_model(result.model_folder)
        assert isinstance(model, Transformer) and tokenizer is not None
        pairs = short_pairs(text / "test.tsv", tokenizer, size.max_length)
        content |= {"valid_loss": round(result.valid_loss, 5), **scores(model, tokenizer, pairs)}
    content |= {
        "cpu_seconds": round(time.process_time() - began, 1),
        "machine": describe_machine(),
        "commit": commit,
        "date": date.today().isoformat(),
        "command": f"python -m annotated_book.results.table_3 one {row} {seed} --size {size.name}",
    }
    write_run(records, run_name(row, seed, size), content)
    shutil.rmtree(folder, ignore_errors=True)


def described(one: ChapterTraining, model: Transformer, text: ShortSentences) -> dict[str, Any]:
    """What is known of a training without measuring anything."""
    store, training = text.train, one.training
    tokens = [int(side.sum()) for side in (store.source_lengths, store.target_lengths)]
    sentences = {"train_pairs": len(store), "train_tokens": tokens, "valid_pairs": len(text.valid)}
    highest = max(map(one.rate, range(1, training.updates + 1)))
    known = settings_of(one.row, one.seed, model.config, training, model.num_parameters(), highest, sentences)
    return {**known, "machine": describe_machine(), "date": date.today().isoformat()}


def translated(model: Transformer, text: ShortSentences) -> dict[str, Any]:
    """The scores of the test set, on padded sentences, which every model of the catalogue reads."""
    return scores(model, text.tokenizer, text.test, layout="padded")


def say(line: str) -> None:
    """Tell the user."""
    print(f"experiments: {line}", flush=True)
