"""Claims: sentences of the paper and readers' beliefs as one list, with the effects that this build computed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from annotated_grader.doctor.mutants import MUTANTS
from annotated_grader.exercise.catalogue import all_exercises
from page_kit.claims import claim_boxes
from page_kit.claims.effects import Effect, effects_of
from page_kit.claims.sentences import ARITHMETIC, section_of, sections, sentences, verdict_of
from page_kit.reference.exercise_index import claims_of

PAGE = claim_boxes.ROWS
SENTENCE, BELIEF = "the paper's sentence", "a reader's belief"
TESTED = ("confirmed", "depends", "imprecise", "refuted")
"""Verdicts that a proof gave, in the order in which they are drawn."""


@dataclass(frozen=True)
class Claim:
    """A sentence or a belief with its verdict and all that belongs to it."""

    id: str
    kind: str
    section: str
    says: str
    verdict: str
    answer: str
    """The verdict as a reader sees it: 'confirmed, by arithmetic', 'true only for cross-attention'."""
    why: str
    page: str
    anchor: str
    effects: tuple[Effect, ...]
    exercises: tuple[str, ...]
    mutants: tuple[str, ...]
    related: tuple[str, ...]
    by: str = ""
    tested: str = ""


def all_claims(env: Any) -> list[Claim]:
    """All claims by section, in the paper's order: its sentences, then what readers believe of the section."""
    found = [*_of_paper(env), *_of_readers(env)]
    order = {name: i for i, name in enumerate(sections())}
    return sorted(found, key=lambda claim: order[claim.section])


def _of_paper(env: Any) -> list[Claim]:
    found = []
    for one in sentences().values():
        page, _, anchor = one.proof.partition("#")
        lists = (tuple(effects_of(env, one.id)), one.exercises, one.mutants, one.claims, one.by, one.tested)
        said = (one.id, SENTENCE, one.section, one.says, one.verdict, one.answer, one.why)
        found.append(Claim(*said, page, anchor, *lists))
    return found


def _of_readers(env: Any) -> list[Claim]:
    boxes = claim_boxes.domain(env)
    exercises: dict[str, list[str]] = {}
    for exercise in all_exercises():
        for id in claims_of(exercise):
            exercises.setdefault(id, []).append(exercise.id)
    found = []
    for id, entry in claim_boxes.ledger("claim").items():
        page = next(iter(boxes.pages("claim", id)), "")
        answer = {"false": "refuted", "misleading": "half true"}.get(entry.verdict, entry.verdict)
        mutants = tuple(mutant.id for mutant in MUTANTS if mutant.claim == id)
        related = tuple(one.id for one in sentences().values() if id in one.claims)
        lists = (tuple(effects_of(env, id)), tuple(sorted(exercises.get(id, ()))), mutants, related)
        said = (id, BELIEF, section_of(entry), entry.statement, verdict_of(entry), answer, entry.truth)
        found.append(Claim(*said, page, entry.anchor, *lists))
    return found


def address(id: str) -> str:
    """Where a claim stands in the book."""
    return f"{PAGE}.html#{id}"


def group_anchor(section: str) -> str:
    """The anchor of a section's claims: 'claims-3-2-1'."""
    return "claims-" + section.replace(".", "-").replace(" ", "-")


def tally(claims: list[Claim]) -> dict[str, Counter[str]]:
    """For each section, how many of the paper's sentences have each verdict."""
    found: dict[str, Counter[str]] = {}
    for claim in claims:
        if claim.kind == SENTENCE:
            found.setdefault(claim.section, Counter())[claim.verdict] += 1
    return found


def counts(claims: list[Claim]) -> str:
    """How many claims there are, by kind and verdict, and of how many this build computed an effect."""
    paper = Counter(claim.verdict for claim in claims if claim.kind == SENTENCE)
    beliefs = Counter(claim.verdict for claim in claims if claim.kind == BELIEF)
    measured = sum(bool(claim.effects) for claim in claims)
    by = Counter(claim.verdict for claim in claims if claim.by == ARITHMETIC)
    printed = (
        f" {by.total()} of these verdicts are by arithmetic, {by['confirmed']} of them confirmations." if by else ""
    )
    return (
        f"Of {paper.total()} sentences of the paper, {paper['confirmed']} are confirmed, {paper['depends']} depend on "
        f"a condition that is named, {_of('imprecise', paper)}, {_of('refuted', paper)}, and {paper['not tested']} are "
        f"not tested here."
        f"{printed} Of "
        f"{beliefs.total()} beliefs of readers, {beliefs['refuted']} are refuted and {beliefs['depends']} are true in "
        f"part." + (f" For {measured} claims, cells of this build computed the size of an effect." if measured else "")
    )


def _of(verdict: str, found: Counter[str]) -> str:
    """'2 are imprecise', '1 is refuted'."""
    return f"{found[verdict]} {'is' if found[verdict] == 1 else 'are'} {verdict}"


def as_data(claims: list[Claim]) -> dict[str, Any]:
    """What `claims.json` holds; its schema is beside it."""
    return {
        "$schema": "claims.schema.json",
        "paper": "https://arxiv.org/abs/1706.03762v7",
        "claims": [_data(claim) for claim in claims],
    }


def _data(claim: Claim) -> dict[str, Any]:
    root = "../" * PAGE.count("/")
    sizes = [
        {"value": e.value, "unit": e.unit, "what": e.what, "cell": f"{root}{e.page}.html#{e.anchor}"}
        for e in claim.effects
    ]
    return {
        "id": claim.id,
        "kind": "sentence" if claim.kind == SENTENCE else "belief",
        "section": claim.section,
        "statement": claim.says,
        "verdict": claim.verdict,
        "answer": claim.answer,
        "by": claim.by,
        "tested": claim.tested,
        "why": claim.why,
        "proof": f"{root}{claim.page}.html#{claim.anchor}" if claim.page else None,
        "effects": sizes,
        "exercises": list(claim.exercises),
        "mutants": list(claim.mutants),
        "related": list(claim.related),
        "address": f"#{claim.id}",
    }
