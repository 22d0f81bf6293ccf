"""Divergence of a training run: a validation loss well above its best, and which checkpoints are from before that."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from annotated.runs.log import LOG, read_records

WELL_ABOVE = 0.2
"""Nats per token above the best validation loss (a perplexity 22 % higher) from which on something went wrong."""
WORSE = 0.02
"""Nats per token above the best from which on the end of a training was worse, and that a training loss has to change
to tell why; less is noise."""


class ValidationHistory:
    """Validation losses of a run, by update.

    Parameters
    ----------
    losses
        So far.
    trained
        Losses of the training text so far, which tell what a rising validation loss means.
    """

    def __init__(self, losses: dict[int, float] | None = None, trained: dict[int, float] | None = None) -> None:
        self.losses, self.trained = dict(losses or {}), dict(trained or {})
        self.averaged: float | None = None
        """That of the average of the last checkpoints, at the end of the run."""

    def add(self, update: int, loss: float, say: Callable[[str], None], following: int | None = None) -> None:
        """A new validation; what is wrong is said when the second in a row finds it. The first may be a swing.

        Parameters
        ----------
        following
            The update of the next validation; None if this is the last, of which `end` tells.
        """
        self.losses[update] = loss
        bad = len(self._unsound())
        if bad == 1 and following is not None:
            say(f"{self._compared()}. It may be a swing: the next validation, after update {following}, will tell")
        elif bad == 2:
            say(f"{self._compared()}, for the second time: {self._cause()}. {self._left_out()}")

    @classmethod
    def of(cls, folder: str | Path | None) -> ValidationHistory:
        """What the log of a run says; nothing if it has none, or there is no run."""
        if folder is None or not (Path(folder) / LOG).is_file():
            return cls()
        history = cls()
        for one in read_records(folder, strict=False):
            if one.get("kind") == "train":
                history.trained[one["update"]] = _loss(one["loss"])
            elif one.get("kind") == "valid" and not one.get("averaged"):
                history.losses[one["update"]] = _loss(one["valid_loss"])
            elif one.get("kind") == "valid" and history.averaged is None:
                history.averaged = _loss(one["valid_loss"])
        return history

    @property
    def sound_until(self) -> int | None:
        """The last update whose validation loss is not well above the best, if that of a later one is; else None."""
        unsound = self._unsound()
        return max(self.losses.keys() - unsound) if unsound else None

    @property
    def since_best(self) -> int:
        """Validations since the one of the lowest loss; an equal loss is no lower one."""
        best, count = float("inf"), 0
        for _, loss in sorted(self.losses.items()):
            best, count = (loss, 0) if loss < best else (best, count + 1)
        return count

    def waited(self) -> str:
        """How long the loss has not become lower, for the end of a run that waited in vain."""
        best = min(self.losses, key=self.losses.__getitem__)
        count = f"{self.since_best} validation{'s' * (self.since_best > 1)}"
        return f"{count} since the lowest validation loss, {self.losses[best]:.4f} after update {best}"

    def end(self) -> str | None:
        """What to say when the training has ended, if its last validation was worse than its best; else None."""
        if not self.losses or self.losses[max(self.losses)] <= min(self.losses.values()) + WORSE:
            return None
        return f"{self._compared()}: {self._cause()}" + (f". {self._left_out()}" if self._unsound() else "")

    def _unsound(self) -> set[int]:
        """The last validations, as many as are well above the best."""
        limit = min(self.losses.values(), default=0.0) + WELL_ABOVE
        sound = max((update for update, loss in self.losses.items() if loss <= limit), default=0)
        return {update for update in self.losses if update > sound}

    def _compared(self) -> str:
        now, best = max(self.losses), min(self.losses, key=self.losses.__getitem__)
        return (
            f"the validation loss after update {now}, {self.losses[now]:.4f}, is {'well ' * bool(self._unsound())}"
            f"above the best, {self.losses[best]:.4f} after update {best}"
        )

    def _cause(self) -> str:
        """What the training loss did meanwhile, and what to do about it."""
        best = min(self.losses, key=self.losses.__getitem__)
        then, now = (self._trained_until(update) for update in (best, max(self.losses)))
        if then is None or now is None:
            return "the log has too few updates to say why"
        change = f"from {then:.4f} to {now:.4f}"
        if abs(now - then) <= WORSE:
            return f"the training loss hardly changed, {change}, so it is a swing"
        if now < then:
            return (
                f"the training loss fell, {change}, so the model learns its text by heart. Fewer updates give the same "
                "model sooner; a better one needs more text or more --model.dropout"
            )
        remedy = "Begin anew with a smaller --training.learning-rate-scale or a longer --training.warmup"
        return f"the training loss rose too, {change}, so the updates are too large" + (
            f". {remedy}" if len(self._unsound()) > 1 else ""
        )

    def _trained_until(self, update: int) -> float | None:
        """The training loss of the last stretch that ended there or before."""
        return self.trained.get(max((one for one in self.trained if one <= update), default=-1))

    def _left_out(self) -> str:
        return f"Checkpoints after update {self.sound_until} are not averaged into the model"


def _loss(logged: float | None) -> float:
    """A loss of a log; JSON has no infinity."""
    return float("inf") if logged is None else logged
