"""The directives and roles `claim` and `question`: what is often said, what readers ask, and where it is treated.

    :::{claim} C08
    What is true, and which cell shows it.
    :::

prints the statement and the verdict of book/_data/claims.yaml above its body, and is the anchor `claim-c08`. Readers
see "Often said: no", or "Readers ask"; the number is for authors.
The role {claim}`own words <C08>` links there from any page, or shows plain text while no page treats the claim.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.domains import Domain
from sphinx.util import logging
from sphinx.util.docutils import ReferenceRole, SphinxDirective
from sphinx.util.nodes import make_refnode

from annotated_grader.exercise.markdown import without_marks as plain
from page_kit.chapter.front_matter import chapter
from page_kit.data import DATA, records

KINDS = ("claim", "question")
ROWS = "results/claims"
"""The page with a row for each claim; `claims_page.py` fills it."""
_HEADS = {"claim": "Often said", "question": "Readers ask"}
_IN_PASSING = {"claim": "what is often said", "question": "what readers ask"}
_VERDICTS = {"": "", "false": "no", "misleading": "half true"}
_log = logging.getLogger(__name__)


def with_formulas(text: str) -> list[nodes.Node]:
    """A statement's nodes: text, code between backticks, and formulas between dollar signs."""
    made: list[nodes.Node] = []
    for part in re.split(r"(\$[^$]+\$|`[^`]+`)", text):
        kind = {"$": nodes.math, "`": nodes.literal}.get(part[:1]) if len(part) > 2 else None
        made += [kind(part, part[1:-1]) if kind else nodes.Text(part)] if part else []
    return made


@dataclass(frozen=True)
class Entry:
    """A claim or question, as the data file has it."""

    kind: str
    id: str
    statement: str
    truth: str
    paper: tuple[str, ...]
    chapter: int | str
    """Where it is planned to be treated: a chapter's number, or the name of a page of the reference part."""
    verdict: str = ""
    effect: bool = False
    """Whether a chapter's cell records the size of an effect."""
    threads: tuple[str, ...] = ()
    """Of a question: the public threads in which readers asked it, as 'owner/repository#12'."""

    @property
    def anchor(self) -> str:
        """The target on the page that treats it."""
        return f"{self.kind}-{self.id.lower()}"

    @property
    def name(self) -> str:
        """'claim C08'."""
        return f"{self.kind} {self.id}"

    @property
    def answer(self) -> str:
        """The verdict in words: 'no', 'half true', 'true only for cross-attention'."""
        return _VERDICTS.get(self.verdict, self.verdict)

    @property
    def heading(self) -> str:
        """'Often said: no'; of a belief from one damaged copy or summary, 'Said or suggested: refuted'."""
        if self.chapter == "misreadings":
            return f"Said or suggested: {'refuted' if self.verdict == 'false' else self.answer}"
        return _HEADS[self.kind] + (f": {self.answer}" if self.answer else "")

    @property
    def title(self) -> str:
        """What shows on hovering, with the number: plain text without mathematics."""
        return f"{self.heading} ({self.id}). {plain(self.statement)}"


@cache
def ledger(kind: str) -> dict[str, Entry]:
    """All claims or all questions, by id.

    Raises
    ------
    ValueError
        If an entry lacks a field, or has one that nobody reads.
    """
    return records(DATA / f"{kind}s.yaml", partial(Entry, kind))


def row_reference(id: str, docname: str) -> pending_xref:
    """A reference to a claim's row on the page that lists all claims; nothing where that page is not built."""
    text = nodes.inline("", id)
    return pending_xref("", text, refdomain="ledger", reftype="row", reftarget=id, refdoc=docname)


class LedgerBox(SphinxDirective):
    """The box: verdict and statement from the data, and the body of the directive."""

    has_content = True
    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Make the box, and note where it stands."""
        kind = self.name
        entry = ledger(kind).get(self.arguments[0])
        self.env.note_dependency(str(DATA / f"{kind}s.yaml"))
        if entry is None:
            return [self._error(f"book/_data/{kind}s.yaml has no {self.arguments[0]}")]
        if not any(line.strip() for line in self.content):
            return [self._error(f"{entry.name}: say what is true, and which cell shows it")]
        if not domain(self.env).note(entry, self.env.docname):
            return [self._error(f"{entry.name} has a box on this page already")]
        head = nodes.paragraph(classes=["ledger-head"])
        kept, _, verdict = entry.heading.partition(": ")
        head += nodes.reference("", kept, refid=entry.anchor, reftitle=entry.id, classes=["ledger-id"])
        if verdict:
            head[-1] += nodes.Text(": ")
            head[-1] += nodes.inline("", verdict, classes=["ledger-verdict"])
        if kind == "claim":
            head += nodes.inline("", "", row_reference(entry.id, self.env.docname), classes=["ledger-row"])
            domain(self.env).note_reference(self.env.docname)
        statement = nodes.container("", *self.parse_text_to_nodes(entry.statement), classes=["ledger-statement"])
        body = nodes.container("", *self.parse_content_to_nodes(), classes=["ledger-body"])
        tone = "false" if entry.verdict == "false" else "open" if entry.verdict else "question"
        classes = ["ledger", kind, f"ledger-{tone}"]
        return [nodes.container("", head, statement, body, classes=classes, ids=[entry.anchor])]

    def _error(self, text: str) -> nodes.system_message:
        return self.state.document.reporter.error(text, line=self.lineno)


class LedgerRole(ReferenceRole):
    """A reference to a claim or question, resolved when all pages are read."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """The reference, or a warning and the plain text if there is no such entry."""
        entry = ledger(self.name).get(self.target)
        if entry is None:
            _log.warning(f"there is no {self.name} {self.target}", location=self.get_location(), type="ledger")
            return [nodes.inline(self.rawtext, f"{self.name} {self.target}")], []
        domain(self.env).note_reference(self.env.docname)
        text = nodes.inline(
            "", self.title if self.has_explicit_title else _IN_PASSING[self.name], classes=["ledger-link"]
        )
        reference = pending_xref(
            self.rawtext, text, refdomain="ledger", reftype=self.name, reftarget=entry.id, refdoc=self.env.docname
        )
        return [reference], []


class LedgerDomain(Domain):
    """Where each claim and question has its box."""

    name = "ledger"
    label = "Claims and questions"
    # The boxes of each page, the pages with references, and where the boxes were when pages were last written.
    initial_data: dict[str, Any] = {"boxes": {}, "references": set(), "written": {}}
    data_version = 3

    @property
    def boxes(self) -> dict[str, list[tuple[str, str]]]:
        """The boxes of each page."""
        return self.data["boxes"]  # type: ignore[no-any-return]

    def note(self, entry: Entry, docname: str) -> bool:
        """Note a box; False if the page has it already."""
        found = self.boxes.setdefault(docname, [])
        if (entry.kind, entry.id) in found:
            return False
        found.append((entry.kind, entry.id))
        return True

    def note_reference(self, docname: str) -> None:
        """Note that a page refers to claims or questions."""
        self.data["references"].add(docname)

    def stale(self) -> set[str]:
        """Pages whose references have to be written again, because boxes came, went or moved."""
        now = {docname: list(found) for docname, found in self.boxes.items() if found}
        before, self.data["written"] = self.data["written"], now
        return set() if now == before else set(self.data["references"])

    def clear_doc(self, docname: str) -> None:
        """Forget a page."""
        self.boxes.pop(docname, None)
        self.data["references"].discard(docname)

    def merge_domaindata(self, docnames: Any, otherdata: dict[str, Any]) -> None:
        """Take over what another process has read."""
        self.boxes.update({name: found for name, found in otherdata["boxes"].items() if name in docnames})
        self.data["references"] |= otherdata["references"] & set(docnames)

    def pages(self, kind: str, id: str) -> list[str]:
        """The pages that treat an entry, the planned chapter first."""
        planned = ledger(kind)[id].chapter

        def distance(docname: str) -> tuple[bool, str]:
            return chapter(self.env, docname).get("number") != planned, docname

        return sorted((name for name, found in self.boxes.items() if (kind, id) in found), key=distance)

    def resolve_xref(
        self, env: Any, fromdocname: str, builder: Any, typ: str, target: str, node: Any, contnode: Any
    ) -> Any:
        """A link to the box; plain text with a title while no page treats the entry. A row: to the list of claims."""
        if typ == "row":
            if ROWS not in env.found_docs:
                return nodes.Text("")
            return make_refnode(builder, fromdocname, ROWS, target, contnode, f"{target} among all claims")
        entry, pages = ledger(typ)[target], self.pages(typ, target)
        if not pages:
            return nodes.abbreviation("", contnode.astext(), explanation=entry.title)
        page = fromdocname if fromdocname in pages else pages[0]
        return make_refnode(builder, fromdocname, page, entry.anchor, contnode, entry.title)

    def resolve_any_xref(self, *_: Any) -> list[Any]:
        """Nothing: these references always name their kind."""
        return []

    def get_objects(self) -> Any:
        """For the search."""
        for docname, found in self.boxes.items():
            for kind, id in found:
                entry = ledger(kind)[id]
                yield entry.name, entry.title, kind, docname, entry.anchor, 1


def domain(env: Any) -> LedgerDomain:
    """The domain of an environment."""
    found: LedgerDomain = env.get_domain("ledger")
    return found


def write_again(app: Sphinx, env: Any) -> set[str]:
    """The pages whose references to boxes lead elsewhere now."""
    return domain(env).stale() & set(env.all_docs)


def setup(app: Sphinx) -> None:
    """Register domain, directives and roles."""
    ledger.cache_clear()
    app.add_domain(LedgerDomain)
    app.connect("env-updated", write_again)
    app.add_css_file("book/reference.css")
    for kind in KINDS:
        app.add_directive(kind, LedgerBox)
        app.add_role(kind, LedgerRole())
