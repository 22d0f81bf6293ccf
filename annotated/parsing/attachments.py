"""Attachments that only meaning decides: 'eats the soup with the spoon', 'eats the soup with the carrots'.

A prepositional phrase after an object says something of the verb or of the object. Both sentences above have the same
words in the same places, of the same parts of speech; who knows what a spoon is for knows which is which. The nouns
alone do not tell either: the knife belongs to the verb in 'opens the box with the knife', to the box in 'sells the box
with the knife'. What tells is verb, preposition and noun together, a *combination*.

These sentences are of the treebank alone: `classroom_pairs` has none, because German would attach alike.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

from annotated.classroom.adverbs import draw_time
from annotated.classroom.clauses import english_verb_phrase
from annotated.classroom.constituents import Token, Word, brackets, constituent, extended, shaped, word
from annotated.classroom.drawing import draw_subject
from annotated.classroom.phrases import FINAL_MARK, Draw, article

HELD_OUT_SHARE = 5
"""One combination in so many is never trained on."""
_ADJECTIVES = "old new small big beautiful".split()
_DETERMINERS = (("the", "DT"),) * 4 + (("a", "DT"),) * 2 + (("my", "PRP$"), ("her", "PRP$"), ("this", "DT"))

_VERBS = """
eat eats ate | cut cuts cut | open opens opened | repair repairs repaired | wash washes washed | paint paints painted
write writes wrote | read reads read | watch watches watched | buy buys bought | sell sells sold | like likes liked
need needs needed | find finds found | hide hides hid | leave leaves left | take takes took | fetch fetches fetched
remember remembers remembered | break breaks broke
"""
_PLURALS = {"knife": "knives", "brush": "brushes", "cherry": "cherries", "potato": "potatoes", "tomato": "tomatoes",
            "box": "boxes", "watch": "watches", "glass": "glasses", "story": "stories", "man": "men",
            "woman": "women"}  # fmt: skip
_THINGS = "chair lamp clock bicycle cup plate"
_ON_PAPER = "letter book newspaper"
_BOXES = "box suitcase basket parcel"
_ROOMS, _BOXED = "kitchen garden library office hotel", "cupboard bag box basket drawer"

_TABLE = f"""
eat with VP | soup cake potato egg | spoon fork knife
eat with NP | soup cake salad | carrot cherry tomato nut
cut with VP | cake apple sausage tomato | knife fork
cut with NP | cake salad sausage | cherry nut tomato
open with VP | {_BOXES} door | key knife hammer
open with NP | {_BOXES} | letter coin spoon hat shoe
repair with VP | {_THINGS} door | hammer knife tool
repair with NP | chair lamp clock bicycle door | wheel handle mirror
wash with VP | {_THINGS} door window | brush sponge towel
wash with NP | chair lamp bicycle door cup | wheel handle mirror
paint with VP | {_THINGS} door wall | brush sponge
paint with NP | chair lamp bicycle door | wheel handle mirror
break with VP | {_THINGS} window vase | hammer tool key
break with NP | chair lamp cup clock | handle mirror wheel
write with VP | letter story book | pen pencil
watch with VP | bird ship lion | telescope camera
watch with NP | man girl woman boy | hat dog umbrella scarf
remember with NP | man girl woman boy | hat dog umbrella scarf telescope camera
like with NP | man girl woman boy | hat dog umbrella scarf camera
buy with NP | {_BOXES} | key knife hammer letter spoon shoe tool brush
sell with NP | {_BOXES} | key knife hammer coin fork hat brush pen
find with NP | {_BOXES} | key knife letter coin hat pencil towel
like with NP | soup cake salad | carrot cherry tomato nut
sell with NP | soup cake salad | carrot cherry nut
buy with NP | chair lamp clock bicycle door | wheel handle mirror
repair in VP | {_THINGS} | {_ROOMS}
paint in VP | {_THINGS} | {_ROOMS}
read in VP | {_ON_PAPER} | {_ROOMS}
write in VP | letter story | {_ROOMS}
eat in VP | soup cake egg | {_ROOMS}
hide in VP | cup plate letter book key coin | {_ROOMS} {_BOXED}
leave in VP | cup plate letter book key coin | {_ROOMS} {_BOXED}
like in NP | {_THINGS} | {_ROOMS}
need in NP | cup plate letter book key coin | {_ROOMS} {_BOXED}
remember in NP | {_THINGS} | {_ROOMS}
eat in NP | cake egg apple | {_BOXED}
read in NP | {_ON_PAPER} | {_BOXED}
wash in NP | cup plate glass | {_BOXED}
repair in NP | clock lamp watch | {_BOXED}
take from VP | cup plate letter book key | {_ROOMS} {_BOXED}
fetch from VP | cup plate letter book key | {_ROOMS} {_BOXED}
like from NP | letter book cup clock | {_ROOMS} king aunt doctor teacher
read from NP | {_ON_PAPER} | {_ROOMS} king aunt doctor teacher
open from NP | letter parcel | {_ROOMS} king aunt doctor teacher
need from NP | letter book cup | {_ROOMS} king aunt doctor teacher
"""


class Combination(NamedTuple):
    """What decides: the verb's base form, the preposition, the noun behind it, and where that phrase attaches."""

    verb: str
    preposition: str
    noun: str
    attachment: str
    """'VP' or 'NP'."""


_FORMS = {forms.split()[0]: forms.split() for line in _VERBS.strip().splitlines() for forms in line.split("|")}


def _read_table() -> dict[Combination, tuple[str, ...]]:
    found: dict[Combination, tuple[str, ...]] = {}
    for line in _TABLE.strip().splitlines():
        head, objects, nouns = (part.split() for part in line.split("|"))
        for noun in nouns:
            one = Combination(head[0], head[1], noun, head[2])
            found[one] = (*found.get(one, ()), *(name for name in objects if name != noun))
    return found


COMBINATIONS = _read_table()
"""Every combination, and the objects that it is said of."""


def _held_out() -> frozenset[Combination]:
    """Every fifth combination of each verb and preposition that has at least two of the same attachment."""
    groups: dict[tuple[str, str, str], list[Combination]] = {}
    for one in COMBINATIONS:
        groups.setdefault((one.verb, one.preposition, one.attachment), []).append(one)
    rows = (group for group in groups.values() if len(group) > 1)
    return frozenset(one for start, row in enumerate(rows) for one in row[start % HELD_OUT_SHARE :: HELD_OUT_SHARE])


HELD_OUT_COMBINATIONS = _held_out()
"""Those that no training, validation or test sentence has; their verbs and nouns occur there in other ones."""


def attachment_sentences(held_out: bool, seed: str) -> Iterator[tuple[str, Combination]]:
    """Sentences without end, as Penn brackets, each with its combination; the same seed gives the same ones.

    Parameters
    ----------
    held_out
        Only combinations of `HELD_OUT_COMBINATIONS`, or only others.
    seed
        Of the random draws.
    """
    draw = Draw(random.Random(f"attachments {seed}").random)
    kinds = [[one for one in COMBINATIONS if one.attachment == kind and (one in HELD_OUT_COMBINATIONS) == held_out]
             for kind in ("VP", "NP")]  # fmt: skip
    while True:
        one = draw.pick(draw.pick(kinds))
        tokens = _sentence(draw, one)
        words = [text for text, _ in tokens]
        words[0] = words[0][0].upper() + words[0][1:]
        yield brackets(tokens, words), one


def _sentence(draw: Draw, one: Combination) -> list[Token]:
    subject = draw_subject(draw, ("person", "family"))
    thing = _noun_phrase(draw, draw.pick(COMBINATIONS[one]))
    phrase = shaped("(PP IN _)", [(one.preposition, 0)], _noun_phrase(draw, one.noun))
    tense = draw.pick("pppaaf")
    verbs = _verbs(one.verb, tense, subject.third)
    behind = [*thing, *phrase] if one.attachment == "VP" else constituent("NP", [*thing, *phrase])
    if draw.chance(0.2):
        behind += draw_time(draw, {"p": "present", "a": "past", "f": "future"}[tense])[0]
    clause = constituent("S", [*subject.english, *english_verb_phrase(verbs, behind)])
    return extended(clause, [word(".", FINAL_MARK, ".")])


def _verbs(base: str, tense: str, third: bool) -> list[Word]:
    _, present, past = _FORMS[base]
    if tense == "f":
        return [word("will", 0, "MD"), word(base, 0, "VB")]
    if tense == "a":
        return [word(past, 0, "VBD")]
    return [word(present, 0, "VBZ") if third else word(base, 0, "VBP")]


def _noun_phrase(draw: Draw, noun: str) -> list[Token]:
    """With a determiner, perhaps an adjective, one time in three in the plural."""
    many = draw.chance(0.3)
    first, tag = draw.pick(_DETERMINERS)
    tokens = [word(_PLURALS.get(noun, noun + "s"), 0, "NNS") if many else word(noun, 0, "NN")]
    if draw.chance(0.25):
        tokens.insert(0, word(draw.pick(_ADJECTIVES), 0, "JJ"))
    if many and first in ("a", "this"):
        first = "the"
    return constituent("NP", [word(article(tokens[0][0]) if first == "a" else first, 0, tag), *tokens])
