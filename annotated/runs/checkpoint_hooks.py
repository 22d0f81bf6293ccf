"""Checkpoint hooks of the training loop: a checkpoint when one is due, and at the end the average of the last ones."""

from __future__ import annotations

from annotated.runs.checkpoint import take_snapshot
from annotated.runs.checkpoint_writer import CheckpointWriter
from annotated.runs.last_checkpoints import average_last
from annotated.runs.log import TrainingLog
from annotated.runs.setup import Run
from annotated.runs.validation_hooks import ValidationCallbacks, validate
from annotated.saving import save_pretrained

MODEL = "model"
"""Folder of the averaged model, in that of the run."""


def save(run: Run, writer: CheckpointWriter, *, due: bool, stopping: bool) -> None:
    """Copy what a checkpoint holds, and let it be written; training goes on meanwhile.

    Parameters
    ----------
    due
        By `checkpoint_every` a checkpoint is due after this update, or it is the last one.
    stopping
        The run ends after this update, because a signal asked for it. Where no checkpoint is due this one is interim.
    """
    if not run.processes.is_main:
        return
    validated = run.state.update % run.training.validate_every == 0
    best = validated and run.state.valid_loss is not None and writer.is_among_best(run.state.valid_loss)
    if due or stopping or best:
        snapshot = take_snapshot(run.model, run.step.optimizer, run.state_to_save(interim=not due), run.data.tokenizer)
        writer.save(snapshot, regular=due or stopping, best=best)


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
