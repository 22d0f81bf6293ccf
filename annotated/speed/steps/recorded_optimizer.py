"""Recorded optimiser: the gradient's norm, clipping, and Adam's step, each told to a GPU by one call."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Iterator

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from annotated.speed.steps.cuda_graphs import GraphRecorder
from annotated.speed.steps.precision import Precision
from annotated.training.optimizer import clip_gradients, gradient_norm


class RecordedOptimizer:
    """What an update does once the gradient is complete, recorded: the same operations on the same memory each time.

    Two recordings, and not one with the micro-step: between them the update tells its metrics to whoever may stop it,
    and before them the gradients of several micro-batches or processes are added up.

    The learning rate, and the numbers that must be finite, are tensors that are filled before each repetition. While it
    is recorded, these numbers are infinite, so that nothing changes: neither parameters nor moments nor Adam's count.

    Parameters
    ----------
    optimizer
        A fused one; its groups stay as they are, so checkpoints know nothing of this.
    parameters
        Of the model. Their `grad` must stay the same tensors; where it does not, the work is recorded anew.
    clip_norm, precision
        As for `update`.
    recorder
        Makes the recordings: `CudaGraphs`, or in tests something that does the work again.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        parameters: Iterable[nn.Parameter],
        clip_norm: float | None,
        precision: Precision,
        recorder: GraphRecorder,
    ) -> None:
        if precision.scaler is not None or not all(group.get("fused") for group in optimizer.param_groups):
            raise ValueError("only the step of a fused optimiser without a scaler can be recorded: use bf16 or fp32")
        self.optimizer, self.clip_norm, self.precision = optimizer, clip_norm, precision
        self._parameters = [parameter for parameter in parameters if parameter.requires_grad]
        self._recorder = recorder
        device = self._parameters[0].device
        self._norm, self._rate = torch.zeros((), device=device), torch.zeros((), device=device)
        self._numbers = torch.zeros(1, dtype=torch.float64, device=device)
        self._measure_again: Callable[[], None] | None = None
        self._step_again: Callable[[], None] | None = None
        self._places: list[int] = []
        # PyTorch warns once of a capturable optimiser that makes a step without being recorded, as warming up does.
        optimizer._warned_capturable_if_run_uncaptured = True  # type: ignore[attr-defined]

    def gradient_norm(self) -> Tensor:
        """The Euclidean norm of all gradients together, a scalar on their device."""
        places = [0 if p.grad is None else p.grad.data_ptr() for p in self._parameters]
        if self._measure_again is None or places != self._places:
            self._places, self._step_again = places, None
            self._measure_again = self._recorder(self._measure)
        self._measure_again()
        return self._norm.clone()

    def step(self, rate: float, must_be_finite: Tensor | None = None) -> None:
        """Clip the gradients by the norm that was measured last, and make one step.

        Parameters
        ----------
        rate
            The learning rate.
        must_be_finite
            As for `Precision.step`.
        """
        numbers = self._numbers.new_zeros(1) if must_be_finite is None else must_be_finite
        if self._step_again is None or self._numbers.shape != numbers.shape:
            self._record_step(numbers)
        assert self._step_again is not None
        self._numbers.copy_(numbers)
        self._rate.fill_(rate)
        self._step_again()

    def _measure(self) -> None:
        self._norm.copy_(gradient_norm(self._parameters))

    def _record_step(self, numbers: Tensor) -> None:
        norm = self._norm.clone()
        self._norm.zero_()  # so that nothing is clipped
        self._numbers = torch.full_like(numbers, math.inf, dtype=torch.float64)
        self._step_again = self._recorder(self._clip_and_step)
        self._norm.copy_(norm)

    def _clip_and_step(self) -> None:
        if self.clip_norm is not None:
            clip_gradients(self._parameters, self._norm, self.clip_norm)
        with self._rate_on_device():
            self.precision.step(self.optimizer, self._numbers)

    @contextlib.contextmanager
    def _rate_on_device(self) -> Iterator[None]:
        """Groups as PyTorch wants them for a recording: the rate a tensor, and `capturable`."""
        groups = self.optimizer.param_groups
        before = [{name: group.get(name) for name in ("lr", "capturable")} for group in groups]
        for group in groups:
            group.update(lr=self._rate, capturable=True)
        try:
            yield
        finally:
            for group, values in zip(groups, before, strict=True):
                group.update(values)
