"""Sentence frames: pairs of texts with slots, *I think that {c:S} = Ich glaube, dass {c.s}*.

A slot is `{name.form:spec}`; the spec is given once, in the English.

| spec | English forms | German forms |
|---|---|---|
| `S wishes` a clause | `{c}`; `q` question, `p` predicate | `m` main, `v` verb first, `s` last; `p`, `pe`, `sp` |
| `VP wishes` a verb phrase | `{v}` base, `{v.ing}` | `inf`, `infb`, `inf-lieber`, `zu`, `i1`, `i2`, `ib` |
| classes of nouns, as in verb phrases | `{o}`, `be`, `was`, `v-cost` | `n`, `a`, `d`, `g`, `sein`, `war`, `v-kosten` |
| `KIND` | as in verb phrases; `JOB of=s` of a woman, if *s* is one | |
| `GAP of=a !the` what clause `a` (wish `gap`) asks for | `{o}`, `rel` that | `a`, `rel` den, auf den, dem |
| `ONE of=o colour` (or `mine`, `this`, `more`) | `{x}` the red one | `n`, `a`, `d` |
| any noun | `rel`, `whose`, `it`, `ita` | `rel`, `whose`, `it` er, `ita` ihn, `itd` ihm, `wurde` |

`p` and `sp` are `m` and `s` without their subject, `pe` without an auxiliary that has just been said, too.
`i1` and `i2` are the verb of the imperative and the rest, `ib` all of it with *bitte*, `infb` the infinitive with it,
`inf-lieber` with *lieber* in that place.
Wishes: `subj=I,you`, `t=past`, `neg=0.5`, `time=0`, `k=place` (kind of verb phrase), `g=group`, `gap`, `of=name` (the
subject of another clause, as a pronoun). `(a|b)` in both languages draws the same alternative of each, `[word]` in
the English alone is there half of the time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache

from annotated.classroom.phrases import CONTRACTIONS, Draw
from annotated.classroom.wide import clauses as c
from annotated.classroom.wide.agreeing import is_person, one, referring, relative
from annotated.classroom.wide.drawing import Wishes, draw_clause, draw_subject
from annotated.classroom.wide.fillers import fill, predicate
from annotated.classroom.wide.lexicon import adjectives_for
from annotated.classroom.wide.nominals import OBJECTIVE, Phrase, Token, pronoun
from annotated.classroom.wide.tables import lines
from annotated.classroom.wide.verb_phrases import CASES, Pattern, draw_object, patterns
from annotated.classroom.wide.verbs import english_verb, german_verb, modal

SLOT = re.compile(r"\{(\w+)(?:\.([\w-]+))?(?::([^}]*))?\}")
CHOICE = re.compile(r"\(([^()|]*(?:\|[^()|]*)+)\)")
_MARK = re.compile(r"(?<=[^\s.,?!;])([.,?!;]+)(?=\s|$)")
_KEEP = frozenset("Mr. Mrs. Ms. Dr. a.m. p.m. o'clock".split())
_OPEN = frozenset(
    "if whether how where when why before until unless while after think maybe hopefully course unfortunately "
    "fortunately".split()
)
"""Before a clause that takes no *of course*, *unfortunately* of its own."""
_NOBODY = frozenset("nobody no neither few hardly".split())
"""Begin a sentence that takes none."""
_MODALS = {"müssen": "must", "können": "can", "wollen": "want", "sollen": "shall"}
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
        self.open = {
            found[1]
            for found in SLOT.finditer(english)
            if found[2] == "q"
            or english.split()[0].lower() in _NOBODY
            or {*english[: found.start()].lower().replace(",", " ").split()[-1:]} & _OPEN
        }
        self.values: dict[str, c.WideClause | Phrase | Both] = {}
        for name, spec in sorted(self.specs.items(), key=lambda item: " of=" in item[1]):
            self.values[name] = self._draw(spec, name in self.open)

    def _draw(self, spec: str, open_: bool = False) -> c.WideClause | Phrase | Both:
        kind = spec.split()[0] if spec.split() else ""
        if kind in ("S", "VP"):
            wishes, more = read_wishes(spec)
            subject = self._subject_of(more["of"]) if "of" in more else None
            pattern = self._fitting(subject, more["of"]) if subject else None
            if kind == "VP":
                subject = subject or pronoun(self.draw, self.draw.pick(wishes.subjects or ("I",)).replace("_", " "))
                often: tuple[str, ...] = ("people",) if self.draw.chance(0.06) else ("people", "action")
                often += ("commanded",) if wishes.subjects and wishes.subjects[0].endswith("you") else ()
                wishes = Wishes(negated=wishes.negated if "neg" in spec else 0.0, time=wishes.time if "time" in spec
                                else 0.15, tenses=("present",), kinds=wishes.kinds if "k=" in spec else often,
                                groups=wishes.groups, adverbs=0.5)  # fmt: skip
                clause = draw_clause(self.draw, wishes, subject)
                clause.middle = None
                clause.late = clause.late if clause.negated else []
                return clause
            return draw_clause(self.draw, replace(wishes, comments=not open_), subject, pattern)
        if kind == "FIT":
            return self._fitting_adjective(spec)
        if kind in ("GAP", "ONE"):
            return self._noun_of(spec)
        if kind == "SUBJ":
            return draw_subject(self.draw, spec.split()[1:] or ("person",))
        if kind == "PRON":
            return pronoun(self.draw, self.draw.pick(spec.split()[1:]).replace("_", " "))
        if kind.isupper():
            before, _, source = spec.partition(" of=")
            person = self.values.get(source)
            return fill(self.draw, before, person if isinstance(person, Phrase) else None)
        drawn = draw_object(self.draw, spec if "!" in spec else spec + " ", None)
        single = "!" in spec and all("+s" in word for word in spec.partition("!")[2].split(","))
        while single and drawn.agrees == "p":  # 'this is my', and not trousers
            drawn = draw_object(self.draw, spec, None)
        return drawn

    def _noun_of(self, spec: str) -> Phrase:
        """'GAP of=a !the' what the clause asks for; 'ONE of=o colour' the red one."""
        kind, source, *more = spec.split()
        value = self.values[source.removeprefix("of=")]
        if kind == "ONE":
            assert isinstance(value, Phrase)
            return one(self.draw, value, more[0])
        assert isinstance(value, c.WideClause)
        asked = value.phrase.pattern.asked
        assert asked is not None
        wanted = value.phrase.pattern.specs[asked.name].partition("!")[0]
        return draw_object(self.draw, f"{wanted} {' '.join(more)}", None)

    def _fitting_adjective(self, spec: str) -> Both:
        """'FIT of=o' an adjective for a noun, as a predicate; 'bare' without *very*, 'more' the comparative."""
        _, source, *how = spec.split()
        phrase = self.values[source.removeprefix("of=")]
        assert isinstance(phrase, Phrase)
        options = [a for a in adjectives_for(phrase.noun) if "before" not in a.classes] if phrase.noun else []
        return predicate(self.draw, [a for a in options if a.comparative or not how], *how)

    def _subject_of(self, name: str) -> Phrase:
        """The subject of another clause, or a noun, once more: as a pronoun if it is no pronoun yet."""
        value = self.values[name]
        subject = value.subject if isinstance(value, c.WideClause) else value
        assert isinstance(subject, Phrase)
        if subject.pronoun and subject.noun is None:
            return pronoun(self.draw, subject.pronoun)
        if subject.person == 3:
            return pronoun(self.draw, "we")
        return referring(self.draw, subject)

    def _fitting(self, subject: Phrase, source: str) -> Pattern | None:
        """A verb phrase for a thing; for people there are the wishes."""
        value = self.values[source]
        if is_person(subject) and subject.pronoun != "it":
            return None
        classes = set(subject.noun.classes if subject.noun else value.phrase.pattern.subjects
                      if isinstance(value, c.WideClause) else ()) | {"thing"}  # fmt: skip
        options = [p for p in patterns() if classes & set(p.subjects)]
        return self.draw.pick([p for p in options if "thing" not in p.subjects] or options)

    def _relative(self, name: str, phrase: Phrase, english: bool, form: str) -> list[Token]:
        spec = self.specs[name].split()
        clause = self.values[spec[1].removeprefix("of=")] if spec[0] == "GAP" else None
        asked = clause.phrase.pattern.asked if isinstance(clause, c.WideClause) else None
        if form == "whose":
            return [("whose", phrase.english[-1][1])] if english else relative(phrase, 3)
        if english:
            return [("who" if asked is None and is_person(phrase) else "that", phrase.english[-1][1])]
        if asked:
            return relative(phrase, asked.case, asked.preposition)
        return relative(phrase, CASES[form[3:] or "n"])

    def english(self, name: str, form: str) -> list[Token]:
        """The English of a slot."""
        value = self.values[name]
        if isinstance(value, Phrase) and form in ("rel", "rela", "reld", "whose"):
            return self._relative(name, value, True, form)
        if isinstance(value, c.WideClause):
            if form == "part":
                return [(value.phrase.pattern.verb.participle, value.phrase.key), *c.english_rest(value, time=False)]
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
        if isinstance(value, Phrase) and form in ("rel", "rela", "reld", "whose"):
            return self._relative(name, value, False, form)
        if isinstance(value, c.WideClause):
            if form == "part":
                pattern = value.phrase.pattern
                ending = (pattern.prefix + pattern.infinitive.participle, value.phrase.key)
                return [*c.middle_field(value, time=False), ending]
            if form in ("i1", "i2"):
                return c.german_imperative(value)[form == "i2"]
            if form in ("ib", "infb"):
                return c.german_request(value, self.block, infinitive=form == "infb")
            if form.startswith("inf-"):
                return c.german_request(value, self.block, True, form[4:].replace("-", " "))
            if form in ("inf", "zu"):
                return c.german_infinitive(value, zu=form == "zu")
            if form in ("p", "pe"):
                words = c.german_main(value)[len(value.subject.german(0)) :]
                return words[self._shares_auxiliary(name, value) :] if form == "pe" else words
            if form == "sp":
                return c.german_final(value, subject=False)
            return {"m": c.german_main, "v": c.german_verb_first, "s": c.german_final, "": c.german_main}[form](value)
        if isinstance(value, Phrase):
            return value.german(CASES[form]) if form in CASES else self._agreeing(value, form or "n", english=False)
        return value[1]

    def _referring_word(self, phrase: Phrase, form: str, english: bool) -> str:
        """'it', 'them'; 'sie', 'ihn', 'ihm'."""
        again = referring(self.draw, phrase)
        if not english:
            return again.german(CASES[form[2:] or "n"])[0][0]
        return OBJECTIVE.get(again.pronoun, again.pronoun) if form != "it" else again.pronoun

    def _shares_auxiliary(self, name: str, clause: c.WideClause) -> bool:
        """Whether the first verb is that of the clause before: ich habe gegessen und (habe) getrunken."""
        before = self.values[self.specs[name].partition("of=")[2].split()[0]]
        finite, end = c.german_group(clause)
        if not isinstance(before, c.WideClause) or before.negated:
            return False
        return (
            bool(end)
            and c.german_group(before)[0][0] == finite[0]
            and [w for w, _ in end] != [clause.phrase.pattern.prefix]
        )

    def _agreeing(self, phrase: Phrase, form: str, english: bool) -> list[Token]:
        key = phrase.english[0][1] if english else phrase.german(0)[0][1]
        if form in ("be", "was"):
            return [(c.be(phrase, form == "was"), key)]
        if form in ("it", "ita", "itd"):
            return [(self._referring_word(phrase, form, english), key)]
        if form in ("have", "do"):
            return [({"have": ("have", "has"), "do": ("do", "does")}[form][phrase.agrees == "3"], key)]
        if form == "n":
            return phrase.german(0)
        if form in ("war", "wurde"):
            verb = {"war": "sein", "wurde": "werden"}[form]
            return [(german_verb(verb).preterite[phrase.person], key)]
        verb = form.removeprefix("v-")
        if english:
            forms = english_verb(verb)
            return [(forms.third if phrase.agrees == "3" else forms.base, key)]
        if verb in _MODALS:
            return [(modal(_MODALS[verb], phrase.person), key)]
        return [(german_verb(verb).present[phrase.person], key)]


def fill_text(filled: Filled, text: str, english: bool) -> list[Token]:
    """The words of one side; what stands between slots is one block, aligned with the other side's."""
    tokens: list[Token] = []
    block, position = filled.block, 0
    for found in SLOT.finditer(text):
        tokens += [(w, block) for w in split_words(text[position : found.start()].strip())]
        name, form, _ = found.groups()
        filling = filled.english(name, form or "") if english else filled.german(name, form or "")
        if tokens and filling and not english and form in CASES:
            short = CONTRACTIONS.get((tokens[-1][0], filling[0][0]))
            if short:
                filling = [(short, tokens.pop()[1] | filling[0][1]), *filling[1:]]
        tokens += filling
        position = found.end()
    return [*tokens, *((w, block) for w in split_words(text[position:].strip()))]


def draw_frame(draw: Draw, frame: Frame) -> Both:
    """Both sides of a frame."""
    english, german = chosen(draw, frame.english, frame.german)
    filled = Filled(draw, english)
    return fill_text(filled, english, True), fill_text(filled, german, False)
