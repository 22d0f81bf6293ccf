"""The bibliography's style: entries are labelled as they are cited, 'Vaswani et al., 2017'."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pybtex.database import Entry
from pybtex.plugin import register_plugin
from pybtex.style.formatting.unsrt import Style as Plain
from pybtex.style.labels import BaseLabelStyle
from sphinx.application import Sphinx
from sphinx.config import Config


class AuthorYearLabels(BaseLabelStyle):  # type: ignore[misc]
    """'Press and Wolf, 2017'; 'Bahdanau et al., 2015'."""

    def format_labels(self, sorted_entries: list[Entry]) -> Iterator[str]:
        """The labels, in order."""
        for entry in sorted_entries:
            names = [" ".join(person.prelast_names + person.last_names) for person in entry.persons["author"]]
            who = " and ".join(names) if len(names) < 3 else f"{names[0]} et al."
            yield f"{who}, {entry.fields['year']}"


class AnnotatedStyle(Plain):  # type: ignore[misc]
    """Sorted by author and year."""

    default_label_style = AuthorYearLabels
    default_sorting_style = "author_year_title"


def choose_style(app: Sphinx, config: Config) -> None:
    """Make it the style of bibliographies that choose none."""
    config.bibtex_default_style = "annotated"  # type: ignore[attr-defined]


def entries_in_a_list(app: Sphinx, name: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Entries are items of their list; ARIA has given up the role that docutils writes."""
    if 'role="doc-biblioentry"' in context.get("body", ""):
        context["body"] = context["body"].replace('role="doc-biblioentry"', 'role="listitem"')


def setup(app: Sphinx) -> dict[str, Any] | None:
    """Register the style."""
    register_plugin("pybtex.style.formatting", "annotated", AnnotatedStyle)
    app.connect("config-inited", choose_style, priority=100)
    app.connect("html-page-context", entries_in_a_list)
    return None
