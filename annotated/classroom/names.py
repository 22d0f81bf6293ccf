"""Proper names and personal pronouns."""

from __future__ import annotations

from annotated.classroom import words
from annotated.classroom.constituents import constituent, inside, shaped, word
from annotated.classroom.morphology import PERSONAL
from annotated.classroom.phrases import Draw, NounPhrase


def name_phrase(draw: Draw, english: str, german: str = "", column: str = "m") -> NounPhrase:
    """A proper name, the same in every case."""
    key = draw.key()
    phrase = NounPhrase(shaped("(NP NNP)", [(english, key)]), 2, column)
    phrase.fixed = ([(german or english, key)],)
    return phrase


def first_name(draw: Draw) -> NounPhrase:
    draw.note("name")
    if draw.chance(0.5):
        return name_phrase(draw, draw.pick(words.FEMALE), column="f")
    return name_phrase(draw, draw.pick(words.MALE), column="m")


def titled_name(draw: Draw) -> NounPhrase:
    """'Mr. Braun': Herr Braun, den Herrn Braun; 'Mrs. Braun': Frau Braun."""
    draw.note("name")
    title, name = draw.key(), draw.key()
    surname = (draw.pick(words.SURNAMES), name)
    if draw.chance(0.5):
        phrase = NounPhrase(shaped("(NP NNP NNP)", [("Mrs.", title), surname]), 2, "f")
        phrase.fixed = ([("Frau", title), surname],)
    else:
        phrase = NounPhrase(shaped("(NP NNP NNP)", [("Mr.", title), surname]), 2, "m")
        phrase.fixed = ([("Herr", title), surname], [("Herrn", title), surname])
    return phrase


def two_names(draw: Draw) -> NounPhrase:
    """'Anna and Tom', a plural subject."""
    draw.note("coordination")
    first, second = first_name(draw), first_name(draw)
    while first.english[0][0] == second.english[0][0]:
        second = first_name(draw)
    key = draw.key()
    names = [*inside(first.english), word("and", key, "CC"), *inside(second.english)]
    phrase = NounPhrase(constituent("NP", names), 5, "p")
    phrase.fixed = ([*first.fixed[0], ("und", key), *second.fixed[0]],)
    return phrase


_ENGLISH_PRONOUNS = {"I": ("I", "me", 0), "he": ("he", "him", 2), "she": ("she", "her", 2), "we": ("we", "us", 3),
                     "they": ("they", "them", 5), "m": ("it", "it", 2), "f": ("it", "it", 2), "n": ("it", "it", 2),
                     "you": ("you", "you", 1), "formal you": ("you", "you", 5),
                     "plural you": ("you", "you", 4), "p": ("they", "them", 5)}  # fmt: skip


def pronoun(draw: Draw, name: str, subject: bool = True) -> NounPhrase:
    """A personal pronoun; 'm', 'f', 'n' are the *it* that stands for a noun of that German gender."""
    nominative, oblique, person = _ENGLISH_PRONOUNS[name]
    key = draw.key()
    phrase = NounPhrase(
        shaped("(NP PRP)", [(nominative if subject else oblique, key)]), person, "p" if person > 2 else "m"
    )
    phrase.fixed = tuple([(form, key)] for form in PERSONAL[name])
    phrase.pronoun = True
    draw.note("pronoun" if subject else "object-pronoun")
    return phrase
