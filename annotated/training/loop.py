"""The training loop, in the order in which things happen.

Paper: section 5
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch

from annotated.config import DataConfig, ModelConfig, TrainingConfig
from annotated.data.batching import Batch
from annotated.training.allocator import keep_freed_memory
from annotated.training.distributed import Processes, process_group
from annotated.training.events import (
    MODEL,
    BleuFunction,
    SamplesFunction,
    Watchers,
    Window,
    announce,
    finish,
    log_window,
    save,
    validate,
)
from annotated.training.lock import only_one_here
from annotated.training.loss import batch_loss
from annotated.training.optimizer import clip_gradients, gradient_norm
from annotated.training.progress import TrainingLog
from annotated.training.schedule import learning_rate, set_learning_rate
from annotated.training.setup import Run, start_run
from annotated.training.stopping import StopRequest, non_finite


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
) -> TrainingResult:
    """Train a Transformer; called again on the same folder, go on where the last call stopped.

    In one process on a CPU (with the same number of threads) the result is bit for bit that of an
    uninterrupted run. Under `torchrun` every process calls this; all must see the folder.

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
        Called at each validation for translations to log (`annotated.translator.sample_translations` makes one); it
        changes nothing in the training.

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
    DiskFullError
        If a checkpoint cannot be saved; the ones before are untouched.

    Paper: section 5
    """
    folder = Path(folder)
    with process_group(training.device) as processes, _alone(processes, folder):
        if processes.device.type == "cpu":
            keep_freed_memory()
        watchers = Watchers(bleu, samples)
        run = start_run(model_config, training, data, folder, processes, resume)
        with TrainingLog(folder if processes.is_main else None, training.updates, quiet) as log:
            announce(run, log)
            with StopRequest() as stop, _compiled(run):
                stopped_by = _make_updates(run, log, stop, watchers)
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
    )


def _alone(processes: Processes, folder: Path) -> contextlib.AbstractContextManager[None]:
    return only_one_here(folder) if processes.is_main else contextlib.nullcontext()


def _make_updates(run: Run, log: TrainingLog, stop: StopRequest, watchers: Watchers) -> str | None:
    """The loop; returns the name of the signal that ended it early, or None."""
    training, processes, model, optimizer = run.training, run.processes, run.model, run.optimizer
    parameters = list(model.parameters())
    window = Window()
    model.train()
    while run.state.update < training.updates:
        update = run.state.update + 1
        rate = learning_rate(update, model.config.d_model, training.warmup, training.learning_rate_scale)
        set_learning_rate(optimizer, rate)

        # The loss is a sum over target tokens, divided once by their number in all micro-batches and processes.
        batches = [next(run.batches) for _ in range(training.accumulate)]
        (tokens,) = processes.sum([sum(batch.target_tokens for batch in batches)])
        losses = []
        for batch in batches:
            with run.precision.autocast():
                loss_sum, _ = batch_loss(model, batch.to(processes.device), training.label_smoothing, training.layout)
            run.precision.scale(loss_sum / tokens).backward()
            losses.append(loss_sum.detach())
        processes.sum_gradients(model)

        run.precision.unscale(optimizer)
        norm = gradient_norm(parameters)
        loss, stops = processes.sum([float(torch.stack(losses).sum()), stop.name is not None])
        _require_finite(run, batches, losses, loss, float(norm))
        if training.clip_norm is not None:
            clip_gradients(parameters, norm, training.clip_norm)
        run.precision.step(optimizer)
        optimizer.zero_grad(set_to_none=True)

        run.state.update, run.state.tokens_seen = update, run.state.tokens_seen + int(tokens)
        window.add(loss, int(tokens))
        log.advance(update)
        last = update == training.updates
        regular = update % training.checkpoint_every == 0 or last
        if regular or stops or update % training.log_every == 0:
            log_window(run, log, window, rate, float(norm))
        with window.paused():
            if update % training.validate_every == 0:
                validate(run, log, watchers)
            if regular or stops:
                save(run, log, interim=not regular)
        if stops and not last:
            name = stop.name or "a signal to another process"
            log.say(f"stopped by {name} after update {update}, which is saved; the same command goes on from here")
            return name
    return None


def _require_finite(run: Run, batches: list[Batch], losses: list[torch.Tensor], loss: float, norm: float) -> None:
    if math.isfinite(loss) and (math.isfinite(norm) or run.precision.may_overflow):
        return
    each = [float(one) for one in losses]
    update, epoch = run.state.update + 1, run.batches.epoch
    raise non_finite(update, epoch, batches, each, norm, run.folder, run.processes.rank)


@contextlib.contextmanager
def _compiled(run: Run) -> Iterator[None]:
    """The model's training path through torch.compile, if the configuration says so; undone at the end."""
    if not run.training.compile:
        yield
        return
    path = "forward_packed" if run.training.layout == "packed" else "forward"
    original = getattr(run.model, path)
    setattr(run.model, path, torch.compile(original, dynamic=True))
    try:
        yield
    except torch._dynamo.exc.TorchDynamoException as error:
        raise RuntimeError(
            f"torch.compile failed ({str(error).splitlines()[0]}). It needs a C++ compiler on a CPU and Triton on a "
            "GPU; train without it: compile=False gives the same model"
        ) from error
    finally:
        delattr(run.model, path)
