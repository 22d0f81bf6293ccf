"""Muon: hidden matrices change by orthogonal matrices; embeddings, gains and biases by Adam's step."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import AdamW, Optimizer

from annotated.config import TrainingConfig
from annotated.model import MultiHeadAttention, Transformer
from annotated_book.results.since_2017.decay import decay_groups, fused

COEFFICIENTS = (3.4445, -4.7750, 2.0315)
STEPS = 5
ADAM_SIZE = 0.2
"""Root mean square of Adam's step in large models, over its rate; Muon's steps are scaled to it."""


def newton_schulz(matrices: Tensor, steps: int = STEPS) -> Tensor:
    """The nearest orthogonal matrices of `[..., m, n]`, roughly.

    Five steps bring all but the smallest singular values to between about 0.7 and 1.2.
    Each step takes every singular value s to 3.4445 s - 4.7750 s^3 + 2.0315 s^5, by products alone.
    """
    a, b, c = COEFFICIENTS
    tall = matrices.size(-2) > matrices.size(-1)
    x = matrices.mT if tall else matrices  # so that the products below are small
    x = x / (torch.linalg.matrix_norm(x, keepdim=True) + 1e-7)
    for _ in range(steps):
        gram = x @ x.mT
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.mT if tall else x


class Muon(Optimizer):
    """Momentum, orthogonalised; `rows` in a group says where a parameter holds several matrices."""

    def __init__(self, groups: Any, momentum: float = 0.95, weight_decay: float = 0.0) -> None:
        super().__init__(groups, {"lr": 0.0, "momentum": momentum, "weight_decay": weight_decay, "rows": None})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """Change every matrix once."""
        for group in self.param_groups:
            by_shape = defaultdict(list)
            for p in group["params"]:
                for matrix, direction in self._directions(p, group):
                    by_shape[matrix.shape].append((matrix, direction))
            for size, some in by_shape.items():  # all of one shape at once
                matrices, directions = zip(*some, strict=True)
                changes = newton_schulz(torch.stack(directions)) * (ADAM_SIZE * max(size) ** 0.5 * group["lr"])
                torch._foreach_mul_(matrices, 1 - group["lr"] * group["weight_decay"])
                torch._foreach_sub_(matrices, changes.unbind())

    def _directions(self, p: nn.Parameter, group: dict[str, Any]) -> Iterable[tuple[Tensor, Tensor]]:
        state, rows = self.state[p], group["rows"] or (p.size(0),)
        if p.grad is None:
            return ()
        if not state:
            state["momentum"] = torch.zeros_like(p)
        state["momentum"].lerp_(p.grad, 1 - group["momentum"])
        ahead = p.grad.lerp(state["momentum"], group["momentum"])  # Nesterov's
        return zip(p.split(rows), ahead.split(rows), strict=True)


class Together(Optimizer):
    """Optimisers that make their steps as one: one list of groups, and one state."""

    def __init__(self, *parts: Optimizer) -> None:
        self.parts, self.counts = parts, [len(part.param_groups) for part in parts]
        super().__init__([group for part in parts for group in part.param_groups], {})

    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """One step of each."""
        begin = 0
        for part, count in zip(self.parts, self.counts, strict=True):
            part.state, part.param_groups = self.state, self.param_groups[begin : begin + count]
            part.step()
            begin += count


def hidden_matrices(model: Transformer) -> dict[tuple[int, ...] | None, list[nn.Parameter]]:
    """The matrices between embedding and projection, by the rows of what they hold: W_Q, W_K and W_V, or one matrix."""
    found: dict[tuple[int, ...] | None, list[nn.Parameter]] = defaultdict(list)
    for module in model.modules():
        if isinstance(module, MultiHeadAttention):
            found[module.widths].append(module.in_projection)
        elif isinstance(module, nn.Linear):
            weight: nn.Parameter = module.weight  # type: ignore[assignment]
            found[None].append(weight)
    return found


def muon(model: Transformer, training: TrainingConfig, *, weight_decay: float = 0.0) -> Optimizer:
    """Muon for the hidden matrices, and Adam for all else; with a decay, of all matrices."""
    hidden = hidden_matrices(model)
    taken = {id(one) for matrices in hidden.values() for one in matrices}
    rest = [one for one in model.parameters() if id(one) not in taken]
    matrices = Muon([{"params": some, "rows": rows} for rows, some in hidden.items()], weight_decay=weight_decay)
    return Together(matrices, fused(AdamW, decay_groups(rest, weight_decay), training))
