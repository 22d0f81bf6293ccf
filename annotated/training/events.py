"""What happens around the updates: lines of the log, validation, checkpoints, and the model at the end.

Paper: section 6.1 (averaging), 6.2 (the development set)
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import torch

from annotated.data.batching import evaluation_batches
from annotated.data.tokenizer import Tokenizer
from annotated.model import Transformer
from annotated.training.averaging import average_last
from annotated.training.checkpoint import save_checkpoint
from annotated.training.model_folder import save_model
from annotated.training.progress import TrainingLog
from annotated.training.setup import Run
from annotated.training.validation import validation_loss

MODEL = "model"

BleuFunction = Callable[[Transformer, Tokenizer, list[tuple[str, str]]], float]
"""From a model, its tokenizer and pairs (source, reference) to BLEU, in percent."""
SamplesFunction = Callable[[Transformer, Tokenizer], Sequence[tuple[str, str]]]
"""From a model and its tokenizer to pairs (source, translation) for the log; it leaves random numbers alone."""


class Watchers(NamedTuple):
    """What looks at the model at each validation, besides the loss."""

    bleu: BleuFunction | None = None
    samples: SamplesFunction | None = None


class Window:
    """Loss and speed since the last line of the log."""

    def __init__(self) -> None:
        self._restart()

    def _restart(self) -> None:
        self.loss_sum, self.tokens, self.updates, self._began = 0.0, 0, 0, time.monotonic()

    def add(self, loss_sum: float, tokens: int) -> None:
        """Count one update."""
        self.loss_sum, self.tokens, self.updates = self.loss_sum + loss_sum, self.tokens + tokens, self.updates + 1

    def take(self) -> tuple[float, float, float]:
        """Loss per token, tokens per second and updates per second; and begin again."""
        seconds = max(time.monotonic() - self._began, 1e-9)
        measured = self.loss_sum / self.tokens, self.tokens / seconds, self.updates / seconds
        self._restart()
        return measured

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Time in which nothing is trained does not count."""
        began = time.monotonic()
        yield
        self._began += time.monotonic() - began


def announce(run: Run, log: TrainingLog) -> None:
    model, device = run.model, run.processes.device
    log.write(
        "start",
        update=run.state.update,
        parameters=model.num_parameters(),
        vocab_size=model.config.vocab_size,
        train_pairs=len(run.data.train),
        valid_pairs=len(run.data.valid),
        device=str(device),
        processes=run.processes.world_size,
        torch=torch.__version__,
        configuration=run.state.configuration,
    )
    log.say(
        f"{model.num_parameters():,} parameters, {len(run.data.train):,} training pairs, "
        f"{model.config.vocab_size:,} vocabulary entries, on {device}"
        + (f" in each of {run.processes.world_size} processes" if run.processes.world_size > 1 else "")
    )
    for message in run.messages:
        log.say(message)


def log_window(run: Run, log: TrainingLog, window: Window, rate: float, norm: float) -> None:
    loss, tokens_per_second, updates_per_second = window.take()
    log.write(
        "train",
        update=run.state.update,
        epoch=run.batches.epoch,
        tokens_seen=run.state.tokens_seen,
        loss=loss,
        learning_rate=rate,
        gradient_norm=norm,
        tokens_per_second=tokens_per_second,
        seconds_left=(run.training.updates - run.state.update) / updates_per_second,
        elapsed=run.elapsed,
    )


def validate(run: Run, log: TrainingLog, watchers: Watchers, averaged: bool = False) -> tuple[float, float | None]:
    """Loss and BLEU on the validation set, and the translations of the samples, into the log."""
    training, processes = run.training, run.processes
    budget = max(training.batch_tokens // (training.accumulate * processes.world_size), run.data.valid.info.max_length)
    batches = evaluation_batches(run.data.valid, budget, training.layout)
    loss = validation_loss(run.model, batches, training.layout, run.precision, processes)
    score = None
    if watchers.bleu is not None and training.validate_bleu and processes.is_main:
        with _evaluating(run.model):
            score = watchers.bleu(run.model, run.data.tokenizer, run.data.valid_pairs(training.validate_bleu))
    log.write(
        "valid",
        update=run.state.update,
        epoch=run.batches.epoch,
        tokens_seen=run.state.tokens_seen,
        valid_loss=loss,
        perplexity=math.exp(min(loss, 700.0)),
        bleu=score,
        averaged=averaged,
        elapsed=run.elapsed,
    )
    if watchers.samples is not None and processes.is_main:
        with _evaluating(run.model):
            pairs = watchers.samples(run.model, run.data.tokenizer)
        shown = [{"source": source, "translation": translation} for source, translation in pairs]
        log.write("samples", update=run.state.update, samples=shown, averaged=averaged)
    return loss, score


@contextlib.contextmanager
def _evaluating(model: Transformer) -> Iterator[None]:
    model.eval()
    yield
    model.train()


def save(run: Run, log: TrainingLog, interim: bool) -> None:
    """Write a checkpoint; every process waits for it."""
    if run.processes.is_main:
        state, keep = run.state_to_save(interim), run.training.keep_checkpoints
        path = save_checkpoint(run.folder, run.model, run.optimizer, state, run.data.tokenizer, keep)
        log.write("checkpoint", update=run.state.update, path=str(path.relative_to(run.folder)), elapsed=run.elapsed)
    run.processes.wait()


def finish(run: Run, log: TrainingLog, watchers: Watchers) -> tuple[float, float | None]:
    """Average the last checkpoints, validate the average, and save it as the model of the run."""
    if run.processes.is_main:
        state, chosen = average_last(run.folder, run.training.average_last)
        run.model.load_state_dict(state)
        log.say(f"the model is the average of {', '.join(path.name for path in chosen)}")
    run.processes.same_start(list(run.model.state_dict().values()))
    loss, score = validate(run, log, watchers, averaged=True)
    if run.processes.is_main:
        save_model(run.folder / MODEL, run.model, run.data.tokenizer)
        log.say(f"saved in {run.folder / MODEL}")
    run.processes.wait()
    return loss, score
