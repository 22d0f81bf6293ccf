"""Table 1 by the clock: the processor time of one layer of each kind over lengths and widths, on one core."""

from __future__ import annotations

from typing import Any

import torch

from annotated_book.why.table_1.complexity import LAYERS
from annotated_book.why.table_1.timing import BUILT_IN, layer_seconds

KINDS = (*LAYERS, *BUILT_IN)
LENGTHS = (16, 32, 64, 128, 256, 512, 1024, 2048)
WIDTHS = (64, 128, 256, 512, 1024)
CURVES = (128, 512)
KERNEL, NEIGHBOURHOOD, SHORT, PASSES = 3, 33, 64, 4


def run() -> dict[str, Any]:
    """Milliseconds over lengths at two widths, and over widths at one length.

    Every layer is measured once before any is measured again, so that a busy minute of the machine does not fall on one
    layer alone; of the passes the least counts.
    """
    torch.set_num_threads(1)
    torch.manual_seed(0)
    sizes = [(n, d) for d in CURVES for n in LENGTHS] + [(SHORT, d) for d in WIDTHS if d not in CURVES]
    best: dict[tuple[str, int, int], float] = {}
    for _ in range(PASSES):
        for n, d in sizes:
            for kind in KINDS:
                took = layer_seconds(kind, n, d, KERNEL, NEIGHBOURHOOD, repeats=3 if n < 1024 else 1)
                best[kind, n, d] = min(took, best.get((kind, n, d), took))
    rows = [{"layer": kind, "n": n, "d": d, "ms": float(f"{1000 * s:.4g}")} for (kind, n, d), s in best.items()]
    sizes_of = {"lengths": LENGTHS, "widths": WIDTHS, "curves": CURVES, "short": SHORT}
    return {"k": KERNEL, "r": NEIGHBOURHOOD, **sizes_of, "passes": PASSES, "rows": rows}
