"""Sentences of the paper that can be tested, from book/_data/sentences.yaml, and what is wrong with their proofs.

A claim of the book is one of these sentences or a belief of claims.yaml. `faults` is what a build complains about: a
proof whose place is gone, an effect that no cell records any more.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from annotated.paper import SECTIONS
from annotated_grader.doctor.mutants import MUTANTS
from annotated_grader.exercise.catalogue import all_exercises
from page_kit.claims.claim_boxes import ROWS, Entry, ledger
from page_kit.data import DATA, records

FILE = DATA / "sentences.yaml"
VERDICTS = ("confirmed", "refuted", "imprecise", "depends", "not tested")
ARITHMETIC = "arithmetic"
"""How a verdict came about that used printed numbers alone."""
ABSTRACT = "abstract"
_MARKED = "-prove"
"""What the mark of a section adds to its first address; it keeps the other one, too (`reading_mode.keep_addresses`)."""
_OF_BELIEFS = {"false": "refuted", "misleading": "depends"}


@dataclass(frozen=True)
class Sentence:
    """A testable sentence of the paper, as the data file has it."""

    id: str
    section: str
    """'3.2.1', 'abstract', 'appendix' or 'early appendix'."""
    says: str
    """A paraphrase; the paper's own words between quotation marks."""
    verdict: str
    why: str
    proof: str = ""
    """'page#anchor'; empty only if it is not tested."""
    by: str = ""
    """'arithmetic' if nothing was measured, and printed numbers alone were used."""
    tested: str = ""
    """Of a sentence that says what the authors did: the statement behind it that was tested in its place."""
    effect: bool = False
    """Whether a cell records the size of an effect."""
    claims: tuple[str, ...] = ()
    exercises: tuple[str, ...] = ()
    mutants: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Raise `ValueError` for a verdict, or a way to it, that nobody knows."""
        if self.verdict not in VERDICTS:
            raise ValueError(f"the verdict is one of {', '.join(VERDICTS)}")
        if self.by not in ("", ARITHMETIC):
            raise ValueError(f"`by` is {ARITHMETIC} or absent")

    @property
    def answer(self) -> str:
        """The verdict as the page shows it: 'confirmed', 'confirmed, by arithmetic'."""
        return f"{self.verdict}, by {self.by}" if self.by else self.verdict


@cache
def sentences() -> dict[str, Sentence]:
    """All sentences by name, in the order of the file, which is the paper's.

    Raises
    ------
    ValueError
        If an entry lacks a field, has one that nobody reads, or an unknown verdict.
    """
    return records(FILE, Sentence)


def sections() -> dict[str, str]:
    """The sections under which claims are listed, with their titles, in the paper's order."""
    numbered = {section.number: section.title for section in SECTIONS}
    return {ABSTRACT: "Abstract"} | numbered


def sentences_of(env: Any, key: str) -> list[str]:
    """The sentences of a part of the paper, 'section 3.2.1' or 'appendix', where the page is built that lists them."""
    number = key.removeprefix("section ")
    return [one.id for one in sentences().values() if one.section == number] if ROWS in env.found_docs else []


def section_of(entry: Entry) -> str:
    """The section of a belief: the first one that it names."""
    for part in entry.paper:
        if part in sections():
            return part
    raise ValueError(f"claims.yaml, {entry.id}: name a section of the paper")


def verdict_of(entry: Entry) -> str:
    """The verdict on a belief in the words of those on sentences."""
    return _OF_BELIEFS.get(entry.verdict, "depends")


def faults(
    anchors: Mapping[str, Collection[str]],
    recorded: Mapping[str, Collection[str]],
    known: Collection[str],
    whole: bool = True,
) -> Iterator[str]:
    """What is wrong with the proofs of all claims, one sentence each.

    Parameters
    ----------
    anchors
        The anchors of each page of this build.
    recorded
        The claims of which a page's cells record an effect.
    known
        Pages that have a source, built or not.
    whole
        Whether this is the whole book; a chapter alone has no proofs of the others.
    """
    yield from _unknown_names()
    beliefs = ledger("claim")
    effects = {id: page for page, ids in recorded.items() for id in ids}
    for id, page in effects.items():
        entry = sentences().get(id) or beliefs.get(id)
        if entry is None:
            yield f"{page} records an effect of {id}, and there is no such claim"
        elif not entry.effect:
            yield f"{page} records an effect of {id}: write `effect: true` there"
    for one in sentences().values():
        if not one.proof and one.verdict != "not tested":
            yield f"{one.id} is {one.verdict} without a proof"
        page, _, anchor = one.proof.partition("#")
        if anchor.endswith(_MARKED):
            yield f"the proof of {one.id}: write {one.proof.removesuffix(_MARKED)}, which holds with and without a mark"
        if one.proof and (page not in known or (whole and page not in anchors)):
            yield f"the proof of {one.id} is on {page}, and the book has no such page"
        elif one.proof and page in anchors and anchor not in anchors[page]:
            yield f"the proof of {one.id} is gone: {page} has no #{anchor}"
    if whole:
        for id, needs in [*sentences().items(), *beliefs.items()]:
            if needs.effect and id not in effects:
                yield f"no cell records the effect of {id} any more: effect_size({id!r}, ...)"


def _unknown_names() -> Iterator[str]:
    """Names in the data file of what the project does not have."""
    have = {
        "claims": set(ledger("claim")),
        "exercises": {exercise.id for exercise in all_exercises()},
        "mutants": {mutant.id for mutant in MUTANTS},
    }
    for one in sentences().values():
        if one.section not in sections():
            yield f"{one.id}: the paper has no section {one.section}"
        for kind, names in have.items():
            for name in getattr(one, kind):
                if name not in names:
                    yield f"{one.id} names {name}, which is not among the {kind}"
