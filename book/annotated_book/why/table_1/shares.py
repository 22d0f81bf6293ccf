"""The shares of equation 1 in the time of a layer: scores, softmax and weighted means, beside the projections.

Table 1 keeps the products of equation 1 alone. This measures how much of the processor time of one attention and of one
encoder layer they take at the length of a sentence, as the equation is written and in PyTorch's fused kernel.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from annotated.model import MultiHeadAttention, PositionwiseFeedForward, Recorded
from annotated.model.attention import scaled_dot_product_attention
from annotated_book.why.table_1.timing import seconds

TOKENS, WIDTH, HEADS = 50, 512, 8
BATCHES = (1, 32)
PASSES = 7

Calls = dict[str, Callable[[], object]]


def calls(batch: int) -> dict[str, Calls]:
    """By kernel, what is timed: equation 1 alone, the attention with its projections, the encoder layer."""
    attention, network = MultiHeadAttention(WIDTH, HEADS), PositionwiseFeedForward(WIDTH, 4 * WIDTH)
    x = torch.randn(batch, TOKENS, WIDTH)
    q, k, v = (torch.randn(batch, HEADS, TOKENS, WIDTH // HEADS) for _ in range(3))

    def written_out(y: Tensor) -> Tensor:
        return attention(y, y, y, Recorded())

    def fused(y: Tensor) -> Tensor:
        return attention(y, y, y)

    def layer(attend: Callable[[Tensor], Tensor]) -> Tensor:
        y = F.layer_norm(x + attend(x), (WIDTH,))
        return F.layer_norm(y + network(y), (WIDTH,))

    return {
        "as written": {
            "equation 1": lambda: scaled_dot_product_attention(q, k, v),
            "attention": lambda: written_out(x),
            "encoder layer": lambda: layer(written_out),
        },
        "fused": {
            "equation 1": lambda: F.scaled_dot_product_attention(q, k, v),
            "attention": lambda: fused(x),
            "encoder layer": lambda: layer(fused),
        },
    }


@torch.no_grad()
def run() -> dict[str, Any]:
    """Milliseconds of each part, and the shares of equation 1.

    Every part is measured once before any is measured again, so that a busy minute of the machine does not fall on one
    part alone; of the passes the least counts.
    """
    torch.set_num_threads(1)
    torch.manual_seed(0)
    rows = []
    for batch in BATCHES:
        timed = calls(batch)
        best = {(kernel, part): math.inf for kernel, parts in timed.items() for part in parts}
        for _ in range(PASSES):
            for kernel, part in best:
                best[kernel, part] = min(best[kernel, part], seconds(timed[kernel][part], repeats=3))
        for kernel in timed:
            eq, whole, layer = (best[kernel, part] for part in timed[kernel])
            rows.append(
                {
                    "batch": batch,
                    "kernel": kernel,
                    "ms": {part: float(f"{1000 * best[kernel, part]:.4g}") for part in timed[kernel]},
                    "of_attention": round(eq / whole, 4),
                    "of_encoder_layer": round(eq / layer, 4),
                }
            )
    return {"n": TOKENS, "d": WIDTH, "heads": HEADS, "passes": PASSES, "rows": rows}
