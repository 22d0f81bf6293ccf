"""English as it is typed: contractions, small letters, missing marks, misspellings, slips of the finger."""

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


_WHOLE = {
    "don't": "do not", "doesn't": "does not", "didn't": "did not", "isn't": "is not", "aren't": "are not",
    "wasn't": "was not", "weren't": "were not", "haven't": "have not", "hasn't": "has not", "couldn't": "could not",
    "wouldn't": "would not", "shouldn't": "should not", "can't": "cannot", "won't": "will not", "i'm": "I am",
    "you're": "you are", "we're": "we are", "they're": "they are", "i'll": "I will", "you'll": "you will",
    "we'll": "we will", "they'll": "they will", "it's": "it is", "that's": "that is", "what's": "what is",
    "where's": "where is", "there's": "there is",
}  # fmt: skip
_CONTRACTED = re.compile(r"\b(" + "|".join(_WHOLE) + r")\b(?! (?:I|you|he|she|it|we|they|been|got)\b)", re.IGNORECASE)


def expanded(text: str) -> str:
    """'Don't do that' Do not do that, but not 'Don't you ...?', whose words would change places."""

    def whole(found: re.Match[str]) -> str:
        new = _WHOLE[found[0].lower()]
        return new[0].upper() + new[1:] if found[0][0].isupper() else new

    return _CONTRACTED.sub(whole, text)


_SHORT_OF = re.compile(
    r"\b(?!(?:we're|we'll|she'll|he'll|i'll|i'd|we'd|she'd)\b)(\w+)'(t|s|m|re|ve|ll|d)\b", re.IGNORECASE
)


def without_apostrophes(text: str) -> str:
    """'I don't think it's hers' I dont think its hers; where another word would come of it (we're), it stays."""
    return _SHORT_OF.sub(r"\1\2", text)


_WAYS: dict[str, list[str]] = {}
for _pair in (
    "tomorrow=tommorow tomorrow=tomorow tomorrow=tommorrow beautiful=beatiful beautiful=beautifull doctor=docter"
    " receive=recieve which=wich than=then a_lot=alot because=becuase because=becouse because=becaus friend=freind"
    " friends=freinds really=realy definitely=definately until=untill restaurant=restaurent restaurant=resturant"
    " favourite=favorit favorite=favorit different=diffrent interesting=intresting interested=intrested"
    " believe=beleive their=there there=their weather=wether whether=weather address=adress address=addres"
    " always=allways already=allready breakfast=breakfeast breakfast=brekfast calendar=calender"
    " coming=comming writing=writting swimming=swiming running=runing eating=eatting completely=completly"
    " difficult=dificult dinner=diner disappointed=dissapointed embarrassed=embarassed enough=enogh"
    " environment=enviroment every_day=everyday exciting=exiting February=Febuary finally=finaly foreign=foriegn"
    " forty=fourty future=futur grammar=grammer happened=happend happy=hapy height=hight hospital=hospitel"
    " hungry=hungery immediately=immediatly language=langauge library=libary lose=loose lovely=lovly maybe=mabye"
    " minute=minut money=mony necessary=neccessary neighbour=nieghbour people=poeple people=peaple piece=peice"
    " possible=posible probably=probaly professor=proffesor quiet=quite quite=quiet remember=remeber"
    " remember=rember right=rigth school=shcool separate=seperate sincerely=sincerly sister=sistar"
    " sometimes=sometime strength=strenght success=sucess successful=successfull surprise=suprise"
    " surprised=suprised thank_you=thankyou though=tho through=trough tired=tierd together=togheter"
    " too=to truly=truely vegetables=vegtables visit=vist Wednesday=Wensday weird=wierd where=were written=writen"
    " wrong=worng yesterday=yesturday yesterday=yesterady you_are=your your=youre you=u please=pls please=plz"
    " thanks=thx going_to=gonna want_to=wanna"
).split():  # fmt: skip
    _right, _wrong = _pair.replace("_", " ").split("=")
    _WAYS.setdefault(_right, []).append(_wrong)
_SPELT = re.compile(r"\b(" + "|".join(sorted(_WAYS, key=len, reverse=True)) + r")\b", re.IGNORECASE)


def misspelt(draw: Draw, text: str) -> str:
    """One word as many write it: tommorow, recieve, alot, 'bigger then'."""
    found = list(_SPELT.finditer(text))
    if not found:
        return text
    word = draw.pick(found)
    wrong = draw.pick(_WAYS.get(word[0]) or _WAYS.get(word[0].lower(), [word[0]]))
    if word[0][0].isupper():
        wrong = wrong[0].upper() + wrong[1:]
    return text[: word.start()] + wrong + text[word.end() :]


_NEIGHBOURS = dict(zip("qwertyuiopasdfghjklzxcvbnm", "wertyuioopsdfghjkllxcvbnmm", strict=True))


def slip(draw: Draw, text: str) -> str:
    """One letter of a word missing, doubled, exchanged with the next or with its neighbour's key.

    Words of three letters or fewer are left, and so are those with a capital letter, which may be names.
    """
    long = [found for found in re.finditer(r"(?<![\w'’])[a-z]{4,}(?![\w'’])", text)]
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


def _marked(draw: Draw, text: str) -> str:
    """Commas, the last mark and apostrophes as they come."""
    if draw.chance(0.12):
        text = text.replace(",", "")
    if draw.chance(0.12):
        text = text.rstrip(".?!")
    elif draw.chance(0.02) and text.endswith("."):
        text = text.rstrip(".") + "!"
    elif draw.chance(0.04) and text.endswith(("!", "?")):
        text += draw.pick((text[-1], text[-1] * 2))
    if draw.chance(0.12):
        text = without_apostrophes(text)
    elif draw.chance(0.1):
        text = text.replace("'", "’")
    return text


def as_typed(draw: Draw, text: str) -> str:
    """The sentence as one of many people would type it."""
    if draw.chance(0.5):
        text = contracted(text)
    elif draw.chance(0.3):
        text = expanded(text)
    if draw.chance(0.5):
        text = _BRITISH.sub(lambda found: _AMERICAN[found[0]], text)
    if draw.chance(0.06):
        text = misspelt(draw, text)
    if draw.chance(1 / 12):
        text = slip(draw, text)
    text = _marked(draw, text)
    if draw.chance(0.12):
        return text.lower()
    if draw.chance(0.05):
        text = text[0].lower() + text[1:]
    if draw.chance(0.05):
        text = re.sub(r"\bI\b", "i", text)
    return text
