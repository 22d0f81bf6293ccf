"""The directive `question-card`: a reader's question to guess at, its answer, and the cell below it as the proof.

    :::{question-card} Q7
    :see: attention/query_key_value#one-output-for-each-query

    - [ ] An answer that is wrong.
      Why it is wrong.
    - [x] The right one.
    - [ ] Another wrong one.
      Why it is wrong.

    What is so, in two to five sentences.
    :::

    ```{code-cell} ipython3
    :tags: [check]
    assert ...
    ```

The statement, the parts of the paper and the threads are those of book/_data/questions.yaml. There are three options,
one of them right, and each wrong one says why. `see` is a page and one of its sections; a build stops where there is no
such section. The cells that follow a card become its proof. A card is closed, has the address `#q7`, and its choices
are those of a quiz (`quiz.js`); `cards.js` opens the one that is addressed and counts. Without scripts everything
unfolds by hand.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util import logging

from annotated_book.pages import page_file
from annotated_grader.exercise.options import shuffled
from page_kit.authoring.quiz import Option, Quiz
from page_kit.chapter.front_matter import chapter
from page_kit.chapter.page_facts import parts_of
from page_kit.claims.claim_boxes import Entry, domain, ledger
from page_kit.data import DATA
from page_kit.places import Place
from page_kit.raw_html import raw

CHAPTER = 30
"""The chapter whose cards are the first answer to a question; others are answered in a box of their own chapter."""
_OPTION = re.compile(r"^- \[([ x])\] +(\S.*)$")
_LAYER = re.compile(r"\s+(read|play|run|prove)$")
_log = logging.getLogger(__name__)


class CardNode(nodes.General, nodes.Element):
    """One card; its first child is the line that opens it."""


class CardLine(nodes.General, nodes.Element):
    """The line: the number, the question, the place for a mark."""


def parse(lines: Sequence[str]) -> tuple[list[Option], str]:
    """Options, shuffled, and answer of a card's text.

    Raises
    ------
    ValueError
        If there are not three options with one right, a wrong one has no reason, or there is no answer.
    """
    options: list[tuple[bool, str, list[str]]] = []
    rest = list(lines)
    while rest and (not rest[0].strip() or _OPTION.match(rest[0]) or (options and rest[0].startswith("  "))):
        line = rest.pop(0)
        if found := _OPTION.match(line):
            options.append((found[1] == "x", found[2].strip(), []))
        elif line.strip():
            options[-1][2].append(line.strip())
    if len(options) != 3 or sum(right for right, *_ in options) != 1:
        raise ValueError("a card has three options, and exactly one of them is right, `- [x]`")
    if any(not right and not why for right, _, why in options):
        raise ValueError("each wrong option of a card says below it why it is wrong")
    answer = "\n".join(rest).strip()
    if not answer:
        raise ValueError("a card needs an answer after its options")
    made = [Option(text, " ".join(why), right) for right, text, why in options]
    return shuffled(answer, made, lambda option: option.text), answer


def thread_link(name: str) -> tuple[str, str]:
    """The words and address of a thread such as 'owner/repository#12'.

    Examples
    --------
    >>> thread_link("karpathy/ng-video-lecture#6")
    ('karpathy/ng-video-lecture#6', 'https://github.com/karpathy/ng-video-lecture/issues/6')
    """
    repository, _, number = name.partition("#")
    return name, f"https://github.com/{repository}/issues/{number}"


class Card(Quiz):
    """The card, without its proof."""

    has_content = True
    required_arguments = 1
    option_spec: dict[str, Any] = {"see": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        """The card, or an error that says what is wrong with it."""
        entry = ledger("question").get(self.arguments[0])
        self.env.note_dependency(str(DATA / "questions.yaml"))
        if entry is None:
            return [self._error(f"book/_data/questions.yaml has no {self.arguments[0]}")]
        page, _, section = self.options.get("see", "").partition("#")
        if not section:
            return [self._error(f"card {entry.id}: `see` is a page and a section, `attention/masks#the-code`")]
        try:
            options, answer = parse(list(self.content))
        except ValueError as error:
            return [self._error(f"card {entry.id}: {error}")]
        if entry.chapter == CHAPTER and not domain(self.env).note(entry, self.env.docname):
            return [self._error(f"{entry.name} is on this page already")]
        card = CardNode(of=entry.id, sections=";".join(p for p in entry.paper if p[0].isdigit()), part="")
        card += [self.line(entry), self.guess(entry, options)]
        card += raw('<details class="card-answer"><summary>The answer</summary>')
        link = Place(fill=see, page=page, section=section)
        card += [*self.parse_text_to_nodes(answer), link, *self.tools(entry), raw("</details>")]
        return [card]

    def line(self, entry: Entry) -> CardLine:
        """What shows while the card is closed."""
        line = CardLine(number=entry.id)
        line += nodes.inline("", "", *self.inline(entry.statement), classes=["card-statement"])
        return line

    def guess(self, entry: Entry, options: list[Option]) -> nodes.Element:
        """The options, as one question of a quiz."""
        name, answer = entry.id.lower(), next(i for i, option in enumerate(options, 1) if option.correct)
        box = nodes.container(classes=["quiz", "card-guess", "try-more"])  # done at leisure: no reading time
        box += raw(
            f'<div class="quiz-questions of-card" data-quiz="{name}" data-aside><fieldset data-answer="{answer}">'
        )
        box += raw(f'<legend class="visually-hidden">Your guess on question {entry.id[1:]}</legend>')
        for i, option in enumerate(options, 1):
            box += [
                raw(f'<div class="quiz-option"><label><input type="radio" name="quiz-{name}" value="{i}">'),
                nodes.inline("", "", *self.inline(option.text), classes=["quiz-text"]),
                raw('</label><details><summary>If you chose this</summary><div class="quiz-feedback">'),
                *self.feedback(option),
                raw("</div></details></div>"),
            ]
        box += raw("</fieldset></div>")
        return box

    def tools(self, entry: Entry) -> list[nodes.Node]:
        """Where it was asked, and the button that copies the card's address."""
        links = [
            nodes.reference("", name, refuri=uri, classes=["card-thread"])
            for name, uri in map(thread_link, entry.threads)
        ]
        words = "Asked in " if links else "From the list of what notes on the paper left open"
        asked = nodes.paragraph("", words, classes=["card-asked"])
        for i, link in enumerate(links):
            asked += [nodes.Text(", ")] * bool(i) + [link]
        asked += nodes.Text(".")
        name = f"Copy link to question {entry.id[1:]}"
        button = f'<button type="button" class="copy" data-copy="#{entry.id.lower()}" aria-label="{name}" hidden>'
        return [asked, raw(f"{button}Copy link</button>")]

    def _error(self, text: str) -> nodes.system_message:
        return self.state.document.reporter.error(text, line=self.lineno)


def take_proofs(app: Sphinx, doctree: nodes.document) -> None:
    """Move the cells that follow each card into it, before the link to its section; they are open there."""
    for card in list(doctree.findall(CardNode)):
        parent, at = card.parent, card.parent.index(card)
        proof: list[nodes.Node] = []
        while at + 1 < len(parent) and parent[at + 1].get("nb_element") == "cell_code":
            proof.append(parent.pop(at + 1))
        if not proof:
            _log.warning(f"card {card['of']} has no cell as its proof", location=card)
        for fold in [html for cell in proof for html in cell.findall(nodes.raw)]:
            text = fold.astext().replace(
                '<details class="checks"><summary>', '<details class="checks" open><summary>Proof: '
            )
            fold.replace_self(raw(text))
        where = next(i for i, child in enumerate(card.children) if isinstance(child, Place))
        for cell in reversed(proof):
            card.insert(where, cell)


def section_title(env: Any, page: str, section: str) -> str | None:
    """The title of a page's section by its id, without the mark of its layer; None if there is no such section."""
    toc = env.tocs.get(page)
    links = toc.findall(nodes.reference) if toc is not None else ()
    names = (f"#{section}", f"#{section}-prove")  # a section that became a proof keeps its address
    found = next((link for link in links if link.get("anchorname") in names), None)
    return None if found is None else _LAYER.sub("", found.astext())


def see(app: Sphinx, docname: str, place: Place) -> nodes.paragraph:
    """The link to the section; the card learns which part of the book it is in."""
    page, section, card = place["page"], place["section"], place.parent
    title = section_title(app.env, page, section)
    card["part"] = parts_of(app.env).get(page, "")
    line = nodes.paragraph(classes=["card-see"])
    if title is None:
        if page in app.env.tocs or not page_file(page, Path(app.srcdir)).is_file():  # a preview has one page
            _log.warning(f"card {card['of']}: {page} has no section {section}", location=docname)
        line += nodes.Text(f"More in {page}")
    else:
        number = chapter(app.env, page).get("number")
        uri = f"{app.builder.get_relative_uri(docname, page)}#{section}"
        words = f"Chapter {number}: {title}" if number is not None else title
        line += [nodes.Text("More in "), nodes.reference("", words, refuri=uri, internal=True)]
    return line


def _visit_card(self: Any, node: CardNode) -> None:
    name = node["of"].lower()
    data = f'data-part="{escape(node["part"])}" data-section="{escape(node["sections"])}" data-guess="none yet"'
    self.body.append(f'<details class="question-card" id="{name}" {data}>')


def _visit_line(self: Any, node: CardLine) -> None:
    name = node["number"]
    self.body.append(f'<summary id="question-{name.lower()}"><span class="card-number">{name}</span>')


def _pass(self: Any, node: nodes.Node) -> None:
    pass


def setup(app: Sphinx) -> None:
    """Register the directive and its nodes."""
    card = (_visit_card, lambda self, _: self.body.append("</details>"))
    line = (_visit_line, lambda self, _: self.body.append('<span class="card-mark"></span></summary>'))
    other = {name: (_pass, _pass) for name in ("latex", "text", "man", "texinfo")}
    app.add_node(CardNode, html=card, **other)
    app.add_node(CardLine, html=line, **other)
    app.setup_extension("page_kit.places")
    app.add_directive("question-card", Card)
    app.connect("doctree-read", take_proofs, priority=900)  # when checks are folded
