"""The bibliography's style: entries are labelled as they are cited, 'Vaswani et al., 2017'."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from docutils import nodes
from pybtex.database import Entry
from pybtex.plugin import register_plugin
from pybtex.style.formatting.unsrt import Style as Plain
from pybtex.style.labels import BaseLabelStyle
from pybtex.style.sorting import BaseSortingStyle
from sphinx.application import Sphinx
from sphinx.config import Config

from annotated_book.facts import chapters_in_order, commas, link


class AuthorYearLabels(BaseLabelStyle):  # type: ignore[misc]
    """'Press and Wolf, 2017'; 'Bahdanau et al., 2015'."""

    def format_labels(self, sorted_entries: list[Entry]) -> Iterator[str]:
        """The labels, in order."""
        for entry in sorted_entries:
            names = [" ".join(person.prelast_names + person.last_names) for person in entry.persons["author"]]
            who = " and ".join(names) if len(names) < 3 else f"{names[0]} et al."
            yield f"{who}, {entry.fields['year']}"


class FirstAuthorYear(BaseSortingStyle):  # type: ignore[misc]
    """By the first author and the year, as the labels are read: later authors do not count before the year."""

    def sorting_key(self, entry: Entry) -> tuple[str, str, str]:
        """First author, year, title."""
        first = entry.persons["author"][0]
        name = " ".join([*first.last_names, *first.first_names]).lower()
        return name, entry.fields["year"], entry.fields["title"].lower()


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


def name_citing_chapters(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """End each entry of the bibliography with the numbers of the chapters that cite it, as links."""
    entries = [node for node in doctree.findall(nodes.citation) if node.get("docname", docname) == docname]
    if not entries:
        return
    domain: Any = app.env.get_domain("cite")
    citing: dict[str, set[str]] = {}
    for reference in domain.citation_refs:
        for target in reference.targets:
            citing.setdefault(target.key, set()).add(reference.docname)
    keys = {citation.citation_id: citation.key for citation in domain.citations}
    chapters = chapters_in_order(app.env)
    for entry in entries:
        key = next((keys[id] for id in entry["ids"] if id in keys), None)
        pages = [name for name in chapters if name in citing.get(str(key), ())]
        if pages:
            links = [link(app, docname, page, str(chapters[page]["number"]), chapters[page]["title"]) for page in pages]
            head = "Chapter " if len(pages) == 1 else "Chapters "
            entry.children[-1] += nodes.inline("", "", nodes.Text(f" {head}"), *commas(links), classes=["cited-by"])


def setup(app: Sphinx) -> dict[str, Any] | None:
    """Register the style."""
    register_plugin("pybtex.style.sorting", "annotated", FirstAuthorYear)
    register_plugin("pybtex.style.formatting", "annotated", AnnotatedStyle)
    app.connect("config-inited", choose_style, priority=100)
    app.connect("doctree-resolved", name_citing_chapters)
    app.connect("html-page-context", entries_in_a_list)
    return None
