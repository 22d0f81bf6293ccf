"""Clauses of motion: gehen or fahren, with zu, in, nach or aus."""

from __future__ import annotations

from collections.abc import Sequence

from annotated.classroom import morphology as m
from annotated.classroom import words
from annotated.classroom.clauses import Clause, Complement
from annotated.classroom.constituents import shaped
from annotated.classroom.drawing import draw_subject, draw_tense, finish_clause
from annotated.classroom.lexicon import MOTION, Verb
from annotated.classroom.phrases import (
    ROOM_DETERMINERS,
    THE_OR_A,
    Draw,
    NounPhrase,
    english_prepositional,
    noun_phrase,
    prepositional,
)

_GEHEN, _LAUFEN, _KOMMEN, _FAHREN, _REISEN = MOTION
GOING = (_GEHEN, _GEHEN, _LAUFEN, _FAHREN, _REISEN)
_ANY_MOTION = (*GOING, _KOMMEN)


def motion_clause(
    draw: Draw,
    scope: str,
    subject: NounPhrase | None = None,
    tenses: str = "pppaaammf",
    verbs: Sequence[Verb] = (),
    adverbs: bool = True,
) -> Clause:
    """Going somewhere: to the station (zu), into the kitchen (in + accusative), to Berlin (nach), from London (aus)."""
    draw.scope = scope
    verb = draw.pick(verbs or _ANY_MOTION)
    negated = draw.chance(0.15)
    subject = subject or draw_subject(draw, ("person", "family"), negated)
    tense = draw_tense(draw, verb, subject, tenses)
    clause = Clause(subject, verb, (draw.key(), draw.key(), draw.key()), tense, negated)
    draw.note("direction")
    clause.complements.append(_direction(draw, verb))
    finish_clause(draw, clause, 0.4 if adverbs else 0.0, 0.15 if adverbs else 0.0)
    return clause


def _direction(draw: Draw, verb: Verb) -> Complement:
    key = draw.key()
    if verb in (_FAHREN, _REISEN) or (verb is _KOMMEN and draw.chance(0.5)):
        city, german = draw.pick(words.CITIES)
        english, preposition = ("from", "aus") if verb is _KOMMEN else ("to", "nach")
        name = draw.key()
        where = english_prepositional(english, key, shaped("(NP NNP)", [(city, name)]))
        return Complement(where, tokens=[(preposition, key), (german, name)], late=True)
    if verb is _KOMMEN:
        english, preposition, case, kinds = "out of", "aus", m.DATIVE, ("room",)
    elif draw.chance(0.5):
        english, preposition, case, kinds = "into", "in", m.ACCUSATIVE, draw.pick((("room",), ("outdoor",)))
    else:
        english, preposition, case, kinds = "to", "zu", m.DATIVE, draw.pick((("room",), ("spot",)))
    phrase = noun_phrase(draw, kinds, ROOM_DETERMINERS if kinds == ("room",) else THE_OR_A, plural=0.0)
    where = english_prepositional(english, key, phrase.english)
    return Complement(where, tokens=prepositional(preposition, key, phrase, case), late=True)
