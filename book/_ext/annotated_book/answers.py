"""What the search knows beside Sphinx's index of words: numbers, parts of the paper, and terms of the glossary.

Sphinx's index has no numbers, and it cannot tell which of fifty pages with a word explains it.
`_static/search/answers.js` has for each number the pages whose text has it, for each part of the paper its entry in the
paper map and the chapters that treat it, and for each term of the glossary its entry and the chapter that it names.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

from annotated_book.coverage import build
from annotated_book.paper_map import anchor_of
from annotated_book.terms import GLOSSARY

NUMBER = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*(?!\w)")
"""A number as one word: 28.4, 37,000 and 3.2.1. `passages.js` reads numbers alike."""
_BLOCK = re.compile(r"^:::\{glossary\}\n(.*?)^:::", re.MULTILINE | re.DOTALL)
_CHAPTER = re.compile(r"\[Chapter \d+\]\(\.\./(.+?)\.md\)")
Found = dict[str, list[tuple[str, str, list[str]]]]
"""The places of each page, as `searching.places` gives them."""
PHRASE = re.compile(r"\b(equation|figure|table|section) (\d+(?:\.\d+)*)", re.IGNORECASE)
"""A part of the paper by its number; 'equation 3' is counted as a number is."""
Answer = tuple[str, str]
"""An address, with its anchor, and what stands there if the page's text has no such place."""


def plain(number: str) -> str:
    """A number without commas between thousands.

    Examples
    --------
    >>> plain("37,000"), plain("28.4"), plain("1,2")
    ('37000', '28.4', '1,2')
    """
    return number.replace(",", "") if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", number) else number


def numbers(found: Found) -> dict[str, dict[str, int]]:
    """For each number of two characters or more, and each 'equation 3', the pages that have it, and how often."""
    pages: dict[str, Counter[str]] = {}
    for page, places in found.items():
        for text in [text for _, heading, blocks in places for text in (heading, *blocks)]:
            for number in map(plain, NUMBER.findall(text)):
                if len(number) > 1:
                    pages.setdefault(number, Counter())[page] += 1
            for part in PHRASE.findall(text):
                pages.setdefault(" ".join(part).lower(), Counter())[page] += 1
    return {number: dict(count) for number, count in pages.items()}


def terms(glossary: str, found: Found) -> dict[str, list[Answer]]:
    """For each name of an entry in the glossary's source, in small letters: its chapter, if any, and the entry."""
    anchors = {heading.split(" · ")[0].lower(): anchor for anchor, heading, _ in found.get(GLOSSARY, ()) if anchor}
    known: dict[str, list[Answer]] = {}
    for entry in [entry for block in _BLOCK.findall(glossary) for entry in re.split(r"\n\s*\n", block)]:
        names = [line.strip().lower() for line in entry.splitlines() if line and not line[0].isspace()]
        chapter = _CHAPTER.search(" ".join(entry.split()))
        anchor = next((f"#{anchors[name]}" for name in names if name in anchors), "")
        places = [(f"{chapter[1]}.html", "")] if chapter and chapter[1] in found else []
        for name in names:
            known.setdefault(name, [*places, (f"{GLOSSARY}.html{anchor}", "")])
    return known


def parts(treated: dict[str, tuple[str, list[str]]], titles: dict[str, str]) -> dict[str, list[Answer]]:
    """For each part of the paper, given its title and its chapters: the chapters, and its entry in the map.

    A chapter whose title names the part, or is its title, is the first.
    """
    known = {}
    for key, (title, chapters) in treated.items():
        named = sorted(
            chapters, key=lambda page: not any(t.lower() in titles.get(page, "").lower() for t in (key, title))
        )
        places = [(f"{page}.html", "") for page in named if page in titles]
        entry = f"{key[:1].upper()}{key[1:]}: {title}"
        known[key.lower()] = [*places, (f"reference/paper_map.html#{anchor_of(key)}", entry)]
    return known


def answers(env: Any, found: Found) -> dict[str, Any]:
    """All of it, for the book of a build environment."""
    titles = {page: env.titles[page].astext() for page in found if page in env.titles}
    treated = {key: (part.title, part.chapters) for key, part in build(env).items()}
    source = Path(env.doc2path(GLOSSARY)) if GLOSSARY in env.all_docs else None
    return {
        "numbers": numbers(found),
        "parts": parts(treated, titles) if "reference/paper_map" in found else {},
        "terms": terms(source.read_text(encoding="utf-8"), found) if source else {},
    }
