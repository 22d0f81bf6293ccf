"""Table 1 by the clock: the processor time of one layer, and the exponent with which it grows."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from annotated.model import MultiHeadAttention
from annotated_book.why.table_1.complexity import LAYERS, Layer, apply, build

BUILT_IN = ("fused self-attention", "torch.nn.GRU")
"""Self-attention by PyTorch's fused kernel, which stores no weights, and a GRU whose loop is not Python's."""


def seconds(function: Callable[[], object], repeats: int = 5, least: float = 0.02) -> float:
    """The processor time of one call: the best of several rounds, each long enough for the clock.

    Other work on the machine can only add to a round, so the best one is nearest to the truth.
    """
    function()
    calls, best = 1, math.inf
    for _ in range(repeats):
        while True:
            start = time.process_time()
            for _ in range(calls):
                function()
            spent = time.process_time() - start
            if spent >= least:
                break
            calls *= 2
        best = min(best, spent / calls)
    return best


def ready(kind: Layer | str, d: int, k: int = 3, r: int = 33) -> Callable[[Tensor], Tensor]:
    """A layer of `complexity.LAYERS` or of `BUILT_IN` as a function of x `[1, n, D]`.

    Raises
    ------
    ValueError
        If there is no such layer.
    """
    if kind == "fused self-attention":
        attention = MultiHeadAttention(d, 8)
        return lambda x: attention(x, x, x)
    if kind == "torch.nn.GRU":
        unit = nn.GRU(d, d, batch_first=True)
        return lambda x: unit(x)[0]
    for layer in LAYERS:
        if kind == layer:
            module = build(layer, d, k=k, r=r)
            return lambda x: apply(module, x)
    raise ValueError(f"unknown layer {kind!r}; there are {[*LAYERS, *BUILT_IN]}")


def layer_seconds(kind: Layer | str, n: int, d: int, k: int = 3, r: int = 33, repeats: int = 5) -> float:
    """The processor time of one layer on one sequence, without gradients; the least of `repeats` rounds (`seconds`)."""
    layer, x = ready(kind, d, k, r), torch.randn(1, n, d)
    with torch.no_grad():
        return seconds(lambda: layer(x), repeats)


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """p of the power law that fits best: the slope of a straight line through the logarithms."""
    x, y = ([math.log(value) for value in numbers] for numbers in (sizes, values))
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    together = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return together / sum((a - mean_x) ** 2 for a in x)
