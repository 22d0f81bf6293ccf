"""Terms in the text: where a section says what a term means, and a target on these words.

Of the places in a section a definition in the margin comes first, then words that are set in italics or bold, as they
are where a term is introduced, then the first.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from docutils import nodes

_BLOCK = re.compile(r"^:::\{glossary\}\n(.*?)^:::", re.MULTILINE | re.DOTALL)


@cache
def written(term: str) -> re.Pattern[str]:
    """How a term is written in small letters, in the singular or the plural."""
    return re.compile(rf"\b{re.escape(term.lower())}(?:s|es)?\b")


def names_in(glossary: Path) -> list[list[str]]:
    """The English names of the entries of the glossary, from its source."""
    found = []
    for block in _BLOCK.findall(glossary.read_text(encoding="utf-8")):
        for entry in re.split(r"\n\s*\n", block):
            lines = [line.strip() for line in entry.splitlines() if line and not line[0].isspace()]
            found.append([line for line in lines if line.isascii()])
    return [names for names in found if names]


def anchor_in_text(name: str) -> str:
    """The target of a term on the page of a chapter."""
    return "says-" + re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def place_of(names: list[str], paragraphs: list[nodes.paragraph]) -> tuple[nodes.Text, int, int] | None:
    """The text that says most of a term with these names, and where the words begin and end in it; None without one."""
    best: tuple[int, nodes.Text, int, int] | None = None
    for paragraph in paragraphs:
        for text in paragraph.findall(nodes.Text):
            found = next((match for name in names if (match := written(name).search(text.lower()))), None)
            if found and not _is_set_apart(text, paragraph):
                rank = _rank(text, paragraph)
                if best is None or rank < best[0]:
                    best = rank, text, *found.span()
    return best and best[1:]


def _is_set_apart(text: nodes.Text, paragraph: nodes.paragraph) -> bool:
    """Whether a text is code or a formula."""
    node = text.parent
    while node is not paragraph:
        if isinstance(node, nodes.literal | nodes.math | nodes.raw | nodes.target):
            return True
        node = node.parent
    return False


def _rank(text: nodes.Text, paragraph: nodes.paragraph) -> int:
    """0 for a definition in the margin, 1 for words that are stressed, 2 for others."""
    siblings = paragraph.parent.children
    before = siblings[siblings.index(paragraph) - 1] if siblings.index(paragraph) else None
    if isinstance(before, nodes.raw) and "note-definition" in before.astext():
        return 0
    return 1 if isinstance(text.parent, nodes.emphasis | nodes.strong) else 2


def mark(names: list[str], anchor: str, paragraphs: list[nodes.paragraph]) -> bool:
    """Make the words of a term a target; false where they do not stand in one piece."""
    found = place_of(names, paragraphs)
    if not found:
        return False
    text, start, end = found
    words = nodes.inline("", text[start:end], ids=[anchor], classes=["term-place"])
    parts = [nodes.Text(text[:start]), words, nodes.Text(text[end:])]
    text.parent.replace(text, [part for part in parts if part.astext()])
    return True
