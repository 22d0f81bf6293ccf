"""Attention heads of a training run in progress: the atlas of one moment, which follows the panel's slider."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from annotated.runs.validation_callbacks import read_heads
from annotated.saving import CheckpointError
from annotated_book.viz.heads import AttentionHeads, kept_heads


class LiveHeads:
    """An `AttentionHeads` whose weights are those of the latest validation up to a moment.

    `widget` is None until there is something to show; then it stays the same widget, so what the reader has chosen
    stays chosen.

    Parameters
    ----------
    folder
        Of the run.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.widget: AttentionHeads | None = None
        self.update: int | None = None
        """After which update the heads that are shown were kept."""

    def show(self, records: Sequence[Mapping[str, Any]], moment: int) -> None:
        """Show the heads as they were at `moment`; before the first validation, nothing."""
        kept = [r for r in records if r["kind"] == "heads" and r["update"] <= moment]
        if not kept or kept[-1]["update"] == self.update:
            return
        try:
            sentences = read_heads(self.folder / kept[-1]["path"])
        except CheckpointError:  # it may lie on another machine, or have been deleted: it is for looking only
            return
        if not sentences:
            return
        titles = [f"sentence {n + 1}: {one.source_tokens[0]} ..." for n, one in enumerate(sentences)]
        shown, weights = kept_heads(sentences, titles)
        self.update = kept[-1]["update"]
        if self.widget is None:
            self.widget = AttentionHeads(sentences=shown, weights=weights, use=2)
        else:
            with self.widget.hold_sync():
                self.widget.sentences = shown
                self.widget.weights = weights
