"""Divergence of a training run: a validation loss well above its best, and which checkpoints are from before that."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from annotated.runs.log import LOG, read_records

WELL_ABOVE = 0.2
"""Nats per token above the best validation loss (a perplexity 22 % higher) from which on something went wrong."""


class ValidationHistory:
    """Validation losses of a run, by update.

    Parameters
    ----------
    losses
        So far.
    """

    def __init__(self, losses: dict[int, float] | None = None) -> None:
        self.losses = dict(losses or {})
        self._warned = False

    def add(self, update: int, loss: float, say: Callable[[str], None]) -> None:
        """A new validation; what is wrong is said when it begins to be."""
        self.losses[update] = loss
        warning = self.warning()
        if warning is not None and not self._warned:
            say(warning)
        self._warned = warning is not None

    @classmethod
    def of(cls, folder: str | Path | None) -> ValidationHistory:
        """What the log of a run says; nothing if it has none, or there is no run."""
        if folder is None or not (Path(folder) / LOG).is_file():
            return cls()
        found = (record for record in read_records(folder, strict=False) if record.get("kind") == "valid")
        return cls({one["update"]: one["valid_loss"] or float("inf") for one in found if not one.get("averaged")})

    @property
    def sound_until(self) -> int | None:
        """The last update whose validation loss is not well above the best, if that of a later one is; else None."""
        if not self.losses:
            return None
        best = min(self.losses.values())
        sound = max(update for update, loss in self.losses.items() if loss <= best + WELL_ABOVE)
        return sound if sound < max(self.losses) else None

    def warning(self) -> str | None:
        """What to say after the last validation; None if all is well."""
        until = self.sound_until
        if until is None:
            return None
        best = min(self.losses, key=self.losses.__getitem__)
        now = self.losses[max(self.losses)]
        return (
            f"the validation loss {now:.4f} is well above the best, {self.losses[best]:.4f} after update {best}. If "
            "the training loss rises too, the training diverges: begin anew with a smaller "
            "--training.learning-rate-scale or a longer --training.warmup. If it falls, the model learns its text by "
            f"heart: fewer updates, or more text. Checkpoints after update {until} will not be averaged into the model"
        )
