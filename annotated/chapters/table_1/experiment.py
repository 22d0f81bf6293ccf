"""Table 1 by the clock: the processor time of one layer of each kind over lengths and widths, on one core."""

from __future__ import annotations

from typing import Any

import torch

from annotated.chapters.table_1.complexity import LAYERS
from annotated.chapters.table_1.timing import layer_seconds

LENGTHS = (16, 32, 64, 128, 256, 512, 1024, 2048)
WIDTHS = (64, 128, 256, 512, 1024)
KERNEL, NEIGHBOURHOOD, SHORT = 3, 33, 64


def run() -> dict[str, Any]:
    """Milliseconds over lengths at two widths, and over widths at one length; the best of several rounds each."""
    torch.set_num_threads(1)
    torch.manual_seed(0)

    def row(layer: Any, n: int, d: int) -> dict[str, Any]:
        best = layer_seconds(layer, n, d, KERNEL, NEIGHBOURHOOD, repeats=5 if n < 1024 else 3)
        return {"layer": layer, "n": n, "d": d, "ms": float(f"{1000 * best:.4g}")}

    sizes = [(n, d) for d in (64, 512) for n in LENGTHS] + [(SHORT, d) for d in WIDTHS if d not in (64, 512)]
    rows = [row(layer, n, d) for layer in LAYERS for n, d in sizes]
    return {"k": KERNEL, "r": NEIGHBOURHOOD, "lengths": LENGTHS, "widths": WIDTHS, "short": SHORT, "rows": rows}
