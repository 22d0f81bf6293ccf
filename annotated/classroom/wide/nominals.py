"""WideNoun phrases, names and pronouns, drawn in both languages at once.

A token is a word and a key, a bit mask: words that translate each other share a bit (`annotated.classroom.phrases`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from annotated.classroom import morphology as m
from annotated.classroom.phrases import Draw
from annotated.classroom.wide import names
from annotated.classroom.wide.lexicon import WideAdjective, WideNoun, adjectives_for, nouns_of

Token = tuple[str, int]


@dataclass(slots=True)
class Phrase:
    """A noun phrase: its English, its German in each case, and what verbs agree with."""

    english: list[Token]
    german: Callable[[int], list[Token]]
    person: int = 2
    """0 ich ... 5 sie: the form of the German verb."""
    agrees: str = "3"
    """'I', '3' (an -s on the verb) or 'p'."""
    definite: bool = True
    pronoun: str = ""
    """'I', 'you', 'she' ... where it is one."""
    gender: str = "m"
    noun: WideNoun | None = None
    built: Built | None = None
    """What a phrase with a noun is made of, for owners and for *kein*."""


def fixed(draw: Draw, english: str, german: str) -> tuple[list[Token], list[Token]]:
    """Two texts that translate each other as a whole."""
    key = draw.key()
    return [(w, key) for w in english.split()], [(w, key) for w in german.split()]


# Pronouns and names

PERSONS = {"I": (0, "I"), "you": (1, "p"), "he": (2, "3"), "she": (2, "3"), "it": (2, "3"), "we": (3, "p"),
           "plural you": (4, "p"), "they": (5, "p"), "formal you": (5, "p")}  # fmt: skip
OBJECTIVE = {"I": "me", "he": "him", "she": "her", "we": "us", "they": "them"}
REFLEXIVE = {"I": "myself", "you": "yourself", "he": "himself", "she": "herself", "it": "itself", "we": "ourselves",
             "they": "themselves", "formal you": "yourself", "plural you": "yourselves"}  # fmt: skip
POSSESSIVE = {"I": "my", "you": "your", "he": "his", "she": "her", "it": "its", "we": "our", "they": "their",
              "formal you": "formal your", "plural you": "plural your"}  # fmt: skip
SICH = ("mich dich sich uns euch sich".split(), "mir dir sich uns euch sich".split())
"""Accusative and dative of the reflexive pronoun, by person."""


def pronoun(draw: Draw, name: str, subject: bool = True) -> Phrase:
    """'she' sie, 'her' sie or ihr; 'formal you' is Sie."""
    key = draw.key()
    forms = ("es", "es", "ihm") if name == "it" else m.PERSONAL[name]
    shown = "you" if name.endswith("you") else name
    english = shown if subject else OBJECTIVE.get(name, shown)
    person, agrees = PERSONS[name]
    gender = {"she": "f", "it": "n"}.get(name, "m")
    return Phrase([(english, key)], lambda case: [(forms[case], key)], person, agrees, True, name, gender)


def named(draw: Draw, english: str, german: str = "", gender: str = "m") -> Phrase:
    """A name, the same in all cases."""
    key = draw.key()
    words, wörter = english.split(), (german or english).split()
    return Phrase([(w, key) for w in words], lambda case: [(w, key) for w in wörter], 2, "3", True, "", gender)


def person_name(draw: Draw) -> Phrase:
    """A first name, some with a surname."""
    gender = draw.pick("mf")
    first = names.first_name(draw, gender)
    return named(draw, f"{first} {names.surname(draw)}" if draw.chance(0.08) else first, gender=gender)


def titled(draw: Draw) -> Phrase:
    """Mr. Weber, Herr Weber; Herrn in the other cases."""
    last = names.surname(draw).split()
    gender = draw.pick("mf")
    title, key = draw.key(), draw.key()
    english = draw.pick(("Mr.", "Mr.", "Mr") if gender == "m" else ("Mrs.", "Ms.", "Mrs"))
    surname = [(word, key) for word in last]

    def german(case: int) -> list[Token]:
        herr = "Frau" if gender == "f" else "Herr" if case == 0 else "Herrn"
        return [(herr, title), *surname]

    return Phrase([(english, title), *surname], german, 2, "3", True, "", gender)


def coordinated(draw: Draw, first: Phrase, second: Phrase, word: str = "and") -> Phrase:
    """'bread and milk'."""
    key, und = draw.key(), {"and": "und", "or": "oder"}[word]
    english = [*first.english, (word, key), *second.english]
    both = first.definite and second.definite
    return Phrase(english, lambda case: [*first.german(case), (und, key), *second.german(case)], 5, "p", both)


# Nouns

_QUANTITIES = {
    "some": ("ein paar", "etwas"), "many": ("viele", ""), "a few": ("ein paar", ""), "a lot of": ("viele", "viel"),
    "lots of": ("viele", "viel"), "much": ("", "viel"), "a little": ("", "ein bisschen"), "several": ("mehrere", ""),
    "enough": ("genug", "genug"), "more": ("mehr", "mehr"), "all the": ("alle", ""), "any": ("", ""),
    "both": ("beide", ""), "most": ("die meisten", ""), "too many": ("zu viele", ""), "too much": ("", "zu viel"),
    "a bit of": ("", "ein bisschen"),
}  # fmt: skip
"""English -> German with a plural, and with a mass noun."""
_INFLECTED = frozenset("viele mehrere alle beide".split())
_WEAK_AFTER = frozenset(("alle", "beide", "die meisten"))


def quantity(german: str, case: int) -> str:
    """'viele', 'vielen', 'vieler'; 'ein paar' does not change."""
    head = german.split()[-1] if german else ""
    if german == "die meisten":
        return ("die meisten", "die meisten", "den meisten", "der meisten")[case]
    if head not in _INFLECTED:
        return german
    return german[: len(german) - 1] + ("e", "e", "en", "er")[case]


@dataclass(slots=True)
class Built:
    """What a noun phrase is made of, before it is put into words."""

    noun: WideNoun
    column: str
    determiner: str = ""
    """One of the English determiners of `annotated.classroom.morphology`, or ''."""
    amount: str = ""
    """A number or a quantity in German."""
    adjective: WideAdjective | None = None
    degree: str = ""
    owner: tuple[list[Token], list[Token]] | None = None
    intensifier: str = ""
    keys: tuple[int, int, int] = (0, 0, 0)
    lead: str = ""
    """Before the article: 'noch ein', 'fast alle meine'."""

    @property
    def counted(self) -> bool:
        """'viele', 'genug', 'zwei', 'noch ein': *nicht* precedes it."""
        return bool(self.lead or (self.amount and not self.determiner and self.amount not in _WEAK_AFTER))

    def german(self, case: int) -> list[Token]:
        determiner, described, named = self.keys
        before, behind = self.owner or ([], [])
        tokens: list[Token] = [*((word, determiner) for word in quantity(self.lead, case).split()), *before]
        if not before and self.determiner:
            tokens.append((m.DETERMINERS[self.determiner][case][self.column], determiner))
        for word in quantity(self.amount, case).split():
            tokens.append((word, determiner))
        if self.adjective is not None:
            if self.intensifier:
                tokens.append((self.intensifier, described))
            stem = {"er": self.adjective.comparative, "est": self.adjective.superlative}.get(
                self.degree, self.adjective.stem
            )
            tokens.append((stem + self.ending(bool(before), case), described))
        tokens.append((self.noun.forms[self.column][case], named))
        return [*tokens, *behind]

    def ending(self, owned: bool, case: int) -> str:
        if self.amount in _WEAK_AFTER:
            return "en"
        determiner = "" if owned else self.determiner
        if not determiner and self.column != "p" and case == m.DATIVE and not owned:
            return {"m": "em", "n": "em", "f": "er"}[self.column]
        return m.ADJECTIVE_ENDINGS[determiner][case][self.column]


_LEADING = {
    "another": ("noch", "a"), "such a": ("so", "a"), "what kind of": ("was für", "a"), "what a": ("was für", "a"),
    "all my": ("alle", "my"),
    "almost all my": ("fast alle", "my"), "all of my": ("alle", "my"), "almost all of my": ("fast alle", "my"),
}  # fmt: skip
"""English -> what precedes the German article, and which article."""
_ORDINAL = {english: WideAdjective(english, german, german, "", "", "", "", frozenset()) for english, german in (
    ("next", "nächst"), ("last", "letzt"), ("first", "erst"), ("second", "zweit"), ("third", "dritt"),
    ("other", "ander"), ("only", "einzig"), ("same", "gleich"), ("right", "richtig"), ("wrong", "falsch"))}  # fmt: skip
"""Determiners *the next*, *the same*, which are adjectives in German."""

INTENSIFIERS = (("very", "sehr"), ("really", "wirklich"), ("quite", "ziemlich"), ("extremely", "extrem"))
_DETERMINERS = ("the", "the", "the", "the", "a", "a", "a", "my", "my", "own", "", "", "this", "that", "some", "number",
                "many")  # fmt: skip
OWNERS = ("my", "my", "my", "your", "his", "her", "our", "their")


def noun_phrase(
    draw: Draw,
    classes: Sequence[str],
    determiners: Sequence[str] = _DETERMINERS,
    subject: Phrase | None = None,
    adjective: float = 0.22,
    plural: float = 0.2,
    noun: WideNoun | None = None,
) -> Phrase:
    """A noun with what precedes it; 'own' is the possessive of the subject, 'my' any, 'number' a number.

    'the+s', 'my+p' and 'a+b' are singular, plural, bare of adjectives ('the+sb' is both); 'best' is a superlative.
    """
    noun = noun or draw.pick(nouns_of(draw.pick(classes)))
    chosen, _, number = draw.pick(determiners).partition("+")
    plural = 1.0 if "p" in number else 0.0 if "s" in number else plural
    adjective = 0.0 if "b" in number else adjective
    ordinal = _ORDINAL.get(chosen.removeprefix("the "))
    best, chosen = chosen == "best", "the" if ordinal or chosen == "best" else chosen
    if noun.feminine is not None and draw.chance(0.25):
        noun = noun.feminine
    impersonal = ("a", "this", "that", "", "the", "some", "many", *(("number", "both", "several") if noun.mass else ()))
    if "family" in noun.classes and "person" not in noun.classes and chosen in impersonal:
        chosen = "own" if subject is not None and draw.chance(0.4) else "my"
    built, english = _determined(draw, noun, chosen, subject, plural)
    column = built.column
    options = adjectives_for(noun)
    if ordinal:
        built.adjective = ordinal
        english = [*english, (ordinal.english, built.keys[1])]
    elif best and (graded := [a for a in options if a.superlative]):
        english = _described(draw, built, graded, english, best=True)
    elif adjective and options and chosen != "what kind of" and draw.chance(adjective) and "family" not in noun.classes:
        english = _described(draw, built, options, english)
    head = noun.plural if column == "p" and noun.plural else noun.singular
    words = [*english, *((w, built.keys[2]) for w in head.split())]
    words = [(_article(words[i + 1][0]), k) if w == "a" else (w, k) for i, (w, k) in enumerate(words)]
    plural_english = (column == "p" and bool(noun.plural)) or (noun.pair and built.determiner != "a")
    definite = bool(built.determiner not in ("", "a", "no") or built.owner) or built.amount in _WEAK_AFTER
    phrase = Phrase(words, built.german, 5 if column == "p" else 2, "p" if plural_english else "3", definite)
    phrase.noun, phrase.gender, phrase.built = noun, column, built
    return phrase


_SOUNDED = ("uni", "use", "euro", "one", "ukrai", "ufo", "usb")
"""Begin with the sound of *you* or *won*: a uniform, a one-way street."""


def _article(following: str) -> str:
    silent = following.startswith(("hour", "honest"))
    sounded = following.lower().startswith(_SOUNDED) and following != "unimportant"
    return "an" if (following[0].lower() in "aeiou" and not sounded) or silent else "a"


def possessive_of(subject: Phrase) -> str:
    """'my', 'her', 'their': what refers back to a subject."""
    if subject.pronoun:
        return POSSESSIVE[subject.pronoun]
    if subject.person == 3:  # Tom and I
        return "our"
    return "their" if subject.agrees == "p" else "her" if subject.gender == "f" else "his"


def _determined(
    draw: Draw, noun: WideNoun, chosen: str, subject: Phrase | None, plural: float
) -> tuple[Built, list[Token]]:
    keys = (draw.key(), draw.key(), draw.key())
    column = "p" if noun.plural_only else "p" if not noun.mass and draw.chance(plural) else noun.gender
    if chosen in _LEADING:
        lead, article = _LEADING[chosen]
        if article == "my":
            own, column = draw.pick(OWNERS), "p"
            built = Built(noun, column, own, keys=keys, lead=lead)
            return built, [(w, keys[0]) for w in [*chosen.split()[:-1], own]]
        if noun.mass or noun.plural_only:
            article, chosen = "", "more" if chosen == "another" else chosen.removesuffix(" a")
            lead = "mehr" if chosen == "more" else lead
        built = Built(noun, noun.gender, article, keys=keys, lead=lead)
        return built, [(w, keys[0]) for w in chosen.split()]
    if chosen == "own":
        chosen = "my" if subject is None else possessive_of(subject)
    elif chosen == "my":
        chosen = draw.pick(OWNERS)
    if chosen == "its":
        chosen = "the"
    if noun.mass and chosen in ("a", "number", "many", "several", "a few", "both", "every", "all the"):
        chosen = draw.pick(("", "some", "the", "a little"))
    if not noun.mass and chosen in ("much", "a little", "a bit of"):
        chosen = "a lot of"
    if noun.plural_only and chosen in ("a", "every", "number"):
        chosen = "some" if chosen == "a" else "the"
    countable = noun.forms["p"] is not noun.forms[noun.gender]
    if noun.pair and chosen not in m.DETERMINERS and chosen not in ("this", "that", "number"):
        chosen = "a"
    if noun.pair and (chosen != "number" or not countable):
        column = noun.gender
        if not countable and chosen in ("a", "every", "number"):
            return Built(noun, column, keys=keys), []
        if chosen in ("a", "every"):
            return Built(noun, column, "a", keys=keys), [(w, keys[0]) for w in "a pair of".split()]
    if chosen == "number":
        number = draw.pick((2, 2, 2, 3, 3, 4, 5, 6, 10, 12, 20))
        spoken, zahl = m.number_words(number)
        if draw.chance(0.3):
            spoken = zahl = str(number)
        spoken = f"{spoken} pairs of" if noun.pair else spoken
        return Built(noun, "p", amount=zahl, keys=keys), [(w, keys[0]) for w in spoken.split()]
    if chosen in _QUANTITIES:
        many, mass = _QUANTITIES[chosen]
        column = column if noun.mass else "p"
        amount = mass if noun.mass else many
        return Built(noun, column, amount=amount, keys=keys), [(w, keys[0]) for w in chosen.split()]
    if chosen == "":
        return Built(noun, column if noun.mass else "p", keys=keys), []
    if chosen in ("a", "every"):
        column = noun.gender
    shown, determiner = chosen.split()[-1] if chosen.endswith("your") else chosen, chosen
    if chosen in ("this", "that"):
        determiner = "this"
        plural_english = noun.pair or (column == "p" and bool(noun.plural))
        shown = {"this": "these", "that": "those"}[chosen] if plural_english else chosen
    return Built(noun, column, determiner, keys=keys), [(shown, keys[0])]


def _described(
    draw: Draw, built: Built, options: Sequence[WideAdjective], english: list[Token], best: bool = False
) -> list[Token]:
    built.adjective = draw.pick(options)
    word = built.adjective.english
    if best or (built.determiner == "the" and built.adjective.superlative and draw.chance(0.25)):
        built.degree, word = "est", built.adjective.most
    elif built.determiner in ("a", "") and not built.lead and built.adjective.comparative and draw.chance(0.08):
        built.degree, word = "er", built.adjective.more
    elif built.adjective.comparative and draw.chance(0.1):
        intensifier, built.intensifier = draw.pick(INTENSIFIERS)
        word = f"{intensifier} {word}"
    return [*english, *((w, built.keys[1]) for w in word.split())]


def negate(built: Built, key: int) -> bool:
    """Turn 'ein' or the bare noun into *kein*; False where the phrase takes *nicht*."""
    if built.determiner not in ("", "a") or built.owner or built.lead or (built.amount and built.amount != "etwas"):
        return False
    first = built.keys[0] if built.determiner or built.amount else 0
    built.determiner, built.amount, built.keys = "no", "", (first | key, *built.keys[1:])
    return True


def owned(draw: Draw, classes: Sequence[str]) -> Phrase:
    """'my sister's house' das Haus meiner Schwester; 'Tom's car' Toms Auto."""
    phrase = noun_phrase(draw, classes, ("the",), adjective=0.12, plural=0.15)
    assert phrase.built is not None
    bare, key = phrase.english[1:], draw.key()
    if draw.chance(0.5):
        name = "s"
        while name[-1] in "sxz" or " " in name:
            name = names.first_name(draw, draw.pick("mf"))
        phrase.english = [(name + "'s", key), *bare]
        phrase.built.owner = ([(name + "s", key)], [])
    else:
        owner = noun_phrase(draw, ("family",), ("my",), adjective=0.0, plural=0.0)
        last, mark = owner.english[-1], "'" if owner.english[-1][0].endswith("s") else "'s"
        phrase.english = [*owner.english[:-1], (last[0] + mark, last[1]), *bare]
        phrase.built.owner = ([], owner.german(m.GENITIVE))
    return phrase
