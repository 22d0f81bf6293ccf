"""The directive `term-index`: the list of terms, with their definitions, places and related terms.

It is filled in when all pages are read. A line has the term and the chapters that treat it, first the one that its
entry in the glossary names first. The line unfolds the glossary's definition, the sentences about the term to which the
places lead, other senses of the word, and related terms (`book/_data/senses.yaml`). A further name of a term
says where to look.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any, NamedTuple

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from page_kit import places
from page_kit.chapter.page_facts import chapters_in_order, commas, letters, link, plain_title
from page_kit.raw_html import raw
from page_kit.terms.term_counts import GLOSSARY, Place, all_places, all_sections, is_english, known_on, target
from page_kit.terms.term_places import NAMES, SENSES, Spot, anchor_in_text, other_names, senses, spans
from page_kit.terms.term_sentences import FORMULA, Sentence, defines, first_sentence, in_nodes


class Directive(SphinxDirective):
    """`{term-index}`."""

    def run(self) -> list[nodes.Node]:
        """The place."""
        self.env.note_reread()  # it tells of other pages
        self.env.note_dependency(str(SENSES))
        self.env.note_dependency(str(NAMES))
        return [places.Place(fill=fill)]


class Term(NamedTuple):
    """An entry of the index."""

    names: list[str]
    anchor: str
    """Of the glossary's entry."""
    home: str | None
    """The chapter that explains it."""
    places: list[Place]
    definition: Sentence
    chinese: list[str]
    related: list[str]


def id_of(name: str) -> str:
    """The target of an entry in the index."""
    return anchor_in_text(name).replace("says-", "term-of-", 1)


def sentences(env: Any, term: Term) -> list[tuple[Place, Spot]]:
    """The sentences to which a term's places lead that define it too, without those that repeat another."""
    spots, said = [], [_letters(term.definition)]
    for place in term.places:
        here = next((said for said in all_sections(env)[place.page] if said.anchor == place.anchor), None)
        terms = here.terms if here else {}
        there = [(terms[name].rank, terms[name].at, name) for name in known_on(place.page, term.names) if name in terms]
        best = terms[min(there)[-1]] if there else None
        if best and best.is_about and defines(best.sentence):
            words = _letters(best.sentence)
            body = words.removeprefix("".join(re.findall(r"\w", term.names[0].lower())))
            if not any(body in other or (other and other in words) for other in said):
                spots.append((place, best))
                said.append(words)
    return spots


def _letters(sentence: Sentence) -> str:
    """A sentence to compare with others."""
    return "".join(
        re.findall(r"\w", " ".join(piece if kind != "math" else FORMULA for kind, piece in sentence).lower())
    )


def related(names: list[str], everyone: Iterable[str]) -> list[str]:
    """The terms that have this one in their name or are in its name, and those that `senses.yaml` names."""
    listed = list(senses().get(names[0], {}).get("see", ()))
    for other in everyone:
        if other not in names and (spans(names[0], other.lower()) or spans(other, names[0].lower())):
            listed += [other] if other not in listed else []
    return sorted(listed, key=str.lower)


def terms_of(env: Any) -> list[Term]:
    """All entries."""
    glossary, found = env.get_doctree(GLOSSARY), {}
    for entry in glossary.findall(nodes.definition_list_item):
        terms, paragraph = list(entry.findall(nodes.term)), next(entry.findall(nodes.paragraph), None)
        chinese = [term.astext() for term in terms if not is_english(term.astext())]
        definition = first_sentence(paragraph) if paragraph is not None else ()
        found |= {term["ids"][0]: (definition, chinese) for term in terms}
    entries = all_places(env)
    firsts = [names[0] for names, *_ in entries]
    return [
        Term(
            names,
            anchor,
            home,
            sorted(places, key=lambda place: place.page != home),
            *found[anchor],
            related(names, firsts),
        )
        for names, anchor, home, places in entries
    ]


def _head(app: Sphinx, here: str, term: str, anchor: str) -> nodes.paragraph:
    line = nodes.paragraph("", "", link(app, here, GLOSSARY, term, "Its entry in the glossary", f"#{anchor}"))
    line[0]["classes"].append("index-term")
    return line


def _jump(name: str) -> nodes.reference:
    return nodes.reference("", name, refid=id_of(name))


def _others(term: Term) -> list[nodes.Node]:
    """Other senses of the word, and related terms."""
    made: list[nodes.Node] = []
    elsewhere: Mapping[str, str] = senses().get(term.names[0], {}).get("elsewhere", {})
    for sense, name in elsewhere.items():
        made.append(nodes.paragraph("", "", nodes.Text(f"{sense}: see "), _jump(name), nodes.Text(".")))
    if term.related:
        links = commas([_jump(name) for name in term.related])
        made.append(nodes.paragraph("", "", nodes.Text("See also "), *links, nodes.Text(".")))
    for paragraph in made:
        paragraph["classes"] = ["index-related"]
    return made


def _fold(app: Sphinx, here: str, term: Term) -> list[nodes.Node]:
    """The definition, the sentences and the related terms in a fold."""
    everyone, listed = chapters_in_order(app.env), sentences(app.env, term)
    box = nodes.container(classes=["index-sentences"])
    box += nodes.paragraph("", "", *in_nodes(term.definition), classes=["index-definition"])
    for place, spot in listed:
        number = str(everyone[place.page]["number"])
        title = plain_title(everyone[place.page]["title"])
        where = link(app, here, place.page, number, f"Chapter {number}, {title}", target(app.env, place, term.names))
        box += nodes.paragraph("", "", where, nodes.Text(" "), *in_nodes(spot.sentence))
    box += _others(term)
    words = "definition" + ("", " and 1 sentence", f" and {len(listed)} sentences")[min(len(listed), 2)]
    name = f'<span class="visually-hidden"> of {escape(term.names[0])}</span>'
    head = f'<details class="index-fold"><summary>{words}{name}</summary>'
    return [raw(head), box, raw("</details>")]


def _line(app: Sphinx, here: str, term: Term) -> nodes.list_item:
    everyone, line = chapters_in_order(app.env), _head(app, here, term.names[0], term.anchor)
    shown = nodes.inline(classes=["index-places"])
    for i, place in enumerate(term.places):
        shown += [nodes.Text(" · ")] if i else []
        words = f"{everyone[place.page]['number']} {plain_title(everyone[place.page]['title'])}"
        where = link(app, here, place.page, words, anchor=target(app.env, place, term.names))
        where["classes"] += ["index-first"] if place.page == term.home else []
        shown += where
    if not term.places:
        shown += link(app, here, GLOSSARY, "glossary", anchor=f"#{term.anchor}")
    line += [nodes.Text(" "), shown]
    words = " ".join([*term.names[1:], *term.chinese, other_names().get(term.names[0], "")]).strip()
    line += raw(f'<span hidden data-words="{escape(words)}"></span>')
    return nodes.list_item("", line, *_fold(app, here, term), classes=["index-entry"], ids=[id_of(term.names[0])])


def lines(app: Sphinx, here: str) -> dict[str, nodes.list_item]:
    """A line for each name of each entry; a further name leads to the first."""
    found = {}
    for term in terms_of(app.env):
        found[term.names[0]] = _line(app, here, term)
        for name in term.names[1:]:
            line = _head(app, here, name, term.anchor)
            see = nodes.inline("", "", nodes.Text("see "), _jump(term.names[0]), classes=["index-places"])
            line += [nodes.Text(" "), see]
            found[name] = nodes.list_item("", line, classes=["index-see"])
    return {name: found[name] for name in sorted(found, key=str.lower)}


def fill(app: Sphinx, docname: str, place: places.Place) -> list[nodes.Node]:
    """The index: letters to jump to, and the terms under their letters."""
    groups: dict[str, nodes.container] = {}
    for term, line in lines(app, docname).items():
        letter = term[0].upper()
        if letter not in groups:
            head = nodes.paragraph("", letter, classes=["index-letter"])
            box = nodes.container("", head, classes=["index-group", "no-search"], ids=[f"index-{letter.lower()}"])
            box += nodes.bullet_list(classes=["term-index"])
            groups[letter] = box
        groups[letter][1] += line
    return [letters(groups, "index"), *groups.values()]


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.setup_extension("page_kit.places")
    app.add_directive("term-index", Directive)
