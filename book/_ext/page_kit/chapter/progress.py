"""What a page tells its reader: how long it takes, what it needs, what is on it, why the next one follows; and paths.

A chapter's front matter (`front_matter.py`) and its own text give a strip under the title and the links at its end. The
reader's marks live in the browser (`store.js`, `reader.js`); the page only carries places for them.

- `{reading-times}`: chapters in order with computed times; `:chapters: 1-3, 5` limits them.
- `{progress-map}`: every chapter with places for the reader's marks, and buttons to save, load and erase them.
- `{path} Title`: one way through the book, that opens.
- {reading-time}`1-27`: the time that these chapters take together.
- {play}`attention/masks`: a link to the first thing to move on that page.
"""

from __future__ import annotations

import html
import json
import re
from dataclasses import asdict
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole

from page_kit.chapter.chapter_header import open_chapter
from page_kit.chapter.front_matter import chapter
from page_kit.chapter.page_facts import (
    FACTS,
    Facts,
    all_facts,
    chapters_in_order,
    in_words,
    link,
    parts_of,
    plain_title,
    take_stock,
)
from page_kit.kept import keep
from page_kit.places import Place
from page_kit.raw_html import raw

_log = logging.getLogger(__name__)


def _humanly(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()


def announce_widgets(doctree: nodes.document) -> None:
    """Beside each widget a sentence that stands in its place until, or unless, it starts."""
    for bundle in doctree.findall(nodes.container):
        views = [c for c in bundle.children if isinstance(c, nodes.Element) and "widget-view" in c.get("mime_type", "")]
        plain = [
            c.astext() for c in bundle.children if isinstance(c, nodes.Element) and c.get("mime_type") == "text/plain"
        ]
        if not views or any("widget-notice" in child.astext() for child in views[0].children):
            continue
        name = re.match(r"\w+", plain[0]) if plain else None
        what = f" ({_humanly(name[0])})" if name else ""
        text = f"Here stands an interactive figure{what}. It runs inside the page and needs JavaScript."
        views[0].append(raw(f'<p class="widget-notice">{html.escape(text)}</p>'))


def name_first_play(doctree: nodes.document) -> None:
    """Give the first section that is to be played with the anchor `play`."""
    for title in doctree.findall(nodes.title):
        marks = [node.astext() for node in title.findall(nodes.inline) if "layer" in node["classes"]]
        if "play" in marks and "play" not in title.parent["ids"]:
            title.parent["ids"].append("play")
            return


def read_page(app: Sphinx, doctree: nodes.document) -> None:
    """Take stock of a page, and prepare it."""
    everyone = all_facts(app.env)
    everyone[app.env.docname] = take_stock(doctree)
    announce_widgets(doctree)
    name_first_play(doctree)


def card(app: Sphinx, docname: str) -> dict[str, Any]:
    """What the page's scripts must know of it."""
    fields = chapter(app.env, docname)
    return {"page": docname, "chapter": fields.get("number"), **asdict(all_facts(app.env).get(docname, Facts()))}


def dress_page(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Add the strip and the mark at the end to chapters."""
    section = next(iter(doctree.findall(nodes.section)), None)
    if section is None or app.builder.format != "html":
        return
    data = json.dumps(card(app, docname)).replace("</", "<\\/")
    fields = chapter(app.env, docname)
    if "question" in fields:  # a chapter, or a page that opens as one
        open_chapter(app, section, docname)
    if "number" in fields:
        button = '<div class="mark-read" hidden><button type="button" aria-pressed="false">Mark as read</button></div>'
        doctree.append(raw(button))
    doctree.append(raw(f'<script type="application/json" id="book-page">{data}</script>'))


# What tells of other pages


def _numbers(text: str) -> set[int]:
    """'1-3, 5' are 1, 2, 3 and 5."""
    bounds = (part.partition("-") for part in text.split(","))
    return {number for low, _, high in bounds for number in range(int(low), int(high or low) + 1)}


def _wanted(app: Sphinx, place: nodes.Element) -> dict[str, dict[str, Any]]:
    numbers = place.get("numbers")
    return {n: f for n, f in chapters_in_order(app.env).items() if not numbers or f["number"] in numbers}


def _with_pages_between(app: Sphinx, place: nodes.Element) -> dict[str, dict[str, Any]]:
    """The chapters wanted; of the whole book also the pages without a number, each after the last chapter it needs."""
    wanted = _wanted(app, place)
    if place.get("numbers"):
        return wanted
    parts, listed = parts_of(app.env), []
    for name in app.env.found_docs - wanted.keys():
        fields = chapter(app.env, name)
        if fields.get("needs") and "question" in fields:
            title = app.env.titles[name].astext()
            listed.append((name, {**fields, "part": parts.get(name, ""), "title": title}, max(fields["needs"]) + 0.5))
    rows = [(name, fields, fields["number"]) for name, fields in wanted.items()] + listed
    return {name: fields for name, fields, _ in sorted(rows, key=lambda row: row[2])}


def _times(app: Sphinx, here: str, place: nodes.Element) -> list[nodes.Node]:
    listed: nodes.bullet_list | None = None
    made: list[nodes.Node] = []
    total, part = 0, None
    for name, fields in _with_pages_between(app, place).items():
        facts = all_facts(app.env).get(name, Facts())
        total += facts.minutes
        if listed is None or fields["part"] != part:
            part, listed = fields["part"], nodes.bullet_list(classes=["reading-times", "no-search"])
            made += [nodes.paragraph("", part, classes=["reading-part", "no-search"]), listed]
        line = nodes.paragraph("", "", nodes.inline("", str(fields.get("number", "")), classes=["reading-number"]))
        line += [nodes.Text(" "), link(app, here, name, plain_title(fields["title"])), nodes.Text(" ")]
        line += [nodes.inline("", fields.get("question", ""), classes=["reading-question"]), nodes.Text(" ")]
        line += nodes.inline("", in_words(facts.minutes), classes=["minutes"])
        listed += nodes.list_item("", line)
    text = f"Together about {in_words(total)} of reading and playing, without the exercises."
    return [*made, nodes.paragraph("", text, classes=["reading-total"])]


def _map(app: Sphinx, here: str, place: nodes.Element) -> list[nodes.Node]:
    rows = []
    for name, fields in _wanted(app, place).items():
        facts = all_facts(app.env).get(name, Facts())
        uri = html.escape(app.builder.get_relative_uri(here, name), quote=True)
        link = f'<a href="{uri}">{html.escape(fields["title"])}</a>'
        asked = f"{facts.questions}" if facts.questions else "none"
        rows.append(
            f'<tr data-page="{name}" data-quiz="{fields["number"]:02}" data-questions="{facts.questions}">'
            f'<th scope="row">{link}</th><td>{in_words(facts.minutes)}</td><td class="mark-of-reading">not yet</td>'
            f'<td class="mark-of-questions">{asked}</td></tr>'
        )
    head = "".join(f'<th scope="col">{text}</th>' for text in ("Chapter", "Time", "Read", "Questions"))
    table = (
        f'<div class="progress-map"><p class="progress-summary" role="status"></p><table class="table">'
        f"<caption>Chapters, and how far you are. Kept in this browser only.</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
        '<p class="progress-tools" hidden><button type="button" data-do="save">Save to a file</button> '
        '<label>Load from a file <input type="file" accept="application/json,.json"></label> '
        '<button type="button" data-do="erase">Erase everything</button></p></div>'
    )
    return [nodes.raw("", table, format="html", classes=["no-search"])]


class _Later(SphinxDirective):
    option_spec = {"chapters": str}
    fill: Any = None

    def run(self) -> list[nodes.Node]:
        self.env.note_reread()  # it tells of other pages
        text = self.options.get("chapters", "")
        return [Place(fill=self.fill, numbers=_numbers(text) if text else None)]


class ReadingTimes(_Later):
    """`{reading-times}`: chapters in order, with their question and time."""

    fill = staticmethod(_times)


class ProgressMap(_Later):
    """`{progress-map}`: chapters, and what the reader has done of each."""

    fill = staticmethod(_map)


class Path(SphinxDirective):
    """`{path} Title`: a way through the book, to be opened; `:open:` shows it from the start."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec = {"open": directives.flag}

    def run(self) -> list[nodes.Node]:
        """The path in a `details` element, which needs no script."""
        box = nodes.container(classes=["way"])
        opened = " open" if "open" in self.options else ""
        box += raw(f'<details class="path" name="path"{opened}><summary>{html.escape(self.arguments[0])}</summary>')
        box += self.parse_content_to_nodes()
        box += raw("</details>")
        return [box]


def _play(app: Sphinx, here: str, place: nodes.Element) -> nodes.Node:
    name = place["page"]
    if name not in app.env.titles:
        _log.warning("there is no page %s to play on", name, location=here)
        return nodes.Text(name)
    return link(app, here, name, app.env.titles[name].astext(), anchor="#play")


class PlayRole(SphinxRole):
    """{play}`attention/masks`: a link to the first thing to move on a page."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """A place for the link."""
        return [Place(fill=_play, page=self.text)], []


def _time(app: Sphinx, here: str, place: nodes.Element) -> nodes.Node:
    minutes = sum(all_facts(app.env).get(name, Facts()).minutes for name in _wanted(app, place))
    return nodes.Text(f"About {in_words(minutes)}")


class ReadingTime(SphinxRole):
    """{reading-time}`1-27`: how long these chapters take together."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """A place for the time."""
        self.env.note_reread()  # it tells of other pages
        return [Place(fill=_time, numbers=_numbers(self.text))], []


def setup(app: Sphinx) -> None:
    """Register the directives and the role, and connect the rest."""
    app.setup_extension("page_kit.places")
    app.add_directive("reading-times", ReadingTimes)
    app.add_directive("progress-map", ProgressMap)
    app.add_directive("path", Path)
    app.add_role("play", PlayRole())
    app.add_role("reading-time", ReadingTime())
    app.connect("doctree-read", read_page)
    keep(app, FACTS)
    app.connect("doctree-resolved", dress_page)
    app.add_js_file("book/reader.js", defer="defer")
