"""Observer of a training run: log, validations and checkpoints, made as the loop says what happens."""

from __future__ import annotations

import datetime
import math
import socket
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from annotated.data.batching import evaluation_batches
from annotated.runs.checkpoint import take_snapshot
from annotated.runs.checkpoint_writer import CheckpointWriter, Saved
from annotated.runs.dashboards import Dashboards, Target
from annotated.runs.divergence import ValidationHistory
from annotated.runs.hardware import describe_machine, matmul_benchmark
from annotated.runs.last_checkpoints import ChoosesWeights, average_last, final_weights
from annotated.runs.log import TrainingLog
from annotated.runs.mirror import RunMirror
from annotated.runs.pace import Pace
from annotated.runs.readme import write_readme
from annotated.runs.setup import Run
from annotated.runs.signals import MAX_SECONDS, PATIENCE, GracefulStop
from annotated.runs.update_metrics import DeferredMetrics
from annotated.runs.validation_callbacks import HeadsFunction, ValidationCallbacks, write_heads
from annotated.saving import save_pretrained
from annotated.speed.steps.compilations import Compilation
from annotated.training.update import UpdateMetrics
from annotated.training.validation import validation_loss

MODEL = "model"
"""Folder of the averaged model, in that of the run."""


class RunObserver:
    """Logs, validates and saves a run; in the order of its methods, which the loop calls.

    Parameters
    ----------
    run
        That begins or goes on now.
    stop
        Knows whether this process was asked to stop.
    callbacks
        What is computed with the model at each validation.
    quiet
        No output on the console.
    dashboards
        That get the log too, from the main process.
    mirror
        Folder that gets the checkpoints too, from the main process.
    """

    def __init__(
        self,
        run: Run,
        stop: GracefulStop,
        callbacks: ValidationCallbacks,
        quiet: bool = False,
        dashboards: Sequence[Target] = (),
        mirror: str | Path | None = None,
    ) -> None:
        self.run, self.stop, self.callbacks = run, stop, callbacks
        self._targets = dashboards
        self.log = TrainingLog(
            run.folder if run.processes.is_main else None,
            run.training.updates,
            quiet,
            dashboards=Dashboards(dashboards, run.folder),
        )
        """A context that is open from `run_started` to `run_ended`."""
        self.writer = CheckpointWriter(run.folder, run.training.keep_checkpoints, run.training.keep_best, self._saved)
        """A context round the updates; leaving it waits for the last checkpoint."""
        self.mirror = RunMirror(run.folder, mirror if run.processes.is_main else None)
        """A context as `log` is; leaving it waits for the last copy."""

    def run_started(self) -> None:
        """The start, into the log, the folder's README.md and the console."""
        run, parameters = self.run, self.run.model.num_parameters()
        self.log.write("start", **self._start_record())
        self.mirror.update()
        if run.processes.is_main:
            samples, log_to = getattr(self.callbacks.samples, "sentences", ()), [one.word for one in self._targets]
            write_readme(run, samples, log_to, self.mirror.mirror)
        self.log.say(
            f"{parameters:,} parameters, {len(run.data.train):,} training pairs, "
            f"{run.model.config.vocab_size:,} vocabulary entries, on {run.processes.device}"
            + (f" in each of {run.processes.world_size} processes" if run.processes.world_size > 1 else "")
        )
        if run.state.configuration["training"]["layout"] == "auto":
            self.log.say(f"layout {run.layout}")
        for message in (*run.data.notices(run.state.configuration["data"]), *run.messages):
            self.log.say(message)

    def _start_record(self) -> dict[str, Any]:
        from annotated import __version__  # the package imports this module

        run, data, device = self.run, self.run.data, self.run.processes.device
        return {
            "update": run.state.update,
            "parameters": run.model.num_parameters(),
            "vocab_size": run.model.config.vocab_size,
            "train_pairs": len(data.train),
            "valid_pairs": len(data.valid),
            "left_out": data.left_out(),
            "device": str(device),
            "layout": run.layout,
            "processes": run.processes.world_size,
            "torch": torch.__version__,
            "train_tokens": [len(data.train.source_tokens), len(data.train.target_tokens)],
            "machine": describe_machine(),
            "host": socket.gethostname(),
            "time": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            "library": f"annotated {__version__}",
            "peak_flops": matmul_benchmark(device, run.training.precision) if run.processes.is_main else None,
            "configuration": run.state.configuration,
        }

    def compiled(self, compilation: Compilation) -> None:
        """A graph was compiled or recorded, while the next update waited for it."""
        graph, seconds = compilation.graph, compilation.seconds
        self.log.write("compilation", update=self.run.state.update, graph=graph, seconds=seconds)

    def updates_started(self) -> str | None:
        """The clocks start: all until now is not training.

        Returns what ends the run now, as `updated` does: an earlier start may have run out of patience.
        """
        run = self.run
        self._began = time.monotonic()
        self.metrics = DeferredMetrics(run.step.optimizer, run.step.precision, run.processes, run.folder)
        self.history = ValidationHistory.of(run.folder if run.processes.is_main else None)
        self.writer.sound_until = self.history.sound_until
        self.pace = Pace(run, self.log)
        return PATIENCE if run.state.update < run.training.updates and self._out_of_patience() else None

    def before_step(self, metrics: UpdateMetrics) -> Tensor | None:
        """The next update has its gradients: as `DeferredMetrics.add`."""
        if self.log.reader_left:
            self.stop.ask("SIGPIPE")
        limit = self.run.training.max_seconds
        stops = self.stop.name is not None or (limit is not None and time.monotonic() - self._began >= limit)
        return self.metrics.add(metrics, self.run.state.update + 1, self.run.epoch, stops)

    def updated(self, rate: float) -> str | None:
        """An update was made with this learning rate: log, validate and save what is due.

        Returns what ends the run now, before its last update, as in `TrainingResult.stopped_by`; None to go on.
        """
        training, number = self.run.training, self.run.state.update
        self.log.advance(number)
        last = number == training.updates
        due = number % training.checkpoint_every == 0 or last
        validated = number % training.validate_every == 0
        # With `patience` a validation may be the end, of which the log has a line, as of the last update.
        logged = number % training.log_every == 0 or (validated and training.patience is not None)
        if due or logged or validated or self.metrics.stops:
            self.metrics.flush()
        stopping = self.metrics.stops
        if due or stopping or logged:
            self._log_throughput(rate)
        self.pace.after(number, self.metrics.meter.loss, due or stopping or logged)
        self.writer.collect()
        self.mirror.collect()
        with self.metrics.meter.paused():
            out_of_patience = validated and self._validated()
            self._save(due or out_of_patience, stopping, validated)
        if last or not (stopping or out_of_patience):
            return None
        return PATIENCE if out_of_patience else self._who_stopped()

    def _validated(self) -> bool:
        """Validate after an update, and say what is wrong; returns whether the run is out of patience."""
        number, following = self.run.state.update, self.run.state.update + self.run.training.validate_every
        self.history.losses[number], _ = self._validate()
        over = self._out_of_patience()
        goes_on = not over and following <= self.run.training.updates
        self.history.add(number, self.history.losses[number], self.log.say, following if goes_on else None)
        self.writer.sound_until = self.history.sound_until
        return over

    def _out_of_patience(self) -> bool:
        """Whether the main process, which alone knows the log of earlier starts, has counted so many validations."""
        patience = self.run.training.patience
        if patience is None:
            return False
        return self.run.processes.broadcast_object(self.history.since_best >= patience)

    def _who_stopped(self) -> str:
        """What asked for the stop that the processes have agreed on; a signal counts for more than the clock."""
        signals = self.run.processes.all_reduce_numbers([float(self.stop.name is not None)])
        if not signals[0] and self.run.training.max_seconds is not None:
            return MAX_SECONDS
        return self.stop.name or "a signal to another process"

    def run_ended(self, stopped_by: str | None) -> tuple[float | None, float | None]:
        """The end: the averaged model, unless the run was stopped; its loss and BLEU on the validation set."""
        update, training = self.run.state.update, self.run.training
        finished, of = stopped_by in (None, PATIENCE), f"of {training.updates}"
        goes_on = "the same command goes on from here"
        if stopped_by == PATIENCE and self.run.processes.is_main:
            limit = f"--training.patience {training.patience}"
            self.log.say(f"finished after update {update} {of}: {self.history.waited()} ({limit})")
        elif stopped_by == MAX_SECONDS:
            limit = f"--training.max-seconds {training.max_seconds:g}"
            self.log.say(f"{limit} is over after update {update} {of}, which is saved; {goes_on}")
        elif not finished:
            self.log.say(f"stopped by {stopped_by} after update {update}, which is saved; {goes_on}")
        scores = self._finish() if finished else (None, None)
        self.log.write("end", update=update, finished=finished, stopped_by=stopped_by)
        return scores

    def _finish(self) -> tuple[float, float | None]:
        """Average the last checkpoints, validate the average, and save it as the model of the run.

        A checkpoint that is kept for its validation loss, and has a lower one than the average, is saved in its place.
        """
        run, log = self.run, self.log
        average = self._load(average_last)
        scores = self._validate(averaged=True)
        names = f"the average of {', '.join(path.name for path in average)}"
        taken = self._load(final_weights)
        if taken == average:
            log.say(f"the model is {names}")
        else:
            log.say(f"the model is best/{taken[0].name}: its validation loss is lower than that of {names}")
            scores = self._validate(averaged=True)
        if run.processes.is_main:
            save_pretrained(run.folder / MODEL, run.model, run.data.tokenizer, run.data.longest_source)
            log.say(f"saved in {run.folder / MODEL}")
            if said := self.history.end():
                log.say(said)
        run.processes.barrier()
        return scores

    def _load(self, weights: ChoosesWeights) -> list[Path]:
        """Give the model of every process the weights that the main one finds; return of which checkpoints they are."""
        run, chosen = self.run, None
        if run.processes.is_main:
            state, chosen = weights(run.folder, run.training.average_last)
            run.model.load_state_dict(state)
        run.processes.broadcast(list(run.model.state_dict().values()))
        return run.processes.broadcast_object(chosen)

    def _log_throughput(self, rate: float) -> None:
        run = self.run
        loss, tokens_per_second, updates_per_second = self.metrics.meter.take()
        self.history.trained[run.state.update] = loss
        self.log.write(
            "train",
            **self._progress(),
            loss=loss,
            learning_rate=rate,
            gradient_norm=self.metrics.norm,
            tokens_per_second=tokens_per_second,
            seconds_left=(run.training.updates - run.state.update) / updates_per_second,
            elapsed=run.elapsed,
        )

    def _progress(self) -> dict[str, int]:
        state = self.run.state
        return {"update": state.update, "epoch": self.run.epoch, "tokens_seen": state.tokens_seen}

    def _save(self, due: bool, stopping: bool, validated: bool) -> None:
        """Copy what a checkpoint holds, and let it be written; training goes on meanwhile. Not due, it is interim."""
        run, loss = self.run, self.run.state.valid_loss
        if not run.processes.is_main:
            return
        best = validated and loss is not None and self.writer.is_among_best(loss)
        if due or stopping or best:
            state = run.state_to_save(interim=not due)
            snapshot = take_snapshot(
                run.model, run.step.optimizer, state, run.data.tokenizer, longest_source=run.data.longest_source
            )
            self.writer.save(snapshot, regular=due or stopping, best=best)

    def _saved(self, saved: Saved) -> None:
        kind, path = "best" if saved.is_best else "checkpoint", saved.path.relative_to(self.run.folder).as_posix()
        self.log.write(kind, update=saved.update, path=path, elapsed=self.run.elapsed)
        self.mirror.update()

    def _validate(self, averaged: bool = False) -> tuple[float, float | None]:
        """Loss and BLEU on the validation set, translations and heads of the samples, into the log."""
        run, callbacks, is_main = self.run, self.callbacks, self.run.processes.is_main
        loss, score, pairs = self._validation_loss(), None, run.training.validate_bleu
        if callbacks.bleu is not None and pairs and is_main:
            score = self._evaluate(callbacks.bleu, run.data.valid_pairs(pairs))
        if not averaged:
            run.state.valid_loss = loss
        self.log.write(
            "valid",
            **self._progress(),
            valid_loss=loss,
            perplexity=math.exp(min(loss, 700.0)),
            bleu=score,
            averaged=averaged,
            elapsed=run.elapsed,
        )
        if callbacks.samples is not None and is_main:
            shown = [{"source": one, "translation": other} for one, other in self._evaluate(callbacks.samples)]
            self.log.write("samples", update=run.state.update, samples=shown, averaged=averaged)
        if callbacks.heads is not None and is_main and not averaged:
            self._keep_heads(callbacks.heads)
        return loss, score

    def _validation_loss(self) -> float:
        run, training = self.run, self.run.training
        pieces = training.micro_batches(run.processes.world_size) * run.processes.world_size
        budget = max(training.batch_tokens // pieces, run.data.valid.info.max_length)
        batches = evaluation_batches(run.data.valid, budget, run.step.layout)
        return validation_loss(run.step, batches, run.processes)

    def _keep_heads(self, heads: HeadsFunction) -> None:
        folder, update = self.run.folder, self.run.state.update
        sentences = self._evaluate(heads)
        try:
            path = write_heads(folder, update, sentences)
        except OSError as error:  # nothing that only watches may end a run
            self.log.say(f"where the heads look after update {update} could not be kept: {error}")
            return
        self.log.write("heads", update=update, path=path.relative_to(folder).as_posix(), sentences=len(sentences))

    def _evaluate(self, function: Callable[..., Any], *further: Any) -> Any:
        """What a callback makes of the model as it is now, without dropout."""
        model = self.run.model.eval()
        result = function(model, self.run.data.tokenizer, *further)
        model.train()
        return result
