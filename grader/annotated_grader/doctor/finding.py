"""Findings, one for each invariant: passed, failed, not applicable or error, with figures and likely mistakes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Outcome = Literal["passed", "failed", "not applicable", "error"]

CHAPTERS = {
    5: ("Scaled dot-product attention", "attention/scaled_dot_product"),
    6: ("Query, key, value", "attention/query_key_value"),
    7: ("Masks", "attention/masks"),
    8: ("Multi-head attention", "attention/multi_head"),
    10: ("The position-wise network", "machine/feed_forward"),
    12: ("Residuals and layer normalisation", "machine/residuals"),
    13: ("Embeddings, shared three ways", "machine/embeddings"),
    14: ("Positional encoding", "machine/positions"),
    15: ("Assemble and audit", "machine/assembly"),
    17: ("Batches by tokens", "training/batches"),
    18: ("Teacher forcing", "training/teacher_forcing"),
    19: ("Label smoothing", "training/label_smoothing"),
    20: ("Adam and the warm-up", "training/warm_up"),
    21: ("Dropout", "training/dropout"),
    22: ("The first training run", "training/first_run"),
    23: ("Greedy decoding", "decoding/greedy"),
    24: ("Beam search", "decoding/beam_search"),
    25: ("Averaging and ensembles", "decoding/averaging"),
    26: ("BLEU", "decoding/bleu"),
}
"""The book's chapters that findings point to: title and page."""

_CLAIMS = {
    5: "C08 C09 C10 C11",
    6: "C18 C19 C20 C48",
    7: "C01 C12 C14 C15",
    8: "C04 C06 C07",
    10: "C34",
    12: "C44 C46",
    13: "C36 C37",
    14: "C23 C25 C26 C29",
    18: "C22",
    19: "C43",
    20: "A2",
    24: "C24",
    25: "C40",
    26: "A1",
}
CLAIMS = {claim: chapter for chapter, claims in _CLAIMS.items() for claim in claims.split()}
"""The ledger's claims that findings name, and the chapter that is about each."""
MISREADINGS = ("reference/misreadings", frozenset({"C10", "C37", "C43"}))
"""The page of misprints and misreadings, and the claims whose boxes are there in place of the chapter."""


@dataclass(frozen=True)
class Mistake:
    """What often lies behind a failed invariant."""

    says: str
    """One sentence."""
    chapter: int
    """Of the book, where it is treated."""
    claim: str | None = None
    """Its id in the ledger of claims, if it has one: 'C01'."""
    mutant: str | None = None
    """Its name in `annotated_grader.doctor.mutants`, if what was measured tells it from all others."""

    unless: str | None = None
    """An invariant that, where it holds, rules this mistake out."""

    @property
    def where(self) -> str:
        """'claim C01, chapter 7 (Masks)'."""
        chapter = f"chapter {self.chapter} ({CHAPTERS[self.chapter][0]})"
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
    follows: tuple[str, ...] | None = None
    """Ids of the failures without which this one is gone; None if nobody looked."""

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Finding:
        """The inverse of `to_dict`."""
        mistakes: Sequence[dict[str, Any]] = fields["mistakes"]
        follows = fields.get("follows")
        lists = {"follows": None if follows is None else tuple(follows)}
        return cls(**{**fields, **lists, "mistakes": tuple(Mistake(**mistake) for mistake in mistakes)})
