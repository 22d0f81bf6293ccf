"""The head of a chapter: its part, its title, its question, and a line of facts; and why its neighbours follow."""

from __future__ import annotations

import html
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

from page_kit.authoring.paper import resolve
from page_kit.chapter.front_matter import chapter
from page_kit.chapter.page_facts import (
    Facts,
    all_facts,
    chapters_in_order,
    commas,
    in_words,
    link,
    parts_of,
    plain_title,
)
from page_kit.chapter.reading_mode import SWITCH
from page_kit.chapter.sidebar import MARK
from page_kit.raw_html import raw

_log = logging.getLogger(__name__)
_QUESTION = "The question."


def strip(app: Sphinx, docname: str) -> nodes.container:
    """The line of facts under a chapter's title."""
    env = app.env
    everyone = chapters_in_order(env)
    me, facts = chapter(env, docname), all_facts(env).get(docname, Facts())
    items: list[tuple[str, list[nodes.Node]]] = []
    longer = "number" in me and facts.minutes_with_proofs > facts.minutes  # a page without a number has no switch
    more = f", {in_words(facts.minutes_with_proofs)} with proofs" if longer else ""
    items.append(("Time", [nodes.Text(f"about {in_words(facts.minutes)}{more}")]))
    by_number = {fields["number"]: name for name, fields in everyone.items()}
    needs: list[nodes.Node] = []
    for number in me.get("needs") or []:
        if number in by_number:
            name = by_number[number]
            needs.append(link(app, docname, name, f"chapter {number}", plain_title(everyone[name]["title"])))
        else:
            needs.append(nodes.Text(f"chapter {number}"))
    items.append(("Needs", commas(needs) or [nodes.Text("nothing")]))
    cited: list[nodes.Node] = []
    for key in me.get("paper") or []:
        try:
            shown, title, url = resolve(str(key))
            cited.append(nodes.reference("", shown, refuri=url, reftitle=f"The paper, {shown}: {title}"))
        except KeyError:
            _log.warning("the front matter names %r, which the paper does not have", key, location=docname)
    if cited:
        items.append(("Paper", commas(cited)))
    if facts.exercises:
        items.append(("Exercises", [nodes.Text(str(facts.exercises))]))
    listed = nodes.bullet_list(classes=["chapter-facts"])
    for name, content in items:
        words = nodes.paragraph("", "", nodes.inline("", name, classes=["fact-name"]), nodes.Text(" "))
        words += content
        listed += nodes.list_item("", words)
    if "number" in me:
        listed += nodes.list_item("", raw(SWITCH))
    return nodes.container("", listed, classes=["chapter-strip"])


def kicker(fields: dict[str, Any], part: str) -> nodes.raw:
    """The line above a title: the mark, the chapter's number if it has one, and its part."""
    number = f"Chapter {fields['number']}" if "number" in fields else ""
    words = " · ".join(html.escape(word) for word in (number, part) if word)
    return raw(f'<p class="chapter-kicker">{MARK}{words}</p>')


def open_chapter(app: Sphinx, section: nodes.section, docname: str) -> None:
    """Set the head of a chapter: the number goes above the title, the question below it, the facts below both."""
    title = next(iter(section.findall(nodes.title)))
    if isinstance(title[0], nodes.Text):
        title.replace(title[0], nodes.Text(plain_title(title[0].astext())))
    place = section.index(title) + 1
    after = section[place] if place < len(section) else None
    labels = list(after.findall(nodes.strong)) if isinstance(after, nodes.paragraph) else []
    if labels and labels[0].astext() == _QUESTION:
        after["classes"].append("chapter-question")
        labels[0].children = [nodes.Text(_QUESTION.rstrip("."))]
        place += 1
    section.insert(place, strip(app, docname))
    section.insert(section.index(title), kicker(chapter(app.env, docname), parts_of(app.env).get(docname, "")))


def say_why(app: Sphinx, name: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Give the links to the neighbours their reasons: what this page says of the next, and what the previous asks."""
    if name not in app.env.found_docs:
        return
    context["next_why"] = chapter(app.env, name).get("next") or ""
    siblings = app.env.collect_relations().get(name, [None, None, None])
    before = chapter(app.env, siblings[1]) if siblings[1] else {}
    context["prev_question"] = before.get("question") or ""


def setup(app: Sphinx) -> None:
    """Connect the above; `progress` calls `open_chapter`."""
    app.connect("html-page-context", say_why)
