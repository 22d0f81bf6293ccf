"""Hidden units of the classroom model silenced one at a time, and in growing random parts; the loss without them."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from annotated.analysis.feed_forward import pair_loss
from annotated.classroom import classroom_pairs
from annotated.loading import load
from annotated.model import Transformer

SENTENCES = 50
SHARES = (0.125, 0.25, 0.5, 0.75, 0.875, 0.9375, 1.0)
"""Parts of a network's units that are silenced together."""


class _Networks:
    """The classroom model and its loss on some sentences, with some units of one network silenced."""

    def __init__(self, sentences: int) -> None:
        loaded = load("classroom")
        self.model: Transformer = loaded.model.eval()
        self.tokenizer = loaded.tokenizer
        self.pairs = [(p.source, p.target) for p in classroom_pairs("test", sentences)]
        self.whole = self.loss()

    def loss(self) -> float:
        return pair_loss(self.model, self.tokenizer, self.pairs)

    def rows(self, stack: str, layer: int) -> Tensor:
        """Rows of W_2, one for each unit: a view, so that changing it changes the model."""
        return getattr(self.model, stack).layers[layer].feed_forward.outer.weight.data.t()

    def rise(self, stack: str, layer: int, units: Tensor) -> float:
        """How much the loss rises without some units; they are put back."""
        rows = self.rows(stack, layer)
        kept = rows[units].clone()
        rows[units] = 0
        try:
            return round(self.loss() - self.whole, 6)
        finally:
            rows[units] = kept


def run(orders: int = 3, sentences: int = SENTENCES) -> dict[str, Any]:
    """For each network: the rise without each single unit, and without random parts of its units.

    A silenced unit's row of W_2 is zero; the network's bias b_2 stays.
    """
    torch.set_num_threads(1)
    networks, generator = _Networks(sentences), torch.Generator().manual_seed(0)
    found = []
    for stack in ("encoder", "decoder"):
        for layer in range(len(getattr(networks.model, stack).layers)):
            count = len(networks.rows(stack, layer))
            parts = []
            for _ in range(orders):
                order = torch.randperm(count, generator=generator)
                parts.append([networks.rise(stack, layer, order[: round(share * count)]) for share in SHARES])
            single = [networks.rise(stack, layer, torch.tensor([unit])) for unit in range(count)]
            found.append({"stack": stack, "layer": layer + 1, "parts": parts, "single": single})
    return {"sentences": sentences, "whole": round(networks.whole, 5), "shares": list(SHARES), "networks": found}
