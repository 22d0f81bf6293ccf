"""Similar mutants: known mistakes that fail much the same invariants as a subject, for they tell its mistake."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from annotated.doctor.finding import Finding

LEAST = 0.5
"""A known mistake is named if it shares at least this part of the invariants that fail for it or for the subject."""
MOST = 3


@dataclass(frozen=True)
class SimilarMutant:
    """A mistake of the bank that fails much the same invariants as the subject."""

    id: str
    """In `annotated.doctor.mutants`."""
    sentence: str
    claim: str
    similarity: float
    """Invariants that both fail, as a share of those that either fails; 1.0 if they fail exactly the same."""


def similar_mutants(findings: Sequence[Finding]) -> list[SimilarMutant]:
    """The mistakes of the bank that are most like these findings, the nearest first; at most three.

    Only what was examined counts: a subject with few capabilities is compared by these.
    """
    from annotated.doctor.mutants import MUTANTS  # here, because the bank imports the adapters

    examined = {finding.id for finding in findings if finding.outcome in ("passed", "failed")}
    failed = {finding.id for finding in findings if finding.outcome == "failed"}
    near = []
    for mutant in MUTANTS:
        expected = examined.intersection(mutant.killed_by)
        similarity = len(failed & expected) / max(len(failed | expected), 1)
        if similarity >= LEAST:
            near.append(SimilarMutant(mutant.id, mutant.sentence, mutant.claim, round(similarity, 2)))
    return sorted(near, key=lambda similar: -similar.similarity)[:MOST]
