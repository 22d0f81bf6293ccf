"""Diagnoses: failed invariants that point to the same mistakes, together, and each mistake once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from annotated_grader.doctor.finding import Finding, Mistake


@dataclass(frozen=True)
class Guess:
    """One mistake, and the findings that point to it."""

    mistake: Mistake
    named_by: tuple[str, ...]
    """Ids of the findings, in the order of the examination."""


@dataclass(frozen=True)
class JointDiagnosis:
    """Findings that share guesses, directly or through another finding, and what may be behind them."""

    findings: tuple[Finding, ...]
    guesses: tuple[Guess, ...]
    """Those that more findings point to first; of equals, the likelier one."""

    def to_dict(self) -> dict[str, Any]:
        """For JSON: ids of the findings, and the guesses in words."""
        guesses = [{"says": one.mistake.says, "named_by": list(one.named_by)} for one in self.guesses]
        return {"findings": [finding.id for finding in self.findings], "guesses": guesses}


def diagnoses(findings: Sequence[Finding]) -> list[JointDiagnosis]:
    """One diagnosis for each set of findings that have a guess in common, in the order of their first findings."""
    sets: list[list[Finding]] = []
    for finding in findings:
        said = {mistake.says for mistake in finding.mistakes}
        near = [group for group in sets if said & {mistake.says for one in group for mistake in one.mistakes}]
        joined = [one for group in near for one in group] + [finding]
        place = sets.index(near[0]) if near else len(sets)
        sets = [group for group in sets if group not in near]
        sets.insert(place, sorted(joined, key=findings.index))
    return [JointDiagnosis(tuple(group), tuple(_guesses(group))) for group in sets]


def _guesses(findings: Sequence[Finding]) -> Iterable[Guess]:
    mistakes: dict[str, Mistake] = {}
    ranks: dict[str, int] = {}
    named_by: dict[str, list[str]] = {}
    for finding in findings:
        for rank, mistake in enumerate(finding.mistakes):
            mistakes.setdefault(mistake.says, mistake)
            ranks[mistake.says] = min(rank, ranks.get(mistake.says, rank))
            named_by.setdefault(mistake.says, []).append(finding.id)
    told = {says for says, mistake in mistakes.items() if mistake.mutant}
    for says in sorted(mistakes, key=lambda says: (says not in told, -len(named_by[says]), ranks[says])):
        yield Guess(mistakes[says], tuple(named_by[says]))
