"""Clauses in both languages: the content is decided once, the word order by where the clause stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from annotated.classroom import morphology as m
from annotated.classroom.constituents import Word, constituent, shaped, word
from annotated.classroom.lexicon import HABEN, SEIN, WAR, WERDEN, Verb
from annotated.classroom.phrases import NounPhrase, Token, english_prepositional, prepositional


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


def _english_be(clause: Clause) -> tuple[list[Word], list[Word]]:
    verb, auxiliary, negation = clause.keys
    not_ = [word("not", negation, "RB")] if clause.negated else []
    if clause.tense == "future":
        return [word("will", auxiliary, "MD")], [*not_, word("be", verb, "VB")]
    singular = clause.subject.person
    present = ("am", "are", "is", "are", "are", "are")
    if clause.subject.pronoun and clause.subject.english[0][0] in ("you", "You"):
        singular = 1
    form = present[singular] if clause.tense == "present" else ("was" if singular in (0, 2) else "were")
    return [word(form, verb, {"is": "VBZ", "was": "VBD", "were": "VBD"}.get(form, "VBP"))], not_


def english_verb(clause: Clause, question: bool = False) -> tuple[list[Word], list[Word]]:
    """The finite verb that a question puts first (may be none), and the rest of the verb with *not*."""
    entry, third = clause.verb, clause.subject.third
    verb, auxiliary, negation = clause.keys
    if entry.base == "be":
        return _english_be(clause)
    present = "VBZ" if third else "VBP"
    base = word(entry.base, verb, "VB")
    not_ = [word("not", negation, "RB")] if clause.negated else []
    supported = question or clause.negated
    if modal := clause.modal:
        finite = modal.english[0 if third else 1]
        if not modal.to:
            if clause.negated and finite == "can" and not question:
                return [word("cannot", auxiliary | negation, "MD RB")], [base]
            return [word(finite, auxiliary, "MD")], [*not_, base]
        rest = [word("to", auxiliary, "TO"), base]
        if not supported:
            return [], [word(finite, auxiliary, "VBD" if modal.past else present), *rest]
        do = "did" if modal.past else "does" if third else "do"
        first = word(do, negation if clause.negated else auxiliary, "VBD" if modal.past else present)
        return [first], [*not_, word(modal.base, auxiliary, "VB"), *rest]
    if clause.tense == "future":
        return [word("will", auxiliary, "MD")], [*not_, base]
    if supported:
        do = "did" if clause.tense == "past" else "does" if third else "do"
        key = auxiliary if clause.tense == "past" else negation if clause.negated else verb
        return [word(do, key, "VBD" if clause.tense == "past" else present)], [*not_, base]
    if clause.tense == "past":
        return [], [word(entry.past, verb | auxiliary, "VBD")]
    return [], [word(entry.third if third else entry.base, verb, present)]


def english_objects(clause: Clause) -> list[Token]:
    """Particle, objects and places, in English order."""
    entry, parts = clause.verb, clause.complements
    particle = [(entry.particle, clause.keys[0])] if entry.particle else []
    if clause.to_dative:
        dative, theme = parts[0], parts[1]
        to = english_prepositional("to", clause.to_dative, dative.english)
        return [*theme.english, *to, *(t for p in parts[2:] for t in p.english)]
    thing = parts[0].phrase if parts else None
    first = parts[0].english if thing else []
    others = [token for part in parts[1 if thing else 0 :] for token in part.english]
    if entry.particle and entry.frame and not entry.movable:
        tag = "TO" if entry.particle == "to" else "IN"
        return [*(shaped(f"(PP {tag} _)", particle, first) if first else shaped(f"(PP {tag})", particle)), *others]
    if particle:
        shape = "(PRT RP)" if entry.movable else _FIXED_PARTICLES.get(entry.particle, "(PRT RP)")
        particle = shaped(shape, particle)
    if entry.movable and thing and thing.pronoun:
        return [*first, *particle, *others]
    return [*particle, *first, *others]


_FIXED_PARTICLES = {"asleep": "(ADJP JJ)", "away": "(ADVP RB)", "back": "(ADVP RB)", "out": "(ADVP RB)"}
"""Those that are adjectives or adverbs of direction."""


def english_verb_phrase(verbs: Sequence[Word], end: Sequence[Token]) -> list[Token]:
    """Each verb opens a verb phrase that holds all that follows; an infinitive with *to* is a clause of its own."""
    tokens = list(end)
    for verb in reversed(verbs):
        tokens.insert(0, verb)
        if verb.tag != "RB":
            tokens = constituent("VP", tokens)
        if verb.tag == "TO":
            tokens = constituent("S", tokens)
    return tokens


def english_predicate(clause: Clause, time: bool = True, end: Sequence[Token] = ()) -> list[Token]:
    """All but the subject: the verb phrase, perhaps after *often*; what `end` holds belongs to the verb."""
    head, rest = english_verb(clause)
    often = shaped("(ADVP RB)", [clause.frequency[0]]) if clause.frequency else []
    late = clause.time[0] if clause.time and time else []
    phrase = english_verb_phrase(rest, [*english_objects(clause), *late, *end])
    return constituent("VP", [*head, *often, *phrase]) if head else [*often, *phrase]


def english_statement(
    clause: Clause, time: bool = True, front: Sequence[Token] = (), end: Sequence[Token] = ()
) -> list[Token]:
    """Subject, verb, objects, place, time: main and subordinate clauses alike.

    `front` stands before the subject; `end` follows all else and belongs to the verb.
    """
    return constituent("S", [*front, *clause.subject.english, *english_predicate(clause, time, end)])


def english_question(clause: Clause, front: Sequence[Token] = ()) -> list[Token]:
    """Finite verb, subject, rest."""
    head, rest = english_verb(clause, question=True)
    often = shaped("(ADVP RB)", [clause.frequency[0]]) if clause.frequency else []
    late = clause.time[0] if clause.time else []
    phrase = english_verb_phrase(rest, [*english_objects(clause), *late])
    return constituent("SQ", [*front, *head, *clause.subject.english, *often, *phrase])


def english_subordinate(conjunction: str, key: int, clause: list[Token]) -> list[Token]:
    """A clause with its conjunction: (SBAR (IN because) (S ...))."""
    return shaped("(SBAR IN _)", [(conjunction, key)], clause)


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
