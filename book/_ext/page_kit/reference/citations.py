"""Citations: labels and their order, the places that cite a work, its BibTeX, and what it is read for.

A label is 'Vaswani et al., 2017'. The first place on each page that cites an entry is a target, `cited-vaswani2017`.
`bibliography.py` makes the list of them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from docutils import nodes
from pybtex.database import Entry, parse_file
from pybtex.plugin import register_plugin
from pybtex.style.formatting.unsrt import Style as Plain
from pybtex.style.labels import BaseLabelStyle
from pybtex.style.sorting import BaseSortingStyle
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.config import Config

from annotated_book.pages import BOOK
from page_kit.data import DATA, table

READING = DATA / "reading.yaml"


_UNACCENTED = str.maketrans(
    {"ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "đ": "d", "ß": "ss", "æ": "ae", "œ": "oe", "ı": "i"}
)
"""Letters that Unicode does not take apart."""


def folded(text: str) -> str:
    """A text without the accents of Latin letters, as people type it; `passages.js` folds a query alike.

    Examples
    --------
    >>> folded("Łukasz, Müller, Ré, Chloé"), folded("ϵ ≠ ε")
    ('Lukasz, Muller, Re, Chloe', 'ϵ ≠ ε')
    """
    plain = re.sub(r"(?<=[A-Za-z])[\u0300-\u036f]+", "", unicodedata.normalize("NFD", text))
    return unicodedata.normalize("NFC", plain).translate(_UNACCENTED)


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


@cache
def labels() -> dict[str, str]:
    """The label of each work of the bibliography by its key."""
    entries = parse_file(str(BOOK / "references.bib")).entries
    return dict(zip(entries, AuthorYearLabels().format_labels(list(entries.values())), strict=True))


def cited(keys: str, textual: bool = False) -> str:
    """A citation as the page has it; of a work that the bibliography lacks, nothing.

    Examples
    --------
    >>> cited("vaswani2017"), cited("vaswani2017", textual=True)
    ('[Vaswani et al., 2017]', 'Vaswani et al. [2017]')
    """
    known = [labels().get(key.strip(), "") for key in keys.split(",")]
    if textual:
        return " and ".join(re.sub(r", (\d+)$", r" [\1]", label) for label in known)
    return f"[{'; '.join(known)}]"


class FirstAuthorYear(BaseSortingStyle):  # type: ignore[misc]
    """By the surname of the first author and the year, as the labels are read: given names and others do not count.

    Accents do not count: Müller stands before Murray.
    """

    def sorting_key(self, entry: Entry) -> tuple[str, str, str, str]:
        """Surname of the first author, year, given names, title."""
        first = entry.persons["author"][0]
        surname = folded(" ".join(first.last_names)).lower().strip("{}")
        return surname, entry.fields["year"], " ".join(first.first_names), entry.fields["title"].lower()


class AnnotatedStyle(Plain):  # type: ignore[misc]
    """Sorted by author and year."""

    default_label_style = AuthorYearLabels
    default_sorting_style = "annotated"


def choose_style(app: Sphinx, config: Config) -> None:
    """Make it the style of bibliographies that choose none."""
    config.bibtex_default_style = "annotated"  # type: ignore[attr-defined]


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
    found: dict[str, str] = table(READING)
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


def setup(app: Sphinx) -> None:
    """Register the style."""
    register_plugin("pybtex.style.sorting", "annotated", FirstAuthorYear)
    register_plugin("pybtex.style.formatting", "annotated", AnnotatedStyle)
    bibtex.cache_clear()
    reading.cache_clear()
    app.connect("config-inited", choose_style, priority=100)
    app.connect("doctree-read", mark_places)
