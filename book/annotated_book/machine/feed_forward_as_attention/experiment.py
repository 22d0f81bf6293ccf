"""Attention over parameters in place of the feed-forward networks: learning curves and step times, three seeds each."""

from __future__ import annotations

import statistics
import time
from typing import Any

import torch
from torch import nn

from annotated.model import PositionwiseFeedForward, Transformer
from annotated_book.machine.feed_forward_as_attention.parameter_attention import (
    ParameterAttention,
    with_parameter_attention,
)
from annotated_book.machine.residuals.experiment import BLOCK, CONFIG, train

SMALL = CONFIG.replace(d_ff=256)
"""Three and three layers of width 64: an eighth of the paper's width and of its d_ff."""
VARIANTS: dict[str, dict[str, int] | None] = {
    "feed-forward": None,
    "attention 1": {"num_heads": 4, "d_k": 16, "d_v": 16, "rows": 192},
    "attention 2": {"num_heads": 8, "d_k": 16, "d_v": 16, "rows": 64},
}
"""The early appendix's two runs with rows, key and value widths divided so that the parameters match again."""
PAPER: dict[str, dict[str, int] | None] = {
    "feed-forward": None,
    "attention 1": {"num_heads": 8, "d_k": 64, "d_v": 64, "rows": 1536},
    "attention 2": {"num_heads": 16, "d_k": 64, "d_v": 64, "rows": 512},
}
PEAK, WARMUP, UPDATES = 2e-3, 200, 600


def layer(variant: str, sizes: dict[str, dict[str, int] | None], d_model: int, d_ff: int) -> nn.Module:
    """One layer of a variant."""
    shape = sizes[variant]
    return PositionwiseFeedForward(d_model, d_ff) if shape is None else ParameterAttention(d_model, **shape)


def curve(variant: str, seed: int = 0, updates: int = UPDATES) -> dict[str, Any]:
    """Train one small model with the layers of a variant."""
    torch.manual_seed(seed)
    shape = VARIANTS[variant]
    model = Transformer(SMALL) if shape is None else with_parameter_attention(SMALL, **shape)
    result = train(model, updates, WARMUP, peak=PEAK, seed=seed)
    return {"variant": variant, "seed": seed, "parameters": model.num_parameters(), **result}


def seconds(module: nn.Module, d_model: int, positions: int = 512, repeats: int = 9) -> float:
    """CPU seconds of one layer, forward and backward; the median of some repeats."""
    x = torch.randn(positions, d_model, requires_grad=True)
    times = []
    for _ in range(repeats):
        start = time.process_time()
        module(x).sum().backward()
        times.append(time.process_time() - start)
    return statistics.median(times)


def run(seeds: int = 3) -> dict[str, Any]:
    """Curves of the small models, and the time of one layer of the paper's size."""
    torch.set_num_threads(1)
    runs = [curve(variant, seed) for seed in range(seeds) for variant in VARIANTS]
    spent = {name: round(seconds(layer(name, PAPER, 512, 2048), 512), 4) for name in PAPER}
    return {
        "config": SMALL.to_dict(),
        "variants": VARIANTS,
        "updates": UPDATES,
        "block": BLOCK,
        "runs": runs,
        "layer_seconds": spent,
    }
