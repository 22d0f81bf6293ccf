"""The wide corpus: sentences drawn from frames, clauses and set phrases, and English as people type it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal

from annotated.classroom.corpus import align, join_words, split_of
from annotated.classroom.phrases import FINAL_MARK, Draw
from annotated.classroom.wide import clauses as c
from annotated.classroom.wide.drawing import Wishes, draw_clause
from annotated.classroom.wide.frames import Both, draw_frame, frames
from annotated.classroom.wide.nominals import Phrase, Token
from annotated.classroom.wide.typed import as_typed
from annotated.classroom.wide.verb_phrases import Pattern, patterns_for

Split = Literal["train", "valid", "test"]


@dataclass(frozen=True, slots=True)
class WidePair:
    """A sentence as somebody types it, the sentence as it is written, and its German.

    `alignment` joins words of `written` and of `target`, as in `annotated.classroom.ClassroomPair`.
    """

    source: str
    target: str
    written: tuple[str, ...]
    german: tuple[str, ...]
    alignment: tuple[tuple[int, int], ...]
    kind: str


def statement(draw: Draw) -> Both:
    """A clause; sometimes its time comes first."""
    clause = draw_clause(draw, Wishes())
    mark = ((".", FINAL_MARK), (".", FINAL_MARK)) if draw.chance(0.93) else (("!", FINAL_MARK), ("!", FINAL_MARK))
    if clause.time and draw.chance(0.25):
        english = [*clause.time[0], *([(",", 0)] if draw.chance(0.4) else []), *c.english_statement(clause, time=False)]
        return [*english, mark[0]], [*clause.time[1], *c.german_verb_first(clause, time=False), mark[1]]
    return [*c.english_statement(clause), mark[0]], [*c.german_main(clause), mark[1]]


def question(draw: Draw) -> Both:
    """Yes or no."""
    clause = draw_clause(draw, Wishes(negated=0.06, comments=False))
    return [*c.english_question(clause), ("?", FINAL_MARK)], [*c.german_verb_first(clause), ("?", FINAL_MARK)]


_WHEN = (("where", "wo"), ("when", "wann"), ("why", "warum"), ("how often", "wie oft"), ("how", "wie"),
         ("why", "warum"), ("when", "wann"), ("what time", "um wie viel Uhr"), ("how long", "wie lange"),
         ("with whom", "mit wem"))  # fmt: skip


_PLACES = frozenset("in aus vor neben hinter unter bei".split())


@cache
def _asking(pattern: Pattern) -> tuple[str, str]:
    """'who' wen, wem, auf wen; 'what' was, worauf; '' for a place, which *where* asks for."""
    name, case, preposition = pattern.asked or (pattern.direct, 1, "")
    if "named" in pattern.options:
        return "", ""
    if pattern.wanted == "who":
        return "who", f"{preposition} {('wer', 'wen', 'wem')[case]}".strip()
    if preposition in _PLACES or (name == "b" and preposition != "mit") or (case == 2 and not preposition):
        return "", ""
    if preposition:
        return "what", ("wor" if preposition[0] in "aeiouäöü" else "wo") + preposition
    return "what", "was"


def wh_question(draw: Draw) -> Both:
    """Asks for an object, the subject, or an adverbial."""
    roll = draw.random()
    key = draw.key()
    if roll < 0.38:
        kind = "direct" if roll < 0.22 else "asked"
        pattern = draw.pick([p for p in patterns_for("people", kind) if _asking(p)[0]])
        clause = draw_clause(draw, Wishes(negated=0, time=0.15, gap=True, adverbs=0.4, comments=False), None, pattern)
        english, german = _asking(clause.phrase.pattern)
        asked = [(english, key), *c.english_question(clause)]
        return [*asked, ("?", FINAL_MARK)], [
            *((w, key) for w in german.split()),
            *c.german_verb_first(clause),
            ("?", FINAL_MARK),
        ]
    if roll < 0.5:
        who = Phrase([("who", key)], lambda case: [("wer", key)], 2, "3")
        clause = draw_clause(draw, Wishes(negated=0.03, kinds=("people",), comments=False), who)
        return [*c.english_statement(clause), ("?", FINAL_MARK)], [*c.german_main(clause), ("?", FINAL_MARK)]
    asking, german = draw.pick(_WHEN)
    kinds = ("people", "place") if asking == "where" else ("people", "action")
    wishes = Wishes(negated=0.15 if asking == "why" else 0, time=0.1 if asking in ("why", "where") else 0, kinds=kinds,
                    adverbs=0)  # fmt: skip
    clause = draw_clause(draw, wishes)
    while clause.tense == "perfect progressive" and asking in ("when", "what time", "how long", "how often"):
        clause = draw_clause(draw, wishes)  # it says itself for how long
    asked = [*((w, key) for w in asking.split()), *c.english_question(clause)]
    return [*asked, ("?", FINAL_MARK)], [
        *((w, key) for w in german.split()),
        *c.german_verb_first(clause),
        ("?", FINAL_MARK),
    ]


def framed(draw: Draw) -> Both:
    """From the sentence frames."""
    return draw_frame(draw, draw.pick(frames("frames")))


def set_phrase(draw: Draw) -> Both:
    """From the set phrases."""
    return draw_frame(draw, draw.pick(frames("set_phrases")))


KINDS = {"statement": (statement, 29), "question": (question, 9), "wh-question": (wh_question, 10),
         "frame": (framed, 41), "set-phrase": (set_phrase, 11)}  # fmt: skip
_BAG = tuple(name for name, (_, share) in KINDS.items() for _ in range(share))
_OPENINGS = tuple(pair.split(" = ") for pair in (
    "Hello , = Hallo ,", "Hi , = Hi ,", "Yes , = Ja ,", "No , = Nein ,", "Well , = Also ,",
    "Sorry , = Entschuldigung ,",
    "Oh , = Oh ,", "And = Und", "But = Aber", "Okay , = Okay ,"))  # fmt: skip


def _capital(tokens: list[Token]) -> list[Token]:
    """Each sentence begins with a capital letter."""
    made, begins = [], True
    for word, key in tokens:
        made.append((word[0].upper() + word[1:] if begins else word, key))
        begins = word in (".", "?", "!")
    return made


def draw_pair(draw: Draw) -> tuple[str, Both]:
    """One sentence, sometimes two or three, with the name of the kind of the first."""
    kind = draw.pick(_BAG)
    english, german = KINDS[kind][0](draw)
    if kind == "statement" and draw.chance(0.08):
        first, erstes = draw.pick(_OPENINGS)
        key = draw.key()
        english, german = [*((w, key) for w in first.split()), *english], [*((w, key) for w in erstes.split()), *german]
    for _ in range(draw.pick((1, 1, 1, 2)) if draw.chance(0.1) else 0):
        other = KINDS[draw.pick(_BAG)][0](draw)
        english, german = [*english, *other[0]], [*german, *other[1]]
    return kind, (_capital(english), _capital(german))


def wide_pairs(split: Split, count: int, seed: int = 0, typed: bool = True) -> Iterator[WidePair]:
    """Draw pairs, the same ones for the same seed; what a sentence says decides in which split it is.

    What begins with a set phrase is for training alone, so that of the others those few are in two splits that are set
    phrases, too (*It is late.*). Short sentences come more than once, as they do in life.

    Parameters
    ----------
    typed
        Whether the sources have contractions, small letters, missing marks and slips of the finger.

    Raises
    ------
    ValueError
        If there is no such split, or `count` is negative.
    """
    if split not in ("train", "valid", "test"):
        raise ValueError(f"the wide corpus has no split {split!r}; its splits are train, valid, test")
    if count < 0:
        raise ValueError(f"count must not be negative, not {count}")
    chance = random.Random(f"wide {split} {seed}")
    made = 0
    while made < count:
        draw = Draw(chance.random)
        kind, (english, german) = draw_pair(draw)
        written, target = tuple(w for w, _ in english), tuple(w for w, _ in german)
        text = join_words(written)
        if (split_of(text) if kind != "set-phrase" else "train") != split:
            continue
        made += 1
        source = as_typed(draw, text) if typed else text
        yield WidePair(source, join_words(target), written, target, align(english, german), kind)
