"""One of the trainings that run side by side: its updates, each kind of which is recorded once and then repeated."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.optim import Optimizer

from annotated.config import PAD, TrainingConfig
from annotated.model import Transformer
from annotated.speed.steps.cuda_graphs import GraphRecorder
from annotated.training.loss import smoothed_target
from annotated_book.experiments.device_batches import Rectangles, Stream


def loss_sum(logits: Tensor, gold: Tensor, smoothing: float) -> Tensor:
    """As `label_smoothed_cross_entropy`, which counts tokens on the processor: logits `[B, T, V]`, gold `[B, T]`."""
    log_probabilities = logits.log_softmax(dim=-1)
    right, others = smoothed_target(smoothing, logits.size(-1))
    loss = -(right - others) * log_probabilities.gather(-1, gold.long()[..., None]).squeeze(-1)
    if others > 0:
        loss = loss - others * log_probabilities.sum(dim=-1)
    return loss.masked_fill(gold == PAD, 0.0).sum()


@dataclass
class Point:
    """What is known after some update; the tensors stay on the device until somebody reads them."""

    update: int
    tokens_seen: int
    loss: Tensor
    """Sum of the training loss since the point before, label-smoothed, and its target tokens, float64 `[2]`."""
    validation: Tensor
    """The same of the validation set, without smoothing and dropout."""


def _again(work: Callable[[], None]) -> Callable[[], None]:
    return work


@dataclass
class Training:
    """A model, its optimiser and its batches on one device.

    The numbers are those of `annotated.runs.train` with the same initial weights and batches, up to the order of sums
    and the masks of dropout.

    Parameters
    ----------
    optimizer
        Over the model's parameters; on a GPU a capturable one, whose rates are set to a tensor here.
    rate
        The learning rate of an update, from its number, counted from 1.
    training
        Number of updates, label smoothing and pace of the validations come from here.
    stream, valid
        Batches of all updates, and of the validation set.
    recorder
        Makes the recordings: `CudaGraphs`; None does the work step by step.
    """

    model: Transformer
    optimizer: Optimizer
    rate: Callable[[int], float]
    training: TrainingConfig
    stream: Stream
    valid: Stream
    recorder: GraphRecorder | None = None
    points: list[Point] = field(default_factory=list)
    done: int = 0
    """Updates made."""

    def __post_init__(self) -> None:
        self._device = self.model.output_weight.device
        rates = [self.rate(update) for update in range(1, self.training.updates + 1)]
        self._rates = torch.tensor(rates, dtype=torch.float32, device=self._device)
        self._rate, self._clock = self._zeros(), self._zeros(torch.long)
        self._cursors = [self._zeros(torch.long) for _ in self.stream.shapes]
        self._sums, self._valid_sums = (torch.zeros(2, dtype=torch.float64, device=self._device) for _ in range(2))
        for parameter in self.model.parameters():
            parameter.grad = torch.zeros_like(parameter)
        self._prepare_optimizer()
        record = self.recorder or _again
        self._updates = [record(self._update_of(number)) for number in range(len(self.stream.shapes))]
        self._validate = record(self._validation)
        self._restart()

    def advance(self) -> None:
        """Make the next update, and after some of them a validation; a GPU is told, and not waited for."""
        self._updates[self.stream.shape_of[self.done]]()
        self.done += 1
        if self.done % self.training.validate_every == 0:
            self._validate()
            seen = sum(self.stream.target_tokens[: self.done])
            self.points.append(Point(self.done, seen, self._sums.clone(), self._valid_sums.clone()))
            self._sums.zero_()

    @property
    def finished(self) -> bool:
        """Whether all updates were made (or told)."""
        return self.done == self.training.updates

    def curve(self) -> list[dict[str, float]]:
        """The points as a run's record has them; waits for the device."""
        found = []
        for point in self.points:
            training, validation = ((one[0] / one[1]).item() for one in (point.loss, point.validation))
            numbers = {"loss": round(training, 4), "validation_loss": round(validation, 4)}
            found.append({"update": point.update, "tokens_seen": point.tokens_seen, **numbers})
        return found

    @property
    def valid_loss(self) -> float:
        """Of the last validation, nats a target token; NaN or infinite if the training has diverged."""
        last = self.points[-1].validation
        return (last[0] / last[1]).item()

    @property
    def diverged(self) -> bool:
        """True if the last validation is no number."""
        return not math.isfinite(self.valid_loss)

    def _zeros(self, dtype: torch.dtype = torch.float32) -> Tensor:
        return torch.zeros((), dtype=dtype, device=self._device)

    def _prepare_optimizer(self) -> None:
        """Let the optimiser make its state, by a step with gradients and rate of zero that is undone."""
        for group in self.optimizer.param_groups:
            group["lr"] = self._rate
        self._before = {name: tensor.clone() for name, tensor in self.model.state_dict().items()}
        self.optimizer.step()

    def _restart(self) -> None:
        """Undo what recording has done to weights, moments, counters and sums."""
        with torch.no_grad():
            for name, tensor in self.model.state_dict().items():
                tensor.copy_(self._before[name])
        for state in self.optimizer.state.values():
            for value in state.values():
                if isinstance(value, Tensor):
                    value.zero_()
        for tensor in (self._rate, self._clock, self._sums, self._valid_sums, *self._cursors):
            tensor.zero_()
        del self._before

    def _update_of(self, number: int) -> Callable[[], None]:
        shape, cursor = self.stream.shapes[number], self._cursors[number]
        gradients = [parameter.grad for parameter in self.model.parameters() if parameter.grad is not None]

        def work() -> None:
            self.model.train()
            place = cursor.clamp(max=len(shape.source) - 1)[None]  # warming up may take more than there are
            source, target_in, gold = (side.index_select(0, place)[0] for side in _sides(shape))
            cursor.add_(1)
            self._rate.copy_(self._rates.index_select(0, self._clock.clamp(max=len(self._rates) - 1)[None])[0])
            self._clock.add_(1)
            torch._foreach_zero_(gradients)
            tokens = (gold != PAD).sum()
            loss = loss_sum(self.model(source, target_in), gold, self.training.label_smoothing)
            (loss / tokens).backward()
            self.optimizer.step()
            self._sums.add_(torch.stack((loss.detach().double(), tokens.double())))

        return work

    def _validation(self) -> None:
        self.model.eval()
        total = torch.zeros_like(self._valid_sums)
        with torch.no_grad():
            for shape in self.valid.shapes:
                for source, target_in, gold in zip(*_sides(shape), strict=True):
                    loss = loss_sum(self.model(source, target_in), gold, 0.0)
                    total += torch.stack((loss.double(), (gold != PAD).sum().double()))
        self._valid_sums.copy_(total)


def _sides(shape: Rectangles) -> tuple[Tensor, Tensor, Tensor]:
    return shape.source, shape.target_in, shape.target_out
