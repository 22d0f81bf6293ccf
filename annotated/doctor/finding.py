"""Findings, one for each invariant: passed, failed, not applicable or error, with figures and likely mistakes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Outcome = Literal["passed", "failed", "not applicable", "error"]

CHAPTERS = {
    5: "Scaled dot-product attention",
    6: "Query, key, value",
    7: "Masks",
    8: "Many heads",
    10: "The feed-forward network",
    12: "Residuals and LayerNorm",
    13: "Embeddings and sharing",
    14: "Positions",
    15: "Assembly",
    17: "Batches by tokens",
    18: "Teacher forcing",
    19: "Label smoothing",
    20: "Adam and the warm-up",
    21: "Dropout, all of it",
    22: "The first training run",
    23: "Greedy decoding",
    24: "Beam search",
    25: "Averaging and ensembles",
    26: "BLEU",
    28: "Table 3",
}
"""The book's chapters that findings point to."""


@dataclass(frozen=True)
class Mistake:
    """What often lies behind a failed invariant."""

    says: str
    """One sentence."""
    chapter: int
    """Of the book, where it is treated."""
    claim: str | None = None
    """Its id in the ledger of claims, if it has one: 'C01'."""

    @property
    def where(self) -> str:
        """'claim C01, chapter 7 (Masks)'."""
        chapter = f"chapter {self.chapter} ({CHAPTERS[self.chapter]})"
        return f"claim {self.claim}, {chapter}" if self.claim else chapter


@dataclass(frozen=True)
class Finding:
    """The outcome of one invariant."""

    id: str
    title: str
    """What must hold, in one sentence."""
    theme: str
    paper: str
    outcome: Outcome
    measured: str
    """What was measured, or why nothing was: one sentence."""
    mistakes: tuple[Mistake, ...] = field(default=())
    """What may be wrong, likeliest first; empty unless the invariant failed."""
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Finding:
        """The inverse of `to_dict`."""
        mistakes: Sequence[dict[str, Any]] = fields["mistakes"]
        return cls(**{**fields, "mistakes": tuple(Mistake(**mistake) for mistake in mistakes)})
