"""Training of one row of the small Table 3 with one seed: real text in, a record of numbers out."""

from __future__ import annotations

import json
import shutil
import time
from datetime import date
from pathlib import Path
from typing import Any

import torch

from annotated.chapters.record import code_commit
from annotated.chapters.table_3.records import RUNS, record_file
from annotated.chapters.table_3.rows import update_flops
from annotated.chapters.table_3.size import Size
from annotated.chapters.table_3.text import WORK, prepared_text, short_pairs
from annotated.config import DataConfig, TrainingConfig
from annotated.evaluation import bleu, perplexity
from annotated.model import Transformer
from annotated.runs import TrainingResult, read_log, read_records, train
from annotated.runs.errors import NonFiniteLoss
from annotated.runs.hardware import describe_machine
from annotated.runs.validation_callbacks import validation_bleu
from annotated.saving import load_model
from annotated.storage import atomic_write
from annotated.training.schedule import learning_rate
from annotated.wmt14 import PreparedCorpus

LONGEST_POOL = 300_000
"""Pairs: more than the text has, so that all of it is shuffled and bucketed together."""


class Stopped(RuntimeError):
    """A signal ended a run early; the same command goes on with it."""


def train_row(row: str, seed: int, size: Size, work: Path = WORK, records: Path = RUNS) -> Path:
    """Train one row with one seed and write its record; called again after a kill, go on from the last checkpoint.

    Returns
    -------
    Path
        The record, written whole when the run has ended; the checkpoints are removed then.

    Raises
    ------
    Stopped
        If a signal asked for an end; a checkpoint was saved.
    FileNotFoundError
        If there is no real text.
    """
    torch.set_num_threads(1)
    corpus, commit, began = prepared_text(size, work), code_commit(), time.process_time()  # the code is loaded by now
    folder, training = work / size.name / f"{row}-{seed}", size.training(row, seed)
    data = DataConfig(prepared=str(corpus), pool_pairs=LONGEST_POOL)
    try:
        result: TrainingResult | None = train(size.model(row), training, data, folder, quiet=True)
    except NonFiniteLoss:
        result = None
    if result is not None and not result.finished:
        raise Stopped(f"{row} with seed {seed}: stopped after update {result.update}, which is saved")
    measured = {} if result is None else _measure(result, PreparedCorpus.open(corpus), size)
    path = record_file(row, seed, size, records)
    content = {
        **_described(row, seed, size, training, folder),
        **_curve(folder),
        "diverged": result is None,
        **measured,
        "cpu_seconds": round(time.process_time() - began, 1),
        "machine": describe_machine(),
        "commit": commit,
        "date": date.today().isoformat(),
        "command": f"python -m annotated.chapters.table_3 one {row} {seed} --size {size.name}",
    }
    with atomic_write(path) as file:
        file.write(json.dumps(content, indent=1) + "\n")
    shutil.rmtree(folder, ignore_errors=True)
    return path


def _described(row: str, seed: int, size: Size, training: TrainingConfig, folder: Path) -> dict[str, Any]:
    starts = [one for one in read_records(folder) if one["kind"] == "start"]
    start, config = starts[-1], size.model(row)
    pairs, tokens = start["train_pairs"], start["train_tokens"]
    lengths = [round(count / pairs) for count in tokens]
    share = training.batch_tokens / tokens[1]  # of the text in one update
    return {
        "row": row,
        "seed": seed,
        "model": config.to_dict(),
        "parameters": start["parameters"],
        "training": training.to_dict(),
        "highest_rate": learning_rate(training.warmup, config.d_model, training.warmup, training.learning_rate_scale),
        "text": {"pairs": pairs, "tokens": tokens, "valid_pairs": start["valid_pairs"]},
        "gflop": round(training.updates * update_flops(config, share * pairs, *lengths) / 1e9),
        "starts": len(starts),
    }


def _curve(folder: Path) -> dict[str, Any]:
    """The curve, and the seconds of training over all starts.

    `loss` is the label-smoothed training loss since the point before, or since a restart between the two.
    """
    log = read_log(folder)
    seen = log.dropna(subset="validation_loss")
    points = [
        {
            "update": int(one.update),
            "tokens_seen": int(one.tokens_seen),
            "loss": round(float(one.loss), 4),
            "validation_loss": round(float(one.validation_loss), 4),
        }
        for one in seen.itertuples()
    ]
    return {"curve": points, "seconds": round(float(log["elapsed"].max()), 1)}


def _measure(result: TrainingResult, corpus: PreparedCorpus, size: Size) -> dict[str, Any]:
    """Losses in nats per token, without smoothing, and BLEU of greedy translations of the test set."""
    assert result.model_folder is not None and result.valid_loss is not None
    model, tokenizer = load_model(result.model_folder)
    assert isinstance(model, Transformer) and tokenizer is not None
    pairs = short_pairs(corpus.folder / "test.tsv", tokenizer, size.max_length)
    model.eval()
    return {
        "valid_loss": round(result.valid_loss, 5),
        "test_loss": round(perplexity(model, tokenizer, pairs).loss, 5),
        "bleu": round(validation_bleu(model, tokenizer, pairs), 3),
        "bleu_signature": bleu(["a"], ["a"]).signature,
        "test_pairs": len(pairs),
    }
