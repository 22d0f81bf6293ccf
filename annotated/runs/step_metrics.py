"""What came of an update, read without making a GPU wait: its loss, its gradient's norm, and whether it was applied.

Asking a GPU for a number means waiting until it has done everything before, and then it waits for its next work. So
the numbers of an update stay where they are until the next one is under way. Meanwhile nothing can go wrong unseen:
the optimiser itself leaves out an update whose loss or gradient is not finite, by a flag on the device.

Paper: none
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from annotated.data.batching import Batch
from annotated.runs.logging_hooks import Window
from annotated.runs.setup import Run
from annotated.runs.signals import non_finite


@dataclass
class Outcome:
    """One update's numbers, on the device until `read`."""

    update: int
    epoch: int
    tokens: int
    """Target tokens, over all processes."""
    batches: Sequence[Batch]
    """The micro-batches of this process."""
    losses: Sequence[Tensor]
    """The loss sum of each."""
    numbers: Tensor
    """float64 [3]: loss sum and requests to stop over all processes, and the gradient's norm."""
    _copied: torch.cuda.Event | None = field(default=None, init=False)

    @classmethod
    def of(
        cls, run: Run, batches: Sequence[Batch], losses: Sequence[Tensor], norm: Tensor, tokens: int, stop: bool
    ) -> Outcome:
        """The outcome of the update that is being made; nothing waits for anything."""
        loss = (
            torch.stack([loss.double() for loss in losses]).sum() if losses else norm.new_zeros((), dtype=torch.float64)
        )
        requests = torch.full_like(loss, float(stop))
        summed = run.processes.sum_tensor(torch.stack((loss, requests)))
        numbers = torch.cat((summed, norm.double()[None]))
        return cls(run.state.update + 1, run.batches.epoch, tokens, batches, losses, numbers)

    def set_off(self) -> None:
        """Begin to copy the numbers to where the processor can read them."""
        if self.numbers.is_cuda:
            self._there = torch.empty(3, dtype=torch.float64, pin_memory=True)
            self._there.copy_(self.numbers, non_blocking=True)
            self._copied = torch.cuda.Event()
            self._copied.record()

    def read(self, run: Run) -> tuple[float, float, bool]:
        """Loss sum, gradient norm, and whether a process was asked to stop.

        Raises
        ------
        NonFiniteLoss
            If loss or norm is not finite (an infinite norm is part of fp16 while its scale can still be halved).
        """
        if self._copied is None:
            values = self.numbers.tolist()
        else:
            self._copied.synchronize()
            values = self._there.tolist()
        loss, stops, norm = values
        if not math.isfinite(loss) or not (math.isfinite(norm) or run.precision.may_overflow):
            each = [float(one) for one in self.losses]
            raise non_finite(self.update, self.epoch, self.batches, each, norm, run.folder, run.processes.rank)
        return loss, norm, stops > 0


class Outcomes:
    """The outcomes of a run's updates: read at once where that costs nothing, else when the next one is under way.

    Reading late takes a fused optimiser, to which `unread` is given, and no scale to adapt (fp16).

    Parameters
    ----------
    run
        Whose updates they are.
    late
        Read late; None for whether it pays.

    Paper: none
    """

    def __init__(self, run: Run, late: bool | None = None) -> None:
        fused = all(group.get("fused") for group in run.optimizer.param_groups)
        pays = run.processes.device.type == "cuda" and fused and run.precision.scaler is None
        self._run, self._late = run, pays if late is None else late
        self._waiting: Outcome | None = None
        self.window = Window()
        """What has been read since the last line of the log."""
        self.norm = math.nan
        """The last gradient norm read."""
        self.stops = False
        """True if a process was asked to stop, as far as read."""

    @property
    def unread(self) -> Tensor | None:
        """The numbers of the update under way, if they were not read: it must leave itself out if one is not finite."""
        return None if self._waiting is None else self._waiting.numbers

    def add(self, outcome: Outcome) -> None:
        """Take the outcome of an update before it is applied; read it, or the one before.

        Raises
        ------
        NonFiniteLoss
            If that one is not finite. It was not applied.
        """
        self.settle()
        if self._late:
            outcome.set_off()
            self._waiting = outcome
        else:
            self._read(outcome)

    def settle(self) -> None:
        """Read what has not been read.

        Raises
        ------
        NonFiniteLoss
            If an update was not finite. It was not applied.
        """
        if self._waiting is not None:
            waiting, self._waiting = self._waiting, None
            self._read(waiting)

    def _read(self, outcome: Outcome) -> None:
        loss, self.norm, stops = outcome.read(self._run)
        self.stops = self.stops or stops
        self.window.add(loss, outcome.tokens)
