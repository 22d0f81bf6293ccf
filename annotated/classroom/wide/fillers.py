"""Slots that are no noun phrases: cities, languages, clock times, prices, predicates, places and directions."""

from __future__ import annotations

from collections.abc import Sequence

from annotated.classroom.morphology import number_words
from annotated.classroom.phrases import Draw
from annotated.classroom.wide import names
from annotated.classroom.wide.lexicon import WideAdjective, adjectives, nouns_of, pairs_of
from annotated.classroom.wide.nominals import INTENSIFIERS, Phrase, Token, fixed

Both = tuple[list[Token], list[Token]]
DEGREES = (*INTENSIFIERS, ("too", "zu"), ("so", "so"), ("very", "sehr"), ("a bit", "ein bisschen"),
           ("a little", "ein bisschen"), ("pretty", "ziemlich"))  # fmt: skip


def fill(draw: Draw, spec: str, subject: Phrase | None = None) -> Both:
    """What a slot such as 'CITY', 'NUM 2 99' or 'ADJ person' holds.

    Raises
    ------
    KeyError
        If there is no such kind of slot.
    """
    kind, *arguments = spec.split()
    if kind in _MAKERS:
        return _MAKERS[kind](draw, arguments, subject)
    group = kind.lower()
    table = "places" if group in ("place", "dir") else "names"
    return fixed(draw, *draw.pick(pairs_of(table, group)))


def _city(draw: Draw, arguments: list[str], subject: Phrase | None) -> Both:
    return fixed(draw, *names.city(draw))


def _name(draw: Draw, arguments: list[str], subject: Phrase | None) -> Both:
    gender = "m" if arguments == ["male"] else "f" if arguments else draw.pick("mf")
    name = names.first_name(draw, gender)
    return fixed(draw, name, name)


def _surname(draw: Draw, arguments: list[str], subject: Phrase | None) -> Both:
    name = names.surname(draw)
    return fixed(draw, name, name)


def _number(draw: Draw, arguments: list[str], subject: Phrase | None) -> Both:
    low, high = (int(a) for a in arguments[:2]) if arguments else (2, 99)
    value = low + int(draw.random() * (high - low + 1))
    if 1000 > value >= 200 and draw.chance(0.2):
        english, german = number_words(value // 100)
        return fixed(draw, f"{english} hundred", f"{german}hundert")
    if value < 100 and value > 1 and draw.chance(0.5):
        return fixed(draw, *number_words(value))
    return fixed(draw, str(value), str(value))


def _job(draw: Draw, arguments: list[str], subject: Phrase | None) -> Both:
    noun = draw.pick(nouns_of("job"))
    while subject is not None and noun.feminine is None and noun.gender != subject.gender:
        noun = draw.pick(nouns_of("job"))  # not: he is a waitress
    key = draw.key()
    if subject is not None and subject.agrees == "p" and subject.pronoun not in ("you", "formal you"):
        return [(w, key) for w in noun.plural.split()], [(noun.forms["p"][0], key)]
    chosen = noun.feminine if noun.feminine is not None and subject is not None and subject.gender == "f" else noun
    article = "an" if noun.singular[0] in "aeiou" else "a"
    return [(article, key), *((w, key) for w in noun.singular.split())], [(chosen.forms[chosen.gender][0], key)]


def pick_adjective(draw: Draw, classes: list[str]) -> WideAdjective:
    """One that fits one of the classes and may stand in the predicate."""
    wanted = set(classes or ["person"])
    return draw.pick([a for a in adjectives() if a.classes & wanted and "before" not in a.classes])


def _adjective(draw: Draw, arguments: list[str], subject: Phrase | None) -> Both:
    return predicate(draw, [pick_adjective(draw, arguments)])


def predicate(draw: Draw, options: Sequence[WideAdjective], how: str = "") -> Both:
    """One of the adjectives, sometimes with *very*; 'bare' never with it, 'more' as the comparative."""
    entry = draw.pick(options) if options else pick_adjective(draw, ["thing"])
    if how == "more" and entry.comparative:
        return fixed(draw, entry.more, entry.comparative)
    key = draw.key()
    english, german = [(w, key) for w in entry.english.split()], [(entry.german, key)]
    if entry.comparative and not how and draw.chance(0.3):
        very = draw.key()
        degree = draw.pick(DEGREES)
        english = [*((w, very) for w in degree[0].split()), *english]
        german = [*((w, very) for w in degree[1].split()), *german]
    return english, german


def _bare_adjective(draw: Draw, arguments: list[str], subject: Phrase | None) -> Both:
    """Without *very*: for 'as old as', 'too expensive'."""
    entry = pick_adjective(draw, arguments)
    return fixed(draw, entry.english, entry.german)


def _comparative(draw: Draw, arguments: list[str], subject: Phrase | None) -> Both:
    entry = pick_adjective(draw, arguments)
    while not entry.comparative:
        entry = pick_adjective(draw, arguments)
    return fixed(draw, entry.more, entry.comparative)


def _superlative(draw: Draw, arguments: list[str], subject: Phrase | None) -> Both:
    entry = pick_adjective(draw, arguments)
    while not entry.superlative:
        entry = pick_adjective(draw, arguments)
    return fixed(draw, "the " + entry.most, f"am {entry.superlative}en")


_HOURS = "zwölf eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf".split()
_ENGLISH_HOURS = "twelve one two three four five six seven eight nine ten eleven twelve".split()


def _clock(draw: Draw, arguments: list[str], subject: Phrase | None) -> Both:
    """A time of day: 'half past seven' halb acht, 'quarter to six', '8:30', 'nine o'clock', 'five pm'."""
    hour = 1 + int(draw.random() * 12)
    roll = draw.random()
    spoken, stunde = _ENGLISH_HOURS[hour], _HOURS[hour]
    following = _HOURS[hour % 12 + 1]
    if roll < 0.3:
        stunde = "ein" if hour == 1 else stunde
        digits = draw.chance(0.4)
        if not digits and draw.chance(0.35):
            return fixed(draw, spoken, _HOURS[hour])
        return fixed(draw, f"{hour if digits else spoken} o'clock", f"{hour if digits else stunde} Uhr")
    if roll < 0.45:
        return fixed(draw, f"half past {spoken}", f"halb {following}")
    if roll < 0.55:
        return fixed(draw, f"{draw.pick(('', 'a '))}quarter past {spoken}", f"Viertel nach {_HOURS[hour]}")
    if roll < 0.65:
        return fixed(draw, f"{draw.pick(('', 'a '))}quarter to {spoken}", f"Viertel vor {stunde}")
    if roll < 0.7:
        minutes, past = draw.pick((("five", "fünf"), ("ten", "zehn"), ("twenty", "zwanzig"))), draw.chance(0.5)
        english, german = ("past", "nach") if past else ("to", "vor")
        return fixed(draw, f"{minutes[0]} {english} {spoken}", f"{minutes[1]} {german} {stunde}")
    if roll < 0.82:
        minute = draw.pick((15, 20, 30, 45, 10, 50, 5))
        return fixed(draw, f"{hour}:{minute:02}", f"{hour}:{minute:02} Uhr")
    half = draw.pick(("am", "pm"))
    hours = hour % 12 + 12 * (half == "pm")
    return fixed(draw, f"{hour} {half}", f"{hours} Uhr")


def _price(draw: Draw, arguments: list[str], subject: Phrase | None) -> Both:
    value = draw.pick((1, 2, 3, 5, 8, 10, 12, 15, 20, 25, 30, 50, 80, 100, 200, 500, int(2 + draw.random() * 900)))
    coin, münze = draw.pick((("euros", "Euro"), ("euros", "Euro"), ("dollars", "Dollar"), ("cents", "Cent")))
    english, german = (str(value), str(value))
    if draw.chance(0.15):
        small = draw.pick((50, 99, 20, 80, 95))
        return fixed(draw, f"{value}.{small} {coin}", f"{value},{small} {münze}")
    if coin == "euros" and draw.chance(0.12):
        return fixed(draw, f"€{value}", f"{value} Euro")
    if 1 < value < 100 and draw.chance(0.4):
        english, german = number_words(value)
    if value == 1:
        return fixed(draw, f"one {coin[:-1]}", f"einen {münze}")
    return fixed(draw, f"{english} {coin}", f"{german} {münze}")


_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split(),
    "ersten zweiten dritten vierten fünften sechsten siebten achten neunten zehnten elften zwölften".split(),
)


def _date(draw: Draw, arguments: list[str], subject: Phrase | None) -> Both:
    """'May 5', 'the third of May', '5 May': am 5. Mai, am dritten Mai."""
    month, monat = draw.pick(pairs_of("names", "month"))
    if draw.chance(0.3):
        number = int(draw.random() * 12)
        return fixed(draw, f"the {_ORDINALS[0][number]} of {month}", f"{_ORDINALS[1][number]} {monat}")
    day = 1 + int(draw.random() * 28)
    ending = "th" if 10 < day < 20 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    shown = draw.pick((f"{month} {day}", f"{month} {day}{ending}", f"the {day}{ending} of {month}", f"{day} {month}"))
    return fixed(draw, shown, f"{day}. {monat}")


def _year(draw: Draw, arguments: list[str], subject: Phrase | None) -> Both:
    year = str(1900 + int(draw.random() * 140))
    return fixed(draw, year, year)


def _noun(draw: Draw, arguments: list[str], subject: Phrase | None) -> Both:
    """A bare noun of a class, singular: for 'How do you say ...?' and compounds in fixed frames."""
    noun = draw.pick(nouns_of(arguments[0]))
    return fixed(draw, noun.singular, noun.forms[noun.gender][0])


def _phone(draw: Draw, arguments: list[str], subject: Phrase | None) -> Both:
    """'555 2380': digits in groups."""
    digits = "".join(str(int(draw.random() * 10)) for _ in range(draw.pick((5, 6, 7, 8, 10))))
    cut = draw.pick((3, 3, 4, 0))
    number = f"{digits[:cut]} {digits[cut:]}".strip()
    return fixed(draw, number, number)


def _quantity(draw: Draw, arguments: list[str], subject: Phrase | None) -> Both:
    """'two glasses of water' zwei Gläser Wasser, in the accusative."""
    english, german = draw.pick(pairs_of("names", "quantity"))
    (one, many), (eins, viele) = english.split("/"), german.split("/")
    if draw.chance(0.55):
        return fixed(draw, one, eins)
    words = draw.pick((2, 2, 2, 3, 3, 4, 5))
    spoken, zahl = number_words(words)
    return fixed(draw, f"{spoken} {many}", f"{zahl} {viele}")


def _something(draw: Draw, arguments: list[str], subject: Phrase | None) -> Both:
    """'something nice' etwas Schönes; 'nothing new' nichts Neues."""
    some = {"something": "etwas", "anything": "etwas", "nothing": "nichts"}
    adjective = fixed(draw, *draw.pick(pairs_of("names", "something")))
    key, word = draw.key(), arguments[0] if arguments else "something"
    return [(word, key), *adjective[0]], [(some[word], key), *adjective[1]]


def _half(draw: Draw, arguments: list[str], subject: Phrase | None) -> Both:
    """'two and a half hours' zweieinhalb Stunden."""
    unit, einheit = draw.pick((("hours", "Stunden"), ("years", "Jahre"), ("kilos", "Kilo"), ("weeks", "Wochen")))
    if arguments:
        unit, einheit = "hours", "Stunden"
    number, zahl = draw.pick((("one", "ein"), ("two", "zwei"), ("three", "drei"), ("four", "vier")))
    return fixed(draw, f"{number} and a half {unit}", f"{zahl}einhalb {einheit}")


_MAKERS = {
    "CITY": _city, "NAME": _name, "SURNAME": _surname, "NUM": _number, "JOB": _job, "ADJ": _adjective,
    "ADJBARE": _bare_adjective, "MORE": _comparative, "MOST": _superlative, "CLOCK": _clock, "PRICE": _price,
    "DATE": _date, "YEAR": _year, "NOUN": _noun, "PHONE": _phone, "QTY": _quantity, "SOMETHING": _something,
    "HALF": _half,
}  # fmt: skip
