"""Noun phrases and prepositional phrases, drawn in both languages at once.

A token is a word and a *key*: a bit mask in which two words that translate each other share a bit. The
alignment falls out of the keys at the end, so no construction needs to count positions. English tokens also carry
their part of speech and the tree's brackets: see `constituents`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from annotated.classroom import words
from annotated.classroom.constituents import Token, constituent, possessive, shaped, word
from annotated.classroom.lexicon import ADJECTIVES_BY_KIND, COMPOUNDS_BY_KIND, NOUN, NOUNS_BY_KIND, Noun
from annotated.classroom.morphology import ADJECTIVE_ENDINGS, CONTRACTIONS, DATIVE, DETERMINERS, number_words

FINAL_MARK, COMMA = 1, 2
"""Keys of punctuation that stands in both languages; the keys that `Draw` hands out come after them."""
T = TypeVar("T")

_SPECIAL_KINDS = {
    "book": tuple(NOUN[name] for name in ("book", "newspaper", "letter", "school book")),
    "letter": (NOUN["letter"],),
    "ball": (NOUN["ball"],),
}
_POSSESSIVES = ("my", "our", "his", "her", "their")
_OWNED = ("animal", "bag", "vehicle", "clothes", "flat", "device", "family")
_BELONGING = frozenset("teacher doctor neighbour colleague guest king queen baker student child".split())
_ONE_EACH = frozenset("mother father grandmother grandfather".split())
ROOM_DETERMINERS = ("the", "the", "the", "the", "a", "my")
THE_OR_A = ("the", "the", "the", "a")
_GENITIVE_NAMES = tuple(n for n in (*words.FEMALE, *words.MALE) if n[-1] not in "sxz")


class Draw:
    """One sentence in the making: the random source, the next alignment key, and the features noted so far."""

    __slots__ = ("random", "_next", "features", "scope")

    def __init__(self, random: Callable[[], float]) -> None:
        self.random = random
        self._next = COMMA
        self.features: set[str] = set()
        self.scope = "main"

    def pick(self, options: Sequence[T]) -> T:
        return options[int(self.random() * len(options))]

    def chance(self, probability: float) -> bool:
        return self.random() < probability

    def key(self) -> int:
        self._next <<= 1
        return self._next

    def note(self, feature: str) -> None:
        """Record a feature, alone and with the kind of clause that it stands in: 'modal', 'because:modal'."""
        self.features.add(feature)
        self.features.add(f"{self.scope}:{feature}")


class NounPhrase:
    """A phrase with its English tokens, a constituent; `german(case)` gives the German ones.

    `person` indexes the six forms of the German verb (0 ich ... 5 sie); `column` is the gender or 'p'.
    """

    __slots__ = ("english", "person", "column", "definite", "pronoun", "noun", "determiner", "adjective", "keys",
                 "fixed", "owner", "number", "tail")  # fmt: skip

    def __init__(self, english: list[Token], person: int, column: str) -> None:
        self.english = english
        self.person = person
        self.column = column
        self.definite = True
        self.pronoun = False
        self.noun: Noun | None = None
        self.determiner = ""
        self.adjective = ""
        self.keys = (0, 0, 0)
        self.fixed: tuple[list[Token], ...] = ()
        self.owner: tuple[list[Token], list[Token]] | None = None
        self.number = ""
        self.tail: list[Token] = []

    @property
    def third(self) -> bool:
        """Whether English puts an -s on the verb."""
        return self.person == 2

    def negate(self, key: int) -> bool:
        """Turn 'a' or the bare form into kein; False where the phrase takes nicht instead."""
        if self.noun is None or self.determiner not in ("", "a") or self.number or self.owner:
            return False
        if self.determiner == "":
            self.keys = (0, *self.keys[1:])
        self.determiner = "no"
        self.keys = (self.keys[0] | key, *self.keys[1:])
        return True

    def german(self, case: int) -> list[Token]:
        if self.fixed:
            return self.fixed[min(case, len(self.fixed) - 1)] + self.tail
        assert self.noun is not None
        determiner_key, adjective_key, noun_key = self.keys
        tokens: list[Token] = []
        before, after = self.owner or ([], [])
        if before:
            tokens += before
        elif self.determiner:
            tokens.append((DETERMINERS[self.determiner][case][self.column], determiner_key))
        elif self.number:
            tokens.append((self.number, determiner_key))
        if self.adjective:
            ending = ADJECTIVE_ENDINGS["" if before else self.determiner][case][self.column]
            tokens.append((self.adjective + ending, adjective_key))
        tokens.append((self.noun.forms[self.column][case], noun_key))
        return tokens + after + self.tail


def article(following: str) -> str:
    """'an' before a vowel, else 'a'."""
    return "an" if following[0] in "aeiou" else "a"


def draw_noun(draw: Draw, kinds: Sequence[str], compounds: float = 0.25) -> Noun:
    kind = draw.pick(kinds)
    if kind in _SPECIAL_KINDS:
        return draw.pick(_SPECIAL_KINDS[kind])
    if kind in COMPOUNDS_BY_KIND and draw.chance(compounds if kind not in ("person", "family") else 0.12):
        return draw.pick(COMPOUNDS_BY_KIND[kind])
    return draw.pick(NOUNS_BY_KIND[kind])


def noun_phrase(
    draw: Draw,
    kinds: Sequence[str],
    determiners: Sequence[str] = ("the", "the", "the", "a", "a", "my", "", "this"),
    plural: float = 0.25,
    adjective: float = 0.35,
    owners: float = 0.0,
    noun: Noun | None = None,
) -> NounPhrase:
    """A common noun with determiner and perhaps an adjective, an owner or a number.

    In `determiners`, 'my' stands for every possessive, '' for the bare plural (or mass noun) and '3' for a number.
    """
    noun = noun or draw_noun(draw, kinds)
    many = not noun.plural or (draw.chance(plural) and noun.singular[-1] not in _ONE_EACH)
    column = "p" if many and noun.plural else noun.gender
    determiner = draw.pick(determiners)
    if noun.kind == "family" and determiner in ("a", "", "this", "3", "every"):
        determiner = "my"
    if not noun.plural:
        determiner = "" if determiner in ("a", "my", "3", "every") else determiner
    elif determiner in ("", "3"):
        column = "p"
    elif determiner in ("a", "every"):
        column = noun.gender
    if determiner == "my":
        strange = noun.kind == "person" and noun.singular[-1] not in _BELONGING
        determiner = "the" if strange else draw.pick(_POSSESSIVES)
    phrase = NounPhrase([], 5 if column == "p" else 2, column)
    phrase.noun = noun
    keys = (draw.key(), draw.key(), draw.key())
    phrase.keys = keys
    english: list[Token] = []
    if adjective and draw.chance(adjective):
        entry = draw.pick(ADJECTIVES_BY_KIND[noun.kind])
        while entry.english == "young" and noun.singular[-1] == "boy":  # der junge Junge
            entry = draw.pick(ADJECTIVES_BY_KIND[noun.kind])
        phrase.adjective = entry.stem
        english.append(word(entry.english, keys[1], "JJ"))
        draw.note("adjective")
    *before, head = noun.plural if column == "p" else noun.singular
    english += [*(word(part, keys[2], "NN") for part in before), word(head, keys[2], "NNS" if column == "p" else "NN")]
    if noun.compound:
        draw.note("compound")
    if column == "p":
        draw.note("plural")
    if determiner == "the" and owners and noun.kind in _OWNED and draw.chance(owners):
        _own(draw, phrase, english)
        return phrase
    if determiner == "3":
        phrase.number = _number(draw, english, keys[0])
    elif determiner:
        first = article(english[0][0]) if determiner == "a" else determiner
        if first.endswith(" your"):
            first = "your"
        if determiner == "this" and column == "p":
            first = "these"
        english.insert(0, word(first, keys[0], "DT" if determiner in ("the", "a", "this", "every") else "PRP$"))
    phrase.determiner = "" if determiner == "3" else determiner
    phrase.definite = determiner not in ("", "a", "3")
    phrase.english = constituent("NP", english)
    return phrase


def _number(draw: Draw, english: list[Token], key: int) -> str:
    """Put a number word or digits before the noun; the German word is returned."""
    draw.note("number")
    if draw.chance(0.5):
        spoken, german = number_words(2 + int(draw.random() * 11))
    else:
        spoken = german = str(2 + int(draw.random() * 39))
    english.insert(0, word(spoken, key, "CD"))
    return german


def _own(draw: Draw, phrase: NounPhrase, english: list[Token]) -> None:
    """Give the phrase an owner: 'Anna's dog' Annas Hund; 'the man's dog' der Hund des Mannes."""
    draw.note("genitive")
    phrase.determiner = "the"
    key = draw.key()
    if draw.chance(0.5):
        name = draw.pick(_GENITIVE_NAMES)
        phrase.owner = ([(name + "s", key)], [])
        phrase.english = constituent("NP", [*possessive(shaped("(NP NNP)", [(name, key)])), *english])
        return
    owner = noun_phrase(draw, ("person", "family"), ("the", "the", "my"), plural=0.0, adjective=0.2)
    phrase.owner = ([], owner.german(3))
    phrase.keys = (0, *phrase.keys[1:])
    phrase.english = constituent("NP", [*possessive(owner.english), *english])


def prepositional(preposition: str, key: int, phrase: NounPhrase, case: int) -> list[Token]:
    """Preposition and phrase, contracted where German does: in + dem Garten is im Garten."""
    tokens = phrase.german(case)
    if phrase.determiner == "the" and (contracted := CONTRACTIONS.get((preposition, tokens[0][0]))):
        return [(contracted, key | tokens[0][1]), *tokens[1:]]
    return [(preposition, key), *tokens]


def english_prepositional(preposition: str, key: int, phrase: list[Token]) -> list[Token]:
    """Preposition and noun phrase."""
    tokens = [(part, key) for part in preposition.split()]
    return shaped(_PREPOSITIONS.get(preposition, "(PP IN _)"), tokens, phrase)


_PREPOSITIONS = {
    "to": "(PP TO _)",
    "out of": "(PP IN (PP IN _))",
    "in front of": "(PP IN (NP (NP NN) (PP IN _)))",
    "next to": "(ADVP JJ (PP TO _))",
}
"""Those that are not (PP IN _); several words are phrases within phrases, as Penn has them."""


def place_phrase(draw: Draw, outdoors: bool = False) -> tuple[list[Token], list[Token]]:
    """Where something happens: 'in the old garden', 'at the station', 'on the street'; 'in Berlin'."""
    draw.note("place")
    key = draw.key()
    roll = draw.random()
    if roll < 0.15 and not outdoors:
        city, german = draw.pick(words.CITIES)
        name = draw.key()
        return shaped("(PP IN (NP NNP))", [("in", key), (city, name)]), [("in", key), (german, name)]
    if roll < 0.65:
        english, german, kinds = "in", "in", ("outdoor",) if outdoors else draw.pick((("room",), ("outdoor",)))
    elif roll < 0.8:
        english, german, kinds = "at", "an", ("spot",)
    elif roll < 0.9:
        english, german, kinds = "on", "auf", ("path",)
    else:
        english, german = draw.pick((("behind", "hinter"), ("in front of", "vor"), ("next to", "neben")))
        kinds = draw.pick((("room",), ("tree",)))
    phrase = noun_phrase(draw, kinds, ROOM_DETERMINERS if kinds == ("room",) else THE_OR_A, plural=0.0, adjective=0.3)
    return english_prepositional(english, key, phrase.english), prepositional(german, key, phrase, DATIVE)
