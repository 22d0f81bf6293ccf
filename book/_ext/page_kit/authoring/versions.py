"""The directives `versions` and `versions-table`: what differs as written, as released and as today.

    :::{versions} norm
    :::

is a note of the margin from the entry `norm` of book/_data/versions.yaml. The reader chooses which of the three texts
all such notes show (`versions.js`); without scripts they show all three, and on paper what is written.
`:::{versions-table}` lists the entries, with the place of each in the released code and the chapter that treats it.
The build fails if a note is missing that an entry promises.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from page_kit.authoring.margin import note
from page_kit.authoring.paper import resolve
from page_kit.chapter.page_facts import link
from page_kit.data import DATA, records
from page_kit.kept import keep, kept
from page_kit.places import Place

FILE = DATA / "versions.yaml"
NOTED = "annotated_versions"
"""What the environment keeps of each page: the entries that have their notes there."""
VERSIONS = {"written": "As written", "released": "As released", "today": "As today"}
RELEASED = "bafdc1b67730430d38d6ab802cbd51f9d053ba2e"
"""The last commit of tensorflow/tensor2tensor, of April 2023."""
CODE = f"https://github.com/tensorflow/tensor2tensor/blob/{RELEASED}/"
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Entry:
    """One thing that has three versions."""

    key: str
    title: str
    paper: tuple[str, ...]
    chapter: str
    """The page that has its note."""
    code: str
    """Path and line in the released code."""
    written: str
    released: str
    today: str

    @property
    def anchor(self) -> str:
        """Of its note."""
        return f"versions-{self.key.replace('_', '-')}"

    @property
    def place(self) -> str:
        """Name of the file in the released code."""
        return self.code.partition("#")[0].rpartition("/")[2]


@cache
def entries() -> dict[str, Entry]:
    """All entries, by key.

    Raises
    ------
    ValueError
        If one lacks a field, or has one that nobody reads.
    """
    return records(FILE, Entry)


class _Parsed(SphinxDirective):
    def parsed(self, text: str) -> list[nodes.Node]:
        """The nodes of a text of the data file, in one paragraph."""
        return [child for paragraph in self.parse_text_to_nodes(text) for child in paragraph.children]


class Versions(_Parsed):
    """A note of the margin with the three texts of an entry."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The note, or an error that lists the entries."""
        self.env.note_dependency(str(FILE))
        entry = entries().get(self.arguments[0])
        if entry is None:
            message = f"book/_data/versions.yaml has no {self.arguments[0]!r}; it has {', '.join(entries())}"
            return [self.state.document.reporter.error(message, line=self.lineno)]
        if entry.chapter != self.env.docname:
            message = f"the note on {entry.key} belongs to {entry.chapter}, says book/_data/versions.yaml"
            return [self.state.document.reporter.error(message, line=self.lineno)]
        kept(self.env, NOTED).setdefault(self.env.docname, set()).add(entry.key)
        texts = []
        for version, name in VERSIONS.items():
            head = nodes.inline("", f"{name}: ", classes=["version-name"])
            texts.append(
                nodes.paragraph("", "", head, *self.parsed(getattr(entry, version)), classes=["version", version])
            )
        body = nodes.container("", *texts, classes=["versions"], ids=[entry.anchor])
        return note("Versions", [body])


class VersionsTable(_Parsed):
    """All entries: a row each, a column for each version."""

    def run(self) -> list[nodes.Node]:
        """The table, whose links are filled in when all pages have been read."""
        self.env.note_dependency(str(FILE))
        rows = [self._row(entry) for entry in entries().values()]
        head = nodes.row("", *(_cell(nodes.Text(name)) for name in ("Part", *VERSIONS.values())))
        widths = (nodes.colspec(colwidth=width) for width in (19, 24, 32, 25))
        group = nodes.tgroup("", *widths, nodes.thead("", head), nodes.tbody("", *rows), cols=4)
        return [nodes.container("", nodes.table("", group), classes=["versions-table", "stacked-table"])]

    def _row(self, entry: Entry) -> nodes.row:
        about: list[nodes.Node] = [Place(fill=linked_title, entry=entry.key)]
        for part in entry.paper:
            shown, title, url = resolve(part)
            about += [nodes.Text(", "), nodes.reference("", shown, refuri=url, reftitle=f"The paper, {shown}: {title}")]
        released = [
            *self.parsed(entry.released),
            nodes.Text(" "),
            nodes.reference("", entry.place, refuri=CODE + entry.code),
        ]
        texts = self.parsed(entry.written), released, self.parsed(entry.today)
        row = nodes.row("", _cell(*about), *(_cell(*text) for text in texts))
        return row


def _cell(*content: nodes.Node) -> nodes.entry:
    return nodes.entry("", nodes.paragraph("", "", *content))


def linked_title(app: Sphinx, docname: str, place: Place) -> nodes.Node:
    """The title of an entry, a link to its note; a note that is missing is asked for."""
    entry = entries()[place["entry"]]
    if any(entry.key in keys for keys in kept(app.env, NOTED).values()):
        return link(app, docname, entry.chapter, entry.title, anchor=f"#{entry.anchor}")
    if entry.chapter in app.env.found_docs and not _alone(app):
        _log.warning("no note on %s stands on %s", entry.key, entry.chapter, location=docname)
    return nodes.Text(entry.title)


def _alone(app: Sphinx) -> bool:
    """Whether this is the build of a single page, which does not know the others' notes."""
    return "intro" not in app.env.found_docs


def setup(app: Sphinx) -> None:
    """Register the directives; script and style of the notes are in `on_demand`."""
    entries.cache_clear()
    app.setup_extension("page_kit.places")
    app.add_directive("versions", Versions)
    app.add_directive("versions-table", VersionsTable)
    keep(app, NOTED)
