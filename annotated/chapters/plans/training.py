"""Training loop that the experiments of chapter 35 share: another forward pass than the library's, the same update."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from torch import Tensor, nn

from annotated.config import TrainingConfig
from annotated.training.loss import label_smoothed_cross_entropy
from annotated.training.optimizer import make_optimizer
from annotated.training.schedule import set_learning_rate


def inverse_root(highest: float, warmup: int) -> Callable[[int], float]:
    """The schedule of equation 3 with another factor: it rises to `highest` at update `warmup`."""
    return lambda update: highest * min(update / warmup, (warmup / update) ** 0.5)


def train(
    model: nn.Module,
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
    optimizer = make_optimizer(model, TrainingConfig())
    losses: list[float] = []
    model.train()
    for update, (inputs, gold) in zip(range(1, updates + 1), batches, strict=False):
        set_learning_rate(optimizer, rate(update))
        optimizer.zero_grad(set_to_none=True)
        total, tokens = label_smoothed_cross_entropy(model(*inputs), gold, smoothing)
        (total / tokens).backward()
        optimizer.step()
        losses.append(total.item() / tokens)
    model.eval()
    return losses
