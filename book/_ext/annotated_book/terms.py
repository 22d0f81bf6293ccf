"""The index of terms: each term of the glossary, the chapter that explains it, and those that say most about it.

`{term-index}` is filled in when all pages are read. The glossary's entry names the chapter that explains a term. The
others are found by counting: how often a chapter uses the term in its text, where a use in a heading counts for twenty.
Words with several senses are counted only on the pages that `book/_data/senses.yaml` names. A place leads to the
section that says most. The index of the theme, which lists every name of the library, loses the glossary's entries.
"""

from __future__ import annotations

import re
from collections.abc import Container
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from annotated_book.facts import chapters_in_order, link, plain_title

GLOSSARY = "reference/glossary"
SENSES = Path(__file__).parents[2] / "_data" / "senses.yaml"
HEADING = 20
"""How many uses in the text a use in a heading is worth."""
MOST = 3
"""How many chapters a term has at most."""
ENOUGH = 3
"""How many uses a chapter must have to be named at all."""


class TermIndex(nodes.General, nodes.Element):
    """Where the index goes once every page has been read."""


class Said(NamedTuple):
    """What a section of a page says, without the sections in it, in small letters."""

    anchor: str
    """'' for the page itself."""
    heading: str
    text: str


class Place(NamedTuple):
    """A page that treats a term, the section that says most about it, and how much the page says."""

    page: str
    anchor: str
    weight: int


class Directive(SphinxDirective):
    """`{term-index}`."""

    def run(self) -> list[nodes.Node]:
        """The place."""
        self.env.note_reread()  # it tells of other pages
        self.env.note_dependency(str(SENSES))
        return [TermIndex()]


@cache
def senses() -> dict[str, dict[str, list[str]]]:
    """Words with several senses: the pages where alone they are counted, and pages that treat them in other words."""
    found: dict[str, dict[str, list[str]]] = yaml.safe_load(SENSES.read_text(encoding="utf-8"))
    return found


def sections(doctree: nodes.document) -> list[Said]:
    """What each section of a page says, without its code."""
    found = []
    for section in doctree.findall(nodes.section):
        outermost = not isinstance(section.parent, nodes.section)
        inner = {id(node) for part in section.children if isinstance(part, nodes.section) for node in part.findall()}
        own = [node for node in section.findall(nodes.paragraph) if id(node) not in inner]
        heading = next((part.astext() for part in section.children if isinstance(part, nodes.title)), "")
        anchor = "" if outermost else section["ids"][0]
        found.append(Said(anchor, heading.lower(), " . ".join(node.astext() for node in own).lower()))
    return found


def uses(term: str, heading: str, text: str) -> int:
    """How much a section says about a term.

    Examples
    --------
    >>> uses("head", "heads at work", "a head has heads, ahead of others")
    22
    """
    found = re.compile(rf"\b{re.escape(term.lower())}(?:s|es)?\b")
    return HEADING * len(found.findall(heading)) + len(found.findall(text))


def places(names: list[str], pages: dict[str, list[Said]], home: str | None = None) -> list[Place]:
    """The pages that treat a term with these names, at most `MOST`, in the order of `pages`; `home` explains it."""
    found = []
    for page, said in pages.items():
        known = [name for name in names if page in senses().get(name, {}).get("only", pages)]
        weights = [sum(uses(name, one.heading, one.text) for name in known) for one in said]
        also = any(page in senses().get(name, {}).get("also", ()) for name in names)
        if page == home or also or sum(weights) >= ENOUGH:
            best = max(range(len(said)), key=weights.__getitem__, default=None)
            anchor = "" if best is None or not weights[best] else said[best].anchor
            found.append(Place(page, anchor, 1000 * also + sum(weights)))
    found.sort(key=lambda place: (place.page != home, -place.weight))
    order = list(pages)
    return sorted(found[:MOST], key=lambda place: order.index(place.page))


def read_page(app: Sphinx, doctree: nodes.document) -> None:
    """Keep the words of a page."""
    _kept(app.env)[app.env.docname] = sections(doctree)


def _kept(env: Any) -> dict[str, list[Said]]:
    if not hasattr(env, "annotated_sections"):
        env.annotated_sections = {}
    return env.annotated_sections


def forget(app: Sphinx, env: Any, docname: str) -> None:
    """Forget a page that will be read again."""
    _kept(env).pop(docname, None)


def merge(app: Sphinx, env: Any, docnames: Any, other: Any) -> None:
    """Take over what another process found."""
    _kept(env).update({name: found for name, found in _kept(other).items() if name in docnames})


def entries(glossary: nodes.document) -> list[tuple[list[str], str]]:
    """The English names of each entry of the glossary, the first one first, and the entry's anchor."""
    found = []
    for entry in glossary.findall(nodes.definition_list_item):
        named = [(term.astext(), term["ids"][0]) for term in entry.findall(nodes.term)]
        english = [(name, anchor) for name, anchor in named if name.isascii() or "’" in name]
        if english:
            found.append(([name.replace("’", "'") for name, _ in english], english[0][1]))
    return found


def explained(glossary: nodes.document, chapters: Container[str]) -> dict[str, str]:
    """The chapter that an entry of the glossary names first, by the anchors of its terms."""
    found = {}
    for entry in glossary.findall(nodes.definition_list_item):
        targets = [str(link.get("reftarget")) for link in entry.findall(addnodes.pending_xref)]
        first = next((target for target in targets if target in chapters), None)
        if first:
            found |= {anchor: first for term in entry.findall(nodes.term) for anchor in term["ids"]}
    return found


def _head(app: Sphinx, here: str, term: str, anchor: str) -> nodes.paragraph:
    line = nodes.paragraph("", "", link(app, here, GLOSSARY, term, "Its entry in the glossary", f"#{anchor}"))
    line[0]["classes"].append("index-term")
    return line


def _line(app: Sphinx, here: str, term: str, anchor: str, found: list[Place], first: str | None) -> nodes.list_item:
    everyone, line = chapters_in_order(app.env), _head(app, here, term, anchor)
    shown = nodes.inline(classes=["index-places"])
    for i, place in enumerate(found):
        shown += [nodes.Text(" · ")] if i else []
        words = f"{everyone[place.page]['number']} {plain_title(everyone[place.page]['title'])}"
        where = link(app, here, place.page, words, anchor=f"#{place.anchor}" if place.anchor else "")
        where["classes"] += ["index-first"] if place.page == first else []
        shown += where
    line += [nodes.Text(" "), shown]
    return nodes.list_item("", line)


def lines(app: Sphinx, here: str) -> dict[str, nodes.list_item]:
    """A line for each name of each entry; a further name says where to look. Entries without a place are left out."""
    pages = {name: _kept(app.env).get(name, []) for name in chapters_in_order(app.env)}
    glossary = app.env.get_doctree(GLOSSARY)
    homes, found = explained(glossary, pages), {}
    for names, anchor in entries(glossary):
        home = homes.get(anchor)
        where = places(names, pages, home)
        if not where:
            continue
        found[names[0]] = _line(app, here, names[0], anchor, where, home)
        for name in names[1:]:
            line = _head(app, here, name, anchor)
            line += [nodes.Text(" "), nodes.inline("", f"see {names[0]}", classes=["index-places"])]
            found[name] = nodes.list_item("", line)
    return {name: found[name] for name in sorted(found, key=str.lower)}


def fill(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Write the index into its place: letters to jump to, and the terms under their letters."""
    for place in list(doctree.findall(TermIndex)):
        groups: dict[str, nodes.container] = {}
        for term, line in lines(app, docname).items():
            letter = term[0].upper()
            if letter not in groups:
                head = nodes.paragraph("", letter, classes=["index-letter"])
                box = nodes.container("", head, classes=["index-group", "no-search"], ids=[f"index-{letter.lower()}"])
                box += nodes.bullet_list(classes=["term-index"])
                groups[letter] = box
            groups[letter][1] += line
        jumps = [nodes.reference("", letter, refid=f"index-{letter.lower()}") for letter in groups]
        place.replace_self([nodes.paragraph("", "", *_spaced(jumps), classes=["index-jumps"]), *groups.values()])


def _spaced(found: list[nodes.reference]) -> list[nodes.Node]:
    return [node for one in found for node in (one, nodes.Text(" "))]


def only_names(app: Sphinx, name: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Leave the names of the library in the general index; terms have an index of their own."""
    if name != "genindex":
        return
    kept = []
    for letter, entries in context.get("genindexentries", []):
        names = [entry for entry in entries if not all(GLOSSARY in url for _, url in entry[1][0])]
        if names:
            kept.append((letter, names))
    context["genindexentries"] = kept


def setup(app: Sphinx) -> None:
    """Register the directive, and connect the rest."""
    app.add_node(TermIndex)
    app.add_directive("term-index", Directive)
    app.connect("doctree-read", read_page)
    app.connect("env-purge-doc", forget)
    app.connect("env-merge-info", merge)
    app.connect("doctree-resolved", fill)
    app.connect("html-page-context", only_names)
