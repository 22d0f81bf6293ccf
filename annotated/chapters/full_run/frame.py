"""Data of the page's calculator: GPUs by their data sheets, and the operations of the paper's two trainings."""

from __future__ import annotations

import json
from typing import Any

from annotated.chapters.table_2.costs import DEVICES, update_flops
from annotated.recipes import recipe

VOCABULARY = 37_000
GPUS = {"P100": "P100", "V100": "V100", "A100": "A100", "RTX 4090": "RTX 4090", "H100 or H200": "H100", "B200": "B200"}
"""What the page calls them, and their names in `DEVICES`; an H200 has the peak of an H100."""
BITS = {"float32": "32 bits", "float16": "16 bits", "bfloat16": "16 bits"}
START = {"name": "H100 or H200", "count": 8, "share": 0.3, "price": 2.0}
"""An example, to be replaced by the reader's own numbers."""
MACHINE = {"name": "P100", "count": 8, "share": 0.26}
"""The paper's, with the share of its peak at which the base model takes the printed 12 hours."""
PAPER_HOURS = (12.0, 84.0)
"""Of the base model and of the big one: "12 hours", "3.5 days"."""


def page_data() -> dict[str, Any]:
    """What the script needs: GPUs, both models as [name, operations of an update, updates], and where it starts."""
    models = []
    for size in ("base", "big"):
        one = recipe(f"wmt14-{size}")
        each = update_flops(one.model.replace(vocab_size=VOCABULARY))
        models.append([size, each, one.training.updates])
    gpus = [
        {"name": name, "peak": DEVICES[known].peak, "precision": BITS[DEVICES[known].precision]}
        for name, known in GPUS.items()
    ]
    return {"gpus": gpus, "models": models, "paper": PAPER_HOURS, "start": START, "machine": MACHINE}


def cost(sentence: str | None) -> str:
    """The data as a script that is not run."""
    return f'<script type="application/json" class="cost-data">{json.dumps(page_data())}</script>'
