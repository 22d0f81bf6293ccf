"""Context-dependent words: sentences in which one can only be translated by looking at another: *it*, *bank*, *bat*."""

from __future__ import annotations

from annotated.classroom import morphology as m
from annotated.classroom.clauses import (
    Clause,
    Complement,
    english_predicate,
    english_statement,
    english_subordinate,
    german_final,
    german_main,
)
from annotated.classroom.constituents import constituent, shaped, word
from annotated.classroom.drawing import draw_subject
from annotated.classroom.lexicon import NOUN, VERBS, Noun, parse_verb
from annotated.classroom.names import first_name, pronoun
from annotated.classroom.phrases import COMMA, Draw, NounPhrase, english_prepositional, noun_phrase, prepositional
from annotated.classroom.sentences import Pair, close
from annotated.classroom.subordinate import BE, be_clause

_VERB = {(v.base, v.particle): v for v in VERBS}
_NEED, _LIKE, _SELL = (_VERB[b, ""] for b in ("need", "like", "sell"))
_GETTING = tuple(_VERB[k] for k in (("buy", ""), ("repair", ""), ("look", "for"), ("take", "along"),
                                    ("bring", "along")))  # fmt: skip
_PARTING = tuple(_VERB[k] for k in (("sell", ""), ("throw", "away"), ("bring", "back")))
_CHOOSING = tuple(_VERB[k] for k in (("buy", ""), ("take", "along"), ("look", "for")))
_OBJECTS = ("flat", "bag", "clothes", "vehicle", "bulb")
_MERITS = {
    "flat": [("beautiful", "schön"), ("cheap", "billig"), ("new", "neu")],
    "bag": [("light", "leicht"), ("cheap", "billig"), ("empty", "leer"), ("new", "neu")],
    "clothes": [("warm", "warm"), ("beautiful", "schön"), ("cheap", "billig"), ("new", "neu")],
    "vehicle": [("fast", "schnell"), ("new", "neu"), ("cheap", "billig")],
    "bulb": [("beautiful", "schön"), ("cheap", "billig"), ("new", "neu")],
}
_FAULTS = {
    "flat": [("old", "alt"), ("expensive", "teuer"), ("dirty", "schmutzig")],
    "bag": [("old", "alt"), ("heavy", "schwer"), ("small", "klein"), ("expensive", "teuer")],
    "clothes": [("old", "alt"), ("short", "kurz"), ("long", "lang"), ("expensive", "teuer"), ("dirty", "schmutzig")],
    "vehicle": [("old", "alt"), ("slow", "langsam"), ("expensive", "teuer"), ("broken", "kaputt")],
    "bulb": [("old", "alt"), ("expensive", "teuer"), ("dirty", "schmutzig")],
}


def pronoun_it(draw: Draw) -> Pair:
    """'Anna buys the table because she needs it.' *It* is er, sie or es, ihn, sie or es, by what it stands for."""
    draw.features.add("it")
    draw.scope = "main"
    kind = draw.pick(_OBJECTS)
    person = (
        first_name(draw) if draw.chance(0.6) else noun_phrase(draw, ("person",), ("the",), 0.0, 0.2, noun=_adult(draw))
    )
    roll = draw.random()
    adjective = 0.3 if roll < 0.35 else 0.0
    head = noun_phrase(draw, (kind,), ("the", "the", "this", "my"), plural=0.25, adjective=adjective)
    if roll < 0.35:
        return _it_as_object(draw, person, head)
    if roll < 0.7:
        return _it_as_subject(draw, person, head, kind)
    good, unlike = draw.chance(0.5), draw.chance(0.2)
    main = be_clause(draw, head, (_MERITS if good else _FAULTS)[kind], "present", unlike)
    draw.scope = "but"
    verb = draw.pick((_NEED, _LIKE, _VERB["buy", ""], _SELL))
    # 'but' wants the unexpected: what is good is sold or not bought, what is not is bought or not sold.
    inner = _with_it(draw, person, verb, head.column, (good != unlike) != (verb is _SELL))
    but = draw.key()
    joined = [*english_statement(main), word(",", COMMA, ","), word("but", but, "CC"), *english_statement(inner)]
    return close(constituent("S", joined), [*german_main(main), (",", COMMA), ("aber", but), *german_main(inner)], ".")


def _adult(draw: Draw) -> Noun:
    return NOUN[
        draw.pick(("man", "woman", "king", "queen", "farmer", "waitress", "baker", "student", "princess", "boy"))
    ]


def _with_it(draw: Draw, subject: NounPhrase, verb, it: str, negated: bool, tense: str = "present") -> Clause:
    clause = Clause(subject, verb, (draw.key(), draw.key(), draw.key()), tense, negated)
    phrase = pronoun(draw, it, subject=False)
    clause.complements.append(Complement(list(phrase.english), phrase))
    if negated:
        draw.note("negation")
    return clause


def _object_main(draw: Draw, person: NounPhrase, head: NounPhrase, verbs, tense: str, negated: bool = False) -> Clause:
    kind = head.noun.kind if head.noun else ""
    verb = draw.pick(tuple(v for v in verbs if kind in v.objects))
    if verb.prefix:
        draw.note("separable")
    clause = Clause(person, verb, (draw.key(), draw.key(), draw.key()), tense, negated)
    clause.complements.append(Complement(list(head.english), head))
    return clause


def _it_as_object(draw: Draw, person: NounPhrase, head: NounPhrase) -> Pair:
    parting = draw.chance(0.35)
    tense = draw.pick(("present", "past"))
    main = _object_main(draw, person, head, _PARTING if parting else _GETTING, tense)
    draw.scope = "because"
    he = pronoun(draw, "he" if person.column == "m" else "she")
    if parting:
        inner = _with_it(draw, he, draw.pick((_NEED, _LIKE)), head.column, True, tense)
    else:
        verb = draw.pick((_NEED, _LIKE, _SELL))
        want = "want" if tense == "present" else "wanted"
        inner = _with_it(draw, he, verb, head.column, False, want if verb is _SELL else tense)
    return _because(draw, main, inner)


def _it_as_subject(draw: Draw, person: NounPhrase, head: NounPhrase, kind: str) -> Pair:
    tense = draw.pick(("present", "past"))
    good = draw.chance(0.5)
    negated = draw.chance(0.3)
    main = _object_main(draw, person, head, _CHOOSING if good != negated else _PARTING, tense, negated)
    draw.scope = "because"
    it = pronoun(draw, head.column)
    inner = be_clause(draw, it, (_MERITS if good else _FAULTS)[kind], tense, False)
    return _because(draw, main, inner)


def _because(draw: Draw, main: Clause, inner: Clause) -> Pair:
    key = draw.key()
    english = english_statement(main, end=english_subordinate("because", key, english_statement(inner)))
    return close(english, [*german_main(main), (",", 0), ("weil", key), *german_final(inner)], ".")


_CROSS = parse_verb("cross | überqueren part=überquert")
_TIRED = [
    ("tired", "müde"),
    ("old", "alt"),
    ("weak", "schwach"),
    ("hungry", "hungrig"),
    ("ill", "krank"),
    ("slow", "langsam"),
]
_WIDE = [("wide", "breit"), ("dark", "dunkel"), ("dangerous", "gefährlich"), ("wet", "nass")]


def too_tired(draw: Draw) -> Pair:
    """'The animal did not cross the street because it was too tired (too wide).' The adjective tells who *it* is."""
    draw.features.update(("it", "too"))
    draw.scope = "main"
    animal = noun_phrase(draw, ("animal",), ("the", "the", "this", "my"), 0.0, 0.3)
    way = noun_phrase(draw, ("path",), ("the", "the", "this"), 0.0, 0.2)
    tense = draw.pick(("present", "past", "past"))
    main = Clause(animal, _CROSS, (draw.key(), draw.key(), draw.key()), tense if draw.chance(0.7) else (
        "can" if tense == "present" else "could"), True)  # fmt: skip
    main.complements.append(Complement(list(way.english), way))
    draw.note("negation")
    draw.scope = "because"
    tired = draw.chance(0.5)
    it = pronoun(draw, animal.column if tired else way.column)
    english, german = draw.pick(_TIRED if tired else _WIDE)
    too, key = draw.key(), draw.key()
    inner = Clause(it, BE, (draw.key(), 0, 0), tense)
    words = shaped("(ADJP RB JJ)", [("too", too), (english, key)])
    inner.complements.append(Complement(words, tokens=[("zu", too), (german, key)], late=True))
    return _because(draw, main, inner)


# Words with two meanings

_BANK = Noun(("bank",), ("banks",), "f", m.decline("Bank", "f", "Banken"), "spot")
_SHORE = Noun(("bank",), ("banks",), "n", m.decline("Ufer", "n", "Ufer"), "spot")
_BAT = Noun(("bat",), ("bats",), "f", m.decline("Fledermaus", "f", "Fledermäuse"), "animal")
_CLUB = Noun(("bat",), ("bats",), "m", m.decline("Schläger", "m", "Schläger"), "flat")
_MONEY = Noun(("money",), (), "n", m.decline("Geld", "n", "-"), "drink")
_ACCOUNT = Noun(("account",), ("accounts",), "n", m.decline("Konto", "n", "Konten"), "flat")
_GO = parse_verb("go went | gehen part=gegangen sein")
_HAVE, _SEE = _VERB["have", ""], _VERB["see", ""]


def bank(draw: Draw) -> Pair:
    """'The man needs money and goes to the bank' (Bank); 'sees a duck and goes to the bank' (Ufer)."""
    draw.features.update(("ambiguity", "bank"))
    draw.scope = "main"
    if draw.chance(0.5):
        noun, find = _BANK, _VERB["find", ""]
        cue = draw.pick(((_NEED, _MONEY), (_NEED, _ACCOUNT), (_HAVE, _ACCOUNT), (find, _MONEY)))
    else:
        noun = _SHORE
        cues = (("see", "duck"), ("see", "boat"), ("see", "frog"), ("look", "boat"), ("hear", "duck"), ("hear", "frog"))
        base, name = draw.pick(cues)
        cue = (_VERB[base, "for" if base == "look" else ""], NOUN[name])
    person = draw_subject(draw, ("person", "family"))
    tense = draw.pick(("present", "past"))
    living = cue[1].kind == "animal"
    thing = noun_phrase(draw, (), ("a", "the", "this", ""), 0.2, 0.3 if living else 0.0, noun=cue[1])
    clause = Clause(person, cue[0], (draw.key(), draw.key(), draw.key()), tense)
    clause.complements.append(Complement(list(thing.english), thing))
    return _join(draw, person, clause, _to_the_bank(draw, person, noun, tense))


def _to_the_bank(draw: Draw, person: NounPhrase, noun: Noun, tense: str) -> Clause:
    clause = Clause(person, _GO, (draw.key(), draw.key(), draw.key()), tense)
    to, target = draw.key(), noun_phrase(draw, (), ("the",), 0.0, 0.0, noun=noun)
    tokens = prepositional("zu", to, target, m.DATIVE)
    words = english_prepositional("to", to, target.english)
    clause.complements.append(Complement(words, tokens=tokens, late=True))
    return clause


def _join(draw: Draw, person: NounPhrase, cue: Clause, other: Clause) -> Pair:
    """The two clauses with *and*, the subject once; or with *because*, so that the cue comes last."""
    if person.noun is None and not person.pronoun and person.person == 2 and draw.chance(0.5):
        draw.scope = "because"
        cue.subject = pronoun(draw, "he" if person.column == "m" else "she")
        return _because(draw, other, cue)
    key = draw.key()
    both = constituent("VP", [*english_predicate(cue), word("and", key, "CC"), *english_predicate(other)])
    english = constituent("S", [*person.english, *both])
    german = [*german_main(cue), ("und", key), *german_main(other)[len(person.german(0)) :]]
    return close(english, german, ".")


def bat(draw: Draw) -> Pair:
    """A bat that lives is a Fledermaus, one to play with is a Schläger: verb or companion decides."""
    draw.features.update(("ambiguity", "bat"))
    draw.scope = "main"
    alive = draw.chance(0.5)
    person = draw_subject(draw, ("person", "family"))
    dets = ("the", "the", "a", "this")
    it = noun_phrase(draw, (), dets, 0.3, 0.0, noun=_BAT if alive else _CLUB)
    if draw.chance(0.6):
        verbs = ("follow", "help") if alive else ("buy", "sell", "need", "lose", "repair")
        verb = _VERB[draw.pick(verbs), ""]
        clause = Clause(person, verb, (draw.key(), draw.key(), draw.key()), draw.pick(("present", "past")))
        clause.complements.append(Complement(list(it.english), it, m.DATIVE if verb.frame == "dat" else m.ACCUSATIVE))
        return close(english_statement(clause), german_main(clause), ".")
    other = noun_phrase(
        draw, (), dets, 0.3, 0.0, noun=NOUN[draw.pick(("bird", "frog", "mouse") if alive else ("ball",))]
    )
    verb = draw.pick((_SEE, _VERB["look", "for"], _VERB["find", ""]))
    clause = Clause(person, verb, (draw.key(), draw.key(), draw.key()), draw.pick(("present", "past")))
    key = draw.key()
    first, second = (it, other) if draw.chance(0.5) else (other, it)
    both = NounPhrase(constituent("NP", [*first.english, word("and", key, "CC"), *second.english]), 5, "p")
    both.fixed = ([*first.german(1), ("und", key), *second.german(1)],)
    clause.complements.append(Complement(both.english, both))
    return close(english_statement(clause), german_main(clause), ".")
