"""Sentences written by hand that the clause builder must produce, in every position of the verb."""

from __future__ import annotations

import itertools
import random

import pytest

from annotated.classroom import morphology as m
from annotated.classroom.clauses import (
    Clause,
    Complement,
    english_question,
    english_statement,
    german_final,
    german_infinitive,
    german_main,
    german_question,
    settle_negation,
)
from annotated.classroom.lexicon import ADJECTIVES, MOTION, NOUN, VERBS
from annotated.classroom.phrases import COMMA, Draw, NounPhrase, article, prepositional

KEYS = itertools.count(2)
STEMS = {a.english: a.stem for a in ADJECTIVES}
POSSESSIVE = ("my", "our", "his", "her", "their")


def text(tokens):
    return " ".join(word for word, _ in tokens)


def phrase(words: str) -> NounPhrase:
    """'the old dog', 'red apples', 'Anna'."""
    *before, last = words.split()
    nouns = {" ".join(form): (n, n.gender if form is n.singular else "p") for n in NOUN.values()
             for form in (n.singular, n.plural) if form}  # fmt: skip
    if before and f"{before[-1]} {last}" in nouns:
        last = f"{before.pop()} {last}"
    key = 1 << next(KEYS)
    if last not in nouns:
        name = NounPhrase([(last, key)], 2, "m")
        name.fixed = ([(last, key)],)
        return name
    noun, column = nouns[last]
    determiner = before.pop(0) if before and before[0] in (*m.DETERMINERS, "an") else ""
    made = NounPhrase([(w, key) for w in words.split()], 5 if column == "p" else 2, column)
    made.noun, made.determiner = noun, determiner.replace("an", "a") if determiner == "an" else determiner
    made.adjective = STEMS[before[0]] if before else ""
    made.definite = made.determiner not in ("", "a")
    return made


def clause(subject, verb, *objects, tense="present", negated=False, time=None, direction=None):
    """A clause from words; `verb` is the German infinitive; `direction` (English, German, phrase, case)."""
    entry = next(v for v in (*VERBS, *MOTION) if v.prefix + v.infinitive == verb and (bool(v.frame) == bool(objects)))
    made = Clause(phrase(subject), entry, (1 << 90, 1 << 91, 1 << 92), tense, negated)
    cases = {"acc": [m.ACCUSATIVE], "dat": [m.DATIVE], "dat+acc": [m.DATIVE, m.ACCUSATIVE]}.get(entry.frame, [])
    for words, case in zip(objects, cases, strict=True):
        thing = phrase(words)
        made.complements.append(Complement(thing.english, thing, case))
    if direction:
        english, german, words, case = direction
        target = phrase(words)
        tokens = prepositional(german, 0, target, case)
        made.complements.append(Complement([(english, 0), *target.english], tokens=tokens, late=True))
    if time:
        made.time = tuple([(word, 0) for word in part.split()] for part in time)
    settle_negation(made)
    return made


YESTERDAY, TODAY = ("yesterday", "gestern"), ("today", "heute")

STATEMENTS = [
    (clause("the old dog", "schlafen"), "the old dog sleeps", "der alte Hund schläft"),
    (clause("the dogs", "schlafen", tense="past"), "the dogs slept", "die Hunde haben geschlafen"),
    (clause("the man", "kaufen", "an apple"), "the man buys an apple", "der Mann kauft einen Apfel"),
    (clause("the man", "kaufen", "an apple", negated=True), "the man does not buy an apple",
     "der Mann kauft keinen Apfel"),
    (clause("the man", "kaufen", "the apple", negated=True), "the man does not buy the apple",
     "der Mann kauft den Apfel nicht"),
    (clause("the man", "kaufen", "red apples", negated=True, tense="past"), "the man did not buy red apples",
     "der Mann hat keine roten Äpfel gekauft"),
    (clause("a girl", "aufmachen", "the door", time=TODAY), "a girl opens the door today",
     "ein Mädchen macht die Tür heute auf"),
    (clause("a girl", "aufmachen", "a window", time=TODAY), "a girl opens a window today",
     "ein Mädchen macht heute ein Fenster auf"),
    (clause("Anna", "anrufen", "the doctor", tense="past", time=YESTERDAY), "Anna called the doctor yesterday",
     "Anna hat den Arzt gestern angerufen"),
    (clause("Anna", "anrufen", "the doctor", tense="must"), "Anna must call the doctor", "Anna muss den Arzt anrufen"),
    (clause("Anna", "anrufen", "the doctor", tense="must", negated=True), "Anna must not call the doctor",
     "Anna darf den Arzt nicht anrufen"),
    (clause("Anna", "anrufen", "the doctor", tense="have to", negated=True), "Anna does not have to call the doctor",
     "Anna muss den Arzt nicht anrufen"),
    (clause("Anna", "anrufen", "the doctor", tense="future"), "Anna will call the doctor",
     "Anna wird den Arzt anrufen"),
    (clause("the boys", "essen", "the soup", tense="wanted"), "the boys wanted to eat the soup",
     "die Jungen wollten die Suppe essen"),
    (clause("the cat", "fressen", "an egg", tense="past"), "the cat ate an egg", "die Katze hat ein Ei gefressen"),
    (clause("my aunt", "geben", "the child", "a ball"), "my aunt gives the child a ball",
     "meine Tante gibt dem Kind einen Ball"),
    (clause("my aunt", "helfen", "the neighbours", negated=True), "my aunt does not help the neighbours",
     "meine Tante hilft den Nachbarn nicht"),
    (clause("the woman", "gehen", tense="past", direction=("into", "in", "the garden", m.ACCUSATIVE)),
     "the woman went into the garden", "die Frau ist in den Garten gegangen"),
    (clause("the woman", "gehen", direction=("into", "in", "the house", m.ACCUSATIVE), negated=True),
     "the woman does not go into the house", "die Frau geht nicht ins Haus"),
    (clause("the woman", "gehen", direction=("to", "zu", "the school", m.DATIVE), time=TODAY),
     "the woman goes to the school today", "die Frau geht heute zur Schule"),
    (clause("Tom", "mitbringen", "a kitchen table", tense="can"), "Tom can bring along a kitchen table",
     "Tom kann einen Küchentisch mitbringen"),
    (clause("Tom", "trinken", "cold milk", negated=True), "Tom does not drink cold milk",
     "Tom trinkt keine kalte Milch"),
    (clause("Tom", "haben", "a bicycle", tense="past"), "Tom had a bicycle", "Tom hatte ein Fahrrad"),
]  # fmt: skip


@pytest.mark.parametrize(("made", "english", "german"), STATEMENTS, ids=[e for _, e, _ in STATEMENTS])
def test_statements(made, english, german):
    assert text(english_statement(made)) == english
    assert text(german_main(made)) == german


FINAL = [
    (clause("the girl", "aufmachen", "the door"), "das Mädchen die Tür aufmacht"),
    (clause("the girl", "aufmachen", "the door", tense="past"), "das Mädchen die Tür aufgemacht hat"),
    (
        clause("the girl", "aufmachen", "the door", tense="can", negated=True),
        "das Mädchen die Tür nicht aufmachen kann",
    ),
    (clause("Anna", "ankommen", tense="past", time=YESTERDAY), "Anna gestern angekommen ist"),
    (clause("Anna", "schlafen", tense="future"), "Anna schlafen wird"),
    (clause("the man", "kaufen", "a car", negated=True), "der Mann kein Auto kauft"),
]


@pytest.mark.parametrize(("made", "german"), FINAL, ids=[g for _, g in FINAL])
def test_the_verb_goes_last_in_subordinate_clauses(made, german):
    assert text(german_final(made)) == german


def test_fronting_keeps_the_verb_second():
    made = clause("Anna", "anrufen", "the doctor", tense="past", time=YESTERDAY)
    front = [("gestern", 0)]
    assert text(german_main(made, front=front, time=False)) == "gestern hat Anna den Arzt angerufen"


def test_questions_and_infinitives():
    made = clause("the man", "kaufen", "a hat", tense="past")
    assert text(english_question(made)) == "did the man buy a hat"
    assert text(german_question(made)) == "hat der Mann einen Hut gekauft"
    assert (
        text(english_question(clause("the man", "kaufen", "a hat", tense="want"))) == "does the man want to buy a hat"
    )
    assert text(german_infinitive(clause("Tom", "aufmachen", "the door"))) == "die Tür aufzumachen"
    assert text(german_infinitive(clause("Tom", "kaufen", "a hat"))) == "einen Hut zu kaufen"


@pytest.mark.parametrize(
    ("preposition", "words", "case", "expected"),
    [
        ("in", "the garden", m.DATIVE, "im Garten"), ("in", "the garden", m.ACCUSATIVE, "in den Garten"),
        ("in", "the old house", m.ACCUSATIVE, "ins alte Haus"), ("in", "my house", m.DATIVE, "in meinem Haus"),
        ("zu", "the station", m.DATIVE, "zum Bahnhof"), ("zu", "the school", m.DATIVE, "zur Schule"),
        ("an", "the lake", m.DATIVE, "am See"), ("auf", "the table", m.ACCUSATIVE, "auf den Tisch"),
    ],
)  # fmt: skip
def test_prepositions_contract_with_the_article_only(preposition, words, case, expected):
    assert text(prepositional(preposition, 0, phrase(words), case)) == expected


def test_articles_and_keys():
    assert [article(word) for word in ("apple", "old", "dog", "umbrella")] == ["an", "an", "a", "an"]
    draw = Draw(random.Random(0).random)
    keys = [draw.key() for _ in range(20)]
    assert len(set(keys)) == 20 and min(keys) > COMMA
