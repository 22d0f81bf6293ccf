"""Training loop of a run that can be stopped and resumed, in the order in which things happen."""

from __future__ import annotations

import contextlib
import functools
import gc
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from annotated.config import DataConfig, ModelConfig, TrainingConfig
from annotated.runs.dashboards import Target, check_targets
from annotated.runs.errors import FirstUpdateTooLarge, translate_errors
from annotated.runs.hardware import keep_freed_memory
from annotated.runs.lock import run_lock
from annotated.runs.mirror import take_back
from annotated.runs.observer import MODEL, RunObserver
from annotated.runs.own_folder import require_own_folder
from annotated.runs.preflight.memory import LEAST_TOKENS, device_tokens
from annotated.runs.preflight.start import check_start, share_compile_threads
from annotated.runs.random_states import seed_dropout
from annotated.runs.setup import Run, check_recorded, start_run
from annotated.runs.shards import ShardStream
from annotated.runs.signals import MAX_SECONDS, PATIENCE, GracefulStop, stop_bypassed_agent
from annotated.runs.validation_callbacks import BleuFunction, HeadsFunction, SamplesFunction, ValidationCallbacks
from annotated.speed.kernels.cudnn import without_cudnn_attention
from annotated.speed.machine.distributed import Processes, process_group
from annotated.training.schedule import learning_rate
from annotated.training.update import update

_HUNG_AFTER = 10.0
"""Seconds without an answer of the GPU after which a process that is asked to stop does not wait for it any longer."""


@dataclass(frozen=True)
class TrainingResult:
    """What `train` leaves behind."""

    folder: Path
    """Of the run: checkpoints, log, tokenizer, encoded data."""
    update: int
    """Updates made."""
    finished: bool
    """False if a signal or `max_seconds` ended the run early; the same call goes on with it."""
    stopped_by: str | None
    """What ended it before its last update: the name of a signal, if this process got it, else "a signal to another
    process"; 'max_seconds'; or 'patience', which finishes the run. None if all updates were made."""
    tokens_seen: int
    """Target tokens trained on."""
    model_folder: Path | None
    """The averaged model, once the run is finished; or, with `keep_best`, its best checkpoint if that is better."""
    valid_loss: float | None
    """Of that model: nats per target token, not smoothed."""
    bleu: float | None
    """Of that model, if BLEU was asked for."""
    asked_of_processes: bool = False
    """True if a process of torchrun's got the signal, and not its agent, whom the caller should then tell with
    `annotated.runs.signals.end_agent`, as the last thing that it does."""


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
    log_to: Sequence[str] = (),
    mirror_to: str | Path | None = None,
    processes: Processes | None = None,
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
        Called at each validation for translations to log; it changes nothing in the training.
        `annotated.runs.validation_callbacks.sample_translations` makes one.
    heads
        Called at each validation for where the heads look; goes into files of the folder's `heads/`, and changes
        nothing either. `annotated.runs.validation_callbacks.sample_heads` makes one.
    log_to
        Dashboards that get the log too: `tensorboard`, `wandb`, `mlflow`, each with a place after a colon if not the
        usual one. None of them can stop the run, or delay it by more than some seconds at its end.
    mirror_to
        Folder on another disk that gets each checkpoint and the log, and gives them back to a `folder` that has been
        lost: see `annotated.runs.mirror`. It cannot stop the run.
    processes
        Who trains together, from `process_group`; None to join those that torchrun started.

    Returns
    -------
    TrainingResult
        Also when a signal ended the run (SIGTERM, SIGINT, SIGHUP), or `training.max_seconds`, or the end of whoever
        read its console; then a checkpoint was saved.

    Raises
    ------
    ValueError
        If there is no such device, or a large model would be trained on a CPU though a GPU is meant, or torch has no
        kernels for the GPU, or `torch.compile` lacks a tool there, or the path of the folder is ''; or there is no
        such dashboard.
    ImportError
        If the package of a dashboard is not installed.
    NonFiniteLoss
        If the loss or the gradient is infinite or NaN; the message names the sentences.
    CheckpointError
        If the folder holds a run with another configuration, or no usable checkpoint, or another process trains
        there; or the mirror is that of another run.
    FileExistsError
        If the folder holds files that no run wrote, under names that a run writes; or that of TensorBoard other events,
        or the mirror what no mirror has.
    FileNotFoundError
        If the folder around the mirror is missing: its disk is not there.
    DiskFull
        If a checkpoint cannot be saved; the ones before are untouched.
    """
    check_start(model_config, training)
    folder = require_own_folder(folder)
    dashboards = check_targets(log_to, folder)
    share_compile_threads()
    join = process_group(training.device, training.peer_timeout)
    group = join if processes is None else contextlib.nullcontext(processes)
    with (
        translate_errors(folder),
        group as processes,
        _alone(processes, folder),
        without_cudnn_attention(processes.device),
    ):
        if processes.device.type == "cpu":
            keep_freed_memory()
        callbacks = ValidationCallbacks(bleu, samples, heads)
        taken: list[str] = []
        if mirror_to is not None:
            if processes.is_main:

                def check(recorded: Mapping[str, Any]) -> None:
                    check_recorded(recorded, model_config, training, data, Path(mirror_to))

                taken = take_back(mirror_to, folder, resume, check)
            processes.wait_for_main("mirror")
        cut: int | None = None
        while True:
            try:
                run = start_run(model_config, training, data, folder, processes, resume)
                if cut is not None:
                    run.messages.append(f"memory is full: micro_batch_tokens {cut:,}, which makes the same updates")
                run.messages[:0] = taken
                return _trained(run, callbacks, quiet, dashboards, mirror_to)
            except FirstUpdateTooLarge as error:
                cut, run = error.tokens, None
            training = training.replace(micro_batch_tokens=cut)
            gc.collect()  # the model and its graphs, before there is another
            torch.cuda.empty_cache()


def _trained(
    run: Run,
    callbacks: ValidationCallbacks,
    quiet: bool,
    dashboards: Sequence[Target],
    mirror: str | Path | None,
) -> TrainingResult:
    """The updates of a run that is set up, and what comes before and after them."""
    processes = run.processes
    waits_for_others = processes.world_size > 1 and processes.device.type == "cuda"
    stop = GracefulStop(hung_after=_HUNG_AFTER if waits_for_others else None)
    observer = RunObserver(run, stop, callbacks, quiet, dashboards, mirror)
    with observer.log, observer.mirror:
        observer.run_started()
        longest = run.data.train.info.max_length
        # Compiled only if the configuration says so. A context: a compiler that fails does so in the first update.
        with stop, observer.writer, run.step.compiled(longest, observer.compiled), _shards(run) as shards:
            stopped_by = make_updates(run, shards, observer)
        processes.barrier()  # until the last checkpoint is on the disk
        by_signal = stopped_by not in (None, MAX_SECONDS, PATIENCE)
        bypassed_agent = by_signal and stop_bypassed_agent(processes, stop)
        valid_loss, score = observer.run_ended(stopped_by)
    finished = stopped_by in (None, PATIENCE)
    return TrainingResult(
        folder=run.folder,
        update=run.state.update,
        finished=finished,
        stopped_by=stopped_by,
        tokens_seen=run.state.tokens_seen,
        model_folder=run.folder / MODEL if finished else None,
        valid_loss=valid_loss,
        bleu=score,
        asked_of_processes=bypassed_agent,
    )


def _alone(processes: Processes, folder: Path) -> contextlib.AbstractContextManager[None]:
    return run_lock(folder) if processes.is_main else contextlib.nullcontext()


def _shards(run: Run) -> ShardStream:
    pieces = run.training.micro_batches(run.processes.world_size)
    return ShardStream(run.batches, run.processes, pieces, run.step.prepare)


@contextlib.contextmanager
def _cut_if_too_large(run: Run) -> Iterator[None]:
    """Ask for half of the tokens at a time where memory runs out, in this process or in another one.

    All processes leave this block together. None of them may be on its way into an exchange that others never reach.
    """
    full = None
    try:
        yield
    except torch.cuda.OutOfMemoryError as error:
        traceback.clear_frames(error.__traceback__)  # they hold the activations, and the processes have yet to agree
        full = error
    count = run.processes.world_size
    if not run.processes.all_reduce_numbers([float(full is not None)])[0]:
        return
    tokens = device_tokens(run.training, count) // 2
    if tokens < LEAST_TOKENS:
        raise full or torch.cuda.OutOfMemoryError("CUDA out of memory in another process of this training")
    raise FirstUpdateTooLarge(tokens) from full


def make_updates(run: Run, shards: ShardStream, observer: RunObserver) -> str | None:
    """The loop; returns what ended it before its last update, as in `TrainingResult.stopped_by`."""
    training, processes, model, state = run.training, run.processes, run.model, run.state
    model.train()
    if stopped_by := observer.updates_started():
        return stopped_by
    begun_at = state.update
    with _cut_if_too_large(run):
        run.step.record(run.data.train, shards.planned())
    while state.update < training.updates:
        number = state.update + 1
        rate = learning_rate(number, model.config.d_model, training.warmup, training.learning_rate_scale)
        if processes.rank:  # the random states of rank 0 are in the checkpoint, those of no other process
            seed_dropout(training.seed, processes.rank, number, processes.device)
        shard, run.position = shards.next(last=number == training.updates)
        together = functools.partial(_cut_if_too_large, run) if state.update == begun_at else contextlib.nullcontext
        run.step.together = together
        with together():
            made = update(run.step, shard.batches, shard.target_tokens, rate, observer.before_step)
        state.update, state.tokens_seen = number, state.tokens_seen + made.tokens
        if stopped_by := observer.updated(made.rate):
            return stopped_by
    return None
