"""Update of the parameters: one function that makes one, and a short training that calls it.

`update` is called by the run that can be resumed, by the doctor where it examines this library's training, and by
`fit`, with which most experiments of the chapters train. Some experiments, and the doctor's leak canary, have a loop of
their own: their loss is another one, or their model need not be a `Transformer`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.optim import Optimizer

from annotated.config import TrainingConfig
from annotated.data.batch import Batch
from annotated.model import Transformer
from annotated.model.fast.cudnn import without_cudnn_attention
from annotated.training.exchange import GradientExchange
from annotated.training.layout import batch_layout, resolve_layout
from annotated.training.loss import LogitsTerms, batch_loss
from annotated.training.optimizer import clip_gradients, gradient_norm, make_optimizer
from annotated.training.precision import Precision
from annotated.training.recorded_optimizer import RecordedOptimizer
from annotated.training.schedule import set_learning_rate
from annotated.training.static_layout import StaticShape

MicroStep = Callable[[Batch, float], Tensor]
"""Adds the gradient of (loss sum / tokens) of one micro-batch to the parameters' `grad`; returns the loss sum."""


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


def update(
    model: Transformer,
    optimizer: Optimizer,
    micro_batches: Sequence[Batch],
    tokens: int,
    *,
    rate: float,
    micro_step: MicroStep,
    clip_norm: float | None = None,
    precision: Precision | None = None,
    exchange: GradientExchange | None = None,
    before_step: Callable[[UpdateMetrics], Tensor | None] | None = None,
    recorded: RecordedOptimizer | None = None,
) -> UpdateMetrics:
    """Change the parameters once.

    Parameters
    ----------
    micro_batches
        This process's part of the update's batch.
    tokens
        Real target tokens of the whole batch, over all micro-batches and processes. Sums of losses are divided by
        this number, once: so the gradient is that of the whole batch, however the batch is cut.
    rate
        The learning rate of this update.
    micro_step
        Forward and backward pass of one micro-batch: made by `make_micro_step`, or by `compiled`.
    clip_norm, precision, exchange
        Limit of the gradient's norm; how fp16 scales the loss; how the processes that share the batch add up their
        gradients. None for none, float32, nobody.
    before_step
        Called with the metrics when the gradient is complete, before it is clipped and the optimiser makes its step. If
        it raises an error, the parameters stay as they are. If it returns numbers (on the device), they must be finite,
        or the optimiser makes no step; that is decided on the device, and nobody waits for it. They need a fused
        optimiser, and with fp16 they are not looked at: its scaler decides.
    recorded
        Norm, clipping and step of this optimiser, recorded on a GPU; None makes them here. The numbers are the same.

    Paper: section 5
    """
    precision, exchange = precision or Precision("fp32", torch.device("cpu")), exchange or GradientExchange(model)
    set_learning_rate(optimizer, rate)
    optimizer.zero_grad(set_to_none=True)
    # Each micro-step adds the gradient of its loss sum over the tokens of the whole batch.
    losses = [micro_step(batch, tokens) for batch in exchange.watch(micro_batches)]
    exchange.sum_gradients()
    precision.unscale(optimizer)
    parameters = list(model.parameters())
    norm = gradient_norm(parameters) if recorded is None else recorded.gradient_norm()
    metrics = UpdateMetrics(micro_batches, losses, norm, tokens, rate)
    must_be_finite = before_step(metrics) if before_step is not None else None
    if recorded is not None:
        recorded.step(rate, must_be_finite)
        return metrics
    if clip_norm is not None:
        clip_gradients(parameters, norm, clip_norm)
    precision.step(optimizer, must_be_finite)
    return metrics


def micro_step(
    model: Transformer,
    batch: Batch,
    tokens: float,
    *,
    smoothing: float,
    layout: str | StaticShape,
    precision: Precision,
    forward: Callable[..., Tensor] | None = None,
    terms: LogitsTerms | None = None,
) -> Tensor:
    """Add the gradient of one micro-batch's loss sum over `tokens`, those of the whole update; return the loss sum.

    `forward` and `terms` are for `batch_loss`: the model's pass and the loss's terms, if they are compiled.
    """
    with precision.autocast():
        here, functions = batch.to(precision.device), (forward, terms or precision.terms, precision.products)
        loss_sum, _ = batch_loss(model, here, smoothing, layout, *functions)
    precision.scale(loss_sum / tokens).backward()
    return loss_sum.detach()


def make_micro_step(
    model: Transformer,
    training: TrainingConfig,
    precision: Precision,
    forward: Callable[..., Tensor] | None = None,
    terms: LogitsTerms | None = None,
) -> MicroStep:
    """`micro_step` of a model, with label smoothing and layout of a configuration."""
    smoothing, layout = training.label_smoothing, layout_for_loss(training)
    step = functools.partial(micro_step, model, smoothing=smoothing, layout=layout, precision=precision)
    return functools.partial(step, forward=forward, terms=terms)


def layout_for_loss(training: TrainingConfig) -> str | StaticShape:
    """The layout as `batch_loss` takes it; a shape where the kernel of attention belongs to it, which then grows."""
    return StaticShape(0, 0, tiles=True) if training.attention_kernel == "flex" else batch_layout(training)


def fit(
    model: Transformer,
    batches: Iterable[Batch],
    updates: int,
    rate: Callable[[int], float],
    training: TrainingConfig,
    after: Callable[[int, float], None] | None = None,
) -> list[float]:
    """Train in memory, one batch to an update: for experiments that need neither a log nor checkpoints.

    Parameters
    ----------
    model
        Is left in training mode.
    rate
        The learning rate of an update, from its number, counted from 1.
    training
        Label smoothing, layout, precisions, clipping and Adam's constants come from here; nothing else does.
    after
        Called after each update with its number and its loss.

    Returns
    -------
    list of float
        The loss of each update, in nats per target token.
    """
    device = model.output_weight.device
    training, _ = resolve_layout(training.replace(compile=False), model.config, device)  # nothing is compiled here
    optimizer, precision = make_optimizer(model, training), Precision.of(training, device)
    micro_step, losses = make_micro_step(model.train(), training, precision), []
    with without_cudnn_attention(device):
        for number, batch in zip(range(1, updates + 1), batches, strict=False):
            metrics = update(
                model,
                optimizer,
                [batch],
                batch.target_tokens,
                rate=rate(number),
                micro_step=micro_step,
                clip_norm=training.clip_norm,
                precision=precision,
            )
            losses.append(float(metrics.loss_sum) / metrics.tokens)
            if after is not None:
                after(number, losses[-1])
    return losses
