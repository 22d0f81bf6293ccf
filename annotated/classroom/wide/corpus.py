"""The wide corpus: sentences drawn from frames, clauses and set phrases, and English as people type it."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from annotated.classroom.phrases import Draw
from annotated.classroom.wide import clauses as c
from annotated.classroom.wide.drawing import Wishes, draw_clause
from annotated.classroom.wide.frames import Both, draw_frame, frames
from annotated.classroom.wide.nominals import Phrase, Token
from annotated.classroom.wide.typing import as_typed

Split = Literal["train", "valid", "test"]
MARK = 1
"""Key of the last mark of a sentence."""


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
    mark = ((".", MARK), (".", MARK)) if draw.chance(0.93) else (("!", MARK), ("!", MARK))
    if clause.time and draw.chance(0.25):
        english = [*clause.time[0], *([(",", 0)] if draw.chance(0.4) else []), *c.english_statement(clause, time=False)]
        return [*english, mark[0]], [*clause.time[1], *c.german_verb_first(clause, time=False), mark[1]]
    return [*c.english_statement(clause), mark[0]], [*c.german_main(clause), mark[1]]


def question(draw: Draw) -> Both:
    """Yes or no."""
    clause = draw_clause(draw, Wishes(negated=0.06))
    return [*c.english_question(clause), ("?", MARK)], [*c.german_verb_first(clause), ("?", MARK)]


_WHEN = (("where", "wo"), ("when", "wann"), ("why", "warum"), ("how often", "wie oft"), ("how", "wie"),
         ("why", "warum"), ("when", "wann"), ("what time", "um wie viel Uhr"), ("how long", "wie lange"),
         ("with whom", "mit wem"), ("since when", "seit wann"))  # fmt: skip


def wh_question(draw: Draw) -> Both:
    """Asks for an object, the subject, or an adverbial."""
    roll = draw.random()
    key = draw.key()
    if roll < 0.35:
        clause = draw_clause(draw, Wishes(negated=0, time=0.15, kinds=("people", "direct"), gap=True, adverbs=0.4))
        people = "person" in clause.phrase.pattern.specs[clause.phrase.pattern.direct].split()
        english, german = ("who", "wen") if people else ("what", "was")
        asked = [(english, key), *c.english_question(clause)]
        return [*asked, ("?", MARK)], [(german, key), *c.german_verb_first(clause), ("?", MARK)]
    if roll < 0.5:
        who = Phrase([("who", key)], lambda case: [("wer", key)], 2, "3")
        clause = draw_clause(draw, Wishes(negated=0.03, kinds=("people",)), who)
        return [*c.english_statement(clause), ("?", MARK)], [*c.german_main(clause), ("?", MARK)]
    asking, german = draw.pick(_WHEN)
    kinds = ("people", "place") if asking == "where" else ("people", "action")
    clause = draw_clause(draw, Wishes(negated=0.15 if asking == "why" else 0, time=0.1 if asking in ("why", "where")
                                      else 0, kinds=kinds, adverbs=0))  # fmt: skip
    asked = [*((w, key) for w in asking.split()), *c.english_question(clause)]
    return [*asked, ("?", MARK)], [*((w, key) for w in german.split()), *c.german_verb_first(clause), ("?", MARK)]


def framed(draw: Draw) -> Both:
    """From the sentence frames."""
    return draw_frame(draw, draw.pick(frames("frames")))


def set_phrase(draw: Draw) -> Both:
    """From the set phrases."""
    return draw_frame(draw, draw.pick(frames("set_phrases")))


KINDS = {"statement": (statement, 34), "question": (question, 10), "wh-question": (wh_question, 11),
         "frame": (framed, 33), "set-phrase": (set_phrase, 12)}  # fmt: skip
_BAG = tuple(name for name, (_, share) in KINDS.items() for _ in range(share))
_OPENINGS = tuple(pair.split(" = ") for pair in (
    "Hello , = Hallo ,", "Hi , = Hi ,", "Yes , = Ja ,", "No , = Nein ,", "Well , = Also ,",
    "Sorry , = Entschuldigung ,",
    "Oh , = Oh ,", "And = Und", "But = Aber", "So = Also", "Okay , = Okay ,"))  # fmt: skip


def _capital(tokens: list[Token]) -> list[Token]:
    """Each sentence begins with a capital letter."""
    made, begins = [], True
    for word, key in tokens:
        made.append((word[0].upper() + word[1:] if begins else word, key))
        begins = word in (".", "?", "!")
    return made


def draw_pair(draw: Draw) -> tuple[str, Both]:
    """One or two sentences, with the name of the kind of the first."""
    kind = draw.pick(_BAG)
    english, german = KINDS[kind][0](draw)
    if kind == "statement" and draw.chance(0.08):
        first, erstes = draw.pick(_OPENINGS)
        key = draw.key()
        english, german = [*((w, key) for w in first.split()), *english], [*((w, key) for w in erstes.split()), *german]
        if erstes == "Also" and kind == "statement":
            german = german[1:]
            english = english[1:]
    if draw.chance(0.07):
        other = KINDS[draw.pick(_BAG)][0](draw)
        english, german = [*english, *other[0]], [*german, *other[1]]
    return kind, (_capital(english), _capital(german))


def joined(words: tuple[str, ...]) -> str:
    """Words to text: no space before a mark."""
    text = " ".join(words)
    for mark in ",.?!;":
        text = text.replace(f" {mark}", mark)
    return text


def _digest(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


def wide_pairs(split: Split, count: int, seed: int = 0, typed: bool = True) -> Iterator[WidePair]:
    """Draw pairs, the same ones for the same seed; no written sentence is in two splits.

    Parameters
    ----------
    typed
        Whether the sources have contractions, small letters, missing marks and slips of the finger; set phrases and
        short sentences come more than once, as they do in life.

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
        text = joined(written)
        bucket = _digest(text) % 50
        home = "valid" if bucket == 0 else "test" if bucket == 1 else "train"
        if home != split and kind != "set-phrase":
            continue
        made += 1
        alignment = tuple((i, j) for i, (_, a) in enumerate(english) for j, (_, b) in enumerate(german) if a & b)
        yield WidePair(as_typed(draw, text) if typed else text, joined(target), written, target, alignment, kind)
