"""Pace of a training run: how long it will take, said as soon as its first updates show it."""

from __future__ import annotations

import time

from annotated.config import TrainingConfig
from annotated.recipes import fitted_training
from annotated.runs.log import TrainingLog, duration
from annotated.runs.setup import Run

_FIRST_UPDATES, _FIRST_SECONDS = 5, 5.0
"""Updates, or seconds if that comes first, after which the speed is told."""
_SILENCE = 30.0
"""Seconds without a line after which one says that the training goes on."""
MANY_PASSES = 300
"""Over the text: a training with more is far longer than its text needs."""


class Pace:
    """Tells the console, and not the log, how fast a training is before the log has a line about it.

    Parameters
    ----------
    run
        That begins or goes on now.
    log
        Its log.
    """

    def __init__(self, run: Run, log: TrainingLog) -> None:
        self._run, self._log = run, log
        self._first, self._began = run.state.update, time.monotonic()
        self._told = False
        self._last_line = self._began

    def after(self, update: int, loss: float | None = None, logged: bool = False) -> None:
        """Look at the clock after an update.

        Parameters
        ----------
        loss
            Since the last line of the log, as far as it is known.
        logged
            Whether the log has just told of this update.
        """
        training, now = self._run.training, time.monotonic()
        made, seconds = update - self._first, now - self._began
        left = duration((training.updates - update) * seconds / made)
        if not self._told and (made >= _FIRST_UPDATES or seconds > _FIRST_SECONDS) and update < training.updates:
            self._log.say(f"update {update} of {training.updates}: about {left} left at this speed")
            if advice := advice_on_length(training, self._run):
                self._log.say(advice)
            self._told, self._last_line = True, now
        elif logged:
            self._last_line = now
        elif now - self._last_line > _SILENCE:
            shown = "" if loss is None else f" | loss {loss:.4f}"
            self._log.say(f"update {update} of {training.updates}{shown} | {left} left")
            self._last_line = now


def advice_on_length(training: TrainingConfig, run: Run) -> str | None:
    """What to type for a training that passes its text far too often; None if this one does not."""
    store = run.data.train
    tokens = store.info.target_tokens
    passes = training.updates * training.batch_tokens / tokens
    fits = fitted_training(tokens)
    if passes < MANY_PASSES or training.updates <= fits.updates:
        return None
    names = ("updates", "batch_tokens", "warmup", "learning_rate_scale", "validate_every", "checkpoint_every")
    options = " ".join(f"--training.{name.replace('_', '-')} {getattr(fits, name)}" for name in names)
    return (
        f"{training.updates:,} updates are {passes:,.0f} passes over these {len(store):,} pairs. A training that fits "
        f"them: {options}"
    )
