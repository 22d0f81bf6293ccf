"""The bibliography: entries labelled as they are cited, the places that cite them, and their BibTeX to copy.

A label is 'Vaswani et al., 2017'. The first place on each page that cites an entry is a target, `cited-vaswani2017`.
An entry of the list ends with what it is read for (`book/_data/reading.yaml`), links to these places, one for each
chapter, and a button that copies its BibTeX (`copy.js`); the button carries the chapters and the years by which a
filter chooses.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import yaml
from docutils import nodes
from pybtex.database import Entry
from pybtex.plugin import register_plugin
from pybtex.style.formatting.unsrt import Style as Plain
from pybtex.style.labels import BaseLabelStyle
from pybtex.style.sorting import BaseSortingStyle
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.config import Config

from annotated_book.facts import chapters_in_order, commas, link

READING = Path(__file__).parents[2] / "_data" / "reading.yaml"


class AuthorYearLabels(BaseLabelStyle):  # type: ignore[misc]
    """'Press and Wolf, 2017'; 'Bahdanau et al., 2015'."""

    def format_labels(self, sorted_entries: list[Entry]) -> Iterator[str]:
        """The labels, in order."""
        for entry in sorted_entries:
            names = [" ".join(person.prelast_names + person.last_names) for person in entry.persons["author"]]
            names = [name.strip("{}") for name in names]  # {NVIDIA} is no person
            many = len(names) > 2 or names[-1] == "others"
            who = f"{names[0]} et al." if many else " and ".join(names)
            yield f"{who}, {entry.fields['year']}"


class FirstAuthorYear(BaseSortingStyle):  # type: ignore[misc]
    """By the first author and the year, as the labels are read: later authors do not count before the year.

    Accents do not count: Müller stands before Murray.
    """

    def sorting_key(self, entry: Entry) -> tuple[str, str, str]:
        """First author, year, title."""
        first = entry.persons["author"][0]
        name = unicodedata.normalize("NFKD", " ".join([*first.last_names, *first.first_names])).lower()
        plain = "".join(letter for letter in name if not unicodedata.combining(letter)).strip("{}")
        return plain.replace("ł", "l"), entry.fields["year"], entry.fields["title"].lower()


class AnnotatedStyle(Plain):  # type: ignore[misc]
    """Sorted by author and year."""

    default_label_style = AuthorYearLabels
    default_sorting_style = "annotated"


def choose_style(app: Sphinx, config: Config) -> None:
    """Make it the style of bibliographies that choose none."""
    config.bibtex_default_style = "annotated"  # type: ignore[attr-defined]


def entries_in_a_list(app: Sphinx, name: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Entries are items of their list; ARIA has given up the role that docutils writes."""
    if 'role="doc-biblioentry"' in context.get("body", ""):
        context["body"] = context["body"].replace('role="doc-biblioentry"', 'role="listitem"')


def mark_places(app: Sphinx, doctree: nodes.document) -> None:
    """Put a target before the first citation of each entry on a page."""
    known: set[str] = set()
    for reference in list(doctree.findall(pending_xref)):
        if reference.get("refdomain") != "cite" or isinstance(reference.parent, nodes.title):
            continue
        place = reference.parent.index(reference)
        for key in (key.strip() for key in str(reference["reftarget"]).split(",")):
            if key not in known:
                reference.parent.insert(place, nodes.target("", "", ids=[f"cited-{key}"]))
                known.add(key)


@cache
def bibtex(file: Path) -> dict[str, str]:
    """The entries of a file of BibTeX as they stand there, by their keys."""
    found = re.findall(r"^(@\w+\{([^,]+),.*?^\})", file.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return {key: text for text, key in found}


@cache
def reading() -> dict[str, str]:
    """What each entry is read for, by its key."""
    found: dict[str, str] = yaml.safe_load(READING.read_text(encoding="utf-8"))
    return found


def period(year: int) -> str:
    """The years that a menu offers for an entry: the paper is of 2017.

    Examples
    --------
    >>> period(2013), period(2014), period(2020), period(2023)
    ('before 2014', '2014 to 2017', '2018 to 2020', 'from 2021')
    """
    ends = {2013: "before 2014", 2017: "2014 to 2017", 2020: "2018 to 2020"}
    return next((words for last, words in ends.items() if year <= last), "from 2021")


def copy_button(text: str, key: str, chapters: list[int]) -> str:
    """The button, hidden until its script runs, with what a filter chooses by."""
    year = re.search(r"year\s*=\s*\{?(\d{4})", text)
    where = ";".join(f"chapter {number}" for number in chapters)
    years, words = period(int(year[1])) if year else "", where.replace(";", " . ")
    data = f'data-words="{words}" data-chapter="{where}" data-years="{years}" data-copy="{escape(text)}"'
    name = f'aria-label="Copy BibTeX of {escape(key)}"'
    return f' <button type="button" class="copy" {name} {data} hidden>Copy BibTeX</button>'


def name_citing_chapters(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """End each entry of the bibliography with links to its places in the chapters, and with the button."""
    entries = [node for node in doctree.findall(nodes.citation) if node.get("docname", docname) == docname]
    if not entries:
        return
    domain: Any = app.env.get_domain("cite")
    citing: dict[str, set[str]] = {}
    for reference in domain.citation_refs:
        for target in reference.targets:
            citing.setdefault(target.key, set()).add(reference.docname)
    keys = {citation.citation_id: citation.key for citation in domain.citations}
    sources = bibtex(Path(app.srcdir, "references.bib"))
    chapters = chapters_in_order(app.env)
    for entry in entries:
        key = str(next((keys[id] for id in entry["ids"] if id in keys), ""))
        pages = [name for name in chapters if name in citing.get(key, ())]
        numbers = [chapters[page]["number"] for page in pages]
        foot = nodes.inline(classes=["entry-foot"])
        if pages:
            links = [
                link(app, docname, page, str(number), chapters[page]["title"], f"#cited-{key}")
                for page, number in zip(pages, numbers, strict=True)
            ]
            head = "Cited in chapter " if len(pages) == 1 else "Cited in chapters "
            foot += nodes.inline("", "", nodes.Text(f" {head}"), *commas(links), classes=["cited-by"])
        if key in sources:
            foot += nodes.raw("", copy_button(sources[key], key, numbers), format="html")
        if key in reading():
            entry.children[-1] += nodes.inline("", reading()[key], classes=["read-for"])
        entry.children[-1] += foot


def setup(app: Sphinx) -> dict[str, Any] | None:
    """Register the style."""
    register_plugin("pybtex.style.sorting", "annotated", FirstAuthorYear)
    register_plugin("pybtex.style.formatting", "annotated", AnnotatedStyle)
    bibtex.cache_clear()
    reading.cache_clear()
    app.connect("config-inited", choose_style, priority=100)
    app.connect("doctree-read", mark_places)
    app.connect("doctree-resolved", name_citing_chapters)
    app.connect("html-page-context", entries_in_a_list)
    return None
