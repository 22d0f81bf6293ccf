"""Subjects, tenses, times and places of a clause, drawn so that they go together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from annotated.classroom.phrases import Draw
from annotated.classroom.wide import clauses as c
from annotated.classroom.wide.nominals import Phrase, coordinated, noun_phrase, owned, person_name, pronoun, titled
from annotated.classroom.wide.verb_phrases import PEOPLE, Pattern, needs_noun, patterns_for

PRONOUNS = ("I",) * 8 + ("you",) * 5 + ("he",) * 3 + ("she",) * 3 + ("we",) * 3 + ("they",) * 3
TENSES = {
    "present": 30, "progressive": 9, "past": 18, "perfect": 7, "will": 6, "going to": 5, "can": 6, "must": 2,
    "should": 3, "want to": 5, "have to": 5, "would like to": 4, "need to": 3, "could": 2, "would": 2, "wanted to": 2,
    "had to": 2, "may": 1, "might": 1, "past progressive": 2, "past perfect": 1, "like to": 1, "love to": 1,
    "used to": 1, "would have": 1, "perfect progressive": 1, "be allowed to": 1, "be able to": 1,
}  # fmt: skip
STATES = frozenset(("present", "past", "perfect", "will", "going to", "would", "can", "past perfect", "used to",
                    "would have", "must", "could", "should", "might", "want to"))  # fmt: skip
TIMES = {
    **dict.fromkeys(("past", "past progressive", "had to", "wanted to", "could"), "past"),
    **dict.fromkeys(("will", "going to", "must", "should", "have to", "want to", "would like to", "need to", "can"),
                    "future"),
    "present": "habit", "progressive": "now", "perfect": "", "like to": "habit", "love to": "habit",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a frame asks of a clause."""

    subjects: tuple[str, ...] = ()
    """Pronouns; none for any subject."""
    tenses: tuple[str, ...] = ()
    negated: float = 0.14
    time: float = 0.3
    kinds: tuple[str, ...] = ()
    """For `patterns_for`."""
    groups: tuple[str, ...] = ()
    gap: bool = False
    adverbs: float = 1.0
    comments: bool = True
    """Whether 'of course', 'unfortunately' may stand in it: not in what is asked or supposed."""


def draw_subject(draw: Draw, classes: Sequence[str]) -> Phrase:
    """Someone or something of these classes; 'other' is neither I nor you nor we."""
    if classes[0] == "it":
        return pronoun(draw, "it")
    if classes[0] == "other":
        subject = draw_subject(draw, ("person",))
        while subject.pronoun in ("I", "you", "we") or subject.person == 3:
            subject = draw_subject(draw, ("person",))
        return subject
    if not PEOPLE & set(classes):
        roll = draw.random()
        if roll < 0.15 and classes[0] not in ("weather", "time"):
            return pronoun(draw, draw.pick(("it", "it", "they")))
        if roll < 0.22:
            return owned(draw, classes)
        return noun_phrase(draw, classes, ("the", "the", "the", "my", "this", "that", "my"), plural=0.2)
    roll = draw.random()
    if roll < 0.62:
        return pronoun(draw, draw.pick(PRONOUNS))
    if roll < 0.74:
        return person_name(draw)
    if roll < 0.77:
        return titled(draw)
    if roll < 0.8:
        return _two(draw)
    if roll < 0.92:
        return noun_phrase(draw, ("family",), ("my", "my", "my"), adjective=0.0, plural=0.18)
    return noun_phrase(draw, ("person", "person", "job"), ("the", "the", "the", "a", "this", "my", "many"), plural=0.25)


def _two(draw: Draw) -> Phrase:
    first = draw.pick(
        (person_name, person_name, lambda d: noun_phrase(d, ("family",), ("my",), adjective=0, plural=0))
    )(draw)
    if draw.chance(0.3):
        both = coordinated(draw, first, pronoun(draw, "I"))
        both.person = 3
        return both
    return coordinated(draw, first, person_name(draw))


def draw_pattern(draw: Draw, wishes: Wishes) -> Pattern:
    """A verb phrase that a frame can use; a rare one is drawn once in four times."""
    options = patterns_for(*wishes.kinds)
    if wishes.groups:
        options = tuple(p for p in options if p.group in wishes.groups)
    pattern = draw.pick(options)
    while "rare" in pattern.options and draw.chance(0.75):
        pattern = draw.pick(options)
    return pattern


_BAG = tuple(name for name, weight in TENSES.items() for _ in range(weight))


def draw_tense(draw: Draw, pattern: Pattern, wishes: Wishes, subject: Phrase) -> str:
    """One that the verb phrase takes."""
    if wishes.tenses:
        return draw.pick(wishes.tenses)
    tense = draw.pick(_BAG)
    things = not PEOPLE & set(pattern.subjects)
    if pattern.subjects == ("it",) and "state" not in pattern.options:
        return draw.pick(("present", "progressive", "progressive", "past", "will", "will", "going to", "perfect"))
    while ("state" in pattern.options and tense not in STATES) or (
        things and tense not in ("present", "past", "perfect", "will", "going to", "can", "progressive", "should")
    ):
        tense = draw.pick(_BAG)
    if tense == "perfect progressive" and not pattern.lasting:
        return "present"
    if "state" in pattern.options and tense in ("can", "want to") and draw.chance(0.8):
        return "present"
    if pattern.verb.base == "need" and tense in ("must", "can", "could", "should", "might", "want to"):
        return "present"  # not: sie müssen eine Brille brauchen
    return tense


def _misfits(pattern: Pattern, subject: Phrase) -> bool:
    """*We live together* is of several, *she is an only child* of one."""
    several = subject.person in (3, 4, 5) and subject.pronoun != "formal you"
    return ("singular" if several else "plural") in pattern.options


def draw_clause(
    draw: Draw, wishes: Wishes, subject: Phrase | None = None, pattern: Pattern | None = None
) -> c.WideClause:
    """A clause as a frame wishes it."""
    pattern = pattern or draw_pattern(draw, wishes)
    if subject is None:
        if wishes.subjects:
            name = draw.pick(wishes.subjects)
            subject = draw_subject(draw, ("person",)) if name == "any" else pronoun(draw, name.replace("_", " "))
        else:
            subject = draw_subject(draw, pattern.subjects)
            while subject.pronoun and needs_noun(pattern):
                subject = draw_subject(draw, pattern.subjects)
    while _misfits(pattern, subject):
        pattern = draw_pattern(draw, wishes)
    tense = draw_tense(draw, pattern, wishes, subject)
    negated = draw.chance(wishes.negated) and "no-neg" not in pattern.options
    if tense in ("might", "used to", "may", "would have") or (tense == "going to" and draw.chance(0.7)):
        negated = False
    gap = ""
    if wishes.gap:
        gap = pattern.asked.name if pattern.asked else pattern.direct
    clause = c.make(draw, subject, pattern, tense, negated, gap)
    _adverbials(draw, clause, wishes)
    return clause


_MORE, _EITHER, _YET = ("any more", "", "mehr"), ("either", "auch", ""), ("yet", "noch", "")
LATE = {
    "present": (_MORE, ("anymore", "", "mehr"), _EITHER, _YET), "can": (_MORE, _EITHER, _YET),
    "perfect": (_YET, _EITHER), "want to": (_MORE, _EITHER, _YET), "past": (_EITHER, _MORE), "will": (_EITHER, _MORE),
}  # fmt: skip
"""What ends a negated English clause -> German before and after *nicht*."""


def _with_oneself(clause: c.WideClause, adverbial: c.Both | None) -> bool:
    """*I wait with me*: the subject would be its own company."""
    if not adverbial:
        return False
    if clause.subject.pronoun.endswith("you"):
        return adverbial[0][-1][0] == "you"
    first = clause.subject.pronoun in ("I", "we") or clause.subject.person == 3
    return first and adverbial[0][-1][0] in ("me", "us")


def _adverbials(draw: Draw, clause: c.WideClause, wishes: Wishes) -> None:
    """Time, place, manner, and words in the middle."""
    tense, options = clause.tense, clause.phrase.pattern.options
    state = "state" in options
    if tense == "perfect progressive":
        clause.time = c.adverbial(draw, "since")
        return
    group = "future" if tense == "could" and not clause.negated else TIMES.get(tense, "")
    if group and draw.chance(wishes.time) and not (state and group != "past") and "no-time" not in options:
        clause.time = c.adverbial(draw, "any" if draw.chance(0.25) else group)
        first = clause.time[1][0][0]
        again = clause.negated and first in ("wieder", "noch")  # *wieder nicht* is once more not
        if again or (clause.kein and first in c.FREQUENT):
            clause.time = None
        until = clause.time and clause.time[0][0][0] == "until"  # *buy it until Monday* is by Monday
        if (until and (clause.negated or not clause.phrase.pattern.lasting)) or _with_oneself(clause, clause.time):
            clause.time = None
    if "place" in options and draw.chance(0.22 * wishes.adverbs):
        clause.place = c.adverbial(draw, "place")
        if _with_oneself(clause, clause.place):
            clause.place = None
    elif "manner" in options and not clause.negated and draw.chance(0.22 * wishes.adverbs):
        clause.manner = c.adverbial(draw, "manner")
    if clause.negated and clause.time is None and tense in LATE and draw.chance(0.22 * wishes.adverbs):
        late, before, after = draw.pick(LATE[tense])
        key = clause.keys[1]
        clause.late = [(word, key) for word in late.split()]
        clause.around = ([(w, key) for w in before.split()], [(w, key) for w in after.split()])
        return
    middle = 0.13 * wishes.adverbs
    if tense == "used to":
        clause.middle = ([], [("früher", clause.keys[0])])
    elif tense in ("like to", "love to"):
        english, german = clause.manner or ([], [])
        gern = [(word, clause.keys[0]) for word in (["gern"] if tense == "like to" else ["sehr", "gern"])]
        clause.manner = (english, [*gern, *german])
    elif tense == "progressive" and clause.time is None and draw.chance(0.15 * min(1.0, 2 * wishes.adverbs)):
        clause.middle = ([("just", clause.keys[0])] if draw.chance(0.3) else [], [("gerade", clause.keys[0])])
    elif tense == "present" and not state and clause.time is None and not clause.kein and draw.chance(middle * 2):
        clause.middle = c.adverbial(draw, "not often" if clause.negated else "often")
    elif tense == "perfect" and not clause.negated and draw.chance(0.4):
        clause.middle = c.adverbial(draw, "already")
    elif draw.chance(middle) and not clause.negated:
        comment = wishes.comments and draw.chance(0.5)
        clause.middle = c.adverbial(draw, "comment" if comment else "middle")
    if clause.middle and clause.time is None and [w for w, _ in clause.middle[0]] == ["also"] and draw.chance(0.5):
        clause.late = [("too", clause.middle[0][0][1])]
        clause.middle = ([], clause.middle[1])
