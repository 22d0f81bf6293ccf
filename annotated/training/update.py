"""Update of the parameters: the step that an update is made of, the update, and a short training that calls it.

`update` is called by the run that can be resumed, by the doctor where it examines this library's training, and by
`fit`, with which most experiments of the chapters train. Some experiments, and the doctor's leak canary, have a loop of
their own: their loss is another one, or their model need not be a `Transformer`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.optim import Optimizer

from annotated.config import TrainingConfig
from annotated.data.batch import Batch
from annotated.model import Transformer
from annotated.speed.kernels.cudnn import without_cudnn_attention
from annotated.training.loss import batch_loss
from annotated.training.optimizer import clip_gradients, gradient_norm, make_optimizer
from annotated.training.schedule import set_learning_rate


@dataclass(frozen=True)
class UpdateMetrics:
    """What one update measured in this process. Tensors are on the device, and nothing has waited for them yet."""

    micro_batches: Sequence[Batch]
    losses: Sequence[Tensor]
    """The loss sum of each micro-batch, in nats."""
    gradient_norm: Tensor
    """Scalar: the norm of the whole update's gradient, before clipping."""
    tokens: int
    """Real target tokens of the whole update, over all processes."""
    rate: float
    """The learning rate of the update."""

    @property
    def loss_sum(self) -> Tensor:
        """Scalar float64: the losses of this process added up, in nats."""
        if not self.losses:
            return self.gradient_norm.new_zeros((), dtype=torch.float64)
        return torch.stack([loss.double() for loss in self.losses]).sum()


class Step:
    """A step of training in its parts: forward and backward pass, the gradient's norm, and the optimiser.

    This one computes in float32, on sentences padded to rectangles, in one process.
    `annotated.speed.steps.FastStep` computes the same faster, and can do so together with other processes.

    Parameters
    ----------
    training
        Label smoothing, clipping and Adam's constants come from here.
    optimizer
        Over the model's parameters; None for the paper's Adam.

    Paper: sections 5.3, 5.4
    """

    def __init__(self, model: Transformer, training: TrainingConfig, optimizer: Optimizer | None = None) -> None:
        self.model, self.training = model, training
        self.optimizer = make_optimizer(model, training) if optimizer is None else optimizer

    def loss(self, batch: Batch, smoothing: float) -> tuple[Tensor, int]:
        """The loss sum of a batch in nats, and how many tokens it is of; a batch is moved to the model's device."""
        return batch_loss(self.model, batch.to(self.model.output_weight.device), smoothing)

    def micro_step(self, batch: Batch, tokens: float) -> Tensor:
        """Add the gradient of one micro-batch's loss sum over `tokens`, those of the whole update; return the loss."""
        loss_sum, _ = self.loss(batch, self.training.label_smoothing)
        (loss_sum / tokens).backward()
        return loss_sum.detach()

    def gradients(self, micro_batches: Sequence[Batch], tokens: float) -> list[Tensor]:
        """Compute the gradient of the whole update, and return the loss sum of each micro-batch."""
        self.optimizer.zero_grad(set_to_none=True)
        return [self.micro_step(batch, tokens) for batch in micro_batches]

    def gradient_norm(self) -> Tensor:
        """The Euclidean norm of the update's gradient, a scalar on its device."""
        return gradient_norm(self.model.parameters())

    def apply(self, metrics: UpdateMetrics, must_be_finite: Tensor | None = None) -> None:
        """Clip the gradient, and change the parameters, unless one of the numbers given is infinite or NaN."""
        if must_be_finite is not None and not must_be_finite.isfinite().all():
            return
        if self.training.clip_norm is not None:
            clip_gradients(self.model.parameters(), metrics.gradient_norm, self.training.clip_norm)
        self.optimizer.step()


def update(
    step: Step,
    micro_batches: Sequence[Batch],
    tokens: int,
    rate: float,
    observe: Callable[[UpdateMetrics], Tensor | None] | None = None,
) -> UpdateMetrics:
    """Change the parameters once.

    Parameters
    ----------
    step
        Of this training run: its model, its optimiser, and how the parts of an update are computed.
    micro_batches
        This process's part of the update's batch.
    tokens
        Real target tokens of the whole batch, over all micro-batches and processes. Sums of losses are divided by
        this number, once: so the gradient is that of the whole batch, however the batch is cut.
    rate
        The learning rate of this update.
    observe
        Called with the metrics when the gradient is complete, before it is clipped and the optimiser makes its step. If
        it raises an error, the parameters stay as they are. If it returns numbers (on the device), they must be finite,
        or the optimiser makes no step.

    Paper: section 5
    """
    set_learning_rate(step.optimizer, rate)
    losses = step.gradients(micro_batches, tokens)
    metrics = UpdateMetrics(micro_batches, losses, step.gradient_norm(), tokens, rate)
    must_be_finite = None if observe is None else observe(metrics)
    step.apply(metrics, must_be_finite)
    return metrics


def fit(
    step: Step,
    batches: Iterable[Batch],
    updates: int,
    rate: Callable[[int], float],
    after: Callable[[int, float], None] | None = None,
) -> list[float]:
    """Train in memory, one batch to an update: for experiments that need neither a log nor checkpoints.

    Parameters
    ----------
    step
        Its model is left in training mode.
    rate
        The learning rate of an update, from its number, counted from 1.
    after
        Called after each update with its number and its loss.

    Returns
    -------
    list of float
        The loss of each update, in nats per target token.
    """
    losses = []
    step.model.train()
    with without_cudnn_attention(step.model.output_weight.device):
        for number, batch in zip(range(1, updates + 1), batches, strict=False):
            metrics = update(step, [batch], batch.target_tokens, rate(number))
            losses.append(float(metrics.loss_sum) / metrics.tokens)
            if after is not None:
                after(number, losses[-1])
    return losses
