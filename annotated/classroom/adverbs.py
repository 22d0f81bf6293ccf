"""Adverbs of time that fit a tense: words, clock times, months and years."""

from __future__ import annotations

from annotated.classroom import words
from annotated.classroom.clauses import PAST_MODALS
from annotated.classroom.constituents import shaped
from annotated.classroom.morphology import number_words
from annotated.classroom.phrases import Draw, Token

_TIMES = [[part.strip() for part in line.split("|")] for line in words.TIMES.strip().splitlines()]
TIMES_BY_TENSE = {letter: tuple((e, g) for e, g, fits, _ in _TIMES if letter in fits) for letter in "paf"}
_SHAPES = {e: shape for e, _, _, shape in _TIMES}
_MONTHS = tuple(zip(words.MONTHS[::2], words.MONTHS[1::2], strict=True))


def draw_time(draw: Draw, tense: str) -> tuple[list[Token], list[Token]]:
    """An adverb of time that fits the tense, in both languages."""
    draw.note("time")
    letter = "p" if tense == "present" else "a" if tense == "past" or tense in PAST_MODALS else "f"
    key, other = draw.key(), draw.key()
    roll = draw.random()
    if roll < 0.12:
        draw.note("clock")
        clock = f"{1 + int(draw.random() * 23)}:{5 * int(draw.random() * 12):02d}"
        english = shaped("(PP IN (NP CD))", [("at", key), (clock, other)])
        return english, [("um", key), (clock, other), ("Uhr", other)]
    if roll < 0.2:
        draw.note("clock")
        hour, stunde = number_words(2 + int(draw.random() * 11))
        oclock = draw.key()
        english = shaped("(PP IN (NP CD RB))", [("at", key), (hour, other), ("o'clock", oclock)])
        return english, [("um", key), (stunde, other), ("Uhr", oclock)]
    if letter == "a" and roll < 0.28:
        draw.note("year")
        year = str(1950 + int(draw.random() * 75))
        english = shaped("(PP IN (NP CD))", [("in", key), (year, other)])
        return english, [("im", key), ("Jahr", key), (year, other)]
    if roll < 0.36 and letter != "p":
        month, monat = draw.pick(_MONTHS)
        english = shaped("(PP IN (NP NNP))", [("in", key), (month, other)])
        return english, [("im", key), (monat, other)]
    phrase, zeit = draw.pick(TIMES_BY_TENSE[letter])
    english, german = _pair_up(phrase.split(), zeit.split(), key, other, draw.key())
    return shaped(_SHAPES[phrase], english), german


def _pair_up(
    english: list[str], german: list[str], key: int, other: int, shared: int
) -> tuple[list[Token], list[Token]]:
    """Align word by word; where the lengths differ, the last words share a key and so do all the others."""
    if len(english) == len(german) == 1:
        return [(english[0], key)], [(german[0], key)]
    if len(german) == 1:
        return [(w, key) for w in english], [(german[0], key)]
    if english[-1] == "ago":
        number = [(english[0], key), (english[1], other), ("ago", shared)]
        return number, [("vor", shared), (german[1], key), (german[2], other)]
    first = [(w, key) for w in english[:-1]]
    return [*first, (english[-1], other)], [*((w, key) for w in german[:-1]), (german[-1], other)]
