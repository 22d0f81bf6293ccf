"""Training that the experiments of chapter 35 share: another forward pass than the library's, the same update."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from torch import Tensor

from annotated.config import PAD, TrainingConfig
from annotated.model import Transformer
from annotated.training.loss import label_smoothed_cross_entropy
from annotated.training.update import Step, fit


def inverse_root(highest: float, warmup: int) -> Callable[[int], float]:
    """The schedule of equation 3 with another factor: it rises to `highest` at update `warmup`."""
    return lambda update: highest * min(update / warmup, (warmup / update) ** 0.5)


class Examples(NamedTuple):
    """A batch for a model that reads something else than a source and a target."""

    inputs: tuple[Tensor, ...]
    """What the model is called with."""
    gold: Tensor
    """The tokens that it should predict, `[B, T]`."""

    @property
    def target_tokens(self) -> int:
        """How many tokens are to be predicted."""
        return int((self.gold != PAD).sum())


class ExamplesStep(Step):
    """A step whose loss is that of `Examples`."""

    def loss(self, batch: Any, smoothing: float) -> tuple[Tensor, int]:
        """The loss sum in nats, and how many tokens it is of."""
        return label_smoothed_cross_entropy(self.model(*batch.inputs), batch.gold, smoothing)


def train(
    model: Transformer,
    batches: Iterable[tuple[tuple[Tensor, ...], Tensor]],
    updates: int,
    rate: Callable[[int], float],
    smoothing: float = 0.0,
) -> list[float]:
    """Train a model on pairs of its inputs and the tokens that it should predict.

    Parameters
    ----------
    model
        Called with the inputs; returns logits `[B, T, V]`.
    batches
        Inputs, and ids `[B, T]`, of which 0 counts for nothing.
    updates, rate, smoothing
        How many, the learning rate of each, counted from 1, and the label smoothing.

    Returns
    -------
    list of float
        The loss of each update, in nats per token.
    """
    examples: Iterable[Any] = (Examples(*batch) for batch in batches)
    losses = fit(ExamplesStep(model, TrainingConfig(label_smoothing=smoothing)), examples, updates, rate)
    model.eval()
    return losses
