"""Verb phrases: pairs of infinitives such as *wait for {o:person} = auf {o.a} warten*, read and filled.

Format of a line: English = German | classes of the subject (people, if there is none) | options.

- `{o:person 'bus' !the,a}`: someone or something, of these classes, with these determiners; `{o.a}` in the German
  says in which case (n, a, d, g). `{x:KIND ...}` is one of the `fillers`.
- `sich`, `sich.d`: reflexive; English has *oneself*, *one's* or nothing.
- `pick +up {o}`: the particle follows a pronoun (*pick it up*).
- `Hunger/m haben`, `blaue/p Augen haben`: are negated by *keinen*, *keine*; so is *ein* before a noun.
- options: `sein` (perfect), `state` (no progressive, no imperative, few modals), `place`, `manner`, `no-neg`, `rare`;
  `plural`, `singular` (of the subject: *live together*, *be a child*), `weak` (hängte; the table has hing),
  `ersatz` (er hat sie gehen lassen), `preterite` (kam aus Polen), `named` (*what does he catch?* asks for no bus).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cache
from typing import NamedTuple

from annotated.classroom.phrases import Draw
from annotated.classroom.wide.fillers import fill
from annotated.classroom.wide.lexicon import nouns_of
from annotated.classroom.wide.nominals import (
    OBJECTIVE,
    POSSESSIVE,
    REFLEXIVE,
    Phrase,
    Token,
    coordinated,
    noun_phrase,
    owned,
    person_name,
    pronoun,
    titled,
)
from annotated.classroom.wide.tables import lines
from annotated.classroom.wide.verbs import EnglishVerb, GermanVerb, english_verb, german_verb

CASES = {"n": 0, "a": 1, "d": 2, "g": 3}
PEOPLE = frozenset(("person", "family", "job"))
_SLOT = re.compile(r"\{(\w+)(?::([^}]*))?\}")


PREPOSITIONS = frozenset(
    "an auf aus bei für gegen in mit nach neben über um unter von vor zu durch ohne hinter".split()
)
_PASSIVE = frozenset(
    "öffnen schließen bauen reparieren schreiben kaufen verkaufen stehlen finden putzen waschen bezahlen kochen backen "
    "malen liefern übersetzen unterschreiben drucken löschen ändern schicken ein|laden retten wählen bestellen spülen "
    "zerstören testen prüfen benutzen vergessen vor|bereiten ab|sagen streichen verstecken füttern besuchen vermieten "
    "lösen kontrollieren verbessern erklären organisieren auf|räumen gießen planen überprüfen verschieben an|nehmen "
    "beantworten ab|holen fragen untersuchen operieren verhaften verletzen stören brauchen".split()
)
"""Verbs of which a passive is often said."""


_LASTING = frozenset(
    "arbeiten wohnen leben lernen warten spielen studieren schlafen lesen kochen suchen telefonieren "
    "reisen regnen schneien putzen schreiben unterrichten üben sparen fernsehen sehen hören sitzen "
    "stehen liegen reden sprechen tanzen singen schwimmen laufen streiten weinen rauchen".split()
)
"""German verbs of what goes on for a while: 'I have been waiting for an hour'."""


class Asked(NamedTuple):
    """The slot that a question or relative clause can ask for."""

    name: str
    case: int
    preposition: str


@dataclass(frozen=True, slots=True)
class Pattern:
    """A line of the table, taken apart."""

    english: tuple[str, ...]
    german: tuple[str, ...]
    specs: dict[str, str]
    subjects: tuple[str, ...]
    options: frozenset[str]
    verb: EnglishVerb
    prefix: str
    infinitive: GermanVerb
    auxiliary: str
    group: str = ""

    def __hash__(self) -> int:
        return id(self)

    @property
    def direct(self) -> str:
        """The name of the one slot in the accusative that a question or relative clause can ask for, or ''."""
        plain = [t for t in self.german if t.startswith("{") and t.endswith(".a}")]
        lead = self.german[: len(plain)]
        return plain[0][1:-3] if len(plain) == 1 and list(lead) == plain else ""

    @property
    def asked(self) -> Asked | None:
        """The one noun phrase: an object, or what follows a preposition that ends the English."""
        slots = [i for i, t in enumerate(self.german) if t.startswith("{")]
        if len(slots) != 1 or not self.german[slots[0]].endswith((".a}", ".d}")):
            return None
        place = slots[0]
        name, _, case = self.german[place][1:-1].partition(".")
        before = self.german[place - 1] if place else ""
        last = self.english[-1] == f"{{{name}}}" and self.verb.base != "be" and "Nähe" not in self.german
        if before in PREPOSITIONS and last:
            return Asked(name, CASES[case], before)
        return Asked(name, CASES[case], "") if before in ("", "sich.d") and (last or self.direct) else None

    @property
    def wanted(self) -> str:
        """'who' or 'what': the word that asks for the object or for what follows the preposition."""
        spec = self.specs[self.asked.name if self.asked else self.direct]
        kinds = spec.partition("!")[0].split()
        people = [bool(PEOPLE & noun.classes) for kind in kinds if not kind.isupper() for noun in nouns_of(kind)]
        return "who" if {"person", "family"} & set(kinds) or (people and all(people)) else "what"

    @property
    def what(self) -> bool:
        """Whether its object is a thing: 'I know what you bought'."""
        return bool(self.direct) and self.wanted == "what" and "named" not in self.options

    @property
    def unbound(self) -> bool:
        """Whether nothing in it refers back to the subject: no *sich*, *oneself* or *one's*."""
        return not {"sich", "sich.d"} & set(self.german) and not {"oneself", "one's"} & set(self.english)

    @property
    def commanded(self) -> bool:
        """Whether one says it as an imperative: 'setz dich', not 'sitz', 'leg dich hin', not 'lieg'."""
        return self.infinitive.infinitive not in ("sitzen", "stehen", "liegen", "knien") or self.prefix in (
            "auf", "an", "still")  # fmt: skip

    @property
    def lasting(self) -> bool:
        """Whether it goes on for a while."""
        return self.infinitive.infinitive in _LASTING and not self.prefix and "state" not in self.options

    @property
    def passive(self) -> bool:
        """Whether its object can be the subject: the letter was written."""
        verb = (self.prefix + "|" if self.prefix else "") + self.infinitive.infinitive
        return bool(self.direct) and verb in _PASSIVE and "state" not in self.options


def parse(line: str, group: str = "") -> Pattern:
    """One line of the table.

    Raises
    ------
    ValueError
        If a slot stands on one side only.
    """
    pair, *rest = (part.strip() for part in line.split(" | "))
    english, german = (part.strip() for part in pair.split(" = "))
    subjects = tuple(rest[0].split()) if rest and rest[0] not in ("", "-") else ("person",)
    options = frozenset(rest[1].split()) if len(rest) > 1 else frozenset()
    specs = {name: spec for name, spec in _SLOT.findall(english)}
    if "CLOCK" in specs.values():
        options |= {"no-time"}
    words = tuple(_SLOT.sub(lambda found: "{" + found[1] + "}", english).split())
    wörter = tuple(german.split())
    if set(specs) != {w[1:-1].split(".")[0] for w in wörter if w.startswith("{")}:
        raise ValueError(f"{line}: a slot stands on one side only")
    prefix, _, verb = wörter[-1].rpartition("|")
    forms = german_verb(verb, weak="weak" in options)
    if "ersatz" in options:
        forms = replace(forms, participle=verb)
    if "preterite" in options:
        forms = replace(forms, plain_past=True)
    auxiliary = "sein" if "sein" in options else "haben" if "haben" in options else forms.auxiliary
    before = tuple(word.replace("|", "") for word in wörter[:-1])
    return Pattern(words[1:], before, specs, subjects, options, english_verb(words[0]), prefix, forms, auxiliary,
                   group)  # fmt: skip


@cache
def patterns() -> tuple[Pattern, ...]:
    """All lines of the table."""
    return tuple(parse(line, group) for group, line in lines("verb_phrases"))


@cache
def _senses() -> dict[tuple[str, ...], set[str]]:
    found: dict[tuple[str, ...], set[str]] = {}
    for p in patterns():
        german = " ".join((*p.german, p.prefix + p.infinitive.infinitive))
        found.setdefault((p.verb.base, *p.english), set()).add(german)
    return found


def needs_noun(pattern: Pattern) -> bool:
    """Whether its subject must be named: *it works* does not say whether a plan does, a pill or a machine."""
    several = len(_senses().get((pattern.verb.base, *pattern.english), ())) > 1
    if all(kind.startswith("'") for kind in pattern.subjects):
        nouns = [noun for kind in pattern.subjects for noun in nouns_of(kind)]
        if not any(noun.gender == "n" or {"animal", "pet"} & noun.classes for noun in nouns):
            return True  # the sun shines, the thief breaks in: neither is *es*, as a child or an animal may be
    return several and pattern.subjects[0] != "it" and not PEOPLE & set(pattern.subjects)


@cache
def patterns_for(*wanted: str) -> tuple[Pattern, ...]:
    """Those that meet all wishes: 'people' (subjects), 'action' (no state), 'what' (a thing as object), 'plain' ..."""
    found = patterns()
    for wish in wanted:
        if wish == "people":
            found = tuple(p for p in found if PEOPLE & set(p.subjects))
        elif wish == "things":
            found = tuple(p for p in found if not PEOPLE & set(p.subjects))
        elif wish == "action":
            found = tuple(p for p in found if "state" not in p.options)
        elif wish == "plain":
            found = tuple(p for p in found if not {"sich", "sich.d"} & set(p.german))
        elif wish in ("direct", "passive", "asked", "lasting", "what", "unbound", "commanded"):
            found = tuple(p for p in found if getattr(p, wish))
        else:
            found = tuple(p for p in found if wish in p.options)
    return found


@dataclass(slots=True)
class Item:
    """One part of the German middle field."""

    kind: str
    """'np', 'text' or 'sich'."""
    case: int = 1
    phrase: Phrase | None = None
    tokens: list[Token] = field(default_factory=list)
    noun_gender: str = ""
    """Of a bare noun that *kein* negates: Hunger haben."""

    def german(self) -> list[Token]:
        return self.phrase.german(self.case) if self.phrase is not None else self.tokens


@dataclass(slots=True)
class VerbPhrase:
    """A pattern with its slots filled: English words after the verb, and the parts of the German middle field."""

    pattern: Pattern
    key: int
    english: list[Token]
    items: list[Item]
    particle: list[Token] = field(default_factory=list)


def draw_object(draw: Draw, spec: str, subject: Phrase | None) -> Phrase:
    """Something of these classes; a person may be a pronoun or a name."""
    classes, marked, chosen = spec.partition("!")
    kinds = [word for word in classes.split() if word]
    determiners = tuple(word.strip().replace("_", " ") for word in chosen.split(",")) if marked else ()
    roll = draw.random()
    if PEOPLE & set(kinds) and not determiners:
        if roll < 0.3:
            names = [n for n in OBJECTIVE if subject is None or (n != subject.pronoun and (n in ("he", "she", "they")
                     or (subject.pronoun not in ("I", "we"))))]  # fmt: skip
            if subject is None:
                names = ["he", "she", "they", "he", "she"]
            elif subject.pronoun not in ("you", "plural you", "formal you"):
                names.append("you")
            return pronoun(draw, draw.pick(names), subject=False)
        if roll < 0.45:
            return person_name(draw)
        if roll < 0.5:
            return titled(draw)
    elif not determiners and roll < 0.08:
        return pronoun(draw, draw.pick(("it", "it", "they")), subject=False)
    elif not determiners and roll < 0.13:
        return owned(draw, kinds)
    if determiners:
        return noun_phrase(draw, kinds, determiners, subject=subject)
    return noun_phrase(draw, kinds, subject=subject)


def instantiate(
    draw: Draw, pattern: Pattern, subject: Phrase | None, gap: str = "", several: bool = False
) -> VerbPhrase:
    """Fill the slots; `gap` names one that stays empty, for a question word or a relative pronoun.

    With `several` an object may be two, *bread and milk*.
    """
    slots: dict[str, tuple[Phrase | None, tuple[list[Token], list[Token]] | None]] = {}
    for name, spec in pattern.specs.items():
        if name == gap:
            continue
        kind = spec.split()[0] if spec else ""
        if kind.isupper():
            slots[name] = (None, fill(draw, spec, subject))
        else:
            phrase = draw_object(draw, spec, subject)
            if several and phrase.noun is not None and phrase.built and not phrase.built.owner and draw.chance(0.05):
                phrase = _two(draw, spec, subject, phrase)
            slots[name] = (phrase, None)
    key = draw.key()
    english, particle = _english(pattern, slots, key, subject, gap)
    return VerbPhrase(pattern, key, english, _german(pattern, slots, key, gap), particle)


def _two(draw: Draw, spec: str, subject: Phrase | None, first: Phrase) -> Phrase:
    """A second of the same sort, if it is another noun."""
    second = draw_object(draw, spec, subject)
    if second.noun is None or first.noun is None or second.noun.singular == first.noun.singular:
        return first
    return coordinated(draw, first, second)


def _english(
    pattern: Pattern, slots: dict, key: int, subject: Phrase | None, gap: str
) -> tuple[list[Token], list[Token]]:
    words: list[Token] = []
    particle: list[Token] = []
    for text in pattern.english:
        if text.startswith("{"):
            name = text[1:-1]
            if name == gap:
                continue
            phrase, filler = slots[name]
            words += phrase.english if phrase is not None else filler[0]
            if particle:
                if phrase is not None and phrase.pronoun:
                    words += particle
                else:
                    words[-len(phrase.english) : -len(phrase.english)] = particle
                particle = []
        elif text.startswith("+"):
            particle = [(text[1:], key)]
        elif text in ("oneself", "one's"):
            table = REFLEXIVE if text == "oneself" else POSSESSIVE
            words.append((_bound(table, subject), key))
        else:
            words.append((text, key))
    return words, particle  # a particle is left where its object is asked for


def _bound(table: dict[str, str], subject: Phrase | None) -> str:
    """'myself', 'my' for the subject."""
    if subject is None:
        return table["I"]
    if subject.pronoun:
        return table[subject.pronoun].split()[-1]
    if subject.person == 3:  # Tom and I
        return table["we"]
    return table["they" if subject.agrees == "p" else {"f": "she", "n": "it"}.get(subject.gender, "he")]


def _german(pattern: Pattern, slots: dict, key: int, gap: str) -> list[Item]:
    items: list[Item] = []
    for text in pattern.german:
        if text.startswith("{"):
            name, _, case = text[1:-1].partition(".")
            if name == gap:
                if items and items[-1].tokens and items[-1].tokens[0][0] in PREPOSITIONS:
                    items.pop()
                continue
            phrase, filler = slots[name]
            if phrase is not None:
                items.append(Item("np", CASES[case or "n"], phrase))
            else:
                items.append(Item("text", tokens=filler[1]))
        elif text in ("sich", "sich.d"):
            items.append(Item("sich", 2 if text == "sich.d" else 1, tokens=[(text, key)]))
        else:
            word, _, gender = text.partition("/")
            items.append(Item("text", tokens=[(word, key)], noun_gender=gender))
    return items
