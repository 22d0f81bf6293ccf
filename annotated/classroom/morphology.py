"""German and English inflection for the classroom grammar: small, complete for its lexicon, and testable by hand.

Cases are numbered 0 nominative, 1 accusative, 2 dative, 3 genitive; a *column* is the gender in the
singular ('m', 'f', 'n') or 'p' in the plural.
"""

from __future__ import annotations

NOMINATIVE, ACCUSATIVE, DATIVE, GENITIVE = range(4)
COLUMNS = "mfnp"

_ARTICLES = {
    "the": ("der die das die", "den die das die", "dem der dem den", "des der des der"),
    "this": ("dieser diese dieses diese", "diesen diese dieses diese", "diesem dieser diesem diesen",
             "dieses dieser dieses dieser"),
    "every": ("jeder jede jedes -", "jeden jede jedes -", "jedem jeder jedem -", "jedes jeder jedes -"),
    "which": ("welcher welche welches welche", "welchen welche welches welche", "welchem welcher welchem welchen",
              "welches welcher welches welcher"),
}  # fmt: skip
_EIN_ENDINGS = ("- -e - -e", "-en -e - -e", "-em -er -em -en", "-es -er -es -er")
_EIN_WORDS = {"a": "ein", "no": "kein", "my": "mein", "your": "dein", "his": "sein", "her": "ihr", "our": "unser",
              "their": "ihr", "formal your": "Ihr", "plural your": "euer"}  # fmt: skip

# Endings of adjectives, rows by case, columns m f n p.
_WEAK = ("e e e en", "en e e en", "en en en en", "en en en en")
_MIXED = ("er e es en", "en e es en", "en en en en", "en en en en")
_STRONG = ("er e es e", "en e es e", "em er em en", "en er en er")

_PERSONAL = {
    "I": ("ich", "mich", "mir"), "you": ("du", "dich", "dir"), "formal you": ("Sie", "Sie", "Ihnen"),
    "plural you": ("ihr", "euch", "euch"), "he": ("er", "ihn", "ihm"), "she": ("sie", "sie", "ihr"),
    "we": ("wir", "uns", "uns"), "they": ("sie", "sie", "ihnen"),
    "m": ("er", "ihn", "ihm"), "f": ("sie", "sie", "ihr"), "n": ("es", "es", "ihm"), "p": ("sie", "sie", "ihnen"),
}  # fmt: skip


def _table(rows: tuple[str, ...]) -> tuple[dict[str, str], ...]:
    return tuple(dict(zip(COLUMNS, row.split(), strict=True)) for row in rows)


def _ein(word: str) -> tuple[dict[str, str], ...]:
    rows = []
    for row in _EIN_ENDINGS:
        stems = {c: "eur" if word == "euer" and e != "-" else word for c, e in zip(COLUMNS, row.split(), strict=True)}
        rows.append({c: stems[c] + e[1:] for c, e in zip(COLUMNS, row.split(), strict=True)})
    return tuple(rows)


DETERMINERS: dict[str, tuple[dict[str, str], ...]] = {
    **{name: _table(rows) for name, rows in _ARTICLES.items()},
    **{name: _ein(word) for name, word in _EIN_WORDS.items()},
}
"""English determiner -> one dictionary a case, from column to German form."""

ADJECTIVE_ENDINGS: dict[str, tuple[dict[str, str], ...]] = {
    **{name: _table(_WEAK) for name in _ARTICLES},
    **{name: _table(_MIXED) for name in _EIN_WORDS},
    "": _table(_STRONG),
}
"""English determiner ('' for none, and for numbers) -> adjective endings, by case and column."""

PERSONAL: dict[str, tuple[str, str, str]] = _PERSONAL
"""Pronoun -> nominative, accusative, dative; 'm', 'f', 'n' stand for an *it* whose antecedent has that gender."""

RELATIVE = _table(("der die das die", "den die das die", "dem der dem denen", "dessen deren dessen deren"))

CONTRACTIONS = {
    ("in", "dem"): "im", ("an", "dem"): "am", ("zu", "dem"): "zum", ("zu", "der"): "zur", ("von", "dem"): "vom",
    ("bei", "dem"): "beim", ("in", "das"): "ins", ("an", "das"): "ans",
}  # fmt: skip


def genitive(noun: str) -> str:
    """The genitive singular of a strong masculine or neuter noun: -es after one syllable or a sibilant, else -s."""
    if noun.endswith(("s", "ß", "x", "z", "sch")):
        return noun + "es"
    if noun.endswith(("el", "er", "en", "em", "a", "e", "i", "o", "u", "y", "ö", "ü", "äh", "eh")):
        return noun + "s"
    vowels = "aeiouyäöü"
    groups = sum(c in vowels and (i == 0 or noun[i - 1].lower() not in vowels) for i, c in enumerate(noun.lower()))
    return noun + ("es" if groups == 1 else "s")


def decline(singular: str, gender: str, plural: str, genitive_form: str = "") -> dict[str, tuple[str, ...]]:
    """The four cases in the singular (under the noun's gender) and in the plural (under 'p').

    A masculine noun whose given genitive ends in -n is weak: der Junge, den Jungen, dem Jungen, des Jungen.
    """
    forms: dict[str, tuple[str, ...]] = {}
    if gender == "f":
        forms[gender] = (singular,) * 4
    elif genitive_form.endswith("n") and gender == "m":
        forms[gender] = (singular, genitive_form, genitive_form, genitive_form)
    else:
        forms[gender] = (singular, singular, singular, genitive_form or genitive(singular))
    if plural != "-":
        forms["p"] = (plural, plural, plural if plural[-1] in "ns" else plural + "n", plural)
    return forms


# Persons of the verb: 1, 2, 3 singular; 4, 5, 6 plural. German formal 'Sie' is 6.


def present(infinitive: str, third: str = "") -> tuple[str, ...]:
    """The six present forms; `third` is given where the stem changes (er gibt) or the verb is irregular."""
    stem = infinitive[:-2] if infinitive.endswith("en") else infinitive[:-1]
    link = "e" if stem.endswith(("t", "d", "ffn", "chn")) else ""
    second = stem + link + ("t" if stem[-1] in "sßzx" else "st")
    if third:
        second = third if stem[-1] in "sßz" else third[:-1] + "st"
    return (stem + "e", second, third or stem + link + "t", infinitive, stem + link + "t", infinitive)


def preterite(first: str) -> tuple[str, ...]:
    """The six preterite forms from the first: konnte, konntest, ...; war, warst, ..."""
    if first.endswith("e"):
        return (first, first + "st", first, first + "n", first + "t", first + "n")
    return (first, first + "st", first, first + "en", first + "t", first + "en")


def imperative(infinitive: str, third: str = "") -> str:
    """The familiar singular imperative: mach, warte, gib, fahr."""
    stem = infinitive[:-2] if infinitive.endswith("en") else infinitive[:-1]
    if third and "i" in third and "i" not in infinitive:
        return third[:-1]
    return stem + ("e" if stem.endswith(("t", "d", "ffn", "chn")) else "")


def participle(infinitive: str, prefix: str = "") -> str:
    """The regular past participle: gekauft, aufgemacht, gearbeitet, repariert, besucht."""
    stem = infinitive[:-2] if infinitive.endswith("en") else infinitive[:-1]
    inseparable = infinitive.startswith(("be", "ver", "er", "ge", "ent", "über"))
    ge = "" if inseparable or infinitive.endswith("ieren") else "ge"
    return prefix + ge + stem + ("et" if stem.endswith(("t", "d", "ffn", "chn")) else "t")


def english_third(base: str) -> str:
    """'buys', 'goes', 'watches', 'carries'."""
    if base.endswith(("s", "sh", "ch", "x", "o")):
        return base + "es"
    return base[:-1] + "ies" if base.endswith("y") and base[-2] not in "aeiou" else base + "s"


def english_past(base: str) -> str:
    """The regular past: 'cooked', 'danced', 'carried'."""
    if base.endswith("e"):
        return base + "d"
    return base[:-1] + "ied" if base.endswith("y") and base[-2] not in "aeiou" else base + "ed"


_ONES = (
    "null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn \
achtzehn neunzehn".split()
)
_TENS = "- - zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split()
_ENGLISH_ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen \
sixteen seventeen eighteen nineteen".split()
_ENGLISH_TENS = "- - twenty thirty forty fifty sixty seventy eighty ninety".split()


def number_words(value: int) -> tuple[str, str]:
    """English and German for 2 to 99: ('twenty-three', 'dreiundzwanzig')."""
    tens, ones = divmod(value, 10)
    if value < 20:
        return _ENGLISH_ONES[value], _ONES[value]
    if not ones:
        return _ENGLISH_TENS[tens], _TENS[tens]
    return f"{_ENGLISH_TENS[tens]}-{_ENGLISH_ONES[ones]}", f"{_ONES[ones]}und{_TENS[tens]}"
