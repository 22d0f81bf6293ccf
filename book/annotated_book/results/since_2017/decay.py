"""AdamW: Adam with a weight decay that its step sizes do not touch; and Adam as the experiment's other parts use it."""

from __future__ import annotations

from typing import Any

from torch import nn
from torch.optim import Adam, AdamW, Optimizer

from annotated.config import TrainingConfig
from annotated.model import Transformer

WEIGHT_DECAY = 0.1


def fused(kind: type[Adam], groups: Any, training: TrainingConfig, **options: Any) -> Adam:
    """An Adam of this kind with the paper's constants; by the fused kernel, where there is one."""
    options.update(lr=0.0, betas=training.adam_betas, eps=training.adam_epsilon)
    try:
        return kind(groups, fused=True, **options)
    except RuntimeError:  # no fused kernel for this device in this release
        return kind(groups, **options)


def adam(model: Transformer, training: TrainingConfig) -> Optimizer:
    """The paper's Adam over all parameters."""
    return fused(Adam, list(model.parameters()), training)


def decay_groups(parameters: list[nn.Parameter], weight_decay: float) -> list[dict[str, Any]]:
    """Matrices with the decay, vectors (gains and biases) without."""
    matrices = [one for one in parameters if one.dim() > 1]
    vectors = [one for one in parameters if one.dim() <= 1]
    groups = [{"params": matrices, "weight_decay": weight_decay}, {"params": vectors, "weight_decay": 0.0}]
    return [group for group in groups if group["params"]]


def adamw(model: Transformer, training: TrainingConfig) -> Optimizer:
    """Adam's step, and before it every matrix times 1 - rate * decay: p <- (1 - rate * 0.1) p - rate * step."""
    return fused(AdamW, decay_groups(list(model.parameters()), WEIGHT_DECAY), training)
