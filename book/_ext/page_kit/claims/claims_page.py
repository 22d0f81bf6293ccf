"""The directive `claims`: testable sentences of the paper and readers' beliefs, each with verdict and proof.

    :::{claims} list
    :::

lists them by section; `chart` draws the verdicts and the share under test of each section; `counts` says how many there
are. The page is filled in when all others are read, and read again at every build; `claims.json` beside it has the same
as data, with its schema. A claim whose proof is gone is a warning, and a warning stops `make book`.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_refnode

from annotated_book.pages import page_of
from annotated_grader.exercise.catalogue import all_exercises
from annotated_grader.exercise.markdown import without_marks as plain
from page_kit.chapter.page_facts import chapters_in_order, commas, plain_title
from page_kit.claims.claim import BELIEF, PAGE, Claim, address, all_claims, as_data, counts, group_anchor
from page_kit.claims.claim_boxes import with_formulas
from page_kit.claims.claims_chart import chart
from page_kit.claims.effects import ANCHORS, EFFECTS
from page_kit.claims.sentences import FILE, faults, sections, sentences
from page_kit.data import DATA
from page_kit.kept import kept
from page_kit.places import Place
from page_kit.raw_html import raw

SCHEMA = DATA / "claims.schema.json"
DOCTOR = "reference/doctor"
_log = logging.getLogger(__name__)


class Claims(SphinxDirective):
    """Leave the place."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The place."""
        part = directives.choice(self.arguments[0], ("list", "chart", "counts"))
        self.env.note_dependency(str(FILE))
        self.env.note_reread()  # it tells of other pages
        return [Place(fill=fill, part=part)]


def fill(app: Sphinx, docname: str, place: Place) -> list[nodes.Node]:
    """The claims, or what is said of all of them."""
    found = all_claims(app.env)
    if place["part"] == "counts":
        return [nodes.paragraph(text=counts(found))]
    if place["part"] == "chart":
        return [raw(chart(found))]
    rows = Rows(app, docname)
    return [jumps(found), *(node for section in sections() for node in rows.group(section, found))]


class Rows:
    """Writes the list of claims for the page that it stands on."""

    def __init__(self, app: Sphinx, docname: str) -> None:
        self.app, self.env, self.docname = app, app.env, docname

    def group(self, section: str, found: list[Claim]) -> Iterator[nodes.Node]:
        """A section of the paper with its claims; nothing if it has none."""
        here = [claim for claim in found if claim.section == section]
        if not here:
            return
        title = sections()[section]
        yield raw(f'<section class="claim-group" id="{group_anchor(section)}"><h3>{escape(named(section, title))}</h3>')
        yield from (node for claim in here for node in self.row(claim))
        yield raw("</section>")

    def row(self, claim: Claim) -> Iterator[nodes.Node]:
        """One claim: a line with verdict and statement, which unfolds effect, reason, and what belongs to it."""
        words = f"{claim.id} . section {claim.section} . {' '.join(claim.exercises)} {' '.join(claim.mutants)}"
        verdicts = f"{claim.verdict};by {claim.by}" if claim.by else claim.verdict
        data = {"section": claim.section, "verdict": verdicts, "kind": claim.kind, "words": words}
        marks = " ".join(f'data-{name}="{escape(value)}"' for name, value in data.items())
        tone = claim.verdict.replace(" ", "-") + (" claim-by-printed" if claim.by else "")
        yield raw(f'<article class="claim-row claim-{tone}" id="{claim.id}" {marks}>')
        yield raw('<details class="claim-fold"><summary>')
        head = nodes.paragraph(classes=["claim-says"])
        head += raw(f'<span class="claim-verdict">{escape(claim.answer)}</span> ')
        head += with_formulas(quoted(claim.says) if claim.kind != BELIEF else f"“{claim.says}”")
        head += raw(f' <span class="claim-id" aria-hidden="true">{claim.id}</span>')
        yield head
        yield raw("</summary>")
        if claim.tested:
            said = f"The sentence says what was done, which no computation can refute. Tested here: {claim.tested}."
            yield nodes.paragraph("", "", *with_formulas(said), classes=["claim-tested"])
        for effect in claim.effects:
            line = nodes.paragraph(classes=["claim-effect"])
            size, words = nodes.strong(text=effect.size), effect.words
            line += (
                [size, nodes.Text(f" {words} ")] if effect.unit else [nodes.Text(f"{words} "), size, nodes.Text(" ")]
            )
            line += self.to(effect.page, effect.anchor, "the cell")
            yield line
        yield nodes.paragraph("", "", *linked(claim.why), classes=["claim-why"])
        yield self.foot(claim)
        yield raw("</details></article>")

    def foot(self, claim: Claim) -> nodes.paragraph:
        """Proof, exercises, mutants and related claims, the address, and a button that copies a citation."""
        foot = nodes.paragraph(classes=["claim-foot", "no-search"])
        foot += raw(f'<a class="claim-id" href="#{claim.id}">{claim.id}</a> ')
        foot += nodes.inline("", "readers believe" if claim.kind == BELIEF else "the paper")
        listed = [
            ("Proof: ", [self.proof(claim)] if claim.page else []),
            ("Exercises: ", [self.exercise(label) for label in claim.exercises]),
            ("Mutants: ", [self.mutant(name) for name in claim.mutants]),
            ("See ", [row_of(id) for id in claim.related]),
        ]
        for head, links in listed:
            if links:
                foot += [nodes.inline("", head, *commas(links)), nodes.Text(" ")]
        text = escape(cited(claim), quote=True)
        name = f'aria-label="Copy citation of {claim.id}"'
        foot += raw(f'<button type="button" class="copy" {name} data-copy="{text}" hidden>Copy citation</button>')
        return foot

    def proof(self, claim: Claim) -> nodes.Node:
        """A link to the proof by its chapter's number and title."""
        chapters = chapters_in_order(self.env)
        if claim.page not in self.env.titles:
            return nodes.Text(claim.page)
        title = plain_title(self.env.titles[claim.page].astext())
        number = chapters.get(claim.page, {}).get("number")
        return self.to(claim.page, claim.anchor, title if number is None else f"chapter {number}, {title}")

    def to(self, page: str, anchor: str, text: str) -> nodes.Node:
        """A link, or plain text while there is no such page."""
        if page not in self.env.found_docs:
            return nodes.Text(text)
        return make_refnode(self.app.builder, self.docname, page, anchor, nodes.Text(text))

    def exercise(self, label: str) -> nodes.Node:
        """A link to an exercise's box, by its number."""
        exercise = next(one for one in all_exercises() if one.id == label)
        boxes = getattr(self.env, "sphinx_exercise_registry", {})
        if label not in boxes:
            return nodes.Text(exercise.place)
        link = self.to(boxes[label]["docname"], label, exercise.place)
        if isinstance(link, nodes.reference):
            link["reftitle"] = plain(exercise.title)
        return link

    def mutant(self, name: str) -> nodes.Node:
        """A mutant's name, which leads to the doctor's list of mistakes."""
        link = self.to(DOCTOR, "known-mistakes", name)
        return link if isinstance(link, nodes.reference) else nodes.literal(text=name)


def jumps(claims: list[Claim]) -> nodes.raw:
    """A line of links to the sections that have claims."""
    there = {claim.section for claim in claims}
    links = "".join(
        f'<a href="#{group_anchor(section)}" title="{escape(title)}">{escape(short(section, title))}</a> '
        for section, title in sections().items()
        if section in there
    )
    return raw(f'<nav class="index-jumps section-jumps no-search" aria-label="Claims by section">{links}</nav>')


def short(section: str, title: str) -> str:
    """The number of a section, or a short name of a part without one."""
    return (
        section
        if section[:1].isdigit()
        else {"appendix": "Appendix", "early appendix": "Versions 1, 2"}.get(section, title)
    )


def named(section: str, title: str) -> str:
    """'3.2.1 Scaled Dot-Product Attention'; the appendices have no number."""
    return f"{section} {title}" if section[:1].isdigit() else title


def quoted(text: str) -> str:
    """A text with typographic quotation marks."""
    return re.sub(r'"([^"]*)"', "“\\1”", text)


def linked(text: str) -> list[nodes.Node]:
    """A text's nodes, in which names of sentences lead to their rows."""
    parts = re.split(r"\b(P[\w.]+-\d+)\b", text)
    return [node for i, part in enumerate(parts) for node in ([row_of(part)] if i % 2 else with_formulas(part))]


def row_of(id: str) -> nodes.raw:
    """A link to a row of this page."""
    return raw(f'<a href="#{id}">{id}</a>')


def cited(claim: Claim) -> str:
    """One line that cites a claim, with its verdict, the first effect and its address."""
    size = f"; {claim.effects[0].sentence}" if claim.effects else ""
    said = plain(claim.says).rstrip(".")
    return (
        f"Claim {claim.id} ({said}): {claim.answer}{size}. “Attention Is All You Need”, annotated, {address(claim.id)}"
    )


def complain(app: Sphinx, env: Any) -> None:
    """Warn of each claim whose proof is gone; only where the page is built that shows them."""
    if PAGE not in env.found_docs:
        return
    recorded = {page: {id for one in listed for id in one.claims} for page, listed in kept(env, EFFECTS).items()}
    source = Path(app.srcdir)
    known = {page_of(path, source) for path in source.rglob("*.md")}
    for fault in faults(kept(env, ANCHORS), recorded, known, whole=len(env.found_docs) > 1):
        _log.warning(fault, location=PAGE, type="claims")


def write_json(app: Sphinx, error: Exception | None) -> None:
    """The same as data beside the page, and its schema."""
    if error is not None or app.builder.format != "html" or PAGE not in app.env.found_docs:
        return
    target = Path(app.outdir, f"{PAGE}.json")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(as_data(all_claims(app.env)), indent=1, ensure_ascii=False), encoding="utf-8")
    shutil.copyfile(SCHEMA, target.with_name(SCHEMA.name))


def setup(app: Sphinx) -> None:
    """Register the directive and connect the rest."""
    sentences.cache_clear()
    app.setup_extension("page_kit.places")
    app.add_directive("claims", Claims)
    app.connect("env-check-consistency", complain)
    app.connect("build-finished", write_json)
