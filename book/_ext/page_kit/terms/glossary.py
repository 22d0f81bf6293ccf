"""The glossary's entries as groups: the names of a term, its definition, and the chapter that explains it.

Docutils writes names and definitions one after another. Each entry becomes a `div` of its own inside the list, as HTML
allows, so that a style sheet can set names, definition and chapter side by side. English names come first, the Chinese
name has the class `chinese`, and the link to the chapter that ends a definition is a description of its own; it leads
to the sentence of the chapter that explains the term, else to the section that says most of it. An entry has the
further names by which the filter finds it. Readers test themselves on the page with `glossary.js`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from typing import Any

from sphinx.application import Sphinx

from page_kit.terms.term_counts import GLOSSARY, all_places, entries, explanation
from page_kit.terms.term_places import other_names

_LIST = re.compile(r'(<dl class="[^"]*\bglossary\b[^"]*">)(.*?)(</dl>)', re.DOTALL)
_ENTRY = re.compile(r"((?:<dt\b.*?</dt>\s*)+)<dd>(.*?)</dd>", re.DOTALL)
_CHINESE = re.compile(r"<dt (?=[^>]*>[^<]*[\u4e00-\u9fff])")
_PLACE = re.compile(r'\s*(<a class="reference internal" [^>]*>(?:<span[^>]*>)?Chapter \d+(?:</span>)?</a>)\s*</p>\s*$')


_ANCHOR = re.compile(r'<dt[^>]* id="([^"]+)"')


def grouped(body: str, targets: Mapping[str, str] = {}, words: Mapping[str, str] = {}) -> str:
    """HTML whose glossaries have one `div` for each entry.

    Parameters
    ----------
    targets
        Where an entry's chapter explains its term, such as '#says-mask', by the anchor of one of the entry's names.
    words
        Further names of an entry, for the filter, by the same anchors.
    """

    def entry(found: re.Match[str]) -> str:
        names, text = _CHINESE.sub('<dt class="chinese" ', found[1]), found[2]
        anchors = _ANCHOR.findall(names)
        place = _PLACE.search(text)
        target = next((targets[anchor] for anchor in anchors if anchor in targets), "")
        link = place[1].replace('.html"', f'.html{target}"', 1) if place else ""
        chapter = f'<dd class="entry-chapter">{link}</dd>' if place else ""
        text = f"{text[: place.start()]}</p>" if place else text
        more = escape(next((words[anchor] for anchor in anchors if anchor in words), ""))
        data = f' data-words="{more}"' if more else ""
        return f'<div class="entry"{data}>{names}<dd>{text}</dd>{chapter}</div>'

    return _LIST.sub(lambda found: f"{found[1]}{_ENTRY.sub(entry, found[2])}{found[3]}", body)


def group_page(app: Sphinx, name: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Group the entries of a page that has a glossary, before its Chinese words are marked."""
    if "glossary" not in context.get("body", ""):
        return
    targets: dict[str, str] = {}
    words: dict[str, str] = {}
    if name == GLOSSARY:
        for names, anchor, home, places in all_places(app.env):
            targets[anchor] = next((explanation(app.env, place, names) for place in places if place.page == home), "")
        named = entries(app.env.get_doctree(GLOSSARY))
        words = {anchor: other_names()[names[0]] for names, anchor in named if names[0] in other_names()}
    context["body"] = grouped(context["body"], targets, words)


def setup(app: Sphinx) -> None:
    """Connect it."""
    app.connect("html-page-context", group_page, priority=400)
