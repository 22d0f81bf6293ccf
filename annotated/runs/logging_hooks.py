"""Logging hooks of the training loop: lines of the log, validation, checkpoints, and the model at the end.

Paper: section 6.1 (averaging), 6.2 (the development set)
"""

from __future__ import annotations

import contextlib
import datetime
import math
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import torch

from annotated.data.batching import evaluation_batches
from annotated.data.tokenizer import Tokenizer
from annotated.model import Transformer
from annotated.runs.attention_snapshots import SentenceHeads, write_heads
from annotated.runs.averaging import average_last
from annotated.runs.checkpoint import take_snapshot
from annotated.runs.checkpoint_writer import CheckpointWriter, Saved
from annotated.runs.hardware import describe_machine, matmul_benchmark
from annotated.runs.log import TrainingLog
from annotated.runs.readme import write_readme
from annotated.runs.setup import Run
from annotated.saving import save_pretrained
from annotated.training.validation import validation_loss

MODEL = "model"

BleuFunction = Callable[[Transformer, Tokenizer, list[tuple[str, str]]], float]
"""From a model, its tokenizer and pairs (source, reference) to BLEU, in percent."""
SamplesFunction = Callable[[Transformer, Tokenizer], Sequence[tuple[str, str]]]
"""From a model and its tokenizer to pairs (source, translation) for the log; it leaves random numbers alone."""
HeadsFunction = Callable[[Transformer, Tokenizer], Sequence[SentenceHeads]]
"""From a model and its tokenizer to where the heads look in a few sentences; it leaves random numbers alone."""


class ValidationCallbacks(NamedTuple):
    """Functions that are called with the model at each validation; none of them changes the training."""

    bleu: BleuFunction | None = None
    samples: SamplesFunction | None = None
    heads: HeadsFunction | None = None


class ThroughputMeter:
    """Loss and speed since the last line of the log."""

    def __init__(self) -> None:
        self._restart()

    def _restart(self) -> None:
        self.loss_sum, self.tokens, self.updates, self._began = 0.0, 0, 0, time.monotonic()

    def add(self, loss_sum: float, tokens: int) -> None:
        """Count one update."""
        self.loss_sum, self.tokens, self.updates = self.loss_sum + loss_sum, self.tokens + tokens, self.updates + 1

    def take(self) -> tuple[float, float, float]:
        """Loss in nats per token, tokens per second and updates per second; and begin again."""
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


def log_start(run: Run, log: TrainingLog, callbacks: ValidationCallbacks) -> None:
    """The start, into the log, the folder's README.md and the console."""
    from annotated import __version__  # the package imports this module

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
        train_tokens=[len(run.data.train.source_tokens), len(run.data.train.target_tokens)],
        machine=describe_machine(),
        host=socket.gethostname(),
        time=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        library=f"annotated {__version__}",
        peak_flops=matmul_benchmark(device, run.training.precision) if run.processes.is_main else None,
        configuration=run.state.configuration,
    )
    if run.processes.is_main:
        write_readme(run, getattr(callbacks.samples, "sentences", ()))
    log.say(
        f"{model.num_parameters():,} parameters, {len(run.data.train):,} training pairs, "
        f"{model.config.vocab_size:,} vocabulary entries, on {device}"
        + (f" in each of {run.processes.world_size} processes" if run.processes.world_size > 1 else "")
    )
    for message in run.messages:
        log.say(message)


def log_throughput(run: Run, log: TrainingLog, meter: ThroughputMeter, rate: float, norm: float) -> None:
    """Loss, learning rate and speed since the last such line, into the log and onto the console."""
    loss, tokens_per_second, updates_per_second = meter.take()
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


def validate(
    run: Run, log: TrainingLog, callbacks: ValidationCallbacks, averaged: bool = False
) -> tuple[float, float | None]:
    """Loss and BLEU on the validation set, and the translations of the samples, into the log."""
    training, processes = run.training, run.processes
    pieces = training.micro_batches(processes.world_size) * processes.world_size
    budget = max(training.batch_tokens // pieces, run.data.valid.info.max_length)
    batches = evaluation_batches(run.data.valid, budget, training.layout)
    loss = validation_loss(run.model, batches, training.layout, run.precision, processes)
    score = None
    if callbacks.bleu is not None and training.validate_bleu and processes.is_main:
        with _evaluating(run.model):
            score = callbacks.bleu(run.model, run.data.tokenizer, run.data.valid_pairs(training.validate_bleu))
    if not averaged:
        run.state.valid_loss = loss
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
    if callbacks.samples is not None and processes.is_main:
        with _evaluating(run.model):
            pairs = callbacks.samples(run.model, run.data.tokenizer)
        shown = [{"source": source, "translation": translation} for source, translation in pairs]
        log.write("samples", update=run.state.update, samples=shown, averaged=averaged)
    if callbacks.heads is not None and processes.is_main and not averaged:
        _keep_heads(run, log, callbacks.heads)
    return loss, score


def _keep_heads(run: Run, log: TrainingLog, heads: HeadsFunction) -> None:
    with _evaluating(run.model):
        sentences = heads(run.model, run.data.tokenizer)
    try:
        path = write_heads(run.folder, run.state.update, sentences)
    except OSError as error:  # nothing that only watches may end a run
        log.say(f"where the heads look after update {run.state.update} could not be kept: {error}")
        return
    log.write("heads", update=run.state.update, path=str(path.relative_to(run.folder)), sentences=len(sentences))


@contextlib.contextmanager
def _evaluating(model: Transformer) -> Iterator[None]:
    model.eval()
    yield
    model.train()


def save(run: Run, writer: CheckpointWriter, *, regular: bool, interim: bool) -> None:
    """Copy what a checkpoint holds, and let it be written; training goes on meanwhile.

    Parameters
    ----------
    regular
        The update has its turn.
    interim
        A signal came.
    """
    if not run.processes.is_main:
        return
    validated = run.state.update % run.training.validate_every == 0
    best = validated and run.state.valid_loss is not None and writer.is_among_best(run.state.valid_loss)
    if regular or interim or best:
        snapshot = take_snapshot(run.model, run.optimizer, run.state_to_save(not regular), run.data.tokenizer)
        writer.save(snapshot, regular=regular or interim, best=best)


def log_checkpoint(run: Run, log: TrainingLog, saved: Saved) -> None:
    """A checkpoint that is on the disk, into the log."""
    kind, path = "best" if saved.is_best else "checkpoint", str(saved.path.relative_to(run.folder))
    log.write(kind, update=saved.update, path=path, elapsed=run.elapsed)


def finish(run: Run, log: TrainingLog, callbacks: ValidationCallbacks) -> tuple[float, float | None]:
    """Average the last checkpoints, validate the average, and save it as the model of the run."""
    if run.processes.is_main:
        state, chosen = average_last(run.folder, run.training.average_last)
        run.model.load_state_dict(state)
        log.say(f"the model is the average of {', '.join(path.name for path in chosen)}")
    run.processes.broadcast(list(run.model.state_dict().values()))
    loss, score = validate(run, log, callbacks, averaged=True)
    if run.processes.is_main:
        save_pretrained(run.folder / MODEL, run.model, run.data.tokenizer)
        log.say(f"saved in {run.folder / MODEL}")
    run.processes.barrier()
    return loss, score
