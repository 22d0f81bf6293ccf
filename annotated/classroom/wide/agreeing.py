"""Words that take their form from a noun elsewhere: relative pronouns, *it*, *mine*, *the red one*."""

from __future__ import annotations

from annotated.classroom import morphology as m
from annotated.classroom.phrases import Draw
from annotated.classroom.wide.fillers import pick_adjective
from annotated.classroom.wide.lexicon import pairs_of
from annotated.classroom.wide.nominals import Phrase, Token
from annotated.classroom.wide.verb_phrases import PEOPLE

RELATIVE = {"m": ("der", "den", "dem", "dessen"), "f": ("die", "die", "der", "deren"),
            "n": ("das", "das", "dem", "dessen"), "p": ("die", "die", "denen", "deren")}  # fmt: skip
OWN = {"mine": "my", "yours": "your", "his": "his", "hers": "her", "ours": "our", "theirs": "their"}
_STRONG = {"m": ("er", "en", "em"), "f": ("e", "e", "er"), "n": ("es", "es", "em"), "p": ("e", "e", "en")}


def column_of(phrase: Phrase) -> str:
    """The gender of a phrase, or 'p': the column of its German forms."""
    if phrase.built is not None:
        return phrase.built.column
    return "p" if phrase.person == 5 else phrase.gender


def is_person(phrase: Phrase) -> bool:
    return phrase.noun is None or bool(PEOPLE & phrase.noun.classes)


def relative(phrase: Phrase, case: int = 0, preposition: str = "") -> list[Token]:
    """'den', 'auf den', 'dessen'."""
    key = phrase.german(0)[-1][1]
    return [*([(preposition, key)] if preposition else []), (RELATIVE[column_of(phrase)][case], key)]


def referring(draw: Draw, phrase: Phrase) -> Phrase:
    """The pronoun for what has been named: the jacket, it; die Jacke, sie."""
    key, column = draw.key(), column_of(phrase)
    word = "they" if phrase.agrees == "p" else "it"
    if word == "it" and is_person(phrase):
        word = "she" if column == "f" else "he"
    forms = m.PERSONAL[column]
    person = 5 if column == "p" else 2
    return Phrase([(word, key)], lambda case: [(forms[case], key)], person, phrase.agrees, True, word, column,
                  phrase.noun)  # fmt: skip


def possessive_pronoun(name: str, column: str, case: int) -> str:
    """'meiner', 'meine', 'meins', 'meinem' for *mine*; 'keins' and 'eins' are made likewise."""
    stem = {"one": "ein", "none": "kein"}.get(name) or m.DETERMINERS[OWN[name]][0]["m"]
    ending = _STRONG[column][case]
    if ending == "es" and not stem.endswith("er"):
        ending = "s"
    if name == "one" and column == "p":
        return "welche" + ("n" if case == m.DATIVE else "")
    return stem + ending


def one(draw: Draw, phrase: Phrase, how: str) -> Phrase:
    """In the place of a noun: 'the red one', 'the cheaper one', 'mine', 'this one', 'another one', 'one'."""
    column, many, key = column_of(phrase), phrase.agrees == "p", draw.key()
    ones = "ones" if many else "one"
    determiner, stem, word = "the", "", ""
    if how == "colour":
        word, stem = draw.pick([pair for pair in pairs_of("names", "colour") if pair[1] not in ("rosa", "lila")])
        stem = {"gold": "golden", "silber": "silbern"}.get(stem, stem.removesuffix("e"))
    elif how in ("adj", "more", "most"):
        entry = pick_adjective(draw, ["thing"])
        while not entry.comparative:
            entry = pick_adjective(draw, ["thing"])
        word = {"adj": entry.english, "more": entry.more, "most": entry.most}[how]
        stem = {"adj": entry.stem, "more": entry.comparative, "most": entry.superlative}[how]
    elif how == "other":
        word, stem = "other", "ander"
    if stem:
        english = f"the {word} {ones}"
    elif how == "mine":
        how = english = draw.pick(tuple(OWN))
    elif how == "one":
        english = "some" if many else "one"
    elif how in ("this", "that"):
        determiner, english = "this", ({"this": "these", "that": "those"}[how] if many else how) + " " + ones
    else:
        determiner, english = "which", f"which {ones}"

    def german(case: int) -> list[Token]:
        if how in OWN or how == "one":
            return [(possessive_pronoun(how, column, case), key)]
        if how == "that":  # not these but those: die da
            return [(m.DETERMINERS["the"][case][column], key), ("da", key)]
        article = (m.DETERMINERS[determiner][case][column], key)
        return [article, (stem + m.ADJECTIVE_ENDINGS["the"][case][column], key)] if stem else [article]

    words = [(w, key) for w in english.split()]
    return Phrase(words, german, 5 if column == "p" else 2, phrase.agrees, True, "", column, phrase.noun)
