"""Counts of an entry's sentences in the ledger's page, a byte each: its script computes BLEU from them."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotated import chapters
from annotated.runs.registry import Entry, entries
from annotated.runs.registry.entries import LEDGER
from annotated.runs.report.report import STATISTICS

FOLDER = Path(chapters.__file__).parents[2] / LEDGER
"""Of the repository; the book is built from there."""
SYSTEMS = ("average", "last")
SETTING = "sacrebleu"


def counts(entry: Entry) -> NDArray[np.int64]:
    """The ten numbers of each sentence, `[systems, sentences, 10]`."""
    lines = (entry.folder / STATISTICS).read_text(encoding="utf-8").splitlines()
    head, rows = lines[0].split("\t"), np.array([line.split("\t") for line in lines[1:]], dtype=np.int64)
    columns = [[i for i, name in enumerate(head) if name.startswith(f"{one}.{SETTING}.")] for one in SYSTEMS]
    return np.stack([rows[:, these] for these in columns])


def page_data(entry: Entry) -> dict[str, Any]:
    """What the script needs of an entry: its counts, and what its report says.

    Raises
    ------
    ValueError
        If a count needs more than a byte.
    """
    numbers = counts(entry)
    if numbers.max() > 255:
        raise ValueError(f"{entry.name}: a sentence has a count of {numbers.max()}, which needs more than a byte")
    scores = entry.report["scores"]
    told = [*(scores[one][SETTING] for one in SYSTEMS), scores["difference"][SETTING]]
    return {
        "name": entry.name,
        "sentences": numbers.shape[1],
        "counts": base64.b64encode(numbers.astype(np.uint8).tobytes()).decode(),
        "reported": [[one["score"], one["low"], one["high"]] for one in told],
    }


def ledger(sentence: str | None) -> str:
    """The data of the newest entry that has both systems, as a script that is not run."""
    entry = next(one for one in reversed(entries(FOLDER)) if one.report["scores"]["last"])
    return f'<script type="application/json" class="ledger-data">{json.dumps(page_data(entry))}</script>'
