"""Data of the page's panels: GPUs by their data sheets, the operations of both trainings, and when they save."""

from __future__ import annotations

import json
from typing import Any

from annotated.recipes import recipe
from annotated_book.results.table_2.costs import DEVICES, update_flops

VOCABULARY = 37_000
GPUS = {"P100": "P100", "V100": "V100", "A100": "A100", "RTX 4090": "RTX 4090", "H100": "H100", "B200": "B200"}
"""What the page calls them, and their names in `DEVICES`. An H200 has the peak of an H100, and was not measured."""
BITS = {"float32": "32 bits", "float16": "16 bits", "bfloat16": "16 bits"}
MEASURED = {"name": "H100", "count": 1, "share": 0.19}
"""The one H100 of `benchmarks/gpu.md`: 50.5 milliseconds an update of the base model."""
START = MEASURED | {"price": 2.0}
"""The price is an example, to be replaced by the reader's own."""
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
    machines = {"start": START, "machine": MACHINE, "measured": MEASURED}
    return {"gpus": gpus, "models": models, "paper": PAPER_HOURS, **machines}


def cost(sentence: str | None) -> str:
    """The data as a script that is not run."""
    return f'<script type="application/json" class="cost-data">{json.dumps(page_data())}</script>'


SECONDS = {"one H100, measured": 0.0505, "the paper's eight P100": 0.4}
"""Of an update of the base model: `benchmarks/gpu.md`, and the paper's section 5.2."""


def stop_data() -> dict[str, Any]:
    """What the panel of the stopped training needs: the base model's recipe, and the time of an update."""
    one = recipe("wmt14-base")
    training = one.training
    return {
        "updates": training.updates, "every": training.checkpoint_every, "keep": training.keep_checkpoints,
        "warmup": training.warmup, "tokens": training.batch_tokens, "d_model": one.model.d_model, "seconds": SECONDS,
    }  # fmt: skip


def stop(sentence: str | None) -> str:
    """The data as a script that is not run."""
    return f'<script type="application/json" class="stop-data">{json.dumps(stop_data())}</script>'
