"""Counts of a run's sentences in the ledger's page, a byte each: its script computes BLEU from them."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotated.runs.report.report import STATISTICS
from annotated.runs.report.scoring import read_statistics
from annotated_book.results.ledger import reports

SYSTEMS = ("average", "last")
SETTING = "sacrebleu"


def counts(folder: Path) -> NDArray[np.int64]:
    """The ten numbers of each sentence, `[systems, sentences, 10]`."""
    counted = read_statistics((folder / STATISTICS).read_text(encoding="utf-8"))
    return np.stack([counted[f"{system}.{SETTING}"] for system in SYSTEMS])


def page_data() -> dict[str, Any]:
    """What the script needs of the last run that has both systems: its counts, and what its report says.

    Raises
    ------
    ValueError
        If a count needs more than a byte.
    """
    report = next(one for one in reversed(reports()) if one.content["scores"]["last"])
    numbers, scores = counts(report.folder), report.content["scores"]
    if numbers.max() > 255:
        raise ValueError(f"{report.folder}: a sentence has a count of {numbers.max()}, which needs more than a byte")
    told = [*(scores[one][SETTING] for one in SYSTEMS), scores["difference"][SETTING]]
    return {
        "name": report.folder.name,
        "sentences": numbers.shape[1],
        "counts": base64.b64encode(numbers.astype(np.uint8).tobytes()).decode(),
        "reported": [[one["score"], one["low"], one["high"]] for one in told],
    }


def ledger(sentence: str | None) -> str:
    """That data, as a script that is not run."""
    return f'<script type="application/json" class="ledger-data">{json.dumps(page_data())}</script>'
