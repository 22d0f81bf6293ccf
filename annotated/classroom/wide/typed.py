"""English as it is typed: contractions, small letters, a missing full stop, a slip of the finger."""

from __future__ import annotations

import re

from annotated.classroom.phrases import Draw

_NOT = "do does did is are was were have has had would could should must need".split()
_CONTRACTIONS = [
    *((f"{word} not", f"{word}n't") for word in _NOT), ("cannot", "can't"), ("can not", "can't"),
    ("will not", "won't"), ("I am", "I'm"), ("let us", "let's"), ("I had better", "I'd better"),
    *((f"{who} are", f"{who}'re") for who in ("you", "we", "they")),
    *((f"{who} is", f"{who}'s") for who in ("he", "she", "it", "that", "there", "what", "where", "who", "here",
                                           "how")),
    *((f"{who} will", f"{who}'ll") for who in ("I", "you", "he", "she", "it", "we", "they", "that")),
    *((f"{who} would", f"{who}'d") for who in ("I", "you", "he", "she", "we", "they")),
]  # fmt: skip
_HAVE = re.compile(r"\b(I|you|we|they|You|We|They) have (?=been|not|already|never|just|\w+ed\b|seen|gone|done|had|lost"
                   r"|found|bought|made|got)")  # fmt: skip
_TABLE = {old: new for old, new in _CONTRACTIONS}


def _pattern(words: list[str]) -> re.Pattern[str]:
    return re.compile(r"\b(" + "|".join(sorted(map(re.escape, words), key=len, reverse=True)) + r")\b(?![.?!]|$)",
                      re.IGNORECASE)  # fmt: skip


_PATTERNS = tuple(_pattern([old for old in _TABLE if old.endswith("not") is negative]) for negative in (True, False))
"""*will not* is contracted before *she will* is."""


def contracted(text: str) -> str:
    """'I am not sure' I'm not sure; a capital stays one."""

    def short(found: re.Match[str]) -> str:
        old = found[1]
        new = _TABLE.get(old) or _TABLE.get(old[0].lower() + old[1:], old)
        return old[0] + new[1:]

    text = _HAVE.sub(r"\1've ", text)
    for pattern in _PATTERNS:
        text = pattern.sub(short, text)
    return text


_NEIGHBOURS = dict(zip("qwertyuiopasdfghjklzxcvbnm", "wertyuioopsdfghjkllxcvbnmm", strict=True))


def slip(draw: Draw, text: str) -> str:
    """One letter of a long word missing, doubled, exchanged with the next or with its neighbour's key."""
    long = [found for found in re.finditer(r"[a-z]{5,}", text)]
    if not long:
        return text
    word = draw.pick(long)
    place = word.start() + 1 + int(draw.random() * (len(word[0]) - 2))
    letter, rest = text[place], text[place + 1 :]
    how = draw.pick("mdxn")
    if how == "m":
        return text[:place] + rest
    if how == "d":
        return text[:place] + letter + letter + rest
    if how == "x":
        return text[:place] + rest[0] + letter + rest[1:]
    return text[:place] + _NEIGHBOURS[letter] + rest


_AMERICAN = {"favourite": "favorite", "colour": "color", "neighbour": "neighbor", "theatre": "theater", "grey": "gray",
             "centre": "center", "practise": "practice", "apologise": "apologize", "jewellery": "jewelry",
             "programme": "program", "licence": "license", "travelling": "traveling", "cheque": "check",
             "kilometre": "kilometer", "litre": "liter", "pyjamas": "pajamas", "organise": "organize",
             "realise": "realize"}  # fmt: skip
_BRITISH = re.compile("|".join(_AMERICAN))


def as_typed(draw: Draw, text: str) -> str:
    """The sentence as one of many people would type it."""
    if draw.chance(0.5):
        text = contracted(text)
    if draw.chance(0.5):
        text = _BRITISH.sub(lambda found: _AMERICAN[found[0]], text)
    if draw.chance(0.05):
        text = slip(draw, text)
    if draw.chance(0.1):
        text = text.lower()
    elif draw.chance(0.05):
        text = text[0].lower() + text[1:]
    if draw.chance(0.12):
        text = text.rstrip(".?!")
    elif draw.chance(0.02) and text.endswith("."):
        text = text.rstrip(".") + "!"
    if draw.chance(0.1):
        text = text.replace("'", "’")
    return text
