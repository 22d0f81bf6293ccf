"""Logging hooks of the training loop: the lines of the log about the start, the speed and the checkpoints of a run."""

from __future__ import annotations

import contextlib
import datetime
import socket
import time
from collections.abc import Iterator

import torch

from annotated.data.store import StoreInfo, TokenStore
from annotated.runs.checkpoint_writer import Saved
from annotated.runs.hardware import describe_machine, matmul_benchmark
from annotated.runs.log import TrainingLog
from annotated.runs.readme import write_readme
from annotated.runs.setup import Run
from annotated.runs.validation_hooks import ValidationCallbacks
from annotated.speed.steps.compilations import Compilation


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
        left_out={name: _left_out(store.info) for name, store in _stores(run).items()},
        device=str(device),
        layout=run.layout,
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
    chosen = [f"layout {run.layout}"] if run.state.configuration["training"]["layout"] == "auto" else []
    for message in (*chosen, *_about_the_text(run), *run.messages):
        log.say(message)


def _stores(run: Run) -> dict[str, TokenStore]:
    return {"train": run.data.train, "valid": run.data.valid}


def _left_out(info: StoreInfo) -> dict[str, int]:
    return {"too_long": info.too_long, "empty": info.empty + info.blank}


def _about_the_text(run: Run) -> Iterator[str]:
    """What the text does not give or loses: entries of the vocabulary, pairs that are too long or empty."""
    data, size = run.state.configuration["data"], run.model.config.vocab_size
    if data["prepared"] is None and data["tokenizer"] is None and size < data["vocab_size"]:
        yield f"the text yields {size:,} vocabulary entries, fewer than the {data['vocab_size']:,} wanted"
    for name, store in _stores(run).items():
        info, left_out = store.info, _left_out(store.info)
        read = info.pairs + sum(left_out.values())
        named = {"train": "training", "valid": "validation"}[name]
        if left_out["too_long"]:
            yield (
                f"{left_out['too_long']:,} of {read:,} {named} pairs are left out: a side has more than "
                f"{info.max_length} tokens (--data.max-length)"
            )
        if left_out["empty"]:
            yield f"{left_out['empty']:,} of {read:,} {named} pairs are left out: a side is empty"


def log_throughput(run: Run, log: TrainingLog, meter: ThroughputMeter, rate: float, norm: float) -> None:
    """Loss, learning rate and speed since the last such line, into the log and onto the console."""
    loss, tokens_per_second, updates_per_second = meter.take()
    log.write(
        "train",
        update=run.state.update,
        epoch=run.epoch,
        tokens_seen=run.state.tokens_seen,
        loss=loss,
        learning_rate=rate,
        gradient_norm=norm,
        tokens_per_second=tokens_per_second,
        seconds_left=(run.training.updates - run.state.update) / updates_per_second,
        elapsed=run.elapsed,
    )


def log_checkpoint(run: Run, log: TrainingLog, saved: Saved) -> None:
    """A checkpoint that is on the disk, into the log."""
    kind, path = "best" if saved.is_best else "checkpoint", str(saved.path.relative_to(run.folder))
    log.write(kind, update=saved.update, path=path, elapsed=run.elapsed)


def log_compilation(run: Run, log: TrainingLog, compilation: Compilation) -> None:
    """A graph that was compiled or recorded, while the next update waited for it, into the log."""
    log.write("compilation", update=run.state.update, graph=compilation.graph, seconds=compilation.seconds)
