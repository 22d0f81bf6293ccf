"""Residual stream: its length, what can be read from it, and the gradient that comes back along it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from annotated.config import PAD
from annotated.model import Transformer
from annotated.model.layers import SublayerConnection


@torch.no_grad()
def stream(model: Transformer, source: Tensor) -> list[Tensor]:
    """What stands on the encoder's residual stream: the embedded sentence, then what each sub-layer hands on.

    Parameters
    ----------
    source
        Token ids `[B, S]`.

    Returns
    -------
    list of Tensor
        2 L + 1 states `[B, S, D]`; a norm at the top of the stack is not among them.
    """
    return [state for state, _ in _walk(model, source)]


@torch.no_grad()
def additions(model: Transformer, source: Tensor) -> list[Tensor]:
    """What each of the encoder's 2 L sub-layers computes, before it meets the stream, `[B, S, D]`."""
    return [added for _, added in _walk(model, source)[1:] if added is not None]


def _walk(model: Transformer, source: Tensor) -> list[tuple[Tensor, Tensor | None]]:
    """Each state with the addition that made it; the first has none."""
    states: list[tuple[Tensor, Tensor | None]] = []
    residuals = [module for module in model.encoder.modules() if isinstance(module, SublayerConnection)]
    for residual in residuals:
        residual.after = partial(_watched, residual.after, states)  # type: ignore[method-assign]
    try:
        model.eval().encode(source)
    finally:
        for residual in residuals:
            del residual.after  # the class's own method again
    return states


def _watched(after: Callable[[Tensor, Tensor], Tensor], states: list[Any], x: Tensor, y: Tensor) -> Tensor:
    result = after(x, y)
    if not states:
        states.append((x, None))
    states.append((result, y))
    return result


def lengths(states: Sequence[Tensor]) -> list[float]:
    """Mean Euclidean length of the vectors of each state."""
    return [float(state.norm(dim=-1).mean()) for state in states]


def mean_cosine(state: Tensor) -> float:
    """How alike the vectors of each sentence are: the mean cosine of all pairs of different positions, `[B, S, D]`."""
    directions = F.normalize(state, dim=-1)
    cosines = directions @ directions.mT  # [B, S, S]
    length = state.size(1)
    return float((cosines.sum((1, 2)) - length).mean()) / (length * (length - 1))


def readable(state: Tensor, labels: Tensor, *, ridge: float = 1e-2) -> float:
    """How much of a label a linear readout finds in a state: accuracy on positions it was not fitted to.

    Ridge regression to one-hot labels, fitted on the first half of the sentences and scored on the second. Every
    feature is standardised first, so that the readout cannot fail for want of scale.

    Parameters
    ----------
    state
        `[B, S, D]`
    labels
        Integers `[B, S]`: positions or token ids.
    ridge
        Weight of the penalty, relative to the number of vectors.
    """
    half = len(state) // 2
    x = state.double().flatten(0, 1)
    x = (x - x.mean(0)) / (x.std(0) + 1e-12)
    x = torch.cat([x, x.new_ones(len(x), 1)], dim=1)
    y = F.one_hot(labels.flatten()).double()
    cut = half * state.size(1)
    fit, score = x[:cut], x[cut:]
    gram = fit.t() @ fit + ridge * cut * torch.eye(x.size(1), dtype=x.dtype)
    weights = torch.linalg.solve(gram, fit.t() @ y[:cut])
    return float(((score @ weights).argmax(1) == labels.flatten()[cut:]).double().mean())


def gradient_norms(model: Transformer, source: Tensor, target_in: Tensor, target_out: Tensor) -> dict[str, list[float]]:
    """Norm of the loss's gradient with respect to the feed-forward matrices of each layer, from the bottom.

    Parameters
    ----------
    source, target_in, target_out
        Token ids `[B, S]`, `[B, T]`, `[B, T]`.

    Returns
    -------
    dict
        'encoder' and 'decoder': one number a layer; 'all': one number, the norm over all parameters of the model.
    """
    model.zero_grad()
    logits = model.eval()(source, target_in)
    F.cross_entropy(logits.flatten(0, 1), target_out.flatten(), ignore_index=PAD).backward()
    norms = {
        stack: [_norm(layer.feed_forward) for layer in getattr(model, stack).layers] for stack in ("encoder", "decoder")
    }
    return {**norms, "all": [_norm(model)]}


def _norm(module: nn.Module) -> float:
    gradients = [p.grad.double().flatten() for p in module.parameters() if p.grad is not None]
    return float(torch.cat(gradients).norm())


def by_hand(x: Tensor, gain: Tensor, bias: Tensor, epsilon: float) -> Tensor:
    """Layer normalisation written out: each vector by its own mean and variance, `[..., D]`."""
    mean = x.mean(dim=-1, keepdim=True)
    variance = ((x - mean) ** 2).mean(dim=-1, keepdim=True)
    return gain * (x - mean) / torch.sqrt(variance + epsilon) + bias
