"""Sentences of two clauses: because, although, if, that, whether, relative clauses, and infinitives with zu."""

from __future__ import annotations

from annotated.classroom.clauses import (
    Clause,
    Complement,
    english_objects,
    english_statement,
    english_subordinate,
    english_verb_phrase,
    german_final,
    german_infinitive,
    german_main,
)
from annotated.classroom.constituents import constituent, shaped, word
from annotated.classroom.drawing import draw_clause, draw_subject
from annotated.classroom.lexicon import SEIN, VERBS, Verb, parse_verb
from annotated.classroom.motion import GOING, motion_clause
from annotated.classroom.names import pronoun
from annotated.classroom.phrases import COMMA, Draw, NounPhrase
from annotated.classroom.sentences import HUMAN_VERBS, LOCAL_VERBS, Pair, any_clause, close

BE = parse_verb("be was | sein part=gewesen sein")
assert BE.present == SEIN

_MOODS = [("happy", "glücklich"), ("sad", "traurig"), ("angry", "böse"), ("tired", "müde"), ("proud", "stolz"),
          ("nervous", "nervös"), ("satisfied", "zufrieden"), ("worried", "besorgt"),
          ("surprised", "überrascht")]  # fmt: skip
_ABSOLUTE = frozenset("black white brown red blue green yellow broken empty".split())
_REACTIONS = tuple(v for v in HUMAN_VERBS if not v.frame and v.base in ("laugh", "cry", "sing", "dance", "wait"))
_STAY = parse_verb("stay | bleiben part=geblieben sein")
_WEATHER = [("rains", "regnet"), ("snows", "schneit")]


def be_clause(draw: Draw, subject: NounPhrase, options: list[tuple[str, str]], tense: str, negated: bool) -> Clause:
    """'The man is (not) very tired.'"""
    clause = Clause(subject, BE, (draw.key(), draw.key(), draw.key()), tense, negated)
    english, german = draw.pick(options)
    key = draw.key()
    words, wörter = [word(english, key, "JJ")], [(german, key)]
    if not negated and english not in _ABSOLUTE and draw.chance(0.25):
        very = draw.key()
        words.insert(0, word("very", very, "RB"))
        wörter.insert(0, ("sehr", very))
    clause.complements.append(Complement(constituent("ADJP", words), tokens=wörter, late=True))
    draw.note("predicate")
    if negated:
        draw.note("negation")
        draw.note("nicht")
    return clause


def reaction(draw: Draw, tense: str, subject: NounPhrase | None = None) -> Clause:
    """What a person feels or does about something: is happy, laughs, stays at home."""
    draw.scope = "main"
    negated = draw.chance(0.15)
    subject = subject or draw_subject(draw, ("person", "family"), negated, adjective=0.0)
    roll = draw.random()
    if roll < 0.6:
        return be_clause(draw, subject, _MOODS, tense, negated)
    keys = (draw.key(), draw.key(), draw.key())
    if roll < 0.8:
        clause = Clause(subject, draw.pick(_REACTIONS), keys, tense, negated)
    else:
        clause = Clause(subject, _STAY, keys, tense, negated)
        at, home = draw.key(), draw.key()
        there = shaped("(PP IN (NP NN))", [("at", at), ("home", home)])
        clause.complements.append(Complement(there, tokens=[("zu", at), ("Hause", home)], late=True))
    if negated:
        draw.note("negation")
    return clause


_CONJUNCTIONS = {"because": "weil", "although": "obwohl", "if": "wenn"}


def adverbial_clause(draw: Draw) -> Pair:
    """Because, although and if; before the main clause or after it."""
    conjunction = draw.pick(("because", "because", "although", "if"))
    draw.features.add(conjunction)
    tense = "present" if conjunction == "if" else draw.pick(("present", "present", "past"))
    main = reaction(draw, tense)
    draw.scope = conjunction
    key = draw.key()
    english, german = _cause(draw, conjunction, main)
    english, german = english_subordinate(conjunction, key, english), [(_CONJUNCTIONS[conjunction], key), *german]
    comma = (",", COMMA)
    if draw.chance(0.45):
        draw.note("clause-first")
        german = german_main(main, front=[*german, comma])
        return close(english_statement(main, front=[*english, word(*comma, ",")]), german, ".")
    return close(english_statement(main, end=english), [*german_main(main), comma, *german], ".")


def _cause(draw: Draw, conjunction: str, main: Clause) -> Pair:
    """The subordinate clause; its subject may be the main clause's, as a pronoun."""
    if main.verb.base != "be" and draw.chance(0.2):
        draw.note("weather")
        english, german = draw.pick(_WEATHER)
        it, verb = draw.key(), draw.key()
        return shaped("(S (NP PRP) (VP VBZ))", [("it", it), (english, verb)]), [("es", it), (german, verb)]
    subject = None
    if main.subject.noun is None and not main.subject.pronoun and main.subject.person == 2 and draw.chance(0.5):
        subject = pronoun(draw, "he" if main.subject.column == "m" else "she")
    if conjunction == "if":
        verbs = VERBS if subject is None else HUMAN_VERBS
        clause = draw_clause(draw, "if", subject, verbs, "ppppm", 0.2, 0.25)
    else:
        clause = any_clause(draw, conjunction, subject, _following(main))
    return english_statement(clause), german_final(clause)


def _following(main: Clause) -> str:
    """Tenses for a clause that depends on another: after a past, English wants a past."""
    return "aaaM" if main.tense == "past" else "pppaaammf"


_SAYING = [parse_verb(line) for line in (
    "say said | sagen", "believe | glauben", "hope | hoffen", "think thought | denken part=gedacht",
    "hear heard | hören", "know knew | wissen pret=wusste", "see saw | sehen er=sieht part=gesehen")]  # fmt: skip
_ASK, _KNOW = parse_verb("ask | fragen"), _SAYING[5]


def that_clause(draw: Draw) -> Pair:
    """'Anna says that ...': dass and the verb at the end."""
    draw.features.add("that")
    verb = draw.pick(_SAYING)
    main = _matrix(draw, verb, negated=draw.chance(0.1) and verb.base in ("say", "believe", "know"))
    key = draw.key()
    inner = any_clause(draw, "that", None, _following(main))
    english = english_statement(main, end=english_subordinate("that", key, english_statement(inner)))
    return close(english, [*german_main(main), (",", 0), ("dass", key), *german_final(inner)], ".")


def _matrix(draw: Draw, verb: Verb, negated: bool) -> Clause:
    draw.scope = "main"
    subject = draw_subject(draw, ("person", "family"), negated=True)
    tense = draw.pick(("present", "present", "past"))
    return Clause(subject, verb, (draw.key(), draw.key(), draw.key()), tense, negated)


_WHERE = {"where": "wo", "when": "wann", "why": "warum"}


def whether_clause(draw: Draw) -> Pair:
    """'Anna asks whether (if) ...' and indirect questions with where, when, why."""
    indirect = draw.chance(0.35)
    scope = "indirect" if indirect else "whether"
    draw.features.add(scope)
    main = _matrix(draw, _ASK, False) if draw.chance(0.6) else _matrix(draw, _KNOW, True)
    key = draw.key()
    if indirect:
        asking = draw.pick(("where", "when", "why"))
        german = _WHERE[asking]
        verbs = LOCAL_VERBS if asking == "where" else HUMAN_VERBS
        inner = draw_clause(draw, scope, None, verbs, _following(main), 0.0, 0.0, place=0.0, frequency=0.0)
        asked = shaped("(SBAR (WHADVP WRB) _)", [(asking, key)], english_statement(inner))
    else:
        whether, german = draw.pick(("whether", "whether", "if")), "ob"
        inner = any_clause(draw, scope, None, _following(main))
        asked = english_subordinate(whether, key, english_statement(inner))
    mark = [*german_main(main), (",", 0), (german, key)]
    return close(english_statement(main, end=asked), [*mark, *german_final(inner)], ".")


_TRYING = [parse_verb(line) for line in (
    "try | versuchen", "hope | hoffen", "forget forgot | vergessen er=vergisst part=vergessen",
    "promise | versprechen er=verspricht part=versprochen", "begin began | anfangen er=anfängt part=angefangen pre=an",
    "plan planned | planen")]  # fmt: skip
_UNINTENDED = (
    "fall",
    "lose",
    "wake",
    "arrive",
    "have",
    "know",
    "like",
    "love",
    "hear",
    "trust",
    "understand",
    "need",
    "see",
    "cry",
)
_ACTIONS = tuple(v for v in HUMAN_VERBS if v.base not in _UNINTENDED)


_AIMS = tuple(v for v in _ACTIONS if v.frame and v.base not in ("think", "follow", "put", "take", "look", "bring"))


def infinitive_clause(draw: Draw) -> Pair:
    """'Anna tries to open the door' (zu) and 'goes into the kitchen to cook' (um ... zu)."""
    draw.features.add("zu-infinitive")
    to = draw.key()
    purpose = draw.chance(0.35)
    if purpose:
        draw.features.add("purpose")
        main = motion_clause(draw, "main", tenses="pppaaf", verbs=GOING, adverbs=False)
        while main.negated:
            main = motion_clause(draw, "main", tenses="pppaaf", verbs=GOING, adverbs=False)
        um = [(",", 0), ("um", to)]
    else:
        main = _matrix(draw, draw.pick(_TRYING), negated=draw.chance(0.12))
        um = [(",", 0)]
    verbs = _AIMS if purpose else _ACTIONS
    inner = draw_clause(draw, "infinitive", main.subject, verbs, "p", 0.0, 0.0, frequency=0.0)
    verb = [word("to", to, "TO"), word(inner.verb.base, inner.keys[0], "VB")]
    english = english_statement(main, end=english_verb_phrase(verb, english_objects(inner)))
    infinitive = german_infinitive(inner)
    if not inner.verb.prefix:
        infinitive[-2] = ("zu", to)
    else:
        infinitive[-1] = (infinitive[-1][0], infinitive[-1][1] | to)
    return close(english, [*german_main(main), *um, *infinitive], ".")
