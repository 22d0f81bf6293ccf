"""Relative clauses: der, die, das agree with their noun and take their case from their own clause."""

from __future__ import annotations

from annotated.classroom import morphology as m
from annotated.classroom.clauses import Complement, english_predicate, english_statement, german_final, german_main
from annotated.classroom.constituents import constituent, shaped
from annotated.classroom.drawing import draw_clause
from annotated.classroom.phrases import Draw, NounPhrase, noun_phrase
from annotated.classroom.sentences import HUMAN_VERBS, Pair, any_clause, close
from annotated.classroom.subordinate import be_clause, reaction


def _relative_pronoun(draw: Draw, head: NounPhrase, case: int, english: str) -> NounPhrase:
    key = draw.key()
    shape = "(WHNP WDT)" if english == "that" else "(WHNP WP)"
    phrase = NounPhrase(shaped(shape, [(english, key)]), head.person, head.column)
    phrase.fixed = ([(m.RELATIVE[case][head.column], key)],)
    phrase.pronoun = False
    return phrase


def relative_clause(draw: Draw) -> Pair:
    """A person who does something, or a thing or person to whom it is done; at the subject or at the object."""
    draw.features.add("relative")
    if draw.chance(0.5):
        return _about_subject(draw)
    return _about_object(draw)


def _modify(draw: Draw, head: NounPhrase, person: bool, main_verb: str = "") -> Pair:
    """The relative clause for a head, in both languages, without commas; its verb is not the main one."""
    if person and draw.chance(0.6):
        subject = _relative_pronoun(draw, head, m.NOMINATIVE, "who")
        clause = any_clause(draw, "relative", subject)
        while clause.verb.base == main_verb:
            clause = any_clause(draw, "relative", subject)
        draw.note("relative-subject")
        english = constituent("S", english_predicate(clause))
        return constituent("SBAR", [*subject.english, *english]), german_final(clause)
    kind = head.noun.kind if head.noun else "person"
    verbs = tuple(v for v in HUMAN_VERBS if v.frame in ("acc", "dat") and kind in v.objects and v.base != main_verb)
    clause = draw_clause(draw, "relative", None, verbs, "pppaaamm", 0.15, 0.3, objects=False)
    case = m.DATIVE if clause.verb.frame == "dat" else m.ACCUSATIVE
    draw.note("relative-object")
    relative = _relative_pronoun(draw, head, case, "whom" if person else "that")
    english = constituent("SBAR", [*relative.english, *english_statement(clause)])
    return english, [*relative.german(0), *german_final(clause)]


def _about_subject(draw: Draw) -> Pair:
    draw.scope = "main"
    if draw.chance(0.6):
        head = noun_phrase(draw, ("person",), ("the", "the", "a"), plural=0.25)
        english, german = _modify(draw, head, person=True)
        main = reaction(draw, draw.pick(("present", "past")), head)
        if main.negated and not head.definite:
            head.definite = True
    else:
        kinds = ("flat", "bag", "vehicle", "clothes")
        head = noun_phrase(draw, kinds, ("the",), plural=0.25, adjective=0.0)
        english, german = _modify(draw, head, person=False)
        draw.scope = "main"
        main = be_clause(draw, head, _STATES, draw.pick(("present", "present", "past")), draw.chance(0.2))
    head.english = constituent("NP", [*head.english, *english])
    head.tail = [(",", 0), *german, (",", 0)]
    return close(english_statement(main), german_main(main), ".")


_STATES = [("old", "alt"), ("new", "neu"), ("expensive", "teuer"), ("cheap", "billig"), ("beautiful", "schön"),
           ("red", "rot"), ("blue", "blau"), ("green", "grün"), ("white", "weiß"), ("black", "schwarz")]  # fmt: skip


def _about_object(draw: Draw) -> Pair:
    """'Anna calls the man who ...': the relative clause follows the whole main clause."""
    draw.scope = "main"
    person = draw.chance(0.5)
    kinds = ("person",) if person else ("flat", "bag", "vehicle", "clothes", "bulb")
    kind = draw.pick(kinds)
    head = noun_phrase(draw, (kind,), ("the", "the", "a"), plural=0.25, adjective=0.25)
    verbs = tuple(v for v in HUMAN_VERBS if v.frame == "acc" and kind in v.objects)
    main = draw_clause(draw, "main", None, verbs, "pppaam", 0.0, 0.0, None, 0.0, 0.0, objects=False)
    english, german = _modify(draw, head, person, main.verb.base)
    main.complements = [Complement(constituent("NP", [*head.english, *english]), head)]
    return close(english_statement(main), [*german_main(main), (",", 0), *german], ".")
