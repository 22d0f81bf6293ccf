"""What the search knows beside Sphinx's index of words: numbers, parts of the paper, and terms of the glossary.

Sphinx's index has no numbers, and it cannot tell which of fifty pages with a word explains it.
`_static/search/answers.js` has for each number the pages whose text has it, for each part of the paper its entry in the
paper map and the chapters that treat it, and for each term of the glossary its entry and the chapter that it names.
`exports` are the names that `import annotated` gives: `load` alone is found as one of them.
Beside the parts of the paper it has those of the book that are known by a number: chapters, exercises, and the
beliefs and questions of the ledger.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import annotated
from page_kit.chapter.page_facts import chapters_in_order
from page_kit.claims.claim_boxes import KINDS, domain, ledger
from page_kit.reference.coverage import build
from page_kit.reference.paper_map import anchor_of
from page_kit.terms.term_counts import GLOSSARY
from page_kit.terms.term_places import entries_of

NUMBER = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*(?!\w)")
"""A number as one word: 28.4, 37,000 and 3.2.1. `passages.js` reads numbers alike."""
_CHAPTER = re.compile(r"\[Chapter \d+\]\(\.\./((?:\w+/)*?(\w+))(?:/\2)?\.md\)")
Found = dict[str, list[tuple[str, str, list[str]]]]
"""The places of each page, as `searching.places` gives them."""
PHRASE = re.compile(r"\b(equation|figure|table|section) (\d+(?:\.\d+)*)", re.IGNORECASE)
"""A part of the paper by its number; 'equation 3' is counted as a number is."""
IN_HEADING, EXPLAINED = 10, 20
"""How often a number counts in a heading, and in a sentence for which a page is named as the one that explains it."""
_EXERCISE = re.compile(r"Exercise (\d+\.\d+)\b")
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


def numbers(found: Found, about: dict[str, list[str]] | None = None) -> dict[str, dict[str, int]]:
    """For each number of two characters or more, and each 'equation 3', the pages that have it, and how often.

    `about` has for a page the sentences of the glossary and the ledger that name it. A number there counts `EXPLAINED`
    times, and one in a heading `IN_HEADING` times: a page about a number comes before one that uses it often.
    """
    pages: dict[str, Counter[str]] = {}
    for page, places in found.items():
        weighed = [(text, 1) for _, _, blocks in places for text in blocks]
        weighed += [(heading, 1 if _EXERCISE.match(heading) else IN_HEADING) for _, heading, _ in places]
        weighed += [(text, EXPLAINED) for text in (about or {}).get(page, ())]
        for text, worth in weighed:
            for number in map(plain, NUMBER.findall(text)):
                if len(number) > 1:
                    pages.setdefault(number, Counter())[page] += worth
        for text in [text for _, heading, blocks in places for text in (heading, *blocks)]:
            for part in PHRASE.findall(text):
                pages.setdefault(" ".join(part).lower(), Counter())[page] += 1
    return {number: dict(count) for number, count in pages.items()}


def explained(env: Any, glossary: str) -> dict[str, list[str]]:
    """The sentences that each page explains: entries of the glossary that name it, and those of the ledger."""
    said: dict[str, list[str]] = {}
    for _, entry in entries_of(glossary):
        if named := _CHAPTER.search(entry):
            said.setdefault(named[1], []).append(_CHAPTER.sub("", entry))
    for kind in KINDS:
        for key, one in ledger(kind).items():
            for page in domain(env).pages(kind, key)[:1]:
                said.setdefault(page, []).append(f"{one.statement} {one.truth}")
    return said


def bare(formula: str) -> str:
    """A formula without what people write differently; `passages.js` does the same to a query.

    Examples
    --------
    >>> bare("max(0, x W_1 + b_1)"), bare("QKᵀ/√(d_k)")
    ('max0,xw1+b1', 'qkt/√dk')
    """
    same = formula.lower().replace("sqrt", "√").translate(str.maketrans("⊤ᵀ−", "tt-"))
    return re.sub(r"[\s(){}\[\]^_\\$*·]", "", same)


def formulas(shown: dict[str, list[tuple[str, str]]], order: list[str]) -> list[tuple[str, str]]:
    """Each displayed formula of a book, bare, with the address of its place, in the order of the pages.

    `shown` has for each page the anchor of the place and the formula in plain text.
    """
    return [
        (bare(text), f"{page}.html{anchor and f'#{anchor}'}") for page in order for anchor, text in shown.get(page, ())
    ]


def own(env: Any, found: Found) -> dict[str, list[Answer]]:
    """The places of what the book itself counts: 'chapter 20', 'exercise 20.1', 'c08' and 'q8'."""
    chapters = chapters_in_order(env).items()
    known = {f"chapter {fields['number']}": [(f"{page}.html", "")] for page, fields in chapters}
    for page, places in found.items():
        for anchor, heading, _ in places:
            if number := _EXERCISE.match(heading):
                known.setdefault(f"exercise {number[1]}", []).append((f"{page}.html#{anchor}", ""))
    for kind in KINDS:
        for key, one in ledger(kind).items():
            for page in domain(env).pages(kind, key)[:1]:
                known[key.lower()] = [(f"{page}.html#{one.anchor}", one.title)]
    return known


def terms(glossary: str, found: Found) -> dict[str, list[Answer]]:
    """For each name of an entry in the glossary's source, in small letters: its chapter, if any, and the entry."""
    anchors = {heading.split(" · ")[0].lower(): anchor for anchor, heading, _ in found.get(GLOSSARY, ()) if anchor}
    known: dict[str, list[Answer]] = {}
    for written, entry in entries_of(glossary):
        names, named = [name.lower() for name in written], _CHAPTER.search(entry)
        anchor = next((f"#{anchors[name]}" for name in names if name in anchors), "")
        places = [(f"{named[1]}.html", "")] if named and named[1] in found else []
        for name in names:
            known.setdefault(name, [*places, (f"{GLOSSARY}.html{anchor}", "")])
    return known


def parts(
    treated: dict[str, tuple[str, list[str]]], titles: dict[str, str], found: Found | None = None
) -> dict[str, list[Answer]]:
    """For each part of the paper, given its title and its chapters: the chapters, and its entry in the map.

    A chapter whose title names the part, or is its title, is the first; then come those with a heading that names it.
    Of a chapter, the first section that names the part is shown.
    """
    known = {}
    for key, (title, chapters) in treated.items():
        named = sorted(chapters, key=lambda page: _rank(key, title, titles.get(page, ""), (found or {}).get(page, [])))
        places = [(f"{page}.html{_first(key, (found or {}).get(page, []))}", "") for page in named if page in titles]
        entry = f"{key[:1].upper()}{key[1:]}: {title}"
        known[key.lower()] = [*places, (f"reference/paper_map.html#{anchor_of(key)}", entry)]
    return known


def _rank(key: str, part: str, title: str, places: list[tuple[str, str, list[str]]]) -> int:
    """0 for a chapter whose title names a part of the paper, 1 for one with a heading that does, 2 for others."""
    if any(name.lower() in title.lower() for name in (key, part)):
        return 0
    headings = [
        phrase for _, heading, _ in places for phrase in PHRASE.findall(heading) if not _EXERCISE.match(heading)
    ]
    return 1 if key.lower() in [" ".join(phrase).lower() for phrase in headings] else 2


def _first(key: str, places: list[tuple[str, str, list[str]]]) -> str:
    """The anchor of the first section, with its '#', that names a part of the paper; '' if none does."""
    for anchor, heading, blocks in places:
        phrases = [" ".join(part).lower() for text in (heading, *blocks) for part in PHRASE.findall(text)]
        if anchor and not _EXERCISE.match(heading) and key.lower() in phrases:
            return f"#{anchor}"
    return ""


def answers(env: Any, found: Found, shown: dict[str, list[tuple[str, str]]]) -> dict[str, Any]:
    """All of it, for the book of a build environment."""
    titles = {page: env.titles[page].astext() for page in found if page in env.titles}
    source = Path(env.doc2path(GLOSSARY)) if GLOSSARY in env.all_docs else None
    glossary = source.read_text(encoding="utf-8") if source else ""
    of_paper = {}
    if "reference/paper_map" in found:  # not in a preview of one chapter
        treated = {key: (part.title, part.chapters) for key, part in build(env).items()}
        of_paper = parts(treated, titles, found)
    return {
        "numbers": numbers(found, explained(env, glossary)),
        "parts": own(env, found) | of_paper,
        "terms": terms(glossary, found),
        "exports": sorted(annotated.__all__),
        "formulas": formulas(shown, [*chapters_in_order(env), "reference/formulas"]),
    }
