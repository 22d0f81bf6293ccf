"""The training loop, in the order in which things happen.

Paper: section 5
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

from annotated.config import DataConfig, ModelConfig, TrainingConfig
from annotated.data.batching import Batch
from annotated.runs.allocator import keep_freed_memory
from annotated.runs.checkpoint_writer import CheckpointWriter
from annotated.runs.errors import explained
from annotated.runs.lock import run_lock
from annotated.runs.log import TrainingLog
from annotated.runs.logging_hooks import (
    MODEL,
    BleuFunction,
    HeadsFunction,
    SamplesFunction,
    Watchers,
    announce,
    finish,
    log_window,
    note_saved,
    save,
    validate,
)
from annotated.runs.random_states import seed_dropout
from annotated.runs.setup import Run, start_run
from annotated.runs.signals import StopRequest, asked_of_processes
from annotated.runs.step_metrics import Outcome, Outcomes
from annotated.training.compiled import MicroStep, compiled
from annotated.training.distributed import Processes, process_group
from annotated.training.loss import batch_loss
from annotated.training.optimizer import clip_gradients, gradient_norm
from annotated.training.schedule import learning_rate, set_learning_rate


@dataclass(frozen=True)
class TrainingResult:
    """What `train` leaves behind."""

    folder: Path
    """Of the run: checkpoints, log, tokenizer, encoded data."""
    update: int
    """Updates made."""
    finished: bool
    """False if a signal ended the run early; the same call goes on with it."""
    stopped_by: str | None
    """Name of that signal."""
    tokens_seen: int
    """Target tokens trained on."""
    model_folder: Path | None
    """The averaged model, once the run is finished."""
    valid_loss: float | None
    """Of the averaged model: nats per target token, not smoothed."""
    bleu: float | None
    """Of the averaged model, if BLEU was asked for."""
    asked_of_processes: bool = False
    """True if a process of torchrun's got the signal, and not its agent, which should be told (`end_agent`)."""


def train(
    model_config: ModelConfig,
    training: TrainingConfig,
    data: DataConfig,
    folder: str | Path,
    *,
    resume: bool = True,
    quiet: bool = False,
    bleu: BleuFunction | None = None,
    samples: SamplesFunction | None = None,
    heads: HeadsFunction | None = None,
) -> TrainingResult:
    """Train a Transformer; called again on the same folder, go on where the last call stopped.

    On a CPU, with the same number of processes and threads, the result is bit for bit that of an uninterrupted run.
    Under `torchrun` every process calls this; all must see the folder.

    Parameters
    ----------
    model_config
        The model's shape; its `vocab_size` is replaced by that of the tokenizer.
    training, data
        How to train, and on what.
    folder
        Gets `tokenizer.json`, `data/` (the encoded corpus), `checkpoints/`, `log.jsonl` and, at the end, `model/`:
        the average of the last checkpoints.
    resume
        False refuses a folder that holds checkpoints.
    quiet
        No output on the console; the log is written all the same.
    bleu
        Called at each validation with the first `training.validate_bleu` pairs of the validation set; None skips it.
    samples
        Called at each validation for translations to log (`validation_callbacks.sample_translations` makes one); it
        changes nothing in the training.
    heads
        Called at each validation for where the heads look (`validation_callbacks.sample_heads` makes one); goes into
        files of the folder's `heads/`, and changes nothing either.

    Returns
    -------
    TrainingResult
        Also when SIGTERM or SIGINT ended the run; then a checkpoint was saved.

    Raises
    ------
    NonFiniteLoss
        If the loss or the gradient is infinite or NaN; the message names the sentences.
    CheckpointError
        If the folder holds a run with another configuration, or no usable checkpoint, or another process trains there.
    DiskFull
        If a checkpoint cannot be saved; the ones before are untouched.

    Paper: section 5
    """
    folder = Path(folder)
    group = process_group(training.device, training.peer_timeout)
    with explained(folder), group as processes, _alone(processes, folder):
        if processes.device.type == "cpu":
            keep_freed_memory()
        watchers = Watchers(bleu, samples, heads)
        run = start_run(model_config, training, data, folder, processes, resume)
        with TrainingLog(folder if processes.is_main else None, training.updates, quiet) as log:
            announce(run, log, watchers)
            noted = functools.partial(note_saved, run, log)
            writer = CheckpointWriter(folder, training.keep_checkpoints, training.keep_best, noted)
            with StopRequest() as stop, writer, compiled(run, micro_step) as step:
                stopped_by = _make_updates(run, step, log, stop, watchers, writer)
            processes.wait()  # until the last checkpoint is on the disk
            asked = stopped_by is not None and asked_of_processes(processes, stop)
            if stopped_by:
                where = f"stopped by {stopped_by} after update {run.state.update}, which is saved"
                log.say(f"{where}; the same command goes on from here")
            valid_loss, score = (None, None) if stopped_by else finish(run, log, watchers)
            log.write("end", update=run.state.update, finished=stopped_by is None, stopped_by=stopped_by)
    return TrainingResult(
        folder=folder,
        update=run.state.update,
        finished=stopped_by is None,
        stopped_by=stopped_by,
        tokens_seen=run.state.tokens_seen,
        model_folder=None if stopped_by else folder / MODEL,
        valid_loss=valid_loss,
        bleu=score,
        asked_of_processes=asked,
    )


def _alone(processes: Processes, folder: Path) -> contextlib.AbstractContextManager[None]:
    return run_lock(folder) if processes.is_main else contextlib.nullcontext()


def micro_step(
    run: Run, batch: Batch, tokens: float, forward: Callable[..., torch.Tensor] | None = None
) -> torch.Tensor:
    """Add the gradient of one micro-batch's loss sum over `tokens`, those of the whole update; return the loss sum.

    `forward` is for `batch_loss`.
    """
    with run.precision.autocast():
        batch, smoothing = batch.to(run.processes.device), run.training.label_smoothing
        loss_sum, _ = batch_loss(run.model, batch, smoothing, run.training.layout, forward)
    run.precision.scale(loss_sum / tokens).backward()
    return loss_sum.detach()


def _make_updates(
    run: Run, step: MicroStep, log: TrainingLog, stop: StopRequest, watchers: Watchers, writer: CheckpointWriter
) -> str | None:
    """The loop; returns the name of the signal that ended it early, or None."""
    training, processes, model, optimizer = run.training, run.processes, run.model, run.optimizer
    parameters = list(model.parameters())
    outcomes = Outcomes(run)
    model.train()
    while run.state.update < training.updates:
        update = run.state.update + 1
        rate = learning_rate(update, model.config.d_model, training.warmup, training.learning_rate_scale)
        set_learning_rate(optimizer, rate)
        if processes.rank:
            seed_dropout(training.seed, processes.rank, update, processes.device)

        # The loss is a sum over target tokens, divided once by their number in all micro-batches and processes.
        batches, tokens = run.share()
        losses = [step(run, batch, tokens) for batch in batches]
        processes.sum_gradients(model)

        run.precision.unscale(optimizer)
        norm = gradient_norm(parameters)
        outcomes.add(Outcome.of(run, batches, losses, norm, tokens, stop.name is not None))
        if training.clip_norm is not None:
            clip_gradients(parameters, norm, training.clip_norm)
        run.precision.step(optimizer, outcomes.unread)
        optimizer.zero_grad(set_to_none=True)

        run.state.update, run.state.tokens_seen = update, run.state.tokens_seen + tokens
        log.advance(update)
        last = update == training.updates
        regular = update % training.checkpoint_every == 0 or last
        logged, validated = update % training.log_every == 0, update % training.validate_every == 0
        if regular or logged or validated or outcomes.stops:
            outcomes.settle()
        stops = outcomes.stops
        if regular or stops or logged:
            log_window(run, log, outcomes.window, rate, outcomes.norm)
        writer.collect()
        with outcomes.window.paused():
            if validated:
                validate(run, log, watchers)
            save(run, writer, regular=regular, interim=stops)
        if stops and not last:
            return stop.name or "a signal to another process"
    return None
