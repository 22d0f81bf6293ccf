"""Descriptions of things and places: *is* turns into ist, liegt or steht, *put* into legt or stellt."""

from __future__ import annotations

from annotated.classroom import morphology as m
from annotated.classroom.clauses import Clause, Complement, english_statement, german_main
from annotated.classroom.constituents import constituent, shaped
from annotated.classroom.drawing import draw_subject, other_name
from annotated.classroom.lexicon import ADJECTIVES_BY_KIND, NOUN, Noun, parse_verb
from annotated.classroom.names import first_name
from annotated.classroom.phrases import Draw, english_prepositional, noun_phrase, prepositional
from annotated.classroom.sentences import Pair, close
from annotated.classroom.subordinate import BE, be_clause

_LIE, _STAND = parse_verb("be | liegen pret=lag"), parse_verb("be | stehen pret=stand")
_LAY, _SET = parse_verb("put put | legen"), parse_verb("put put | stellen")


def _nouns(names: str) -> tuple[Noun, ...]:
    return tuple(NOUN[name.strip()] for name in names.split(","))


_LYING = _nouns("book, letter, newspaper, map, key, pen, knife, spoon, blanket, ring, coin, school book, "
                "kitchen knife, house key")  # fmt: skip
_STANDING = _nouns("bottle, glass, cup, vase, lamp, basket, bucket, wine bottle, wine glass, coffee cup, suitcase")
_SURFACES = _nouns("table, chair, bed, sofa, kitchen table, garden table, office chair, cupboard")
_RELATIONS = (
    ("on", "auf"),
    ("on", "auf"),
    ("under", "unter"),
    ("next to", "neben"),
    ("behind", "hinter"),
    ("in front of", "vor"),
)


def whereabouts(draw: Draw) -> Pair:
    """'The book is on the table' liegt; 'the bottle' steht; 'puts' legt or stellt, and then the accusative."""
    draw.features.add("whereabouts")
    draw.scope = "main"
    flat = draw.chance(0.5)
    thing = noun_phrase(
        draw, (), ("the", "the", "my", "this"), 0.25, 0.3, noun=draw.pick(_LYING if flat else _STANDING)
    )
    where = noun_phrase(draw, (), ("the", "the", "the", "my"), 0.0, 0.25, noun=draw.pick(_SURFACES))
    english, german = draw.pick(_RELATIONS)
    roll, key = draw.random(), draw.key()
    words = english_prepositional(english, key, where.english)
    keys = (draw.key(), draw.key(), draw.key())
    if roll < 0.5:
        draw.note("put")
        person = draw_subject(draw, ("person", "family"))
        tense = draw.pick(("past", "present", "must", "want") if person.third else ("present", "must", "want"))
        clause = Clause(person, _LAY if flat else _SET, keys, tense)
        target = prepositional(german, key, where, m.ACCUSATIVE)
        clause.complements = [Complement(list(thing.english), thing), Complement(words, tokens=target, late=True)]
        return close(english_statement(clause), german_main(clause), ".")
    draw.note("position")
    tokens = prepositional(german, key, where, m.DATIVE)
    verb, tense = (_LIE if flat else _STAND), draw.pick(("present", "past"))
    if roll < 0.75:
        clause = Clause(thing, verb, keys, tense, draw.chance(0.15))
        clause.complements.append(Complement(words, tokens=tokens, late=True))
        return close(english_statement(clause), german_main(clause), ".")
    thing = noun_phrase(draw, (), ("a", "3", ""), 0.0, 0.3, noun=thing.noun)
    clause = Clause(thing, verb, keys, tense)
    be = ("is" if thing.third else "are") if tense == "present" else ("was" if thing.third else "were")
    tag = "VBD" if tense == "past" else "VBZ" if thing.third else "VBP"
    there = shaped(f"(S (NP EX) (VP {tag} (NP _)))", [("there", 0), (be, keys[0])], [*thing.english, *words])
    return close(there, german_main(clause, front=tokens), ".")


def comparison(draw: Draw) -> Pair:
    """'The dog is older than the cat'; 'as old as'."""
    draw.features.add("comparison")
    draw.scope = "main"
    kind = draw.pick(("person", "animal", "bag", "vehicle", "clothes", "room", "standing", "path", "fruit"))
    adjective = draw.pick(tuple(a for a in ADJECTIVES_BY_KIND[kind] if a.comparative))
    first = noun_phrase(draw, (kind,), ("the", "the", "my", "this"), 0.2, 0.0, owners=0.2)
    second = noun_phrase(draw, (kind,), ("the", "the", "my", "this"), 0.2, 0.0, owners=0.2)
    while second.noun is first.noun:
        second = noun_phrase(draw, (kind,), ("the", "the", "my", "this"), 0.2, 0.0, owners=0.2)
    if kind == "person" and draw.chance(0.5):
        first = first_name(draw)
        second = other_name(draw, first)
    verb, key, than = draw.key(), draw.key(), draw.key()
    tense = draw.pick(("present", "present", "past"))
    clause = Clause(first, BE, (verb, draw.key(), draw.key()), tense)
    if draw.chance(0.65):
        more = adjective.english_comparative
        words = shaped("(ADJP RBR JJ)" if len(more) > 1 else "(ADJP JJR)", [(w, key) for w in more])
        english = [*words, *english_prepositional("than", than, second.english)]
        german = [(adjective.comparative, key), ("als", than), *second.german(0)]
    else:
        so = draw.key()
        words = shaped("(ADJP RB JJ)", [("as", so), (adjective.english, key)])
        english = [*words, *english_prepositional("as", than, second.english)]
        german = [("so", so), (adjective.german, key), ("wie", than), *second.german(0)]
    clause.complements.append(Complement(constituent("ADJP", english), tokens=german, late=True))
    return close(english_statement(clause), german_main(clause), ".")


def predicate(draw: Draw) -> Pair:
    """'The room is light' hell, 'the bag is light' leicht: the noun decides."""
    draw.features.add("predicate")
    draw.scope = "main"
    kind = draw.pick(
        (
            "bag",
            "room",
            "person",
            "family",
            "animal",
            "vehicle",
            "clothes",
            "fruit",
            "standing",
            "path",
            "soup",
            "story",
        )
    )
    options = [(a.english, a.german) for a in ADJECTIVES_BY_KIND[kind]]
    subject = noun_phrase(draw, (kind,), ("the", "the", "my", "this"), 0.25, 0.0, owners=0.25)
    clause = be_clause(draw, subject, options, draw.pick(("present", "present", "past", "future")), draw.chance(0.25))
    return close(english_statement(clause), german_main(clause), ".")
