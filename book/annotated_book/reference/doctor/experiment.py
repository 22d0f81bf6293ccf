"""The doctor's reports on the game's models: the classroom model as the page has it, with one mistake of the bank."""

from __future__ import annotations

from typing import Any

from annotated_book.viz.engine.script import page_translator
from annotated_grader.doctor import OurSubject, Report, examine
from annotated_grader.doctor.mutants import switched_on

CASES = (
    "positions_missing",
    "encoder_is_causal",
    "residual_missing",
    "causal_mask_missing",
    "scale_by_d_k",
    "padding_seen_by_encoder",
    "cache_forgets_values",
    "causal_mask_too_wide",
    "encoder_skipped",
    "softmax_over_queries",
    "mask_fill_tiny",
    "keys_and_values_swapped",
    "cached_position_restarts",
)
"""Names of mistakes in `annotated_grader.doctor.mutants`, in the order of the game, without the healthy model."""
HEALTHY = "healthy"


def run() -> dict[str, Any]:
    """The report on each model, as JSON has it."""
    found = {HEALTHY: _examined(HEALTHY)}
    for id in CASES:
        with switched_on(id):
            found[id] = _examined(id)
    return {"reports": {id: _without_times(report) for id, report in found.items()}}


def _examined(name: str) -> Report:
    return examine(OurSubject(page_translator().model, name))


def _without_times(report: Report) -> dict[str, Any]:
    fields = report.to_dict()
    for finding in fields["findings"]:
        finding["seconds"] = 0.0
        if finding["outcome"] != "failed":
            finding["mistakes"] = []
    return fields
