"""One run on a CPU: a model of the catalogue in memory, or a row of Table 3 that goes on after a kill; its numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from annotated.config import DataConfig, ModelConfig, TrainingConfig
from annotated.data import Tokenizer
from annotated.evaluation import bleu, perplexity
from annotated.model import Transformer
from annotated.runs import TrainingResult, read_log, read_records, train
from annotated.runs.errors import NonFiniteLoss
from annotated.runs.random_states import seed_everything
from annotated.runs.validation_callbacks import validation_bleu
from annotated.speed.steps import FastStep
from annotated.training.schedule import learning_rate
from annotated.training.update import update
from annotated.training.validation import validation_loss
from annotated_book.experiments.catalogue import ChapterTraining
from annotated_book.experiments.sentences import LONGEST_POOL, ShortSentences
from annotated_book.experiments.settings import Size
from annotated_book.results.table_3.rows import update_flops


@dataclass
class Trained:
    """A model after its training, and what was seen on the way."""

    model: Transformer
    curve: list[dict[str, Any]]
    valid_loss: float
    """Unrounded, nats a target token."""

    @property
    def diverged(self) -> bool:
        """True if the last validation loss is not finite."""
        return not math.isfinite(self.valid_loss)


def train_one(one: ChapterTraining, text: ShortSentences) -> Trained:
    """Make all updates of a training, and a validation after some of them."""
    seed_everything(one.seed)
    model, training = one.model(), one.training
    step, batches = FastStep(model.train(), training, optimizer=one.optimizer(model)), text.batches(training)
    curve: list[dict[str, Any]] = []
    seen, since, valid = 0, [0.0, 0], math.nan
    for number in range(1, training.updates + 1):
        batch = next(batches)
        tokens = batch.target_tokens
        made = update(step, [batch], tokens, one.rate(number))
        seen, since = seen + tokens, [since[0] + float(made.loss_sum), since[1] + tokens]
        if number % training.validate_every == 0:
            valid = validation_loss(step, text.valid_batches(training))
            curve.append(curve_point(number, seen, since[0] / since[1], valid))
            since = [0.0, 0]
    return Trained(model, curve, valid)


class Stopped(RuntimeError):
    """A signal ended a run early, after a checkpoint was saved; the same command goes on with it."""

    def __init__(self, row: str, seed: int, result: TrainingResult) -> None:
        super().__init__(f"{row} with seed {seed}: stopped after update {result.update}, which is saved")
        self.update, self.stopped_by = result.update, result.stopped_by


def train_row(
    row: str, seed: int, size: Size, text: Path, folder: Path
) -> tuple[dict[str, Any], TrainingResult | None]:
    """Train a row of Table 3 on prepared text, on one thread; called again after a kill, go on from its checkpoint.

    Returns
    -------
    dict, TrainingResult or None
        What a record says of the training; its result, None if it diverged.

    Raises
    ------
    Stopped
        If a signal asked for an end.
    """
    torch.set_num_threads(1)  # with other numbers of threads sums are made in another order
    training, data = size.training(row, seed), DataConfig(prepared=str(text), pool_pairs=LONGEST_POOL)
    try:
        result: TrainingResult | None = train(size.model(row), training, data, folder, quiet=True)
    except NonFiniteLoss:
        result = None
    if result is not None and not result.finished:
        raise Stopped(row, seed, result)
    config, starts = size.model(row), [one for one in read_records(folder) if one["kind"] == "start"]
    highest = learning_rate(training.warmup, config.d_model, training.warmup, training.learning_rate_scale)
    start = starts[-1]
    known = settings_of(row, seed, config, training, start["parameters"], highest, sentences=start, starts=len(starts))
    return {**known, **_curve(folder), "diverged": result is None}, result


def settings_of(
    row: str,
    seed: int,
    config: ModelConfig,
    training: TrainingConfig,
    parameters: int,
    highest_rate: float,
    sentences: dict[str, Any],
    starts: int = 1,
) -> dict[str, Any]:
    """What is known of a run without measuring anything; `sentences` as the start of a run's log counts them."""
    pairs, tokens = sentences["train_pairs"], sentences["train_tokens"]
    share = training.batch_tokens / tokens[1]  # of the text in one update
    lengths = [round(count / pairs) for count in tokens]
    return {
        "row": row,
        "seed": seed,
        "model": config.to_dict(),
        "parameters": parameters,
        "training": training.to_dict(),
        "highest_rate": highest_rate,
        "text": {"pairs": pairs, "tokens": tokens, "valid_pairs": sentences["valid_pairs"]},
        "gflop": round(training.updates * update_flops(config, share * pairs, *lengths) / 1e9),
        "starts": starts,
    }


def curve_point(update: int, tokens_seen: int, loss: float, valid_loss: float) -> dict[str, Any]:
    """A point of a curve; `loss` is the label-smoothed training loss since the point before."""
    numbers = {"loss": round(loss, 4), "validation_loss": round(valid_loss, 4)}
    return {"update": update, "tokens_seen": tokens_seen, **numbers}


def scores(
    model: Transformer, tokenizer: Tokenizer, pairs: Sequence[tuple[str, str]], layout: str = TrainingConfig.layout
) -> dict[str, Any]:
    """Loss on test pairs in nats a token, without smoothing, and BLEU of greedy translations of them."""
    model.eval()
    return {
        "test_loss": round(perplexity(model, tokenizer, pairs, layout=layout).loss, 5),
        "bleu": round(validation_bleu(model, tokenizer, pairs), 3),
        "bleu_signature": bleu(["a"], ["a"]).signature,
        "test_pairs": len(pairs),
    }


def _curve(folder: Path) -> dict[str, Any]:
    """The curve from a run's log, and the seconds of training over all starts.

    After a restart, the training loss of a point is that since the restart.
    """
    log = read_log(folder)
    points = [
        curve_point(int(one.update), int(one.tokens_seen), float(one.loss), float(one.validation_loss))
        for one in log.dropna(subset="validation_loss").itertuples()
    ]
    return {"curve": points, "seconds": round(float(log["elapsed"].max()), 1)}
