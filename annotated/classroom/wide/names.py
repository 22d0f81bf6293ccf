"""Names of people and places: those of the tables, and invented ones, which a model can only copy."""

from __future__ import annotations

from annotated.classroom.phrases import Draw
from annotated.classroom.wide.lexicon import pairs_of

_ONSETS = ("b br d dr f fl g gr h j k kl kr l m n p pl r s sch st t tr v w z"
           " b d f g h j k l m n p r s t v w z ch th ph kh ng ny ts zh sz cz x y kw mb nd gh hr q").split()  # fmt: skip
_VOWELS = "a e i o u ai ei ie a e i o u a e i o u ou oo ee ia io ua é ö å ø y".split()
_CODAS = ["", "", "", "n", "l", "r", "s", "m", "ck", "tt", "nd", "rt", "x", "ch", "ng", "k", "sh", "ll", "wn", "ct"]
_ENDINGS = "a o i e us in er y a o i e ek aw im ez ko ov ski nen ette ton dale".split()
_RUDE = ("fuck fick fic shit schit schiss schei piss pis tit dick dic sex hur nig nazi kack kak arsch ars fot pimmel"
         " pim slut klit pen wix wich porn cum cun bitch but pup rap hit kot pus mös mos gei nutt").split()  # fmt: skip
_PREFIXES = "O' O' O' D' D' L' M' N' Mc Mac De Di Le".split()
"""Before a name, without a space: O'Wabeck, McWabeck."""
_PARTICLES = ("van", "von", "de", "van der", "de la", "dos", "al", "el", "di", "ter", "bin", "le")
_PLACES_BEFORE = ("San", "Santa", "Los", "Las", "La", "El", "Port", "Bad", "Puerto", "São", "Rio", "Saint", "Fort",
                  "Villa", "Monte", "Tel", "Kuala", "Sankt")  # fmt: skip
_PLACES_BETWEEN = (" de ", " del ", " do ", "-on-", "-sur-", "-au-", "-le-", " am ", "-de-", " la ")


def _word(draw: Draw, longest: int = 15) -> str:
    """Syllables, or the halves of two names of the tables."""
    word = ""
    while not 2 < len(word) <= longest or any(rude in word.lower() for rude in _RUDE):
        word = _syllables(draw) if draw.chance(0.6) else _blend(draw)
    return word[0].upper() + word[1:]


def _syllables(draw: Draw) -> str:
    parts = [draw.pick(_ONSETS) + draw.pick(_VOWELS) + draw.pick(_CODAS) for _ in range(draw.pick((1, 1, 2, 2, 3)))]
    return "".join(parts) + draw.pick(_ENDINGS) * draw.chance(0.7)


def _table(draw: Draw, *groups: str) -> str:
    return draw.pick(pairs_of("names", draw.pick(groups)))[0]


def _blend(draw: Draw) -> str:
    """'Wolfgang' and 'Miranda' Wolfanda."""
    first, second = (_table(draw, "female", "male", "surname", "city").split()[0] for _ in range(2))
    return first[: 2 + int(draw.random() * 3)] + second[-2 - int(draw.random() * 4) :].lower()


def invented(draw: Draw) -> str:
    """A name that nobody has seen: one word; some of two parts (Kelo-Anna) or with a prefix (O'Wabeck)."""
    if draw.chance(0.75):
        return _word(draw)
    if draw.chance(0.4):
        return draw.pick(_PREFIXES) + _part(draw)
    return f"{_part(draw)}-{_part(draw)}"


def _part(draw: Draw) -> str:
    return _table(draw, "female", "male", "surname") if draw.chance(0.4) else _word(draw, 8)


def first_name(draw: Draw, gender: str) -> str:
    """Of a gender, 'm' or 'f'; about half are invented, a few have two words."""
    table = "female" if gender == "f" else "male"
    if draw.chance(0.55):
        return invented(draw)
    if draw.chance(0.05):
        return f"{_table(draw, table)} {_table(draw, table)}"
    return _table(draw, table)


def surname(draw: Draw) -> str:
    """Half are invented, some with a particle (van der Kelo)."""
    if draw.chance(0.5):
        return _table(draw, "surname")
    return f"{draw.pick(_PARTICLES)} {_word(draw, 10)}" if draw.chance(0.12) else invented(draw)


def city(draw: Draw) -> tuple[str, str]:
    """A city in English and in German: half are invented, some of several words (San Kelo, Wabeck-on-Tira)."""
    if draw.chance(0.5):
        return draw.pick(pairs_of("names", "city"))
    if draw.chance(0.2):
        name = f"{draw.pick(_PLACES_BEFORE)}{draw.pick('  -')}{_word(draw, 10)}"
    elif draw.chance(0.85):
        name = invented(draw)
    else:
        name = f"{_word(draw, 8)}{draw.pick(_PLACES_BETWEEN)}{_word(draw, 8)}"
    return name, name
