"""The sentence around a term, in pieces, and whether it can stand alone in the index of terms.

A sentence of the index begins with a capital letter, ends with its mark, has the term and at least four other words,
asks nothing, and sends nobody to a widget or a table. Where a term is a heading of its own, as in "**Leak.** A slot may
attend to ...", the sentence that follows belongs to it. A citation is written as on the page.
"""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.addnodes import pending_xref

from page_kit.reference.citations import cited

Sentence = tuple[tuple[str, str], ...]
"""Pieces of a kind and a text: 'text', 'math', 'code', 'stress', and 'term' for the words themselves."""

FORMULA = "\ue000"
"""Stands for a letter of a formula."""
_END = re.compile(
    r"(?<=[.?!])(?<!\bal\.)[)”\"]?\s+(?=[A-Z“\"(\ue000]|\d[\d.,]* [a-z]|(?:section|figure|equation|table) [\d(])"
)
"""Between two sentences."""
_WHOLE = re.compile(r"[“(]?[A-Z].*[.!][”)]?", re.DOTALL)
_PART = re.compile(r"(section|figure|equation|table) [\d(]")
"""A part of the paper, as a link names it, with a small letter also where a sentence begins."""
_ASKS = re.compile(
    r"(?:Add|Ask|Change|Choose|Click|Compare|Drag|Follow|Go|Hide|Hover|Look|Make|Move|Multiply|Open|Pick|Point|Press|Remove"
    r"|Select|Set|Show|Silence|Slide|Step|Switch|Take|Tap|Tick|Try|Turn|Type|Watch|With the mouse)\b"
)
_SHOWN = re.compile(
    r"\b(?:widget|sliders?|button|menu|tick|to begin with)\b|\b(?:above|below)[,.;]"
    r"|^(?:The|This|Its|Each|Here the) (?:next |first |last |second )?"
    r"(?:cell|chart|code|drawing|figure|frames?|listing|picture|rows?|table|tiles)\b"
    r"|^(?:\w+ ){0,4}(?:tiles|frames|columns|chart|picture)\b"
)
"""Words that send the reader to a thing beside the sentence."""
_LEANS = re.compile(r"(?:And|Both|But|Here|It|Its|So|Such|That|Their|They|This|Those|These|The first (?:is|one))\b")
"""How a sentence begins that needs the one before it."""

_SUBJECT = re.compile(r"(?:(?:The|A|An|Each|Every|No) (?:[\w’-]+ )?|In |Under )?[“(]?")
"""What stands before the subject of a sentence."""
_HEADING = re.compile(r"(?: (?:and|or) [\w -]+)?(?: \([^)]*\))?(?: \[[^\]]*\])?[:.] ")
"""What stands behind a term that is the heading of its definition."""
_NAMES = re.compile(r"\b(?:is|are) (?:also )?(?:called |the |an? )$")
"""What stands before a term that is given to what was described."""
_BARE = re.compile(r"(?:(?:The|A|An) )?[“(]?")
_DOES = re.compile(
    r"[”)]?(?: </?\w+>)?(?: \([^)]*\)| \[[^\]]*\]|, [^;:]{1,60}?,)* "
    r"(?:(?:is|are) (?!\d|of the same)|(?:has|have) (?!to\b)"
    r"|(?:adds?|counts?|divides?|finds?|hides?|joins?|keeps?|lets?|maps?|measures?|multipl(?:y|ies)|replaces?|rotates?"
    r"|runs?|sets?|takes?|turns?) )"
)
"""A verb behind the bare term that says what it is, has or does."""
_REFERS = re.compile(r"\s(?:\w+ (?:it|them)|both|neither|they|it|these|those|above|below)\b")
"""What stands behind a term in a sentence that speaks of something else, which the one before it names."""
_TORN = re.compile(r"^\w+ing (?:it|them|this|these)\b|\bon that \w+|\bof (?:this|that) kind\b|, then[,.]")
"""Words that refer to the sentence before."""


def sentence_of(paragraph: nodes.paragraph, text: nodes.Text, start: int, end: int) -> Sentence:
    """The sentence around words of a text."""
    pieces = [
        (kind, _on_one_line(piece) if kind != "math" else piece)
        for kind, piece in _pieces(paragraph, text, start, end)
        if piece
    ]
    whole = "".join(piece if kind != "math" else FORMULA * len(piece) for kind, piece in pieces)
    here = sum(len(piece) for _, piece in pieces[: [kind for kind, _ in pieces].index("term")])
    first, last = _bounds(whole, here, is_definition(paragraph))
    return _cut(pieces, first, last)


def _cut(pieces: list[tuple[str, str]], first: int, last: int) -> Sentence:
    """The pieces from a place to another; a formula stays whole."""
    made, at = [], 0
    for kind, piece in pieces:
        part = piece if kind == "math" else piece[max(0, first - at) : max(0, last - at)]
        if part and first < at + len(piece) and at < last:
            made.append((kind, part))
        at += len(piece)
    if made and _PART.match(made[0][1]):
        made[0] = made[0][0], made[0][1].capitalize()
    return tuple(made)


def first_sentence(paragraph: nodes.paragraph) -> Sentence:
    """The first sentence of a paragraph: of an entry of the glossary, its definition."""
    found = [(kind, piece if kind == "math" else _on_one_line(piece)) for kind, piece in _pieces(paragraph, None, 0, 0)]
    pieces = [(kind, piece) for kind, piece in found if piece]
    whole = "".join(piece if kind != "math" else FORMULA * len(piece) for kind, piece in pieces)
    end = _END.search(whole)
    return _cut(pieces, 0, end.end() if end else len(whole))


def _parted(sentence: Sentence) -> tuple[str, str]:
    """What stands before the term, and what stands behind it."""
    at = [kind for kind, _ in sentence].index("term")
    return "".join(piece for _, piece in sentence[:at]), "".join(piece for _, piece in sentence[at + 1 :])


def begins_with_term(sentence: Sentence) -> bool:
    """Whether a sentence has its term behind no more than two words."""
    return len(_parted(sentence)[0].split()) <= 2


def has_term_as_subject(sentence: Sentence) -> bool:
    """Whether the term is the subject of a sentence that says something: no short one, none of more than 35 words.

    Examples
    --------
    >>> has_term_as_subject((("text", "Every "), ("term", "head"), ("text", " has narrow projections of its own.")))
    True
    >>> has_term_as_subject((("text", "After 80 "), ("term", "updates"), ("text", " the model knows frequent tokens.")))
    False
    """
    before, after = _parted(sentence)
    words = f"{before} term {after}".split()
    return bool(_SUBJECT.fullmatch(before)) and 7 <= len(words) <= 35 and ":" not in after and not _REFERS.match(after)


def defines(sentence: Sentence) -> bool:
    """Whether a sentence says what its term is, or what it does in general, and not what one of its kind did.

    Examples
    --------
    >>> defines((("term", "Cache"), ("text", ". The keys and values of earlier positions.")))
    True
    >>> defines((("text", "Sharing the matrix is called "), ("term", "weight tying"), ("text", ".")))
    True
    >>> defines((("text", "A "), ("term", "subword"), ("text", " is a token that may be shorter than a word.")))
    True
    >>> defines((("text", "A newer "), ("term", "GPU"), ("text", " has a much higher peak.")))
    False
    >>> defines((("term", "Keys"), ("text", " of width 1 do not suffice.")))
    False
    """
    before, after = _parted(sentence)
    if before == "" and _HEADING.match(after):
        return True
    return bool(_NAMES.search(before) or (_BARE.fullmatch(before) and _DOES.match(after)))


def _bounds(whole: str, here: int, defined: bool) -> tuple[int, int]:
    """Where the sentence around a place begins and ends; a heading of up to three words goes on to the next."""
    ends = [found.end() for found in _END.finditer(whole)]
    first = max([0, *(at for at in ends if at <= here)])
    after = [*(at for at in ends if at > here), len(whole)]
    is_heading = len(whole[first : after[0]].split()) <= 3 and len(after) > 1 and (defined or first == here)
    return first, after[1] if is_heading else after[0]


def is_definition(paragraph: nodes.paragraph) -> bool:
    """Whether a paragraph is a definition in the margin."""
    siblings = paragraph.parent.children if paragraph.parent else [paragraph]
    before = siblings[siblings.index(paragraph) - 1] if siblings.index(paragraph) else None
    return isinstance(before, nodes.raw) and "note-definition" in before.astext()


def _pieces(paragraph: nodes.paragraph, text: nodes.Text | None, start: int, end: int) -> list[tuple[str, str]]:
    pieces: list[tuple[str, str]] = []
    known: set[int] = set()
    for one in paragraph.findall(nodes.Text):
        around = list(_around(one, paragraph))
        citation = next((node for node in around if _is_citation(node)), None)
        if one is text:
            pieces += [(_kind(one), one[:start]), ("term", one[start:end]), (_kind(one), one[end:])]
        elif citation is not None:
            shown = cited(str(citation["reftarget"]), citation.get("reftype") == "t")
            pieces += [("text", shown)] if id(citation) not in known else []
            known.add(id(citation))
        elif not any(isinstance(node, nodes.raw) for node in around):
            pieces.append((_kind(one), str(one)))
    return pieces


def _around(text: nodes.Text, paragraph: nodes.paragraph) -> list[nodes.Element]:
    """What a text of a paragraph stands in, from the inside."""
    found, node = [], text.parent
    while node is not paragraph:
        found.append(node)
        node = node.parent
    return found


def _is_citation(node: nodes.Element) -> bool:
    return isinstance(node, pending_xref) and node.get("refdomain") == "cite"


def _on_one_line(text: str) -> str:
    """With the spaces at its ends."""
    return " ".join(f"|{text}|".split())[1:-1]


def _kind(text: nodes.Text) -> str:
    kinds = {nodes.math: "math", nodes.literal: "code", nodes.strong: "stress", nodes.emphasis: "stress"}
    return next((kind for node, kind in kinds.items() if isinstance(text.parent, node)), "text")


def is_stressed(text: nodes.Text, paragraph: nodes.paragraph) -> bool:
    """Whether a text is set in italics or bold."""
    return any(isinstance(node, nodes.emphasis | nodes.strong) for node in _around(text, paragraph))


def faults(sentence: Sentence) -> int:
    """2 for what is no statement of its own, 1 for one that leans on the sentence before it, 0 for a good one.

    Examples
    --------
    >>> faults((("term", "Adam"), ("text", " keeps two running averages."))), faults((("term", "Adam"),))
    (0, 2)
    """
    text = "".join(piece if kind != "math" else FORMULA for kind, piece in sentence).strip()
    others = re.findall(r"[^\W\d_]{2,}", " ".join(piece for kind, piece in sentence if kind not in ("term", "math")))
    halves = text.count("“") != text.count("”") or text.count("(") != text.count(")")
    if not _WHOLE.fullmatch(text) or halves or len(others) < 4 or _ASKS.match(text) or _SHOWN.search(text):
        return 2
    refers = begins_with_term(sentence) and _REFERS.match(_parted(sentence)[1])
    return int(bool(_LEANS.match(text) or _TORN.search(text) or refers))


def in_nodes(sentence: Sentence) -> list[nodes.Node]:
    """A sentence as nodes, its term marked."""
    made: dict[str, type[nodes.TextElement]] = {
        "math": nodes.math, "code": nodes.literal, "stress": nodes.emphasis, "term": nodes.strong
    }  # fmt: skip
    return [made[kind]("", part) if kind in made else nodes.Text(part) for kind, part in sentence]
