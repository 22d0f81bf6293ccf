"""Update metrics over all processes, read one update late so that a GPU never waits.

Asking a GPU for a number means waiting until it has done everything before, and then it waits for its next work. So
the numbers of an update stay where they are until the next one is under way. Meanwhile nothing can go wrong unseen:
the optimiser itself leaves out an update whose loss or gradient is not finite, by a flag on the device.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor
from torch.optim import Optimizer

from annotated.runs.errors import non_finite
from annotated.speed.machine.distributed import Processes
from annotated.speed.steps.precision import Precision
from annotated.training.update import UpdateMetrics


class ThroughputMeter:
    """Loss and speed since the last line of the log."""

    def __init__(self) -> None:
        self._restart()

    def _restart(self) -> None:
        self.loss_sum, self.tokens, self.updates, self._began = 0.0, 0, 0, time.monotonic()

    def add(self, loss_sum: float, tokens: int) -> None:
        """Count one update."""
        self.loss_sum, self.tokens, self.updates = self.loss_sum + loss_sum, self.tokens + tokens, self.updates + 1

    @property
    def loss(self) -> float | None:
        """In nats per token since the last line; None before the first update is counted."""
        return self.loss_sum / self.tokens if self.tokens else None

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


@dataclass
class ReducedMetrics:
    """The metrics of one update, summed over all processes, on the device until they are read."""

    update: int
    epoch: int
    local: UpdateMetrics
    """Of this process."""
    numbers: Tensor
    """float64 [3]: loss sum and requests to stop over all processes, and the gradient's norm."""
    _copied: torch.cuda.Event | None = field(default=None, init=False)

    @classmethod
    def of(cls, local: UpdateMetrics, update: int, epoch: int, stop: bool, processes: Processes) -> ReducedMetrics:
        """Sum the metrics of the update that is being made; nothing waits for anything."""
        loss = local.loss_sum
        summed = processes.all_reduce(torch.stack((loss, torch.full_like(loss, float(stop)))))
        return cls(update, epoch, local, torch.cat((summed, local.gradient_norm.double()[None])))

    def start_copy(self) -> None:
        """Begin to copy the numbers to where the processor can read them."""
        if self.numbers.is_cuda:
            self._there = torch.empty(3, dtype=torch.float64, pin_memory=True)
            self._there.copy_(self.numbers, non_blocking=True)
            self._copied = torch.cuda.Event()
            self._copied.record()

    def read(self) -> tuple[float, float, bool]:
        """Loss sum, gradient norm, and whether a process was asked to stop; waits until they are known."""
        if self._copied is None:
            loss, stops, norm = self.numbers.tolist()
        else:
            self._copied.synchronize()
            loss, stops, norm = self._there.tolist()
        return loss, norm, stops > 0


class DeferredMetrics:
    """The metrics of a run's updates: read at once where that costs nothing, else when the next one is under way.

    Reading late takes a fused optimiser, to which `pending` is given, and no scale to adapt (fp16).

    Parameters
    ----------
    optimizer, precision, processes
        Of the run.
    folder
        Gets a file with the sentences of an update whose loss or gradient is not finite.
    late
        Read late; None for whether it pays.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        precision: Precision,
        processes: Processes,
        folder: Path,
        late: bool | None = None,
    ) -> None:
        fused = all(group.get("fused") for group in optimizer.param_groups)
        pays = processes.device.type == "cuda" and fused and precision.scaler is None
        self._precision, self._processes, self._folder = precision, processes, folder
        self._late = pays if late is None else late
        self._waiting: ReducedMetrics | None = None
        self.meter = ThroughputMeter()
        """What has been read since the last line of the log."""
        self.norm = math.nan
        """The last gradient norm read."""
        self.stops = False
        """True if a process was asked to stop, as far as read."""

    @property
    def pending(self) -> Tensor | None:
        """The numbers of the update under way, if they were not read: no step may be made if one is not finite."""
        return None if self._waiting is None else self._waiting.numbers

    def add(self, metrics: UpdateMetrics, update: int, epoch: int, stop: bool) -> Tensor | None:
        """Take the metrics of an update before it is applied; read them, or those of the update before.

        Parameters
        ----------
        update, epoch
            Numbers of the update and of the epoch, for the message of an error.
        stop
            This process was asked to stop.

        Returns
        -------
        Tensor or None
            `pending`.

        Raises
        ------
        NonFiniteLoss
            If what is read is not finite. That update was not applied.
        """
        reduced = ReducedMetrics.of(metrics, update, epoch, stop, self._processes)
        self.flush()
        if self._late:
            reduced.start_copy()
            self._waiting = reduced
        else:
            self._read(reduced)
        return self.pending

    def flush(self) -> None:
        """Read what has not been read.

        Raises
        ------
        NonFiniteLoss
            If an update was not finite. It was not applied.
        """
        if self._waiting is not None:
            waiting, self._waiting = self._waiting, None
            self._read(waiting)

    def _read(self, metrics: ReducedMetrics) -> None:
        loss, norm, stops = metrics.read()
        if not math.isfinite(loss) or not (math.isfinite(norm) or self._precision.may_overflow):
            each = [float(one) for one in metrics.local.losses]
            batches, rank = metrics.local.micro_batches, self._processes.rank
            raise non_finite(metrics.update, metrics.epoch, batches, each, norm, self._folder, rank)
        self.norm, self.stops = norm, self.stops or stops
        self.meter.add(loss, metrics.local.tokens)
