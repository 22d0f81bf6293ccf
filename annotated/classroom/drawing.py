"""Drawing of a clause at random: verb, subject, objects, tense, negation, time and place that fit together."""

from __future__ import annotations

from collections.abc import Sequence

from annotated.classroom import morphology as m
from annotated.classroom import words
from annotated.classroom.adverbs import draw_time
from annotated.classroom.clauses import PAST_MODALS, PRESENT_MODALS, Clause, Complement, settle_negation
from annotated.classroom.lexicon import VERBS, Verb
from annotated.classroom.names import first_name, pronoun, titled_name, two_names
from annotated.classroom.phrases import Draw, NounPhrase, english_prepositional, noun_phrase, place_phrase

_PLACED = frozenset("sleep work dance sing wait play meet see find lose read look speak talk".split())
_NUMBERED = frozenset("buy sell find see need have plant".split())
_DEFINITE_OBJECT = frozenset("like love know understand answer trust".split())
_UNMARKED_PAST = frozenset(("put", "read"))
"""English verbs whose past looks like the present: 'they read' would have two translations."""
_INVOLUNTARY = frozenset("hear see lose find fall run".split())
"""Nobody must or should do these: of the modals they take only *can*."""
STATIVE = frozenset("like love know have need understand trust".split())

SUBJECT_DETERMINERS = ("the", "the", "the", "the", "a", "my", "this", "every")
DEFINITE = ("the", "the", "the", "my", "this")
OBJECT_DETERMINERS = ("the", "the", "the", "a", "a", "a", "my", "", "this")


def draw_subject(draw: Draw, kinds: Sequence[str], negated: bool = False, adjective: float = 0.3) -> NounPhrase:
    """Someone who can do it."""
    people = tuple(k for k in kinds if k != "animal")
    animal = "animal" in kinds and (not people or draw.chance(0.45))
    if not animal:
        roll = draw.random()
        if roll < 0.18:
            return first_name(draw)
        if roll < 0.25:
            return titled_name(draw)
        if roll < 0.31:
            return two_names(draw)
        if roll < 0.46:
            asking = draw.scope in ("question", "wh")
            return pronoun(draw, draw.pick(("he", "she", "they") if asking else ("I", "he", "she", "we", "they")))
    determiners = DEFINITE if negated else SUBJECT_DETERMINERS
    return noun_phrase(draw, ("animal",) if animal else people, determiners, 0.25, adjective, owners=0.1)


def draw_object(draw: Draw, kinds: Sequence[str], subject: NounPhrase, determiners: Sequence[str]) -> NounPhrase:
    """Something or someone it is done to: a noun, and for people also a name or a pronoun."""
    kind = draw.pick(kinds)
    if kind in ("person", "family"):
        roll = draw.random()
        if roll < 0.16:
            return pronoun(draw, draw.pick(("he", "she", "they")), subject=False)
        if roll < 0.22 and not subject.pronoun:
            return pronoun(draw, draw.pick(("I", "we")), subject=False)
        if roll < 0.34:
            return other_name(draw, subject)
        if roll < 0.42:
            return titled_name(draw)
    return noun_phrase(draw, (kind,), determiners, plural=0.25, owners=0.12)


def other_name(draw: Draw, subject: NounPhrase) -> NounPhrase:
    """A first name that is not the subject's."""
    taken = {word for word, _ in subject.english}
    name = first_name(draw)
    while name.english[0][0] in taken:
        name = first_name(draw)
    return name


def draw_tense(draw: Draw, verb: Verb, subject: NounPhrase, tenses: str) -> str:
    """'present', 'past', 'future' or a modal, from a string of p, a, f, m and M (modals in the past only)."""
    letter = draw.pick(tenses)
    if letter == "a" and verb.base in _UNMARKED_PAST and not subject.third:
        letter = "p"
    if letter in "mMf" and verb.base in STATIVE:
        letter = "p" if letter != "M" else "a"
    if letter in "mM":
        draw.note("modal")
        past = letter == "M" or (draw.chance(0.25) and "a" in tenses)
        if verb.base in _INVOLUNTARY:
            return "could" if past else "can"
        return draw.pick(PAST_MODALS if past else PRESENT_MODALS)
    tense = {"p": "present", "a": "past", "f": "future"}[letter]
    if tense == "past" and verb.preterite is None and verb.base != "be":
        draw.note("perfect")
        draw.note(f"perfect-{verb.auxiliary}")
    else:
        draw.note("preterite" if tense == "past" else tense)
    return tense


def _object_determiners(verb: Verb, kind: str, negated: bool) -> Sequence[str]:
    if verb.base in _DEFINITE_OBJECT:
        bare = ("", "") if kind in ("fruit", "food", "animal", "flower", "drink") and verb.base == "like" else ()
        return (*DEFINITE, *bare)
    if verb.base in _NUMBERED and not negated:
        return (*OBJECT_DETERMINERS, "3")
    return OBJECT_DETERMINERS


def add_objects(draw: Draw, clause: Clause, determiners: Sequence[str] | None = None) -> None:
    """Fill the verb's frame."""
    verb, subject = clause.verb, clause.subject
    if not verb.frame:
        return
    kind = draw.pick(verb.objects)
    chosen = determiners or _object_determiners(verb, kind, clause.negated)
    if ":" in verb.frame:
        german, english, case = verb.frame.split(":")
        draw.note("prepositional-object")
        key, phrase = draw.key(), draw_object(draw, (kind,), subject, chosen)
        place = Complement(
            english_prepositional(english, key, phrase.english), phrase, m.DATIVE if case == "dat" else m.ACCUSATIVE
        )
        place.preposition, place.late = (german, key), True
        clause.complements.append(place)
        return
    if verb.frame == "acc":
        phrase = draw_object(draw, (kind,), subject, chosen)
        clause.complements.append(Complement(list(phrase.english), phrase))
        return
    draw.note("dative")
    dative = draw_object(draw, (kind,), subject, DEFINITE if clause.negated else chosen)
    clause.complements.append(Complement(list(dative.english), dative, m.DATIVE))
    if verb.frame == "dat+acc":
        draw.note("ditransitive")
        # 'gives her keys' could be ihr Schlüssel or ihre Schlüssel: after a pronoun the theme has an article.
        shown = ("the", "a", "this") if dative.pronoun else determiners or OBJECT_DETERMINERS
        theme = noun_phrase(draw, verb.themes, shown, owners=0.1)
        clause.complements.append(Complement(list(theme.english), theme))
        if not dative.pronoun and draw.chance(0.4):
            clause.to_dative = dative_key(draw, clause)


def dative_key(draw: Draw, clause: Clause) -> int:
    """The key of 'to' in 'gives the apple to the child': it goes with the German article, if there is one."""
    phrase = clause.complements[0].phrase
    return phrase.keys[0] if phrase is not None and phrase.noun is not None else draw.key()


def add_place(draw: Draw, clause: Clause) -> None:
    noun = clause.subject.noun
    english, german = place_phrase(draw, outdoors=noun is not None and noun.kind == "animal")
    clause.complements.append(Complement(english, tokens=german, late=True))


def draw_clause(
    draw: Draw,
    scope: str,
    subject: NounPhrase | None = None,
    verbs: Sequence[Verb] = VERBS,
    tenses: str = "pppaaammf",
    negation: float = 0.2,
    time: float = 0.35,
    determiners: Sequence[str] | None = None,
    place: float = 0.35,
    frequency: float = 0.15,
    objects: bool = True,
) -> Clause:
    """A clause about something plausible; `scope` names the kind of clause in the features that are noted.

    `tenses` is for `draw_tense`; `negation`, `time`, `place` and `frequency` are probabilities; without `objects`
    the verb's frame stays empty, for a question word or a relative pronoun to fill.
    """
    draw.scope = scope
    verb = draw.pick(verbs)
    negated = negation > 0 and draw.chance(negation)
    subject = subject or draw_subject(draw, verb.subjects, negated)
    tense = draw_tense(draw, verb, subject, tenses)
    clause = Clause(subject, verb, (draw.key(), draw.key(), draw.key()), tense, negated)
    if verb.prefix:
        draw.note("separable")
    if objects:
        add_objects(draw, clause, determiners)
    if verb.base in _PLACED and verb.frame in ("", "acc") and place and draw.chance(place):
        add_place(draw, clause)
    finish_clause(draw, clause, time, frequency)
    return clause


def finish_clause(draw: Draw, clause: Clause, time: float, frequency: float) -> None:
    """Time, frequency and negation, once the objects are there."""
    if draw.chance(time) and not (clause.verb.base in STATIVE and clause.tense != "past"):
        clause.time = draw_time(draw, clause.tense)
        while clause.negated and clause.time[0][0][0] == "every":
            clause.time = draw_time(draw, clause.tense)
    elif clause.negated or clause.tense not in ("present", "past") or clause.verb.base in STATIVE:
        pass
    elif draw.chance(frequency):
        key = draw.key()
        english, german = draw.pick(words.FREQUENCY)
        clause.frequency = ((english, key), (german, key))
        draw.note("frequency")
    if clause.negated:
        draw.note("negation")
        settle_negation(clause)
        draw.note("kein" if clause.kein else "nicht")
