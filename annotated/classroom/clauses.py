"""Clauses in both languages: the content is decided once, the word order by where the clause stands."""

from __future__ import annotations

from dataclasses import dataclass, field

from annotated.classroom import morphology as m
from annotated.classroom.lexicon import HABEN, SEIN, WAR, WERDEN, Verb
from annotated.classroom.phrases import NounPhrase, Token, prepositional


@dataclass(frozen=True, slots=True)
class Modal:
    """A modal verb: English forms (third person, others), whether *do* supports it, and the German forms."""

    english: tuple[str, str]
    to: bool
    german: tuple[str, ...]
    negative: tuple[str, ...] = ()
    past: bool = False

    @property
    def base(self) -> str:
        return self.english[1] if not self.past else {"wanted": "want", "had": "have"}.get(self.english[1], "")


def _forms(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_DARF = _forms("darf darfst darf dürfen dürft dürfen")
MODALS: dict[str, Modal] = {
    "can": Modal(("can", "can"), False, _forms("kann kannst kann können könnt können")),
    "must": Modal(("must", "must"), False, _forms("muss musst muss müssen müsst müssen"), negative=_DARF),
    "should": Modal(("should", "should"), False, _forms("soll sollst soll sollen sollt sollen")),
    "may": Modal(("may", "may"), False, _DARF),
    "want": Modal(("wants", "want"), True, _forms("will willst will wollen wollt wollen")),
    "have to": Modal(("has", "have"), True, _forms("muss musst muss müssen müsst müssen")),
    "could": Modal(("could", "could"), False, m.preterite("konnte"), past=True),
    "wanted": Modal(("wanted", "wanted"), True, m.preterite("wollte"), past=True),
    "had to": Modal(("had", "had"), True, m.preterite("musste"), past=True),
}
PRESENT_MODALS = ("can", "must", "should", "may", "want", "have to")
PAST_MODALS = ("could", "wanted", "had to")


@dataclass(slots=True)
class Complement:
    """An object, a prepositional object, a place or a predicate; `late` ones follow *nicht*."""

    english: list[Token]
    phrase: NounPhrase | None = None
    case: int = m.ACCUSATIVE
    preposition: tuple[str, int] | None = None
    tokens: list[Token] = field(default_factory=list)
    late: bool = False

    def german(self) -> list[Token]:
        if self.phrase is None:
            return self.tokens
        if self.preposition:
            return prepositional(*self.preposition, self.phrase, self.case)
        return self.phrase.german(self.case)


@dataclass(slots=True)
class Clause:
    """Who does what to whom, when and where; see `english_statement`, `german_main` and their neighbours.

    `tense` is 'present', 'past', 'future' or the name of a modal verb. The keys of the verb, its auxiliary and the
    negation are bits of the alignment masks.
    """

    subject: NounPhrase
    verb: Verb
    keys: tuple[int, int, int]
    tense: str = "present"
    negated: bool = False
    complements: list[Complement] = field(default_factory=list)
    time: tuple[list[Token], list[Token]] | None = None
    frequency: tuple[Token, Token] | None = None
    to_dative: int = 0
    kein: bool = False

    @property
    def modal(self) -> Modal | None:
        return MODALS.get(self.tense)


def settle_negation(clause: Clause) -> None:
    """Decide between kein and nicht: kein takes the place of the indefinite article of the direct object."""
    if clause.negated:
        for c in clause.complements:
            if c.phrase and not c.preposition and c.case == m.ACCUSATIVE and not c.phrase.definite:
                clause.kein = c.phrase.negate(clause.keys[2])


# English


def _english_be(clause: Clause) -> tuple[list[Token], list[Token]]:
    verb, auxiliary, negation = clause.keys
    not_ = [("not", negation)] if clause.negated else []
    if clause.tense == "future":
        return [("will", auxiliary)], [*not_, ("be", verb)]
    singular = clause.subject.person
    present = ("am", "are", "is", "are", "are", "are")
    if clause.subject.pronoun and clause.subject.english[0][0] in ("you", "You"):
        singular = 1
    form = present[singular] if clause.tense == "present" else ("was" if singular in (0, 2) else "were")
    return [(form, verb)], not_


def english_verb(clause: Clause, question: bool = False) -> tuple[list[Token], list[Token]]:
    """The finite verb that a question puts first (may be none), and the rest of the verb with *not*."""
    entry, third = clause.verb, clause.subject.third
    verb, auxiliary, negation = clause.keys
    if entry.base == "be":
        return _english_be(clause)
    not_ = [("not", negation)] if clause.negated else []
    supported = question or clause.negated
    if modal := clause.modal:
        finite = modal.english[0 if third else 1]
        if not modal.to:
            if clause.negated and finite == "can" and not question:
                return [("cannot", auxiliary | negation)], [(entry.base, verb)]
            return [(finite, auxiliary)], [*not_, (entry.base, verb)]
        rest = [("to", auxiliary), (entry.base, verb)]
        if not supported:
            return [], [(finite, auxiliary), *rest]
        do = "did" if modal.past else "does" if third else "do"
        return [(do, negation if clause.negated else auxiliary)], [*not_, (modal.base, auxiliary), *rest]
    if clause.tense == "future":
        return [("will", auxiliary)], [*not_, (entry.base, verb)]
    if supported:
        do = "did" if clause.tense == "past" else "does" if third else "do"
        key = auxiliary if clause.tense == "past" else negation if clause.negated else verb
        return [(do, key)], [*not_, (entry.base, verb)]
    if clause.tense == "past":
        return [], [(entry.past, verb | auxiliary)]
    return [], [(entry.third if third else entry.base, verb)]


def english_objects(clause: Clause) -> list[Token]:
    """Particle, objects and places, in English order."""
    particle = [(clause.verb.particle, clause.keys[0])] if clause.verb.particle else []
    parts = clause.complements
    if clause.to_dative:
        dative, theme = parts[0], parts[1]
        return [*theme.english, ("to", clause.to_dative), *dative.english, *(t for p in parts[2:] for t in p.english)]
    tokens = [token for part in parts for token in part.english]
    pronoun = parts and parts[0].phrase is not None and parts[0].phrase.pronoun
    if particle and clause.verb.movable and pronoun:
        return [*parts[0].english, *particle, *tokens[len(parts[0].english) :]]
    return [*particle, *tokens]


def english_statement(clause: Clause, time: bool = True) -> list[Token]:
    """Subject, verb, objects, place, time: main and subordinate clauses alike."""
    head, rest = english_verb(clause)
    often = [clause.frequency[0]] if clause.frequency else []
    late = clause.time[0] if clause.time and time else []
    return [*clause.subject.english, *head, *often, *rest, *english_objects(clause), *late]


def english_question(clause: Clause) -> list[Token]:
    """Finite verb, subject, rest."""
    head, rest = english_verb(clause, question=True)
    often = [clause.frequency[0]] if clause.frequency else []
    late = clause.time[0] if clause.time else []
    return [*head, *clause.subject.english, *often, *rest, *english_objects(clause), *late]


# German


def german_middle(clause: Clause, time: bool = True) -> list[Token]:
    """The middle field: pronouns, what is known, when, what is new, *nicht*, then place and prepositional objects."""
    front: list[Token] = []
    back: list[Token] = []
    late: list[Token] = []
    known = True
    for part in clause.complements:
        if part.late:
            late += part.german()
            continue
        known = known and part.phrase is not None and part.phrase.definite
        (front if known else back).extend(part.german())
    when: list[Token] = []
    if clause.time and time:
        when += clause.time[1]
    if clause.frequency:
        when.append(clause.frequency[1])
    negation = [("nicht", clause.keys[2])] if clause.negated and not clause.kein else []
    return [*front, *when, *back, *negation, *late]


def german_verb(clause: Clause) -> tuple[Token, list[Token]]:
    """The finite verb and what closes the clause: a prefix, a participle or an infinitive."""
    entry, person = clause.verb, clause.subject.person
    verb, auxiliary, _ = clause.keys
    if modal := clause.modal:
        forms = modal.negative if clause.negated and modal.negative else modal.german
        return (forms[person], auxiliary), [(entry.prefix + entry.infinitive, verb)]
    if clause.tense == "future":
        return (WERDEN[person], auxiliary), [(entry.prefix + entry.infinitive, verb)]
    if clause.tense == "past":
        if entry.infinitive == "sein":
            return (WAR[person], verb), []
        if entry.preterite:
            return (entry.preterite[person], verb | auxiliary), []
        forms = SEIN if entry.auxiliary == "sein" else HABEN
        return (forms[person], auxiliary), [(entry.participle, verb)]
    return (entry.present[person], verb), [(entry.prefix, verb)] if entry.prefix else []


def german_main(clause: Clause, front: list[Token] | None = None, time: bool = True) -> list[Token]:
    """Verb second: the subject, or whatever else is given as `front`, stands before the finite verb."""
    finite, end = german_verb(clause)
    if front is None:
        return [*clause.subject.german(0), finite, *german_middle(clause, time), *end]
    return [*front, finite, *clause.subject.german(0), *german_middle(clause, time), *end]


def german_question(clause: Clause) -> list[Token]:
    """Verb first."""
    return german_main(clause, front=[])


def german_final(clause: Clause, subject: bool = True) -> list[Token]:
    """Verb last, as in subordinate clauses; a separable prefix rejoins its verb."""
    (word, key), end = german_verb(clause)
    if end and clause.tense == "present":
        end, word = [], clause.verb.prefix + word
    start = clause.subject.german(0) if subject else []
    return [*start, *german_middle(clause), *end, (word, key)]


def german_infinitive(clause: Clause) -> list[Token]:
    """The clause with *zu*: die Tür aufzumachen."""
    return [*german_middle(clause), *((word, clause.keys[0]) for word in clause.verb.zu_infinitive)]
