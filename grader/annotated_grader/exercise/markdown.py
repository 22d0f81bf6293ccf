"""Markdown of the book, with inline roles, for notebooks (no extension needed), as HTML, and for a terminal."""

from __future__ import annotations

import re
from html import escape

from annotated.paper_links import resolve

_ROLE = re.compile(r"\{([\w:-]+)\}`([^`]+)`")
_LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]*)\)")
_INLINE = re.compile(r"`(?P<code>[^`]+)`|\$(?P<math>[^$]+)\$|\*\*(?P<strong>[^*]+)\*\*|\*(?P<em>[^*\s][^*]*)\*")
_IN_PASSING = {"claim": "what is often said", "question": "what readers ask"}
_TEX = (
    (r"\\sqrt\{([^{}]*(?:\{[^{}]*\})?[^{}]*)\}", r"√\1"),
    (r"\\(?:text|mathrm)\{([^{}]*)\}", r"\1"),
    (r"\\top", "T"),
    (r"\\cdot", "·"),
    (r"\\dots", "…"),
    (r"\\pi", "π"),
    (r"\\sum", "Σ"),
    (r"[$`{}\\]", ""),
    (r"\s+", " "),
)


def role(name: str, text: str) -> str:
    """What a role shows: {paper} a link, {claim} and {question} their own words if they have some, code as code."""
    if name == "paper":
        shown, _, url = resolve(text)
        return f"[{shown}]({url})"
    words = re.sub(r"\s*<[^>]*>$", "", text)
    if name in _IN_PASSING and words == text:
        return _IN_PASSING[name]
    text = words
    if name.startswith("cite"):
        return f"({text})"
    return f"`{text.lstrip('~!')}`" if name.startswith("py:") else text


def roles(text: str) -> str:
    """The text with every role written out."""
    return _ROLE.sub(lambda match: role(*match.groups()), text)


def plain(text: str) -> str:
    """The same for a page that stands alone: links to the book's own files become their text."""
    return _LINK.sub(lambda match: match[0] if "://" in match[2] else match[1], roles(text))


def without_marks(text: str) -> str:
    """Text without the marks of code and mathematics, for titles: '$\\sqrt{d_k}$' becomes '√d_k'."""
    for pattern, replacement in _TEX:
        text = re.sub(pattern, replacement, text)
    return text.strip()


def terminal(text: str) -> str:
    """Markdown for a terminal: no links, formulas or emphasis; code keeps its marks."""

    def bare(match: re.Match[str]) -> str:
        if match["code"]:
            return match[0]
        return without_marks(match["math"]) if match["math"] else match["strong"] or match["em"]

    return _INLINE.sub(bare, _LINK.sub(r"\1", roles(text)))


def html(text: str) -> str:
    """A line of Markdown as HTML: code, emphasis, and formulas as plain letters, so that no script is needed."""
    parts, position = [], 0
    text = _LINK.sub(r"\1", roles(text))
    for match in _INLINE.finditer(text):
        kind = match.lastgroup or "em"
        inside = without_marks(match["math"]) if kind == "math" else match[kind]
        tag = "i" if kind == "math" else kind
        parts += [escape(text[position : match.start()]), f"<{tag}>{escape(inside)}</{tag}>"]
        position = match.end()
    return "".join([*parts, escape(text[position:])])
