"""Sentence frames: pairs of texts with slots, *I think that {c:S} = Ich glaube, dass {c.s}*.

A slot is `{name.form:spec}`; the spec is given once, in the English.

| spec | English forms | German forms |
|---|---|---|
| `S wishes` a clause | `{c}`; `q` question, `p` predicate | `m` main, `v` verb first, `s` last; `p`, `sp` predicate |
| `VP wishes` a verb phrase | `{v}` base, `{v.ing}` | `inf`, `zu`, `i1` and `i2` (imperative: verb, rest) |
| classes of nouns, as in verb phrases | `{o}`, `be`, `was`, `v-cost` | `n`, `a`, `d`, `g`, `sein`, `war`, `v-kosten` |
| `KIND` | as in verb phrases | |

Wishes: `subj=I,you`, `t=past`, `neg=0.5`, `time=0`, `k=place` (kind of verb phrase), `g=group`, `gap`, `of=name` (the
subject of another clause, as a pronoun). `(a|b)` in both languages draws the same alternative of each, `[word]` in
the English alone is there half of the time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from annotated.classroom.phrases import Draw
from annotated.classroom.wide import clauses as c
from annotated.classroom.wide.drawing import Wishes, draw_clause, draw_subject
from annotated.classroom.wide.fillers import fill
from annotated.classroom.wide.nominals import Phrase, Token, pronoun
from annotated.classroom.wide.tables import lines
from annotated.classroom.wide.verb_phrases import CASES, draw_object
from annotated.classroom.wide.verbs import english_verb, german_verb

SLOT = re.compile(r"\{(\w+)(?:\.([\w-]+))?(?::([^}]*))?\}")
CHOICE = re.compile(r"\(([^()|]*(?:\|[^()|]*)+)\)")
_MARK = re.compile(r"(?<=[^\s.,?!;])([.,?!;]+)(?=\s|$)")
_KEEP = frozenset("Mr. Mrs. Ms. Dr. a.m. p.m. o'clock".split())
Both = tuple[list[Token], list[Token]]


@dataclass(frozen=True, slots=True)
class Frame:
    """A line of a table of frames."""

    english: str
    german: str
    group: str


@cache
def frames(table: str = "frames") -> tuple[Frame, ...]:
    """All frames of a table, each as often as its group's weight says ('## group 3')."""
    found = []
    for group, line in lines(table):
        english, german = (part.strip() for part in line.split(" = "))
        name, _, weight = group.rpartition(" ")
        found += [Frame(english, german, name or group)] * (int(weight) if weight.isdigit() else 1)
    return tuple(found)


def chosen(draw: Draw, english: str, german: str) -> tuple[str, str]:
    """One alternative of each '(a|b)', the same in both languages where the German has it too."""
    while found := CHOICE.search(english):
        options = found[1].split("|")
        index = int(draw.random() * len(options))
        english = english[: found.start()] + options[index] + english[found.end() :]
        other = CHOICE.search(german)
        if other and len(other[1].split("|")) == len(options):
            german = german[: other.start()] + other[1].split("|")[index] + german[other.end() :]
    english = re.sub(r"\[([^\]]*)\]", lambda found: found[1] if draw.chance(0.5) else "", english)
    return " ".join(english.split()), " ".join(german.split())


def split_words(text: str) -> list[str]:
    """Words and marks of a text that stands in a table."""
    words = []
    for word in text.split():
        words += [word] if word in _KEEP or word[-1:] not in ".,?!;" else _MARK.sub(r" \1", word).split()
    return words


def read_wishes(spec: str) -> tuple[Wishes, dict[str, str]]:
    """'S subj=I t=past' as wishes, and what is not one of them."""
    values = dict(option.partition("=")[::2] for option in spec.split()[1:])
    wishes = Wishes(
        tuple(values.pop("subj", "").split(",")) if "subj" in values else (),
        tuple(t.replace("_", " ") for t in values.pop("t").split(",")) if "t" in values else (),
        float(values.pop("neg", 0.14)),
        float(values.pop("time", 0.3)),
        tuple(values.pop("k").split(",")) if "k" in values else ("people",),
        tuple(values.pop("g").split(",")) if "g" in values else (),
        "gap" in values,
        float(values.pop("adv", 1)),
    )
    return wishes, values


class Filled:
    """A frame with its slots filled: they are drawn when they are first met."""

    def __init__(self, draw: Draw, english: str) -> None:
        self.draw = draw
        self.block = draw.key()
        """Of all that stands between the slots, in both languages."""
        self.specs = {name: spec for name, _, spec in SLOT.findall(english) if spec}
        self.values: dict[str, c.WideClause | Phrase | Both] = {}
        for name, spec in self.specs.items():
            self.values[name] = self._draw(spec)

    def _draw(self, spec: str) -> c.WideClause | Phrase | Both:
        kind = spec.split()[0] if spec.split() else ""
        if kind in ("S", "VP"):
            wishes, more = read_wishes(spec)
            subject = self._subject_of(more["of"]) if "of" in more else None
            if kind == "VP":
                subject = subject or pronoun(self.draw, self.draw.pick(wishes.subjects or ("I",)).replace("_", " "))
                wishes = Wishes(negated=wishes.negated if "neg" in spec else 0.0, time=wishes.time if "time" in spec
                                else 0.15, tenses=("present",), kinds=wishes.kinds or ("people", "action"),
                                groups=wishes.groups, adverbs=0.5)  # fmt: skip
                clause = draw_clause(self.draw, wishes, subject)
                clause.middle = None
                return clause
            return draw_clause(self.draw, wishes, subject)
        if kind == "SUBJ":
            return draw_subject(self.draw, spec.split()[1:] or ("person",))
        if kind == "PRON":
            return pronoun(self.draw, self.draw.pick(spec.split()[1:]).replace("_", " "))
        if kind.isupper():
            return fill(self.draw, spec)
        return draw_object(self.draw, spec if "!" in spec else spec + " ", None)

    def _subject_of(self, name: str) -> Phrase:
        """The subject of another clause, once more: as a pronoun if it is no pronoun yet."""
        value = self.values[name]
        subject = value.subject if isinstance(value, c.WideClause) else value
        assert isinstance(subject, Phrase)
        if subject.pronoun:
            return pronoun(self.draw, subject.pronoun)
        plural = {3: "we"}.get(subject.person, "they")
        return pronoun(self.draw, plural if subject.agrees == "p" else "she" if subject.gender == "f" else "he")

    def english(self, name: str, form: str) -> list[Token]:
        """The English of a slot."""
        value = self.values[name]
        if isinstance(value, c.WideClause):
            if self.specs[name].startswith("VP"):
                words = c.english_infinitive(value.phrase, "ing" if form == "ing" else "base")
                more = c.english_rest(value)[len(value.phrase.english) + len(value.phrase.particle) :]
                not_ = [("not", value.keys[1])] if value.negated else []
                return [*not_, *words, *more]
            if form == "q":
                return c.english_question(value)
            return c.english_statement(value, subject=form != "p")
        if isinstance(value, Phrase):
            return self._agreeing(value, form, english=True) if form else value.english
        return value[0]

    def german(self, name: str, form: str) -> list[Token]:
        """The German of a slot."""
        value = self.values[name]
        if isinstance(value, c.WideClause):
            if form in ("i1", "i2"):
                return c.german_imperative(value)[form == "i2"]
            if form in ("inf", "zu"):
                return c.german_infinitive(value, zu=form == "zu")
            if form == "p":
                return c.german_main(value)[len(value.subject.german(0)) :]
            if form == "sp":
                return c.german_final(value, subject=False)
            return {"m": c.german_main, "v": c.german_verb_first, "s": c.german_final, "": c.german_main}[form](value)
        if isinstance(value, Phrase):
            return value.german(CASES[form]) if form in CASES else self._agreeing(value, form or "n", english=False)
        return value[1]

    def _agreeing(self, phrase: Phrase, form: str, english: bool) -> list[Token]:
        key = phrase.english[0][1] if english else phrase.german(0)[0][1]
        if form in ("be", "was"):
            return [(c.be(phrase, form == "was"), key)]
        if form in ("have", "do"):
            return [({"have": ("have", "has"), "do": ("do", "does")}[form][phrase.agrees == "3"], key)]
        if form == "n":
            return phrase.german(0)
        if form == "war":
            return [(german_verb("sein").preterite[phrase.person], key)]
        verb = form.removeprefix("v-")
        if english:
            forms = english_verb(verb)
            return [(forms.third if phrase.agrees == "3" else forms.base, key)]
        return [(german_verb(verb).present[phrase.person], key)]


def fill_text(filled: Filled, text: str, english: bool) -> list[Token]:
    """The words of one side; what stands between slots is one block, aligned with the other side's."""
    tokens: list[Token] = []
    block, position = filled.block, 0
    for found in SLOT.finditer(text):
        tokens += [(w, block) for w in split_words(text[position : found.start()].strip())]
        name, form, _ = found.groups()
        tokens += filled.english(name, form or "") if english else filled.german(name, form or "")
        position = found.end()
    return [*tokens, *((w, block) for w in split_words(text[position:].strip()))]


def draw_frame(draw: Draw, frame: Frame) -> Both:
    """Both sides of a frame."""
    english, german = chosen(draw, frame.english, frame.german)
    filled = Filled(draw, english)
    return fill_text(filled, english, True), fill_text(filled, german, False)
