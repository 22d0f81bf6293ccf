"""The plain sentence types: statements, questions, and sentences with *you*."""

from __future__ import annotations

from annotated.classroom import morphology as m
from annotated.classroom.clauses import (
    Clause,
    english_objects,
    english_predicate,
    english_question,
    english_statement,
    english_verb_phrase,
    german_main,
    german_middle,
    german_question,
)
from annotated.classroom.constituents import constituent, extended, inside, shaped, word
from annotated.classroom.drawing import draw_clause
from annotated.classroom.lexicon import NOUN, VERBS
from annotated.classroom.motion import motion_clause
from annotated.classroom.names import first_name, pronoun, titled_name, two_names
from annotated.classroom.phrases import COMMA, FINAL_MARK, Draw, NounPhrase, Token, noun_phrase

Pair = tuple[list[Token], list[Token]]
HUMAN_VERBS = tuple(v for v in VERBS if "person" in v.subjects)
LOCAL_VERBS = tuple(v for v in HUMAN_VERBS if v.frame in ("", "acc") and (v.base, v.particle) in {
    *((base, "") for base in ("sleep work dance sing wait play meet see find lose read eat drink buy sell repair wash "
                              "cook plant write visit").split()), ("look", "for")})  # fmt: skip
ACCUSATIVE_THINGS = tuple(
    v for v in HUMAN_VERBS if v.frame == "acc" and v.base not in ("like", "love", "know", "have", "put")
)
THINGS = {"flat", "standing", "bag", "device", "furniture", "vehicle", "clothes", "fruit", "food", "soup", "bulb",
          "flower", "drink", "story", "opening", "book", "letter", "room"}  # fmt: skip


def close(english: list[Token], german: list[Token], mark: str) -> Pair:
    """Add the final mark, aligned with itself."""
    return extended(english, [word(mark, FINAL_MARK, ".")]), [*german, (mark, FINAL_MARK)]


def any_clause(draw: Draw, scope: str, subject: NounPhrase | None = None, tenses: str = "pppaaammf") -> Clause:
    """A clause of any kind: mostly actions, sometimes going somewhere."""
    if draw.chance(0.14):
        return motion_clause(draw, scope, subject, tenses)
    return draw_clause(draw, scope, subject, VERBS if subject is None else HUMAN_VERBS, tenses)


def statement(draw: Draw) -> Pair:
    clause = any_clause(draw, "main")
    return _fronted(draw, clause) or close(english_statement(clause), german_main(clause), ".")


def _fronted(draw: Draw, clause: Clause) -> Pair | None:
    """Time or place first: 'Yesterday the man ...' Gestern hat der Mann ..."""
    last = clause.complements[-1] if clause.complements else None
    if clause.time and draw.chance(0.6):
        draw.note("fronted")
        english = english_statement(clause, time=False, front=clause.time[0])
        return close(english, german_main(clause, front=clause.time[1], time=False), ".")
    if last and last.late and not last.preposition and "direction" not in draw.features and draw.chance(0.5):
        if clause.negated:
            return None
        draw.note("fronted")
        clause.complements.pop()
        return close(english_statement(clause, front=last.english), german_main(clause, front=last.tokens), ".")
    return None


def yes_no_question(draw: Draw) -> Pair:
    if draw.chance(0.15):
        clause = motion_clause(draw, "question")
        while clause.negated:
            clause = motion_clause(draw, "question")
    else:
        clause = draw_clause(draw, "question", negation=0.0)
    return close(english_question(clause), german_question(clause), "?")


_WHEN = {"where": "wo", "when": "wann", "why": "warum"}


def wh_question(draw: Draw) -> Pair:
    """Questions for the subject (wer), an object (was, wen, wem), a place, a time or a reason."""
    draw.scope = "wh"
    kind = draw.pick(("who", "what", "whom", "where", "when", "why", "how many"))
    draw.note("wh-question")
    draw.note(kind.replace(" ", "-"))
    if kind == "who":
        return _who(draw)
    if kind == "what":
        return _object_question(draw, "what", "was")
    if kind == "whom":
        return _object_question(draw, "whom", "")
    if kind == "how many":
        return _how_many(draw)
    verbs = LOCAL_VERBS if kind == "where" else HUMAN_VERBS
    time = 0.3 if kind != "when" else 0.0
    clause = draw_clause(draw, "wh", None, verbs, "pppaaam", 0.0, time, None, 0.0, 0.0)
    key = draw.key()
    english = shaped("(SBARQ (WHADVP WRB) _)", [(kind, key)], english_question(clause))
    return close(english, german_main(clause, front=[(_WHEN[kind], key)]), "?")


def _who(draw: Draw) -> Pair:
    key = draw.key()
    subject = NounPhrase(shaped("(WHNP WP)", [("who", key)]), 2, "m")
    subject.fixed = ([("wer", key)],)
    clause = any_clause(draw, "wh", subject)
    english = constituent("SBARQ", [*subject.english, *constituent("SQ", english_predicate(clause))])
    return close(english, german_main(clause), "?")


def _object_question(draw: Draw, english: str, german: str) -> Pair:
    if english == "what":
        verbs = tuple(v for v in ACCUSATIVE_THINGS if THINGS & set(v.objects) and "person" not in v.objects)
    else:
        verbs = _WHOM_VERBS
    clause = draw_clause(draw, "wh", None, verbs, "pppaaam", 0.0, objects=False)
    wen = german or ("wem" if clause.verb.frame == "dat" else "wen")
    key = draw.key()
    asked = shaped("(SBARQ (WHNP WP) _)", [(english, key)], english_question(clause))
    return close(asked, german_main(clause, front=[(wen, key)]), "?")


_WHOM_VERBS = tuple(
    v for v in HUMAN_VERBS
    if v.frame in ("acc", "dat") and "person" in v.objects
    and (v.base, v.particle) not in (("bring", "along"), ("bring", "back"), ("look", "at"))
)  # fmt: skip


def _how_many(draw: Draw) -> Pair:
    """'How many apples does Tom buy?' The noun stands with its question word, away from its verb."""
    verbs = tuple(v for v in ACCUSATIVE_THINGS if v.base in ("buy", "sell", "find", "see", "need", "eat"))
    clause = draw_clause(draw, "wh", None, verbs, "pppaaam", 0.0, objects=False)
    kinds = tuple(k for k in clause.verb.objects if k not in ("drink", "person", "family", "room", "outdoor", "spot"))
    phrase = noun_phrase(draw, kinds, ("",), adjective=0.3)
    many, how = draw.key(), draw.key()
    asked = shaped("(WHNP (WHADJP WRB JJ) _)", [("how", how), ("many", many)], inside(phrase.english))
    english = constituent("SBARQ", [*asked, *english_question(clause)])
    front = [("wie", how), ("viele", many), *phrase.german(m.ACCUSATIVE)]
    return close(english, german_main(clause, front=front), "?")


# You


def _address(draw: Draw) -> tuple[NounPhrase, str]:
    """Whom one speaks to decides between du, Sie and ihr."""
    roll = draw.random()
    if roll < 0.4:
        return first_name(draw), "you"
    if roll < 0.8:
        return titled_name(draw), "formal you"
    return two_names(draw), "plural you"


def address(draw: Draw) -> Pair:
    """'Mr. Braun, can you open the door?' The name decides how German says *you* and *your*."""
    draw.scope = "address"
    called, you = _address(draw)
    draw.note({"you": "du", "formal you": "Sie", "plural you": "ihr"}[you])
    your = you.replace("you", "your")
    opening = ([*called.english, word(",", COMMA, ",")], [*called.german(0), (",", COMMA)])
    if draw.chance(0.35):
        english, german = _imperative(draw, you, your, opening[0])
        mark = "!"
    else:
        clause = _your_clause(draw, pronoun(draw, you), your, "pppaamm")
        if draw.chance(0.6):
            english, german, mark = english_question(clause, opening[0]), german_question(clause), "?"
        else:
            english, german, mark = english_statement(clause, front=opening[0]), german_main(clause), "."
    return close(english, [*opening[1], *german], mark)


def _your_clause(draw: Draw, subject: NounPhrase, your: str, tenses: str) -> Clause:
    dets = ("the", "the", "a", your, your, "this")
    return draw_clause(draw, "address", subject, _COMMANDS, tenses, 0.0, 0.3, dets)


_COMMANDS = tuple(v for v in HUMAN_VERBS if v.base not in (
    "like", "love", "know", "have", "need", "lose", "see", "hear", "find", "arrive", "fall", "run", "cry", "understand",
    "meet", "go", "come", "laugh", "trust"))  # fmt: skip


def _imperative(draw: Draw, you: str, your: str, called: list[Token]) -> Pair:
    draw.scope = "imperative"
    draw.note("imperative")
    subject = pronoun(draw, you)
    dets = ("the", "the", "a", your, "this")
    clause = draw_clause(draw, "imperative", subject, _COMMANDS, "p", 0.0, 0.0, dets, frequency=0.0)
    please, entry, key = draw.key(), clause.verb, clause.keys[0]
    predicate = english_verb_phrase([word(entry.base, key, "VB")], english_objects(clause))
    english = constituent("S", [*called, *shaped("(INTJ UH)", [("please", please)]), *predicate])
    if you == "you":
        verb = [(entry.imperative, key)]
    elif you == "plural you":
        verb = [(entry.present[4], key)]
    else:
        verb = [(entry.present[5], key), ("Sie", 0)]
    end = [(entry.prefix, key)] if entry.prefix else []
    return english, [*verb, ("bitte", please), *german_middle(clause), *end]


def numbers(draw: Draw) -> Pair:
    """Prices, counts and ages: number words turn round in German, digits are copied."""
    draw.scope = "main"
    draw.note("number")
    roll = draw.random()
    key, other = draw.key(), draw.key()
    if draw.chance(0.5):
        count, zahl = m.number_words(2 + int(draw.random() * 98))
    else:
        count = zahl = str(2 + int(draw.random() * 998))
    if roll < 0.45:
        draw.note("price")
        kinds = ("flat", "standing", "bag", "device", "furniture", "clothes", "bulb")
        subject = noun_phrase(draw, kinds, ("the", "the", "this", "my"), owners=0.15)
        verb = draw.key()
        cost, tag = ("costs", "VBZ") if subject.third else ("cost", "VBP")
        price = shaped(f"(VP {tag} (NP CD NNS))", [(cost, verb), (count, key), ("euros", other)])
        english = constituent("S", [*subject.english, *price])
        kostet = "kostet" if subject.third else "kosten"
        return close(english, [*subject.german(0), (kostet, verb), (zahl, key), ("Euro", other)], ".")
    owners, things, most = draw.pick(_HOLDINGS)
    if count.isdigit():
        count = zahl = str(2 + int(draw.random() * most))
    subject = noun_phrase(draw, (), ("the", "the", "this", "our"), 0.0, 0.2, noun=NOUN[draw.pick(owners)])
    held = noun_phrase(draw, (), ("",), adjective=0.3, noun=NOUN[draw.pick(things)])
    verb = draw.key()
    has = shaped("(VP VBZ (NP CD _))", [("has", verb), (count, key)], inside(held.english))
    english = constituent("S", [*subject.english, *has])
    return close(english, [*subject.german(0), ("hat", verb), (zahl, key), *held.german(m.ACCUSATIVE)], ".")


_HOLDINGS = tuple((owners.split(), things.split(), most) for owners, things, most in (
    ("library shop school museum", "book map newspaper picture clock", 998),
    ("park garden forest village city", "tree rose flower", 998),
    ("house castle hotel school hospital office", "room door window chair table bed lamp", 300),
    ("farmer neighbour baker king uncle", "cow horse goat hen pig rabbit", 120),
    ("girl student boy princess waitress woman queen", "dress shoe coin ring hat apple flower letter", 90),
))  # fmt: skip
