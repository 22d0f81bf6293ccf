"""Clauses: a subject, a verb phrase, a tense, perhaps a negation, a time and a place; then the order of words.

English is subject, verbs, objects, place, time. German has the finite verb first, second or last, and between the
verbs a middle field: pronouns, time, what is known, manner, place, what is new, *nicht*, and what belongs to the verb.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from annotated.classroom import morphology as m
from annotated.classroom.phrases import CONTRACTIONS, Draw
from annotated.classroom.wide.lexicon import bare_columns, pairs_of
from annotated.classroom.wide.nominals import SICH, Phrase, Token, fixed, negate
from annotated.classroom.wide.verb_phrases import PREPOSITIONS, Item, Pattern, VerbPhrase, instantiate
from annotated.classroom.wide.verbs import HAETTE, WAERE, english_verb, german_verb, modal

Both = tuple[list[Token], list[Token]]

SIMPLE = {"can": "can", "could": "could", "must": "must", "should": "should", "may": "may", "might": "could",
          "would": "would", "will": "will", "shall": "shall"}  # fmt: skip
"""English modals that go before a bare infinitive -> the German one."""
WITH_TO = {"want to": ("want", "want"), "have to": ("have", "must"), "need to": ("need", "must"),
           "would like to": ("would like", "would like"), "like to": ("like", ""), "love to": ("love", ""),
           "wanted to": ("want", "want"), "had to": ("have", "must"), "going to": ("be", "will"),
           "used to": ("use", ""), "be able to": ("be", "can"), "be allowed to": ("be", "may")}  # fmt: skip
"""Those with *to* -> the English verb that is inflected, and the German modal ('' for none)."""
PAST = frozenset(("past", "past progressive", "perfect", "wanted to", "had to", "used to"))


@dataclass(slots=True)
class WideClause:
    """Who does what, when and where; `keys` are those of the auxiliary, of *not* and of what only English has."""

    subject: Phrase
    phrase: VerbPhrase
    tense: str = "present"
    negated: bool = False
    time: Both | None = None
    place: Both | None = None
    manner: Both | None = None
    middle: Both | None = None
    """'always', 'also', 'already'."""
    keys: tuple[int, int] = (0, 0)
    kein: bool = False
    late: list[Token] = field(default_factory=list)
    """English words at the end: *too*, *any more*."""
    around: Both = field(default_factory=lambda: ([], []))
    """German words before and after the negation: *noch* nicht, nicht *mehr*."""


# English


def be(subject: Phrase, past: bool = False) -> str:
    """'am', 'is', 'are', 'was', 'were'."""
    if past:
        return "was" if subject.agrees in ("I", "3") else "were"
    return {"I": "am", "3": "is", "p": "are"}[subject.agrees]


def english_group(clause: WideClause, question: bool = False) -> tuple[list[Token], list[Token]]:
    """What precedes the subject of a question, and the other verbs; *not* is at the end of the first."""
    verb, tense, subject = clause.phrase.pattern.verb, clause.tense, clause.subject
    key, (auxiliary, negation) = clause.phrase.key, clause.keys
    third = subject.agrees == "3"
    not_ = [("not", negation)] if clause.negated else []
    have = "has" if third else "have"
    chains = {
        "progressive": [be(subject), verb.ing],
        "past progressive": [be(subject, past=True), verb.ing],
        "perfect": [have, verb.participle],
        "perfect progressive": [have, "been", verb.ing],
        "past perfect": ["had", verb.participle],
        "would have": ["would", "have", verb.participle],
        "going to": [be(subject), "going", "to", verb.base],
        "would like to": ["would", "like", "to", verb.base],
        "be able to": [be(subject), "able", "to", verb.base],
        "be allowed to": [be(subject), "allowed", "to", verb.base],
        **{name: [name, verb.base] for name in SIMPLE},
    }
    if tense in chains:
        first, *others = chains[tense]
        return [(first, auxiliary), *not_], [*((w, auxiliary) for w in others[:-1]), (others[-1], key)]
    if verb.base == "be" and tense in ("present", "past"):
        return [(be(subject, tense == "past"), key), *not_], []
    past = tense in ("past", "wanted to", "had to", "used to")
    do = "did" if past else "does" if third else "do"
    if tense in WITH_TO:
        lemma = WITH_TO[tense][0]
        forms = english_verb(lemma)
        rest = [("to", auxiliary), (verb.base, key)]
        if question or clause.negated:
            return [(do, negation or auxiliary), *not_], [(forms.base, auxiliary), *rest]
        return [], [(forms.past if past else forms.third if third else forms.base, auxiliary), *rest]
    if question or clause.negated:
        return [(do, auxiliary if past else negation or key), *not_], [(verb.base, key)]
    if past:
        return [], [(verb.past, key | auxiliary)]
    return [], [(verb.third if third else verb.base, key)]


def english_rest(clause: WideClause, time: bool = True) -> list[Token]:
    """What follows the verbs."""
    words = [*clause.phrase.english, *clause.phrase.particle]
    for part in (clause.manner, clause.place, clause.time if time else None):
        words += part[0] if part else []
    return [*words, *clause.late]


def english_statement(clause: WideClause, time: bool = True, subject: bool = True) -> list[Token]:
    """Subject, verbs, the rest."""
    head, rest = english_group(clause)
    often = clause.middle[0] if clause.middle else []
    first = clause.subject.english if subject else []
    if [word for word, _ in head] == ["can", "not"]:
        head = [("cannot", head[0][1] | head[1][1])]
    return [*first, *head, *often, *rest, *english_rest(clause, time)]


def english_question(clause: WideClause, time: bool = True) -> list[Token]:
    """Finite verb, subject, the rest."""
    head, rest = english_group(clause, question=True)
    finite, not_ = head[:1], head[1:]
    often = clause.middle[0] if clause.middle else []
    return [*finite, *clause.subject.english, *not_, *often, *rest, *english_rest(clause, time)]


def english_infinitive(phrase: VerbPhrase, form: str = "base") -> list[Token]:
    """'buy a book', 'buying a book'."""
    verb = phrase.pattern.verb
    return [({"base": verb.base, "ing": verb.ing}[form], phrase.key), *phrase.english, *phrase.particle]


# German


LIKING = ("like to", "love to")
"""These are *gern*, and *nicht gern*, in German."""


def settle_negation(clause: WideClause) -> None:
    """*kein* in place of an article, or *nicht*."""
    if not clause.negated:
        return
    clause.phrase.english = [("any" if word == "some" else word, key) for word, key in clause.phrase.english]
    for item in clause.phrase.items:
        if item.phrase and item.phrase.built and item.phrase.english[0][0] == "some":
            item.phrase.built.amount = ""  # any bread, kein Brot
    if clause.tense in LIKING:
        return
    for place, item in enumerate(clause.phrase.items):
        first = item.tokens[0][0] if item.tokens else ""
        if item.kind == "text" and first in PREPOSITIONS:
            return
        if item.kind == "np" and item.case in (m.ACCUSATIVE, m.DATIVE) and item.phrase and item.phrase.built:
            clause.kein = negate(item.phrase.built, clause.keys[1])
            if clause.kein or item.case == m.ACCUSATIVE:
                return
        leading = all(before.kind in ("np", "sich") for before in clause.phrase.items[:place])
        gender = item.noun_gender or (bare_columns().get(first, "") if leading else "")
        if gender:
            article = m.DETERMINERS["no"][m.ACCUSATIVE][gender]
            word, key = item.tokens[0]
            ending = "n" if gender == "p" and word.islower() else ""  # blaue Augen, keine blauen Augen
            item.tokens = [(article, clause.keys[1]), (word + ending, key), *item.tokens[1:]]
            clause.kein = True
            return
        if first in ("ein", "eine", "einen"):
            item.tokens = [("k" + first, item.tokens[0][1] | clause.keys[1]), *item.tokens[1:]]
            clause.kein = True
            return


def _is_pronoun(items: Sequence[Item], place: int) -> bool:
    """'das' and 'es' of the table, where no noun follows: *das wissen*; not *das Auto waschen*, *das ganze Geld*."""
    following = [item.tokens[0][0] for item in items[place + 1 : place + 3] if item.tokens]
    if following[1:] and following[0].endswith("e") and following[1][0].isupper():
        return False
    return items[place].tokens[0][0] in ("das", "es") and not (following and following[0][0].isupper())


_DEFINITE = frozenset("der die das den dem diese dieses diesen".split())


def _definite_text(items: Sequence[Item]) -> int:
    """How many items are an object with its article that stands in the table: *die Frage* beantworten."""
    if not items or items[0].kind != "text" or items[0].tokens[0][0] not in _DEFINITE:
        return 0
    for place, item in enumerate(items[1:4], 1):
        if item.kind != "text":
            return 0
        if item.tokens[0][0][:1].isupper():
            following = items[place + 1].tokens if items[place + 1 :] else []
            return place + (2 if following and following[0][0] in ("links", "rechts") else 1)  # die Straße links
    return 0


def _parts(clause: WideClause) -> tuple[list[Token], list[Token], list[Token], list[Token]]:
    """Pronouns, known things, new things, and what belongs to the verb."""
    person = clause.subject.person
    items = clause.phrase.items
    lead = 0
    while lead < len(items) and (items[lead].kind in ("np", "sich") or _is_pronoun(items, lead)):
        lead += 1
    pronouns: list[tuple[int, list[Token]]] = []
    known: list[Token] = []
    new: list[Token] = []
    for item in items[:lead]:
        if item.kind == "text":
            pronouns.append((9 if item.tokens[0][0] == "das" else -1, item.tokens))
        elif item.kind == "sich":
            pronouns.append((0, [(SICH[item.case - 1][person], item.tokens[0][1])]))
        elif item.phrase is not None and item.phrase.pronoun:
            pronouns.append((item.case, item.german()))
        else:
            assert item.phrase is not None
            (known if item.phrase.definite and not new else new).extend(item.german())
    if clause.phrase.pattern.infinitive.infinitive != "sein":
        settled = _definite_text(items[lead:])
        (new if new else known).extend(_joined(items[lead : lead + settled], person))
        lead += settled
    rest = _joined(items[lead:], person)
    return [t for _, tokens in sorted(pronouns, key=lambda p: p[0]) for t in tokens], known, new, rest


def _joined(items: Sequence[Item], person: int) -> list[Token]:
    """The words one after the other, *in dem* being *im*."""
    words: list[Token] = []
    for item in items:
        tokens = item.german()
        if item.kind == "sich":
            tokens = [(SICH[item.case - 1][person], item.tokens[0][1])]
        if words and item.kind == "np" and item.phrase is not None and item.phrase.noun is not None:
            short = CONTRACTIONS.get((words[-1][0], tokens[0][0]))
            if short:
                before = words.pop()
                tokens = [(short, before[1] | tokens[0][1]), *tokens[1:]]
        words += tokens
    return words


_LOW = frozenset("sofort gleich bis wieder noch einmal mit ohne".split())
"""Begin what stands after *natürlich* and *vielleicht*: natürlich sofort, endlich mit mir."""


FREQUENT = frozenset("jeden jede jedes alle zweimal dreimal viermal mehrmals sofort gleich bald".split())
"""Begin how often or how soon, which is what is negated: nicht jeden Tag, nicht sofort."""
_WITH = frozenset("mit ohne aus zum".split())
"""Begin with whom and what for, which is negated, too: nicht mit ihm, nicht ohne Grund; but mit ihm nicht gern."""


def middle_field(clause: WideClause, time: bool = True) -> list[Token]:
    """All between the two ends of the German verb, without the subject."""
    pronouns, known, new, rest = _parts(clause)
    when = clause.time[1] if clause.time and time else []
    often = clause.middle[1] if clause.middle else []
    manner = clause.manner[1] if clause.manner else []
    place = clause.place[1] if clause.place else []
    if when and often and when[0][0] in _LOW:
        when, often = often, when
    if clause.negated and not clause.kein and often and often[0][0] in ("oft", "immer", "wirklich"):
        return [*pronouns, *known, *when, ("nicht", clause.keys[1]), *often, *new, *manner, *place, *rest]
    before, after = clause.around
    if clause.negated and not clause.kein:
        if clause.tense in LIKING:
            new, rest = [], [*new, *rest]  # nicht gern ein Bad nehmen
        not_ = [*before, ("nicht", clause.keys[1]), *after]
        if when and (when[0][0] in FREQUENT or (when[0][0] in _WITH and clause.tense not in LIKING)):
            return [*pronouns, *known, *not_, *when, *often, *new, *manner, *place, *rest]
        if any(item.phrase and item.phrase.built and item.phrase.built.counted for item in clause.phrase.items):
            new, rest = [], [*new, *rest]  # nicht drei Autos besitzen
            return [*pronouns, *known, *when, *often, *not_, *manner, *place, *rest]
        return [*pronouns, *known, *when, *often, *new, *not_, *manner, *place, *rest]
    if clause.kein:
        last = [*new, *rest]
        kein = next((i for i, (word, _) in enumerate(last) if word.startswith("kein")), 0)
        noun = next((i for i, (word, _) in enumerate(last) if i > kein and word[0].isupper()), len(last) - 1)
        last[noun + 1 : noun + 1] = after  # keine Zeit mehr mit ihr
        return [*pronouns, *when, *known, *often, *before, *manner, *place, *last]
    if often and often[-1][0] in ("noch", "nie"):  # sie zeigt Anna das Foto noch; *noch Anna* is Anna, too
        return [*pronouns, *when, *known, *often, *manner, *place, *new, *rest]
    return [*pronouns, *when, *often, *known, *manner, *place, *new, *rest]


_NOTHING = frozenset(("no", "nothing", "nobody"))


def german_group(clause: WideClause) -> tuple[Token, list[Token]]:
    """The finite verb, and what closes the clause."""
    pattern, person, tense = clause.phrase.pattern, clause.subject.person, clause.tense
    verb, key, auxiliary = pattern.infinitive, clause.phrase.key, clause.keys[0]
    infinitive = [(pattern.prefix + verb.infinitive, key)]
    participle = [(pattern.prefix + verb.participle, key)]
    perfect = german_verb(pattern.auxiliary)
    if tense == "must" and (clause.negated or _NOTHING & set(pattern.english)):  # must say nothing: darf nichts sagen
        return (modal("may", person), auxiliary), infinitive
    if tense == "could" and not clause.negated or tense in ("might",):
        return (modal("could", person), auxiliary), infinitive
    if tense == "could":
        return (modal("can", person, past=True), auxiliary), infinitive
    if tense == "would" and verb.infinitive in ("sein", "haben"):
        return ((WAERE if verb.infinitive == "sein" else HAETTE)[person], key | auxiliary), []
    if tense in SIMPLE:
        return (modal(SIMPLE[tense], person), auxiliary), infinitive
    if tense in WITH_TO and WITH_TO[tense][1]:
        return (modal(WITH_TO[tense][1], person, past=tense in PAST), auxiliary), infinitive
    if tense == "would have":
        return ((WAERE if pattern.auxiliary == "sein" else HAETTE)[person], auxiliary), participle
    if tense == "past perfect":
        return (perfect.preterite[person], auxiliary), participle
    if tense in PAST and not (verb.plain_past and tense != "perfect"):
        return (perfect.present[person], auxiliary), participle
    if tense in PAST:
        return (verb.preterite[person], key | auxiliary), [(pattern.prefix, key)] if pattern.prefix else []
    return (verb.present[person], key | auxiliary), [(pattern.prefix, key)] if pattern.prefix else []


def german_verb_first(clause: WideClause, time: bool = True) -> list[Token]:
    """Questions, and main clauses whose first place is taken by something else."""
    finite, end = german_group(clause)
    return [finite, *clause.subject.german(0), *middle_field(clause, time), *end]


def german_main(clause: WideClause, time: bool = True) -> list[Token]:
    """Subject, finite verb, the rest."""
    finite, end = german_group(clause)
    return [*clause.subject.german(0), finite, *middle_field(clause, time), *end]


def german_final(clause: WideClause, subject: bool = True) -> list[Token]:
    """Finite verb last, as in subordinate clauses; a prefix rejoins its verb."""
    (word, key), end = german_group(clause)
    prefix = clause.phrase.pattern.prefix
    if prefix and [w for w, _ in end] == [prefix]:
        end, word = [], prefix + word
    first = clause.subject.german(0) if subject else []
    return [*first, *middle_field(clause), *end, (word, key)]


def german_infinitive(clause: WideClause, zu: bool = False) -> list[Token]:
    """'ein Buch kaufen', 'ein Buch zu kaufen', 'die Tür aufzumachen'."""
    pattern, key = clause.phrase.pattern, clause.phrase.key
    verb = pattern.infinitive.infinitive
    if not zu:
        end = [(pattern.prefix + verb, key)]
    elif pattern.prefix:
        end = [(f"{pattern.prefix}zu{verb}", key)]
    else:
        end = [("zu", key), (verb, key)]
    return [*middle_field(clause), *end]


def german_imperative(clause: WideClause) -> tuple[list[Token], list[Token]]:
    """The verb (with *Sie* for the polite form), and the rest."""
    pattern, key = clause.phrase.pattern, clause.phrase.key
    verb, person = pattern.infinitive, clause.subject.person
    if clause.subject.pronoun == "you":
        first = [(verb.imperative, key)]
    elif verb.infinitive == "sein":
        first = [("seid" if person == 4 else "seien", key)]
    else:
        first = [(verb.present[person], key)]
    if clause.subject.pronoun == "formal you":
        first += clause.subject.german(0)
    return first, [*middle_field(clause), *([(pattern.prefix, key)] if pattern.prefix else [])]


def german_request(clause: WideClause, key: int, infinitive: bool = False, word: str = "bitte") -> list[Token]:
    """With *bitte* after the pronouns: 'setz dich bitte hin', 'gib bitte Anna das Buch', 'mir bitte helfen'.

    Or with another word: 'mir lieber helfen'.
    """
    first, rest = ([], german_infinitive(clause)) if infinitive else german_imperative(clause)
    pronouns = len(_parts(clause)[0])
    return [*first, *rest[:pronouns], *((w, key) for w in word.split()), *rest[pronouns:]]


def make(draw: Draw, subject: Phrase, pattern: Pattern, tense: str, negated: bool = False, gap: str = "") -> WideClause:
    """A clause without adverbials."""
    phrase = instantiate(draw, pattern, subject, gap, several=not negated)
    clause = WideClause(subject, phrase, tense, negated, keys=(draw.key(), draw.key()))
    settle_negation(clause)
    return clause


def adverbial(draw: Draw, group: str) -> Both:
    """One of a group of `adverbials.txt`."""
    return fixed(draw, *draw.pick(pairs_of("adverbials", group)))
