"""The list of works: a line for each, which unfolds, under the letters of their first authors.

A line has the label, the title and the chapters that cite the work, or other pages if none does. It unfolds the full
reference, what the work is read for (`book/_data/reading.yaml`), links to the first citation on each page, and a button
that copies its BibTeX (`copy.js`); the button carries the chapters and the years by which a filter chooses, and words
under which a reader looks for the work: its authors without accents, its key, and the names of the glossary's entries
that cite it. Above the list stand the letters,
and a button that copies the BibTeX of all works that the filter leaves. A printed book has the plain list.
"""

from __future__ import annotations

import re
import unicodedata
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from page_kit.chapter.page_facts import chapters_in_order, commas, letters, link
from page_kit.raw_html import raw
from page_kit.reference.citations import bibtex, folded, period, reading
from page_kit.terms.term_counts import GLOSSARY
from page_kit.terms.term_places import entries_of

COPY_ALL = (
    '<button type="button" class="copy" data-copy-all=".citation button.copy" data-what="works" hidden>'
    "Copy BibTeX of all works</button>"
)

OTHERS = {
    **{GLOSSARY: "glossary", "reference/notation": "notation", "reference/formulas": "formula sheet"},
    "reference/bibliography": "reading list",
}
"""Pages that are no chapters and cite works, by the names that a line has for them."""
_CITED = re.compile(r"\{cite(?::\w+)?\}`([^`<]+)`")


def letter_of(label: str) -> str:
    """The letter under which a label stands, that of the first author's last name.

    Examples
    --------
    >>> letter_of("van den Oord et al., 2016"), letter_of("Łukasz, 2017"), letter_of("Östling, 2016")
    ('O', 'L', 'O')
    """
    plain = unicodedata.normalize("NFKD", label).replace("Ł", "L")
    return next((letter for letter in plain if letter.isascii() and letter.isupper()), "Z")


def title_of(text: str) -> str:
    """The title of an entry of BibTeX.

    Examples
    --------
    >>> title_of("title = {{GQA: Training \\\\& more}},")
    'GQA: Training & more'
    """
    found = re.search(r"^\s*title\s*=\s*\{+(.*?)\}+,?$", text, re.MULTILINE)
    return re.sub(r"[{}]|\\(?=&)", "", found[1]) if found else ""


def names_in_glossary(glossary: str) -> dict[str, list[str]]:
    """For each work that an entry of the glossary's source cites, the names of the entry.

    Examples
    --------
    >>> names_in_glossary(":::{glossary}\\nRoPE\\nrotary embedding\\n  A rotation {cite}`su2021`.\\n:::")
    {'su2021': ['RoPE', 'rotary embedding']}
    """
    found: dict[str, list[str]] = {}
    for names, entry in entries_of(glossary):
        for key in {key.strip() for keys in _CITED.findall(entry) for key in keys.split(",")}:
            found.setdefault(key, []).extend(names)
    return found


def other_words(text: str, key: str, names: list[str]) -> list[str]:
    """What a reader may type for a work beside what its line has: authors without accents, the key, and `names`.

    Examples
    --------
    >>> other_words("author = {Müller, Rafael and Doe, Jo},", "mueller2019", ["calibration"])
    ['Muller, Rafael and Doe, Jo', 'mueller', 'calibration']
    """
    authors = re.search(r"author\s*=\s*\{(.*)\}", text)
    return [*([folded(authors[1])] if authors else []), key.rstrip("0123456789"), *names]


def copy_button(text: str, key: str, chapters: list[int], also: list[str]) -> str:
    """The button, hidden until its script runs, with what a filter chooses by."""
    year = re.search(r"year\s*=\s*\{?(\d{4})", text)
    where = ";".join(f"chapter {number}" for number in chapters)
    years, words = (
        period(int(year[1])) if year else "",
        " . ".join([*(f"chapter {number}" for number in chapters), *other_words(text, key, also)]),
    )
    data = f'data-words="{escape(words)}" data-chapter="{where}" data-years="{years}" data-copy="{escape(text)}"'
    name = f'aria-label="Copy BibTeX of {escape(key)}"'
    return f' <button type="button" class="copy" {name} {data} hidden>Copy BibTeX</button>'


class Work:
    """An entry of the list: its key, its BibTeX, the chapters and other pages that cite it, and its other names."""

    def __init__(self, app: Sphinx, entry: nodes.citation, key: str, citing: set[str], names: list[str]) -> None:
        self.app, self.entry, self.key, self.names = app, entry, key, names
        self.source = bibtex(Path(app.srcdir, "references.bib")).get(key, "")
        self.chapters = chapters_in_order(app.env)
        self.pages = [page for page in self.chapters if page in citing]
        self.others = [page for page in OTHERS if page in citing]
        self.label = next(iter(entry.findall(nodes.label))).astext()
        self.numbers = [int(self.chapters[page]["number"]) for page in self.pages]

    def cited_by(self, here: str) -> list[nodes.Node]:
        """'Cited in chapters 8, 9 and in the glossary', each a link to the first citation there."""
        anchor = f"#cited-{self.key}"
        chapters = [
            link(self.app, here, page, str(number), self.chapters[page]["title"], anchor)
            for page, number in zip(self.pages, self.numbers, strict=True)
        ]
        others = [link(self.app, here, page, OTHERS[page], anchor=anchor) for page in self.others]
        said: list[nodes.Node] = []
        if chapters:
            head = "Cited in chapter " if len(chapters) == 1 else "Cited in chapters "
            said += [nodes.Text(head), *commas([*chapters])]
        if others:
            said += [nodes.Text(" and in the " if chapters else "Cited in the "), *commas([*others])]
        return [nodes.inline("", "", *said, classes=["cited-by"])] if said else []

    def print_out(self, here: str) -> None:
        """The entry of a printed book ends with what it is read for, and with its chapters."""
        said = nodes.inline("", f" {reading().get(self.key, '')}", classes=["read-for"])
        self.entry.children[-1] += [said, nodes.Text(" "), *self.cited_by(here)]

    def line(self, here: str) -> nodes.list_item:
        """The line, with what it unfolds."""
        where = ", ".join(map(str, self.numbers)) or ", ".join(OTHERS[page] for page in self.others)
        spoken = f'<span class="visually-hidden">cited in </span>{where}' if where else ""
        item = nodes.list_item(classes=["citation"], ids=self.entry["ids"])
        item += raw('<details class="bib-fold"><summary>')
        item += nodes.inline("", self.label, classes=["bib-label"])
        item += [nodes.Text(" "), nodes.inline("", title_of(self.source), classes=["bib-title"]), nodes.Text(" ")]
        item += raw(f'<span class="bib-chapters">{spoken}</span></summary>')
        item += nodes.paragraph("", "", *self.entry.children[-1].children, classes=["bib-reference"])
        if self.key in reading():
            item += nodes.paragraph("", reading()[self.key], classes=["read-for"])
        foot = nodes.paragraph("", "", *self.cited_by(here), classes=["entry-foot", "no-search"])
        foot += raw(copy_button(self.source, self.key, self.numbers, self.names))
        item += [foot, raw("</details>")]
        return item


def works(app: Sphinx, entries: list[nodes.citation]) -> list[Work]:
    """The entries with their keys, the pages that cite them, and the names that the glossary has for them."""
    domain: Any = app.env.get_domain("cite")
    citing: dict[str, set[str]] = {}
    for reference in domain.citation_refs:
        for target in reference.targets:
            citing.setdefault(target.key, set()).add(reference.docname)
    keys = {citation.citation_id: citation.key for citation in domain.citations}
    glossary = Path(app.env.doc2path(GLOSSARY)) if GLOSSARY in app.env.all_docs else None
    names, found = names_in_glossary(glossary.read_text("utf-8") if glossary else ""), []
    for entry in entries:
        key = str(next((keys[id] for id in entry["ids"] if id in keys), ""))
        found.append(Work(app, entry, key, citing.get(key, set()), names.get(key, [])))
    return found


def fill(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put lines under letters in the place of a bibliography."""
    entries = [node for node in doctree.findall(nodes.citation) if node.get("docname", docname) == docname]
    if not entries:
        return
    if app.builder.format != "html":
        for work in works(app, entries):
            work.print_out(docname)
        return
    place, groups = entries[0].parent, dict[str, nodes.container]()
    for work in works(app, entries):
        letter = letter_of(work.label)
        if letter not in groups:
            head = nodes.paragraph("", letter, classes=["index-letter"])
            groups[letter] = nodes.container("", head, classes=["index-group"], ids=[f"works-{letter.lower()}"])
            groups[letter] += nodes.bullet_list(classes=["bibliography"])
        groups[letter][1] += work.line(docname)
    place.children = []
    place += [nodes.paragraph("", "", raw(COPY_ALL), classes=["copy-all"]), letters(groups, "works"), *groups.values()]


def setup(app: Sphinx) -> None:
    """Connect it."""
    app.connect("doctree-resolved", fill)
