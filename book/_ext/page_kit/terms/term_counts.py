"""The index of terms: each term of the glossary, the chapter that explains it, and those that say most about it.

The glossary's entry names the chapter that explains a term. The others are found by counting: how often a chapter uses
the term in its text, where a use in a heading counts for twenty. Words with several senses are counted only on the
pages that `book/_data/senses.yaml` names. A place leads to the words themselves, in the section that defines the term
in its margin or else says most: `term_places.py` makes them targets, `term_index.py` writes the list. The index of the
theme, which lists every name of the library, loses the glossary's entries.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

from page_kit.chapter.page_facts import chapters_in_order
from page_kit.kept import keep, kept
from page_kit.terms.term_places import Spot, anchor_in_text, mark, names_in, senses, spans, spot_of

GLOSSARY = "reference/glossary"
HEADING = 20
"""How many uses in the text a use in a heading is worth."""
MOST = 4
"""How many chapters a term has at most."""
ENOUGH = 3
"""How many uses a chapter must have to be named at all, unless it defines the term in its margin."""
ASIDE = {"quiz", "prediction", "try", "graded-more", "fold-body", "ledger-statement"}
"""Classes of what is not counted: questions with their wrong answers, folds, and what is often said, right or wrong."""
DEFINITION = 1000
"""How many uses a definition in the margin is worth where the best section of a page is chosen."""
CAPTION = "library-source-caption"
"""The class of a paragraph that names the file of a listing."""


SECTIONS = "annotated_sections"
EXERCISES = "exercises"
"""A section with this title explains nothing, and is not counted; nor are the exercises in it."""


class Said(NamedTuple):
    """What a section of a page says, without the sections in it, in small letters."""

    anchor: str
    """'' for the page itself."""
    heading: str
    text: str
    terms: Mapping[str, Spot] = MappingProxyType({})
    """Names of terms that stand in its text in one piece, and so can be a target, with their places."""


class Place(NamedTuple):
    """A page that treats a term, the section that says most about it, and how much the page says."""

    page: str
    anchor: str
    weight: int


def own_paragraphs(section: nodes.section) -> list[nodes.paragraph]:
    """The paragraphs of a section that are not in a section of it, nor in a question or a fold, which hides them."""
    inner = [part for part in section.children if isinstance(part, nodes.section)]
    inner += [box for box in section.findall(nodes.container) if ASIDE & set(box["classes"])]
    known = {id(node) for part in inner for node in part.findall()}
    own = [node for node in section.findall(nodes.paragraph) if id(node) not in known]
    return [node for node in own if CAPTION not in node["classes"]]


def sections(doctree: nodes.document, names: Iterable[str] = ()) -> list[Said]:
    """What each section of a page says, without its code, and which of the names can be a target there."""
    found = []
    for number, section in enumerate(doctree.findall(nodes.section)):
        if "exercise-content" in section["ids"]:
            continue
        own = own_paragraphs(section)
        heading = next((part.astext() for part in section.children if isinstance(part, nodes.title)), "")
        anchor = section["ids"][0] if number else ""
        text = " . ".join(node.astext() for node in own).lower()
        spots = {name: spot_of(name, own) for name in names if name.lower() in text}
        terms = {name: spot for name, spot in spots.items() if spot}
        found.append(Said(anchor, heading.lower(), text, terms))
    return found


def uses(term: str, heading: str, text: str) -> int:
    """How much a section says about a term.

    Examples
    --------
    >>> uses("head", "heads at work", "a head has heads, ahead of others"), uses("head", "exercises", "head")
    (22, 0)
    """
    if heading.startswith(EXERCISES):
        return 0
    return HEADING * len(spans(term, heading)) + len(spans(term, text))


def known_on(page: str, names: list[str]) -> list[str]:
    """The names that have the glossary's sense on a page."""
    return [name for name in names if page in senses().get(name, {}).get("only", [page])]


def places(names: list[str], pages: dict[str, list[Said]], home: str | None = None) -> list[Place]:
    """The pages that treat a term with these names, at most `MOST`, in the order of `pages`; `home` explains it."""
    found = []
    for page, said in pages.items():
        known = known_on(page, names)
        weights = [sum(uses(name, one.heading, one.text) for name in known) for one in said]
        also = any(page in senses().get(name, {}).get("also", ()) for name in names)
        told = any(one.terms[name].defines for one in said for name in known if name in one.terms)
        if page == home or also or told or sum(weights) >= ENOUGH:
            anchor = _best(said, weights, set(known))
            found.append(Place(page, anchor, 1000 * also + sum(weights)))
    found.sort(key=lambda place: (place.page != home, -place.weight))
    order = list(pages)
    return sorted(found[:MOST], key=lambda place: order.index(place.page))


def _best(said: list[Said], weights: list[int], known: set[str]) -> str:
    """The anchor of the section with the chosen sentence, else a definition, else the most uses and one in its text."""

    def worth(i: int) -> int:
        spots = [said[i].terms[name] for name in known & said[i].terms.keys()]
        defined, chosen = any(spot.defines for spot in spots), any(spot.chosen for spot in spots)
        return weights[i] + DEFINITION * (defined + 2 * chosen)

    order = sorted((i for i in range(len(said)) if weights[i]), key=lambda i: -worth(i))
    named = [i for i in order if known & said[i].terms.keys()]
    if not order:
        return ""
    return said[order[0] if said[order[0]].anchor or not named else named[0]].anchor


def read_page(app: Sphinx, doctree: nodes.document) -> None:
    """Keep the words of a page."""
    file = Path(app.srcdir, f"{GLOSSARY}.md")
    names = [name for entry in names_in(file) for name in entry] if file.is_file() else []
    all_sections(app.env)[app.env.docname] = sections(doctree, names)


def all_sections(env: Any) -> dict[str, list[Said]]:
    """What the sections of each page say."""
    return kept(env, SECTIONS)


def entries(glossary: nodes.document) -> list[tuple[list[str], str]]:
    """The English names of each entry of the glossary, the first one first, and the entry's anchor."""
    found = []
    for entry in glossary.findall(nodes.definition_list_item):
        named = [(term.astext(), term["ids"][0]) for term in entry.findall(nodes.term)]
        english = [(name, anchor) for name, anchor in named if is_english(name)]
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


def target(env: Any, place: Place, names: list[str]) -> str:
    """The words of a term where they can be a target, else the section, else nothing."""
    known = set(known_on(place.page, names))
    here = next((said for said in all_sections(env)[place.page] if said.anchor == place.anchor), None)
    if here and known & here.terms.keys():
        return f"#{anchor_in_text(names[0])}"
    return f"#{place.anchor}" if place.anchor else ""


def explanation(env: Any, place: Place, names: list[str]) -> str:
    """The words of a term where they stand in a sentence that explains it, else the section that says most of it."""
    known = set(known_on(place.page, names))
    here = next((said for said in all_sections(env)[place.page] if said.anchor == place.anchor), None)
    if here and any(here.terms[name].explains for name in known & here.terms.keys()):
        return f"#{anchor_in_text(names[0])}"
    return f"#{place.anchor}" if place.anchor else ""


def is_english(name: str) -> bool:
    """Whether a name of a term is no Chinese one."""
    return name.isascii() or "’" in name


def all_places(env: Any) -> list[tuple[list[str], str, str | None, list[Place]]]:
    """Of each entry of the glossary: its names, its anchor, the chapter that explains it, places."""
    pages = {name: all_sections(env).get(name, []) for name in chapters_in_order(env)}
    glossary = env.get_doctree(GLOSSARY)
    homes = explained(glossary, pages)
    return [
        (names, anchor, homes.get(anchor), places(names, pages, homes.get(anchor)))
        for names, anchor in entries(glossary)
    ]


class MarkPlaces(SphinxPostTransform):
    """Make the words that the index leads to targets, on the page of a chapter."""

    default_priority = 4

    def run(self, **_: Any) -> None:
        """Mark this page's words."""
        if GLOSSARY not in self.env.found_docs or self.env.docname not in chapters_in_order(self.env):
            return
        if not hasattr(self.app, "term_places"):
            self.app.term_places = all_places(self.env)  # type: ignore[attr-defined]
        wanted = [
            (names, place.anchor)
            for names, _, _, where in self.app.term_places  # type: ignore[attr-defined]
            for place in where
            if place.page == self.env.docname
        ]
        for number, section in enumerate(self.document.findall(nodes.section)):
            anchor = section["ids"][0] if number else ""
            here = [names for names, at in wanted if at == anchor]
            for names in sorted(here, key=lambda names: -len(names[0])):  # "leak" may be marked inside "leak test"
                mark(known_on(self.env.docname, names), anchor_in_text(names[0]), own_paragraphs(section))


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
    """Connect it all; `term_index.py` writes the list."""
    app.add_post_transform(MarkPlaces)
    app.connect("doctree-read", read_page)
    keep(app, SECTIONS)
    app.connect("html-page-context", only_names)
