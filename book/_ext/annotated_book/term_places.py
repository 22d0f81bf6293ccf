"""Terms in the text: where a section says what a term means, and a target on these words.

Of the places in a section a definition in the margin comes first, then words that are set in italics or bold, as they
are where a term is introduced, then the first.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import yaml
from docutils import nodes

NAMES = Path(__file__).parents[2] / "_data" / "names.yaml"
_END = re.compile(r"(?<=[.?!])[)”\"]?\s+(?=[A-Z“\"(\ue000])")
"""Between two sentences; \\ue000 stands for a formula."""
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


class Spot(NamedTuple):
    """Where a section says most of a name: how well, where, and the sentence in pieces of a kind and a text."""

    rank: int
    at: int
    sentence: tuple[tuple[str, str], ...]


@cache
def other_names() -> dict[str, str]:
    """German and other words for a term, by its first name in the glossary: what a reader may type."""
    found: dict[str, str] = yaml.safe_load(NAMES.read_text(encoding="utf-8"))
    return found


def spot_of(name: str, paragraphs: list[nodes.paragraph]) -> Spot | None:
    """The place of a name, as `place_of` finds it, with its sentence."""
    found = place_of([name], paragraphs)
    if not found:
        return None
    text, start, end = found
    texts = [(paragraph, one) for paragraph in paragraphs for one in paragraph.findall(nodes.Text)]
    at = next(i for i, (_, one) in enumerate(texts) if one is text)
    return Spot(_rank(text, texts[at][0]), at, sentence_of(texts[at][0], text, start, end))


def sentence_of(paragraph: nodes.paragraph, text: nodes.Text, start: int, end: int) -> tuple[tuple[str, str], ...]:
    """The sentence around words of a text, in pieces: 'text', 'math', 'code', 'stress', and 'term' for the words."""
    pieces: list[tuple[str, str]] = []
    for one in paragraph.findall(lambda node: isinstance(node, nodes.Text)):
        if one is text:
            pieces += [(_kind(one), one[:start]), ("term", one[start:end]), (_kind(one), one[end:])]
        elif not isinstance(one.parent, nodes.raw):
            pieces.append((_kind(one), str(one)))
    pieces = [
        (kind, " ".join(f"|{piece}|".split())[1:-1] if kind != "math" else piece) for kind, piece in pieces if piece
    ]
    whole = "".join(piece if kind != "math" else "\ue000" * len(piece) for kind, piece in pieces)
    here = sum(len(piece) for _, piece in pieces[: [kind for kind, _ in pieces].index("term")])
    ends = [found.end() for found in _END.finditer(whole)]
    first, last = max([0, *(at for at in ends if at <= here)]), min([len(whole), *(at for at in ends if at > here)])
    made, at = [], 0
    for kind, piece in pieces:
        part = piece if kind == "math" else piece[max(0, first - at) : max(0, last - at)]
        if part and first < at + len(piece) and at < last:
            made.append((kind, part))
        at += len(piece)
    return tuple(made)


def _on_one_line(text: str) -> str:
    """With the spaces at its ends."""
    return " ".join(f"|{text}|".split())[1:-1]


def _kind(text: nodes.Text) -> str:
    kinds = {nodes.math: "math", nodes.literal: "code", nodes.strong: "stress", nodes.emphasis: "stress"}
    return next((kind for node, kind in kinds.items() if isinstance(text.parent, node)), "text")


def in_nodes(sentence: tuple[tuple[str, str], ...]) -> list[nodes.Node]:
    """A sentence as nodes, its term marked."""
    made: dict[str, type[nodes.TextElement]] = {
        "math": nodes.math, "code": nodes.literal, "stress": nodes.emphasis, "term": nodes.strong
    }  # fmt: skip
    return [made[kind]("", part) if kind in made else nodes.Text(part) for kind, part in sentence]


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
