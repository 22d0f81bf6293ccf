"""The glossary's entries as groups: the names of a term, its definition, and the chapter that explains it.

Docutils writes names and definitions one after another. Each entry becomes a `div` of its own inside the list, as HTML
allows, so that a style sheet can set names, definition and chapter side by side. English names come first, the Chinese
name has the class `chinese`, and the link to the chapter that ends a definition is a description of its own.
"""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

_LIST = re.compile(r'(<dl class="[^"]*\bglossary\b[^"]*">)(.*?)(</dl>)', re.DOTALL)
_ENTRY = re.compile(r"((?:<dt\b.*?</dt>\s*)+)<dd>(.*?)</dd>", re.DOTALL)
_CHINESE = re.compile(r"<dt (?=[^>]*>[^<]*[\u4e00-\u9fff])")
_PLACE = re.compile(r'\s*(<a class="reference internal" [^>]*>(?:<span[^>]*>)?Chapter \d+(?:</span>)?</a>)\s*</p>\s*$')


def grouped(body: str) -> str:
    """HTML whose glossaries have one `div` for each entry."""

    def entry(found: re.Match[str]) -> str:
        names, text = _CHINESE.sub('<dt class="chinese" ', found[1]), found[2]
        place = _PLACE.search(text)
        chapter = f'<dd class="entry-chapter">{place[1]}</dd>' if place else ""
        text = f"{text[: place.start()]}</p>" if place else text
        return f'<div class="entry">{names}<dd>{text}</dd>{chapter}</div>'

    return _LIST.sub(lambda found: f"{found[1]}{_ENTRY.sub(entry, found[2])}{found[3]}", body)


def group_page(app: Sphinx, name: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Group the entries of a page that has a glossary, before its Chinese words are marked."""
    if "glossary" in context.get("body", ""):
        context["body"] = grouped(context["body"])


def setup(app: Sphinx) -> None:
    """Connect it."""
    app.connect("html-page-context", group_page, priority=400)
