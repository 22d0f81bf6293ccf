"""Terms in the text: where a section says what a term means, and a target on these words.

A sentence that `says` in `senses.yaml` names comes before all others. Of the other places in a section those in a
sentence that can stand alone come first (`term_sentences.py`); of these a definition in the margin, then words that are
set in italics or bold, as they are where a term is introduced, then a sentence with the term as its subject, then the
first. Words inside a phrase of another sense (`not` in `senses.yaml`) are no place: an exposure bias is no bias.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from docutils import nodes

from page_kit.data import DATA, table
from page_kit.terms.term_sentences import (
    Sentence,
    begins_with_term,
    defines,
    faults,
    has_term_as_subject,
    is_definition,
    is_stressed,
    sentence_of,
)

NAMES = DATA / "names.yaml"
SENSES = DATA / "senses.yaml"
CHOSEN = -2
"""The rank of a sentence that `senses.yaml` names, one more if it leans on the sentence before."""
DEFINED = 2
"""Below this rank a term is defined in the margin."""
STRESSED = 4
"""Below this rank the words are set in italics or bold, or are a definition in the margin."""
ABOUT = 5
"""Below this rank a sentence is about the term: a definition, one that stresses the term, or one with it as subject."""
NO_SENTENCE = 10
"""From this rank on there is no sentence that can stand alone."""
_BLOCK = re.compile(r"^:::\{glossary\}\n(.*?)^:::", re.MULTILINE | re.DOTALL)


@cache
def senses() -> dict[str, dict[str, Any]]:
    """Words with several senses, and related terms, as `senses.yaml` explains."""
    found: dict[str, dict[str, Any]] = table(SENSES)
    return found


@cache
def written(term: str) -> re.Pattern[str]:
    """How a term is written in small letters, in the singular or the plural, with a straight or a curved apostrophe."""
    return re.compile(rf"\b{re.escape(term.lower())}(?:s|es)?\b".replace("'", "['’]"))


def spans(term: str, text: str) -> list[tuple[int, int]]:
    """Where a text in small letters has a term, without phrases in which the words mean something else.

    Examples
    --------
    >>> spans("bias", "a bias and an exposure bias"), spans("beam", "beams")
    ([(2, 6)], [(0, 5)])
    """
    others = [
        found.span() for phrase in senses().get(term, {}).get("not", ()) for found in written(phrase).finditer(text)
    ]
    found = [match.span() for match in written(term).finditer(text)]
    return [(start, end) for start, end in found if not any(a <= start and end <= b for a, b in others)]


def entries_of(glossary: str) -> list[tuple[list[str], str]]:
    """The entries of the glossary's source: the names of each, and the whole of it in one line."""
    entries = [entry for block in _BLOCK.findall(glossary) for entry in re.split(r"\n\s*\n", block)]
    return [
        ([line.strip() for line in entry.splitlines() if line and not line[0].isspace()], " ".join(entry.split()))
        for entry in entries
    ]


def names_in(glossary: Path) -> list[list[str]]:
    """The English names of the entries of the glossary, from its source."""
    entries = entries_of(glossary.read_text(encoding="utf-8"))
    found = [[name for name in names if name.isascii()] for names, _ in entries]
    return [names for names in found if names]


class Spot(NamedTuple):
    """Where a section says most of a name: how well, in which of its texts, and the sentence."""

    rank: int
    at: int
    sentence: Sentence

    @property
    def stands_alone(self) -> bool:
        """Whether the sentence can be shown by itself."""
        return self.rank < NO_SENTENCE

    @property
    def is_about(self) -> bool:
        """Whether the sentence is about the term and does not lean on the one before it."""
        return self.rank < ABOUT and self.rank % 2 == 0

    @property
    def chosen(self) -> bool:
        """Whether `senses.yaml` names the sentence."""
        return self.rank < 0

    @property
    def defines(self) -> bool:
        """Whether it is a definition in the margin."""
        return 0 <= self.rank < DEFINED

    @property
    def explains(self) -> bool:
        """Whether it says what the term means: it is chosen, in the margin, stressed, or a definition by its form."""
        stressed = self.rank < STRESSED
        return stressed or (self.stands_alone and defines(self.sentence))


@cache
def other_names() -> dict[str, str]:
    """German and other words for a term, by its first name in the glossary: what a reader may type."""
    found: dict[str, str] = table(NAMES)
    return found


def spot_of(name: str, paragraphs: list[nodes.paragraph]) -> Spot | None:
    """The place of a name, as `place_of` finds it, with its sentence."""
    found = place_of([name], paragraphs)
    if not found:
        return None
    text, start, end = found
    texts = [(paragraph, one) for paragraph in paragraphs for one in paragraph.findall(nodes.Text)]
    at = next(i for i, (_, one) in enumerate(texts) if one is text)
    return Spot(_rank([name], texts[at][0], text, start, end), at, sentence_of(texts[at][0], text, start, end))


def anchor_in_text(name: str) -> str:
    """The target of a term on the page of a chapter."""
    return "says-" + re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def place_of(names: list[str], paragraphs: list[nodes.paragraph]) -> tuple[nodes.Text, int, int] | None:
    """The text that says most of a term with these names, and where the words begin and end in it; None without one."""
    best: tuple[int, nodes.Text, int, int] | None = None
    for paragraph in paragraphs:
        for text in paragraph.findall(nodes.Text):
            lower = text.lower()
            found = [span for name in names for span in spans(name, lower)]
            for start, end in found if found and not _is_set_apart(text, paragraph) else []:
                rank = _rank(names, paragraph, text, start, end)
                if best is None or rank < best[0]:
                    best = rank, text, start, end
    return best and best[1:]


def _is_set_apart(text: nodes.Text, paragraph: nodes.paragraph) -> bool:
    """Whether a text is code or a formula."""
    node = text.parent
    while node is not paragraph:
        if isinstance(node, nodes.literal | nodes.math | nodes.raw | nodes.target):
            return True
        node = node.parent
    return False


def _is_chosen(names: list[str], sentence: Sentence) -> bool:
    """Whether a sentence has the words that `senses.yaml` names for one of the names."""
    words = "".join(piece for _, piece in sentence)
    return any(says in words for name in names if (says := senses().get(name, {}).get("says")))


def _rank(names: list[str], paragraph: nodes.paragraph, text: nodes.Text, start: int, end: int) -> int:
    """A chosen sentence, then whole ones: a definition in the margin, stressed words, a subject, and others."""
    sentence = sentence_of(paragraph, text, start, end)
    if _is_chosen(names, sentence):
        return CHOSEN + (faults(sentence) > 0)
    stressed = is_stressed(text, paragraph)
    if is_definition(paragraph) and (stressed or begins_with_term(sentence)):
        kind = 0
    else:
        kind = 1 if stressed else 2 if has_term_as_subject(sentence) else 3
    fault = faults(sentence)
    return NO_SENTENCE * (fault > 1) + 2 * kind + (fault == 1)


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
