"""Teacher forcing against step by step: passes, positions computed, processor time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from annotated.config import BOS, tiny
from annotated.model import Transformer
from annotated_book.why.table_1.timing import seconds

LENGTHS = (8, 16, 32, 64, 128)
REPEATS = 4


def in_one_pass(model: Transformer, source: Tensor, target_in: Tensor) -> Tensor:
    """Logits `[B, T, V]` of all positions at once."""
    return model(source, target_in)


def with_a_cache(model: Transformer, source: Tensor, target_in: Tensor) -> Tensor:
    """The same logits, one position after another; keys and values of earlier ones are kept."""
    state = model.start_state(source, max_new_tokens=target_in.size(1))
    rows = [model.decode_step(token, state)[0] for token in target_in.T]
    return torch.stack(rows, dim=1)


def with_a_growing_prefix(model: Transformer, source: Tensor, target_in: Tensor) -> Tensor:
    """The same logits, from a prefix that is computed anew each time, one token longer."""
    memory = model.encode(source)
    rows = [model.decode(target_in[:, :t], memory, source)[:, -1] for t in range(1, target_in.size(1) + 1)]
    return torch.stack(rows, dim=1)


def training_step(model: Transformer, source: Tensor, target_in: Tensor) -> Tensor:
    """The loss of all positions at once, and the gradient of every parameter."""
    with torch.enable_grad():
        loss = F.cross_entropy(model(source, target_in).flatten(0, 1), target_in.flatten())
        model.zero_grad()
        loss.backward()
    return loss.detach()


WAYS: dict[str, tuple[Callable[[Transformer, Tensor, Tensor], Tensor], Callable[[int], int], Callable[[int], int]]] = {
    "training step": (training_step, lambda n: 1, lambda n: n),
    "one pass": (in_one_pass, lambda n: 1, lambda n: n),
    "token by token, cached": (with_a_cache, lambda n: n, lambda n: n),
    "token by token, prefix anew": (with_a_growing_prefix, lambda n: n, lambda n: n * (n + 1) // 2),
}
"""How to get the logits of n positions: the function, the decoder passes it makes, the positions it computes."""


@torch.no_grad()
def measure(lengths: tuple[int, ...] = LENGTHS, repeats: int = REPEATS) -> list[dict[str, Any]]:
    """For each way and length: decoder passes, positions computed, and milliseconds of processor time.

    Source and target are one random sentence pair, both of that length. The model is the size of the classroom model.
    """
    torch.manual_seed(0)
    model, rows = Transformer(tiny(vocab_size=2000)).eval(), []
    for n in lengths:
        source = torch.randint(4, 2000, (1, n))
        target_in = torch.cat([torch.full((1, 1), BOS), torch.randint(4, 2000, (1, n - 1))], dim=1)
        for name, (function, passes, positions) in WAYS.items():
            spent = seconds(lambda: function(model, source, target_in), repeats)  # noqa: B023
            row = {"way": name, "length": n, "passes": passes(n), "positions": positions(n)}
            rows.append({**row, "milliseconds": round(1000 * spent, 2)})
    return rows


def run() -> dict[str, Any]:
    """All ways, at five lengths, on one thread."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return {"threads": 1, "rows": measure()}
    finally:
        torch.set_num_threads(threads)
