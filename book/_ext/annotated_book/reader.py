"""What a page tells its reader: how long it takes, what it needs, what is on it, why the next one follows; and paths.

A chapter's front matter (`chapters.py`) and its own text give a strip under the title and the links at its end. The
reader's marks live in the browser (`store.js`, `reader.js`); the page only carries places for them.

- `{reading-times}`: chapters in order with computed times; `:chapters: 1-15` limits them.
- `{progress-map}`: every chapter with places for the reader's marks, and buttons to save, load and erase them.
- `{path} Title`: one way through the book, that opens.
- {play}`attention/masks`: a link to the first thing to move on that page.
"""

from __future__ import annotations

import html
import json
import math
import re
from dataclasses import asdict, dataclass
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole

from annotated_book.chapters import chapter
from annotated_book.paper import resolve

WORDS_A_MINUTE = 200
MINUTES_A_CELL = 0.5
MINUTES_A_PICTURE = 1.0
MINUTES_A_QUESTION = 0.5
LAYERS = ("read", "play", "run", "prove")
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Facts:
    """What is on a page."""

    words: int = 0
    code: int = 0
    """Cells and listings."""
    pictures: int = 0
    """Charts and widgets."""
    questions: int = 0
    """Predictions, and the questions of quizzes."""
    exercises: int = 0
    quizzes: int = 0
    layers: tuple[str, ...] = ()

    @property
    def minutes(self) -> int:
        """How long a reader needs, without the exercises."""
        return reading_minutes(self.words, self.code, self.pictures, self.questions)


def reading_minutes(words: int, code: int = 0, pictures: int = 0, questions: int = 0) -> int:
    """Minutes for a page: its words at 200 a minute, half a minute a listing or question, one minute a picture."""
    exact = words / WORDS_A_MINUTE + code * MINUTES_A_CELL + pictures * MINUTES_A_PICTURE
    return max(1, math.ceil(exact + questions * MINUTES_A_QUESTION))


def in_words(minutes: int) -> str:
    """'40 min', '2 h', '2 h 10 min'; above an hour in steps of ten minutes."""
    if minutes < 60:
        return f"{minutes} min"
    hours, rest = divmod(round(minutes, -1), 60)
    return f"{hours} h {rest} min" if rest else f"{hours} h"


def _is_picture(bundle: nodes.Element) -> bool:
    for output in bundle.children:
        kind = output.get("mime_type", "") if isinstance(output, nodes.Element) else ""
        if "widget-view" in kind or ("html" in kind and '<figure class="chart"' in output.astext()):
            return True
    return False


def take_stock(doctree: nodes.document) -> Facts:
    """Count what is on a page as it was read."""
    words = code = pictures = questions = exercises = quizzes = 0
    layers = set()
    todo: list[nodes.Node] = [doctree]
    while todo:
        node = todo.pop()
        if isinstance(node, nodes.Text):
            words += len(re.findall(r"\w+(?:['’.-]\w+)*", node.astext()))
        elif isinstance(node, nodes.raw):
            questions += node.astext().count("<fieldset data-answer=")
            quizzes += node.astext().count("data-quiz=")
        elif isinstance(node, nodes.container) and node.get("nb_element") == "cell_code":
            code += 1
            bundles = [b for b in node.findall(nodes.container) if b.get("nb_element") == "mime_bundle"]
            pictures += sum(map(_is_picture, bundles))
        elif isinstance(node, nodes.literal_block):
            code += 1
        elif isinstance(node, nodes.math | nodes.math_block):
            words += 3  # a formula is read slowly
        elif isinstance(node, nodes.inline) and "layer" in node["classes"]:
            layers.add(node.astext())
        elif isinstance(node, nodes.Element) and not isinstance(node, nodes.comment | nodes.meta):
            questions += "prediction" in node["classes"]
            exercises += type(node).__name__ in ("exercise_node", "exercise_enumerable_node")
            if "graded-more" not in node["classes"]:  # an exercise's question, hints and solution are its own time
                todo += node.children
    known = tuple(layer for layer in LAYERS if layer in layers)
    return Facts(words, code, pictures, questions, exercises, quizzes, known)


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
        views[0].append(nodes.raw("", f'<p class="widget-notice">{html.escape(text)}</p>', format="html"))


def name_first_play(doctree: nodes.document) -> None:
    """Give the first section that is to be played with the anchor `play`."""
    for title in doctree.findall(nodes.title):
        marks = [node.astext() for node in title.findall(nodes.inline) if "layer" in node["classes"]]
        if "play" in marks and "play" not in title.parent["ids"]:
            title.parent["ids"].append("play")
            return


def read_page(app: Sphinx, doctree: nodes.document) -> None:
    """Take stock of a page, and prepare it."""
    everyone = _all_facts(app.env)
    everyone[app.env.docname] = take_stock(doctree)
    announce_widgets(doctree)
    name_first_play(doctree)


def _all_facts(env: Any) -> dict[str, Facts]:
    if not hasattr(env, "annotated_facts"):
        env.annotated_facts = {}
    return env.annotated_facts


def forget(app: Sphinx, env: Any, docname: str) -> None:
    """Forget a page that will be read again."""
    _all_facts(env).pop(docname, None)


def merge(app: Sphinx, env: Any, docnames: Any, other: Any) -> None:
    """Take over what another process found, when pages are read in parallel."""
    _all_facts(env).update({name: facts for name, facts in _all_facts(other).items() if name in docnames})


# What is told about chapters


def chapters_in_order(env: Any) -> dict[str, dict[str, Any]]:
    """Pages that are chapters, by number, with their front matter, part and title."""
    parts = {}
    for subtree in env.config.external_site_map.root.subtrees:
        parts.update({str(item): subtree.caption or "" for item in subtree.items})
    found = {}
    for name in env.found_docs:
        fields = chapter(env, name)
        if "number" in fields:
            found[name] = {**fields, "part": parts.get(name, ""), "title": env.titles[name].astext()}
    return dict(sorted(found.items(), key=lambda pair: pair[1]["number"]))


def plain_title(title: str) -> str:
    """A chapter's title without its number."""
    return re.sub(r"^\d+\.\s*", "", title)


def _link(app: Sphinx, here: str, docname: str, text: str, title: str = "", anchor: str = "") -> nodes.reference:
    uri = app.builder.get_relative_uri(here, docname) + anchor
    extra = {"reftitle": title} if title else {}
    return nodes.reference("", text, refuri=uri, internal=True, **extra)


def _commas(found: list[nodes.Node]) -> list[nodes.Node]:
    spread: list[nodes.Node] = []
    for node in found:
        spread += [nodes.Text(", "), node] if spread else [node]
    return spread


def strip(app: Sphinx, docname: str) -> nodes.container:
    """The line of facts under a chapter's title."""
    env = app.env
    everyone = chapters_in_order(env)
    me, facts = everyone[docname], _all_facts(env).get(docname, Facts())
    items: list[tuple[str, list[nodes.Node]]] = []
    if me["part"]:
        items.append(("Part", [nodes.Text(me["part"])]))
    items.append(("Time", [nodes.Text(f"about {in_words(facts.minutes)}")]))
    by_number = {fields["number"]: name for name, fields in everyone.items()}
    needs: list[nodes.Node] = []
    for number in me.get("needs") or []:
        if number in by_number:
            name = by_number[number]
            needs.append(_link(app, docname, name, f"chapter {number}", plain_title(everyone[name]["title"])))
        else:
            needs.append(nodes.Text(f"chapter {number}"))
    items.append(("Needs", _commas(needs) or [nodes.Text("nothing")]))
    cited: list[nodes.Node] = []
    for key in me.get("paper") or []:
        try:
            shown, title, url = resolve(str(key))
            cited.append(nodes.reference("", shown, refuri=url, reftitle=f"The paper, {shown}: {title}"))
        except KeyError:
            _log.warning("the front matter names %r, which the paper does not have", key, location=docname)
    if cited:
        items.append(("Paper", _commas(cited)))
    if facts.layers:
        items.append(("To", [nodes.inline("", layer, classes=["layer"]) for layer in facts.layers]))
    if facts.exercises:
        items.append(("Exercises", [nodes.Text(str(facts.exercises))]))
    listed = nodes.bullet_list(classes=["chapter-facts"])
    for name, content in items:
        words = nodes.paragraph("", "", nodes.inline("", name, classes=["fact-name"]), nodes.Text(" "))
        for i, node in enumerate(content):
            words += [nodes.Text(" "), node] if i and name == "To" else [node]
        listed += nodes.list_item("", words)
    return nodes.container("", listed, classes=["chapter-strip"])


def card(app: Sphinx, docname: str) -> dict[str, Any]:
    """What the page's scripts must know of it."""
    fields = chapter(app.env, docname)
    return {"page": docname, "chapter": fields.get("number"), **asdict(_all_facts(app.env).get(docname, Facts()))}


def dress_page(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Add the strip and the mark at the end to chapters, and fill what stands for other pages."""
    for place in list(doctree.findall(Place)):
        place.replace_self(place["fill"](app, docname, place))
    section = next(iter(doctree.findall(nodes.section)), None)
    if section is None or app.builder.format != "html":
        return
    data = json.dumps(card(app, docname)).replace("</", "<\\/")
    if "number" in chapter(app.env, docname):
        section.insert(section.index(next(section.findall(nodes.title))) + 1, strip(app, docname))
        button = '<div class="mark-read" hidden><button type="button" aria-pressed="false">Mark as read</button></div>'
        doctree.append(nodes.raw("", button, format="html"))
    doctree.append(nodes.raw("", f'<script type="application/json" id="book-page">{data}</script>', format="html"))


def say_why(app: Sphinx, name: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Give the links to the neighbours their reasons: what this page says of the next, and what the previous asks."""
    if name not in app.env.found_docs:
        return
    context["next_why"] = chapter(app.env, name).get("next") or ""
    siblings = app.env.collect_relations().get(name, [None, None, None])
    before = chapter(app.env, siblings[1]) if siblings[1] else {}
    context["prev_question"] = before.get("question") or ""


# What tells of other pages


class Place(nodes.General, nodes.Element):
    """Where something goes once every page has been read."""


def _numbers(text: str) -> range:
    low, _, high = text.partition("-")
    return range(int(low), int(high or low) + 1)


def _wanted(app: Sphinx, place: nodes.Element) -> dict[str, dict[str, Any]]:
    numbers = place.get("numbers")
    return {n: f for n, f in chapters_in_order(app.env).items() if not numbers or f["number"] in numbers}


def _times(app: Sphinx, here: str, place: nodes.Element) -> list[nodes.Node]:
    listed = nodes.bullet_list(classes=["reading-times"])
    total, part = 0, None
    for name, fields in _wanted(app, place).items():
        facts = _all_facts(app.env).get(name, Facts())
        total += facts.minutes
        if fields["part"] != part:
            part = fields["part"]
            listed += nodes.list_item("", nodes.paragraph("", "", nodes.strong("", part)), classes=["reading-part"])
        line = nodes.paragraph("", "", _link(app, here, name, fields["title"]))
        line += nodes.Text(f" {fields.get('question', '')} ")
        line += nodes.inline("", in_words(facts.minutes), classes=["minutes"])
        listed += nodes.list_item("", line)
    text = f"Together about {in_words(total)} of reading and playing, without the exercises."
    return [listed, nodes.paragraph("", text, classes=["reading-total"])]


def _map(app: Sphinx, here: str, place: nodes.Element) -> list[nodes.Node]:
    rows = []
    for name, fields in _wanted(app, place).items():
        facts = _all_facts(app.env).get(name, Facts())
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
    return [nodes.raw("", table, format="html")]


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
        box += nodes.raw(
            "",
            f'<details class="path" name="path"{opened}><summary>{html.escape(self.arguments[0])}</summary>',
            format="html",
        )
        self.state.nested_parse(self.content, self.content_offset, box)
        box += nodes.raw("", "</details>", format="html")
        return [box]


def _play(app: Sphinx, here: str, place: nodes.Element) -> nodes.Node:
    name = place["page"]
    if name not in app.env.titles:
        _log.warning("there is no page %s to play on", name, location=here)
        return nodes.Text(name)
    return _link(app, here, name, app.env.titles[name].astext(), anchor="#play")


class PlayRole(SphinxRole):
    """{play}`attention/masks`: a link to the first thing to move on a page."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """A place for the link."""
        return [Place(fill=_play, page=self.text)], []


def setup(app: Sphinx) -> None:
    """Register the directives and the role, and connect the rest."""
    app.add_node(Place)
    app.add_directive("reading-times", ReadingTimes)
    app.add_directive("progress-map", ProgressMap)
    app.add_directive("path", Path)
    app.add_role("play", PlayRole())
    app.connect("doctree-read", read_page)
    app.connect("env-purge-doc", forget)
    app.connect("env-merge-info", merge)
    app.connect("doctree-resolved", dress_page)
    app.connect("html-page-context", say_why)
    app.add_js_file("book/reader.js", defer="defer")
