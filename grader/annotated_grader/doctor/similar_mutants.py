"""Similar mutants: known mistakes that fail what a subject fails, for they may tell its mistake.

A mistake is named firmly only where a measured number points to it. One that merely fails exactly the invariants that
fail here, or nearly these, fits, as other mistakes may that the bank does not have; and it is not even named where it
makes one of them measure something else than was measured here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from annotated_grader.doctor.finding import Finding
from annotated_grader.doctor.fingerprints import contradicts

if TYPE_CHECKING:
    from annotated_grader.doctor.mutants import Mutant

Fit = Literal["measured", "fits", "near"]
"""Why a mistake is named: measured numbers point to it; it fails exactly these invariants; it fails nearly these."""

LEAST, LEAST_FAILED = 0.75, 4
"""A mistake that does not fail exactly these is named if it shares this part of them, and so many invariants fail."""
MOST = 3
"""More mistakes than these that fit equally well tell nothing, and none is named."""


@dataclass(frozen=True)
class SimilarMutant:
    """A mistake of the bank that fails much the same invariants as the subject."""

    id: str
    """In `annotated_grader.doctor.mutants`."""
    sentence: str
    claim: str
    similarity: float
    """Invariants that both fail, as a share of those that either fails; 1.0 if they fail exactly the same."""
    fit: Fit = "near"


def similar_mutants(findings: Sequence[Finding]) -> list[SimilarMutant]:
    """The mistakes of the bank that these findings tell, the nearest first; at most three.

    Only what was examined counts: a subject with few capabilities is compared by these.
    """
    from annotated_grader.doctor.mutants import MUTANTS  # here, because the bank imports the adapters

    examined = {finding.id for finding in findings if finding.outcome in ("passed", "failed")}
    broken = {finding.id: finding for finding in findings if finding.outcome == "failed"}
    failed = set(broken)
    if not failed:
        return []
    alike = {mutant: _similarity(failed, examined.intersection(mutant.killed_by)) for mutant in MUTANTS}
    told = [finding.mistakes[0].mutant for finding in broken.values() if finding.mistakes and not finding.follows]
    measured = set(told) - {None}
    if measured:
        return [_named(mutant, alike[mutant], "measured") for mutant in MUTANTS if mutant.id in measured][:MOST]
    fitting = [mutant for mutant in MUTANTS if alike[mutant] >= LEAST and not contradicts(mutant.id, broken)]
    if exact := [mutant for mutant in fitting if alike[mutant] == 1]:
        return [_named(mutant, 1.0, "fits") for mutant in exact] if len(exact) <= MOST else []
    if len(failed) < LEAST_FAILED:
        return []
    near = sorted(fitting, key=lambda mutant: -alike[mutant])
    return [_named(mutant, alike[mutant], "near") for mutant in near[:MOST]]


def _similarity(failed: set[str], expected: set[str]) -> float:
    return len(failed & expected) / len(failed | expected)


def _named(mutant: Mutant, similarity: float, fit: Fit) -> SimilarMutant:
    return SimilarMutant(mutant.id, mutant.sentence, mutant.claim, round(similarity, 2), fit)
