"""Language lint: patterns that the pages avoid, as far as a program can see them.

`faults(text)` lists what a page's prose has of them; what is code, mathematics, a quotation or the paper's own words is
left out. `python -m book.tests.language` prints the faults of every page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from annotated_book.pages import page_texts

_COUNT = r"(?:one|two|three|four|five|six|seven|eight|nine|ten|half|\d+(?:[.,]\d+)*)"
_UNIT = (
    r"(?:token|position|side|row|layer|head|step|update|word|sentence|batch|pair|GPU|card|stage|device|unit|parameter|"
    r"chapter|column|query|key|hour|minute|day)"
)
_THING = r"(?:step|vector|row|number|pair|loss|word|token|norm|mask|weight|score|line)"
_NO_THING = r"(?:of|and|or|as|for|in|with|is|has|needs|to|from|at|by|on)\b"
_START = r"(?:^|(?<=[.!?]\s)|(?<=\n\n)|(?<=-[ ]))"


@dataclass(frozen=True)
class Rule:
    """A pattern, and what to write in its place; `example` has it and `plain` has not."""

    pattern: str
    advice: str
    example: str
    plain: str


PROSE = (
    Rule(
        rf"\b{_COUNT}\s+(?:(?!{_NO_THING})\w+\s+)?an?\s+{_UNIT}\b|\ban?\s+{_THING}\s+an?\s+{_UNIT}\b",
        "write `per`",
        "It makes one pair a row, and takes a step a token.",
        "It makes one pair per row, and takes one step per token. Give a token a name.",
    ),
    Rule(r"\bfor ever\b", "write `always` or `without end`", "It runs for ever.", "It runs without end."),
    Rule(r"\bdearer\b", "write `costs more`", "Attention is dearer.", "Attention costs more."),
    Rule(r"\bmend(?:s|ed|ing)?\b", "write `correct` or `repair`", "This mends the mask.", "This corrects the mask."),
    Rule(r"\bwhoever\b", "name who does it", "Whoever reads this knows.", "Readers know."),
    Rule(r"\bstands? as\b", "write `is` or the ratio", "The two stand as n to d.", "The ratio is n : d."),
    Rule(r"\bmakes? one\b[,.]", "write `add up to one`", "Together they make one.", "Together they add up to one."),
    Rule(r"\bone in sum\b", "write `add up to one`", "They are one in sum.", "They add up to one."),
    Rule(r"\bstoreys?\b", "write `layer` or `level`", "On the second storey.", "On the second level."),
    Rule(r"\brulers?\b", "say which setting of BLEU", "Two rulers differ.", "Two settings of BLEU differ."),
    Rule(r"\bcanar(?:y|ies)\b", "write `leak test`", "The canary dies.", "The leak test fails."),
    Rule(r"\bClaim \d", "what a page proves is a `Result`", "**Claim 3**: it is so.", "**Result 3.** It is so."),
    Rule(
        r"\b(?:end|end-of-sentence|end-of-sequence)[-\s](?:mark|symbol|sign)s?\b|\bend-of-sentence\b",
        "write `the end token`",
        "It writes the end mark.",
        "It writes the end token, a mark of the end of text.",
    ),
    Rule(
        r"\b(?:a|another|one)\s+(?:well-known|widely\s+(?:read|copied|used))\s+"
        r"(?:toolkit|implementation|Transformer|tutorial|notebook|library|repository|copy)\b",
        "name it, or leave it out",
        "A well-known toolkit does this.",
        "fairseq does this.",
    ),
    Rule(
        rf"{_START}(?-i:What)\s(?!follows\b|matters is whether)[^.!?]*?[.!](?=\s)",
        "begin with the subject, not with what",
        "It ends. What survives is the order. Good.",
        "The order survives. What survives? We ask what survives.",
    ),
    Rule(
        rf"{_START}(?:Of (?:that|this|these|those) only|So it is\b|Not so\b|Not small\b)",
        "write a sentence with its subject first",
        "It is long. Of that only the counts are here.",
        "Only the counts of that are here.",
    ),
    Rule(
        rf"{_START}(?:Somebody|Nobody)\b",
        "say who, or put it as an if",
        "It is so. Somebody trains a model.",
        "A model is trained without a mask; nobody noticed.",
    ),
    Rule(
        r"\b(?:softmax|histogram|head|model|machine|loss|mask|tree|network|layer)s?\s+(?:\w+\s+){0,3}"
        r"(?:cares?|caring|deserves?|argues?|makes? up its mind|has opinions?)\b",
        "things do not feel or think",
        "The softmax does not care.",
        "With equal scores the softmax gives equal weights.",
    ),
    Rule(r"\bcaught in the act\b", "say what is shown", "Three places, caught in the act.", "Three places, checked."),
)
HEADINGS = (
    "27.52 and 29.02",
    "A dictionary that answers in shades",
    "Hops",
    "One tenth for everybody",
    "Rows of tiles",
    "The batch is the update's, not the device's",
    "The end is a piece too",
    "Three places, caught in the act",
    "Train, and be killed",
    "Twelve places",
    "What goes wrong without it",
    "What order is lost",
    "Who gets the tenth?",
    "Who runs how often?",
)
"""Headings that name no topic: riddles of the first edition."""

_LEFT_OUT = (
    re.compile(r"\A---\n.*?\n---\n", re.DOTALL),
    re.compile(r"^(:{3,})\{div\} the-paper\n.*?^\1\s*$", re.DOTALL | re.MULTILINE),
    re.compile(r"^(`{3,})(?!\{prediction\})[^\n]*\n.*?^\1\s*$", re.DOTALL | re.MULTILINE),
    re.compile(r"^(`{3,}|:{3,}).*$", re.MULTILINE),
    re.compile(r"^:[\w-]+:.*$", re.MULTILINE),
    re.compile(r"\$\$.*?\$\$", re.DOTALL),
    re.compile(r"<!--.*?-->|</?\w[^>]*>", re.DOTALL),
    re.compile(r"\{[\w:-]+\}`[^`]*`"),
    re.compile(r"`[^`\n]*`"),
    re.compile(r"\$[^$]*\$"),
    re.compile(r"\]\([^)]*\)"),
    re.compile(r"\{\.\w+\}"),
    re.compile(r'"[^"]{0,400}"|“[^”]{0,400}”'),
    re.compile(r"(?<![\w*])\*(?![\s*])[^*\n]{1,60}\*"),  # words in italics are named, not used
)
_HEADING = re.compile(r"^#+ +(.*?)\s*(?:\[\w+\]\{\.layer\})?$", re.MULTILINE)


def prose(text: str) -> str:
    """The prose of a page, in its lines: all else is blank."""
    for pattern in (*_LEFT_OUT, _HEADING):
        text = pattern.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    return text


def headings(text: str) -> list[str]:
    """The headings of a page, without their marks."""
    text = _LEFT_OUT[2].sub("", _LEFT_OUT[0].sub("", text))  # a comment in code is none
    return [re.sub(r"[`*]", "", found[1]) for found in _HEADING.finditer(text)]


def faults(text: str) -> Iterator[str]:
    """Each fault of a page: its line, the words, and what to write in their place."""
    plain = prose(text)
    for rule in PROSE:
        pattern = rule.pattern.replace(" ", r"\s+")  # a line may end anywhere
        for found in re.finditer(pattern, plain, re.MULTILINE | re.IGNORECASE):
            words = " ".join(found[0].split())[:70]
            yield f"line {plain.count(chr(10), 0, found.start()) + 1}: {words!r}: {rule.advice}"
    for heading in headings(text):
        if heading in HEADINGS:
            yield f"heading {heading!r}: name the topic"


def pages() -> dict[str, str]:
    """The source of every page, by its name."""
    return {f"{page}.md": text for page, text in page_texts().items()}


if __name__ == "__main__":
    for name, source in pages().items():
        for fault in faults(source):
            print(f"{name}, {fault}")
