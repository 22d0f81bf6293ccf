"""Nouns, adjectives, names and fixed adverbials of the tables, by semantic class."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from annotated.classroom import morphology as m
from annotated.classroom.wide.tables import lines, rows


@dataclass(frozen=True, eq=False, slots=True)
class WideNoun:
    """A noun with its forms; `forms[column]` has the four German cases, columns being a gender or 'p'."""

    singular: str
    plural: str
    """'' for a mass noun."""
    gender: str
    forms: dict[str, tuple[str, ...]]
    classes: frozenset[str]
    feminine: WideNoun | None = None
    """Lehrerin beside Lehrer."""
    pair: bool = False
    """Plural in English alone: 'the trousers are' die Hose ist."""
    weight: int = 1
    """How often it is drawn beside others of its class."""

    @property
    def mass(self) -> bool:
        return not self.plural

    @property
    def plural_only(self) -> bool:
        """Parents and groceries: the gender is 'p'."""
        return self.gender == "p"


def english_plural(noun: str) -> str:
    """'boxes', 'cities', 'books'."""
    if noun.endswith(("s", "sh", "ch", "x", "z")):
        return noun + "es"
    return noun[:-1] + "ies" if noun.endswith("y") and noun[-2] not in "aeiou" else noun + "s"


def _declined(word: str, gender: str, many: str, genitive: str) -> dict[str, tuple[str, ...]]:
    """With the genitives of *Bus*, *Kaktus*, *Chef* and *Name*: des Busses, des Kaktus, des Chefs, des Namens."""
    if not genitive and gender != "f":
        if word.endswith("us") and len(word) > 4 and word[-3:] not in ("aus", "bus"):
            genitive = word
        elif word.lower().endswith("bus"):
            genitive = word + "ses"
        elif many.endswith("s") and word[-1] not in "sßxz":
            genitive = word + "s"
    forms = m.decline(word, gender, many, genitive)
    if word.lower().endswith(("name", "gedanke")):
        forms[gender] = (*forms[gender][:3], genitive + "s")
    return forms


_MANY = {"in": "nen", "er": "n", "ne": "n", "au": "en"}
"""Of women: Lehrerinnen, Krankenschwestern, Cousinen, Feuerwehrfrauen. By the last two letters."""


def parse_noun(row: list[str], weight: int = 1) -> WideNoun:
    """'child/children | Kind n Kinder | person'; plural '-' for none, '=' for trousers; of weak nouns the genitive."""
    english, german, classes, *feminine = row
    singular, _, plural = english.partition("/")
    word, gender, *rest = german.split()
    many, genitive = (*rest, "")[:2] if len(rest) > 0 else ("-", "")
    if gender == "p":
        plural, forms = singular, {"p": m.decline(word, "n", word)["p"]}
        return WideNoun(singular, plural, "p", forms, frozenset(classes.split()), weight=weight)
    pair = plural == "="
    mass = plural == "-" or (many == "-" and not plural)
    plural = singular if pair else "" if mass else plural or english_plural(singular)
    forms = _declined(word, gender, many, genitive)
    if many == "-":
        forms["p"] = forms[gender]
    her = None
    if feminine:
        name = feminine[0] if len(feminine[0]) > 2 else word + "in"
        her = WideNoun(singular, plural, "f", m.decline(name, "f", name + _MANY[name[-2:]]), frozenset(classes.split()))
    return WideNoun(singular, plural, gender, forms, frozenset(classes.split()), her, pair, weight)


@dataclass(frozen=True, eq=False, slots=True)
class WideAdjective:
    """`german` is the predicative form and `stem` what endings join; no comparative where it is ''."""

    english: str
    german: str
    stem: str
    more: str
    most: str
    comparative: str
    superlative: str
    classes: frozenset[str]


def _english_degrees(english: str) -> tuple[str, str]:
    if english in _IRREGULAR:
        return _IRREGULAR[english]
    groups = sum(c in "aeiouy" and (i == 0 or english[i - 1] not in "aeiouy") for i, c in enumerate(english))
    groups -= english.endswith("e") and groups > 1
    if english.endswith("y") and groups <= 2 and english[-2] not in "aeiou":
        return english[:-1] + "ier", english[:-1] + "iest"
    if groups > 1 and english not in ("clever", "quiet", "narrow", "simple"):
        return "more " + english, "most " + english
    if english.endswith("e"):
        return english + "r", english + "st"
    short = english[-1] not in "aeiouwxy" and english[-2] in "aeiou" and english[-3:-2] not in tuple("aeiou")
    stem = english + english[-1] if short and english not in ("clever", "quiet") else english
    return stem + "er", stem + "est"


_IRREGULAR = {"good": ("better", "best"), "bad": ("worse", "worst"), "far": ("further", "furthest"),
              "tired": ("more tired", "most tired"), "loyal": ("more loyal", "most loyal"), "ill": ("worse", "worst"),
              "fun": ("more fun", "most fun")}  # fmt: skip


def parse_adjective(row: list[str]) -> WideAdjective:
    """'big | groß größer größt | person thing'; one word where all is regular; 'teuer=teur' names the stem."""
    english, german, classes = row
    positive, *degrees = german.split()
    word, _, stem = positive.partition("=")
    more, most = _english_degrees(english)
    if degrees[:1] == ["-"]:
        comparative = superlative = ""
    elif degrees:
        comparative, superlative = degrees
    else:
        comparative = (stem or word.removesuffix("e")) + "er"
        linked = word.endswith(("t", "d", "ß", "s", "z", "sch")) and not (  # das spannendste, das praktischste
            word.endswith(("end", "gert")) or (word.endswith("isch") and word != "frisch")
        )
        superlative = word.removesuffix("e") + ("est" if linked else "st")
    return WideAdjective(english, word, stem or word.removesuffix("e"), more, most, comparative, superlative,
                     frozenset(classes.split()))  # fmt: skip


@cache
def nouns() -> tuple[WideNoun, ...]:
    """All of them; '## people 4' says how often each of its group is drawn."""
    found = []
    for group, line in lines("nouns"):
        weight = group.split()[-1]
        found.append(parse_noun([f.strip() for f in line.split("|")], int(weight) if weight.isdigit() else 1))
    return tuple(found)


@cache
def nouns_of(name: str) -> tuple[WideNoun, ...]:
    """Those of a class, each as often as it weighs, or the one noun of that name in quotes.

    Raises
    ------
    KeyError
        If there are none: a table names a class that no noun has.
    """
    if name.startswith("'"):
        found = tuple(n for n in nouns() if n.singular == name.strip("'").replace("_", " "))
    else:
        found = tuple(n for n in nouns() if name in n.classes for _ in range(n.weight))
    if not found:
        raise KeyError(f"no noun of the class {name!r}")
    return found


@cache
def bare_columns() -> dict[str, str]:
    """The column of German nouns that stand without an article, *keine* Videos and *kein* Geld."""
    found = {n.forms[n.gender][0]: n.gender for n in nouns() if n.mass and n.gender != "p"}
    singular = {n.forms[n.gender][0] for n in nouns() if not n.mass and n.gender != "p"}
    found |= {n.forms["p"][0]: "p" for n in nouns() if not n.mass}
    return {word: column for word, column in found.items() if word not in singular}


@cache
def adjectives() -> tuple[WideAdjective, ...]:
    """All of them."""
    return tuple(parse_adjective(row) for row in rows("adjectives"))


@cache
def adjectives_for(noun: WideNoun) -> tuple[WideAdjective, ...]:
    """Those that fit at least one of a noun's classes, or the noun itself."""
    return tuple(a for a in adjectives() if a.classes & noun.classes or noun.singular in a.classes)


@cache
def pairs_of(table: str, group: str) -> tuple[tuple[str, str], ...]:
    """The lines 'English = German' of a group of a table.

    Raises
    ------
    KeyError
        If the table has no such group.
    """
    found = tuple(tuple(part.strip() for part in line.split("=")) for name, line in lines(table) if name == group)
    if not found:
        raise KeyError(f"{table} has no group {group!r}")
    return found  # type: ignore[return-value]
