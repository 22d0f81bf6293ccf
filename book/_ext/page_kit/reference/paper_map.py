"""The directive `paper-map`: each part of the paper with its chapters, code, exercises and questions.

    :::{paper-map} equations
    :::

for `sections`, `equations`, `figures`, `tables`; `claims` and `questions` list the ledger; `gaps` says what is missing;
`picture` draws all of it at a glance (`map_picture.py`).
The page is filled in when all others are read, and read again at every build; `paper_map.json` has the same beside it.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_refnode

from annotated.paper import entries as paper_entries
from page_kit.authoring.paper import link_to
from page_kit.authoring.source import soft_reference
from page_kit.chapter.front_matter import chapter
from page_kit.chapter.page_facts import commas
from page_kit.claims.claim_boxes import KINDS, ROWS, domain, ledger, row_reference, with_formulas
from page_kit.claims.sentences import sentences_of
from page_kit.data import DATA, table
from page_kit.places import Place
from page_kit.raw_html import raw
from page_kit.reference.coverage import PARTS, Part, build, test_files, title_of_exercise
from page_kit.reference.map_picture import anchor_of, map_picture
from page_kit.terms.term_counts import GLOSSARY

SYMBOLS = DATA / "paper_symbols.yaml"
BEST = 4
"""How many links a row shows; the rest is folded."""
THINGS = {
    "Chapters": "chapter",
    "Code": "object",
    "Exercises": "exercise",
    "Terms": "term",
    "Often said": "belief",
    "Sentences to test": "sentence",
}
"""What the fold counts; what readers ask are questions."""
LISTED = ("Exercises", "Often said", "Readers ask")
"""Rows of whole sentences and titles, each in a line of its own; the search knows them from their own pages."""
IN_A_CASE = "true only"
"""The verdict in the menu, of beliefs that are true in a case which their own verdict names."""


@cache
def symbols_of() -> dict[str, str]:
    """The symbols of each part of the paper, with spaces between them, by its key."""
    found: dict[str, str] = table(SYMBOLS)
    return found


def for_filter(key: str) -> str:
    """What the field finds a part of the paper by, besides its text: its symbols, and its own number, if it has one.

    Examples
    --------
    >>> for_filter("equation 2")
    '<span hidden data-words="W_1 W_2 b_1 b_2" data-own="equation 2"></span>'
    """
    own = f' data-own="{key.lower()}"' if key[-1].isdigit() else ""
    return f'<span hidden data-words="{escape(symbols_of().get(key, ""))}"{own}></span>'


class PaperMap(SphinxDirective):
    """Leave the place."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The place."""
        part = directives.choice(self.arguments[0], (*PARTS, "claims", "questions", "gaps", "picture"))
        self.env.note_dependency(str(SYMBOLS))
        self.env.note_reread()  # it tells of other pages
        return [Place(fill=fill, part=part)]


def fill(app: Sphinx, docname: str, place: Place) -> list[nodes.Node]:
    """A part of the map."""
    part, pages = place["part"], Map(app, docname)
    if part == "picture":
        return [raw(map_picture(app, docname, parts_of(app)))]
    if part in PARTS:
        return [pages.card(p) for p in parts_of(app).values() if p.kind == part]
    return [pages.gaps() if part == "gaps" else pages.ledger_list(part.removesuffix("s"))]


def parts_of(app: Sphinx) -> dict[str, Part]:
    """The map, made once for a build."""
    if not hasattr(app, "paper_map"):
        app.paper_map = build(app.env)  # type: ignore[attr-defined]
    return app.paper_map  # type: ignore[attr-defined, no-any-return]


class Map:
    """Writes the map for the page that it stands on."""

    def __init__(self, app: Sphinx, docname: str) -> None:
        self.app, self.env, self.docname = app, app.env, docname

    def card(self, part: Part) -> nodes.container:
        """One part of the paper."""
        box = nodes.container(classes=["map-card"], ids=[anchor_of(part.key)])
        head = nodes.paragraph("", "", link_to(part.key), nodes.Text(f" {part.title}"), classes=["map-head"])
        for gap in part.gaps:
            head += [nodes.Text(" "), nodes.inline("", gap, classes=["map-gap"])]
        head += raw(for_filter(part.key))
        rows: list[tuple[str, list[Any]]] = [
            ("Chapters", [self.page(name) for name in part.chapters]),
            ("Code", [self.name(name) for name in part.code]),
        ]
        rest = [(label, found[BEST:]) for label, found in rows]
        rest[-1][1].extend(self.name(name) for name in part.around)
        rest += [
            ("Exercises", [self.exercise(label) for label in part.exercises]),
            ("Terms", [self.term(name, anchor) for name, anchor in self.terms().get(part.key, [])]),
            ("Often said", [self.entry("claim", name) for name in part.claims]),
            ("Readers ask", [self.entry("question", name) for name in part.questions]),
            ("Sentences to test", [row_reference(name, self.docname) for name in sentences_of(self.env, part.key)]),
        ]
        if part.reason:
            rows.insert(1, ("No code here", [nodes.Text(part.reason)]))
        box += [head, _rows([(label, found[:BEST]) for label, found in rows])]
        if more := counted([(label, len(found)) for label, found in rest]):
            box += raw(f"<details><summary>More: {more}</summary>")
            box += _rows(rest)
            box += raw("</details>")
        return box

    def page(self, docname: str) -> nodes.Node:
        """A link to a chapter, by its title."""
        title = self.env.titles[docname].astext()
        return make_refnode(self.app.builder, self.docname, docname, "", nodes.Text(title))

    def name(self, name: str) -> nodes.Node:
        """A link to an object in the reference, or to a module."""
        return soft_reference(name, self.docname)

    def exercise(self, label: str) -> nodes.Node:
        """A link to an exercise."""
        docname = self.env.sphinx_exercise_registry[label]["docname"]  # type: ignore[attr-defined]
        title = nodes.inline("", "", *with_formulas(title_of_exercise(self.env, label)))
        return make_refnode(self.app.builder, self.docname, docname, label, title)

    def terms(self) -> dict[str, list[tuple[str, str]]]:
        """Terms of the glossary with their anchors, by the parts of the paper to which their entries refer."""
        if not hasattr(self.app, "paper_terms"):
            known = GLOSSARY in self.env.found_docs
            self.app.paper_terms = terms_by_part(self.env.get_doctree(GLOSSARY)) if known else {}  # type: ignore[attr-defined]
        return self.app.paper_terms  # type: ignore[attr-defined, no-any-return]

    def term(self, name: str, anchor: str) -> nodes.Node:
        """A link to an entry of the glossary."""
        return make_refnode(self.app.builder, self.docname, GLOSSARY, anchor, nodes.Text(name))

    def entry(self, kind: str, id: str) -> pending_xref:
        """A reference to a claim or question by its statement."""
        text = nodes.inline("", "", *with_formulas(ledger(kind)[id].statement))
        return pending_xref("", text, refdomain="ledger", reftype=kind, reftarget=id, refdoc=self.docname)

    def ledger_list(self, kind: str) -> nodes.container:
        """All claims or questions, with the chapters that treat them."""
        box = nodes.container(classes=["map-ledger"])
        for entry in ledger(kind).values():
            pages = domain(self.env).pages(kind, entry.id)
            line = nodes.paragraph("", "", self.entry(kind, entry.id), nodes.Text(" "))
            if entry.answer:
                line += [nodes.inline("", entry.answer, classes=["ledger-verdict"]), nodes.Text(" ")]
            if kind == "claim" and ROWS in self.env.found_docs:
                line += [row_reference(entry.id, self.docname), nodes.Text(" ")]
            if pages:
                line += commas([self.page(name) for name in pages])
            else:
                where = f"chapter {entry.chapter}" if isinstance(entry.chapter, int) else f"the {entry.chapter}"
                known = {chapter(self.env, name).get("number") for name in self.env.all_docs}
                later = "no chapter treats it yet" if entry.chapter in known else f"comes with {where}"
                line += nodes.inline("", later, classes=["map-gap"])
            verdict = entry.answer if entry.answer in ("no", "half true") else IN_A_CASE
            if entry.answer:
                box += raw(f'<div class="map-claim" data-verdict="{verdict}">')
                box += [line, raw("</div>")]
            else:
                box += nodes.container("", line, classes=["map-claim"])
        return box

    def gaps(self) -> nodes.bullet_list:
        """What is missing, named."""
        found: dict[str, list[Part]] = {}
        for part in parts_of(self.app).values():
            for gap in part.gaps:
                found.setdefault(gap, []).append(part)
        items = nodes.bullet_list(classes=["simple"])
        for gap, parts in sorted(found.items()):
            line = nodes.paragraph("", "", nodes.strong("", f"{gap.capitalize()}: "))
            line += commas([nodes.reference("", part.key, refid=anchor_of(part.key)) for part in parts])
            items += nodes.list_item("", line)
        for kind in KINDS:
            missing = [entry for entry in ledger(kind).values() if not domain(self.env).pages(kind, entry.id)]
            if missing:
                named = ", ".join(f"{entry.id} (planned for chapter {entry.chapter})" for entry in missing)
                line = nodes.paragraph("", "", nodes.strong("", f"{kind.capitalize()}s without a page: "))
                line += nodes.Text(named)
                items += nodes.list_item("", line)
        return items


def counted(rows: list[tuple[str, int]]) -> str:
    """What a fold holds.

    Examples
    --------
    >>> counted([("Chapters", 3), ("Code", 1), ("Exercises", 2), ("Often said", 0)])
    '3 chapters, 1 object, 2 exercises'
    """
    sums: dict[str, int] = {}
    for label, count in rows:
        thing = THINGS.get(label, "question")
        sums[thing] = sums.get(thing, 0) + count
    return ", ".join(f"{count} {thing}{'' if count == 1 else 's'}" for thing, count in sums.items() if count)


def terms_by_part(glossary: nodes.document) -> dict[str, list[tuple[str, str]]]:
    """The first name of each entry and its anchor, by the keys of the parts of the paper that the entry links to."""
    titles = {link_to(key)["reftitle"]: key for key in paper_entries()}
    found: dict[str, list[tuple[str, str]]] = {}
    for entry in glossary.findall(nodes.definition_list_item):
        (first, *_) = entry.findall(nodes.term)
        keys = [titles.get(str(link.get("reftitle"))) for link in entry.findall(nodes.reference)]
        for key in dict.fromkeys(filter(None, keys)):
            found.setdefault(key, []).append((first.astext(), first["ids"][0]))
    return found


def _rows(rows: list[tuple[str, list[Any]]]) -> nodes.field_list:
    fields = nodes.field_list()
    for label, values in rows:
        if values:
            shown = _lines(values) if label in LISTED else nodes.paragraph("", "", *commas(values))
            body = nodes.field_body("", shown)
            fields += nodes.field("", nodes.field_name("", label), body)
    return fields


def _lines(values: list[Any]) -> nodes.bullet_list:
    items = [nodes.list_item("", nodes.paragraph("", "", value)) for value in values]
    return nodes.bullet_list("", *items, classes=["simple", "no-search"])


def write_json(app: Sphinx, error: Exception | None) -> None:
    """The same as data, beside the pages, where one of them has shown the map."""
    if error is None and app.builder.format == "html" and hasattr(app, "paper_map"):
        boxes = domain(app.env)
        found = {kind: {id: boxes.pages(kind, id) for id in ledger(kind)} for kind in KINDS}
        data = {"parts": {key: asdict(part) for key, part in parts_of(app).items()}, **found}
        Path(app.outdir, "paper_map.json").write_text(json.dumps(data, indent=1), encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Register the directive and connect the rest."""
    symbols_of.cache_clear()
    test_files.cache_clear()
    app.setup_extension("page_kit.places")
    app.add_directive("paper-map", PaperMap)
    app.connect("build-finished", write_json)
