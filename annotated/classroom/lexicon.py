"""Lexicon: the word lists of `words` turned into entries with all their forms, grouped by semantic class."""

from __future__ import annotations

from dataclasses import dataclass

from annotated.classroom import morphology as m
from annotated.classroom import nouns as noun_lists
from annotated.classroom import words


@dataclass(frozen=True, eq=False, slots=True)
class Noun:
    """A noun with its forms; `forms[column]` holds the four German cases, columns being a gender or 'p'."""

    singular: tuple[str, ...]
    plural: tuple[str, ...]
    gender: str
    forms: dict[str, tuple[str, ...]]
    kind: str
    compound: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class Adjective:
    """`german` is the predicative form, `stem` what the endings join; `comparative` is '' where there is none."""

    english: str
    german: str
    stem: str
    english_comparative: tuple[str, ...]
    comparative: str
    kinds: frozenset[str]


@dataclass(frozen=True, eq=False, slots=True)
class Verb:
    """A verb with both languages' forms and its frame; German forms stand without the separable prefix."""

    base: str
    third: str
    past: str
    particle: str
    movable: bool
    infinitive: str
    prefix: str
    present: tuple[str, ...]
    participle: str
    preterite: tuple[str, ...] | None
    auxiliary: str
    imperative: str
    subjects: tuple[str, ...] = ()
    frame: str = ""
    objects: tuple[str, ...] = ()
    themes: tuple[str, ...] = ()

    @property
    def zu_infinitive(self) -> tuple[str, ...]:
        """('zu', 'kaufen') or ('aufzumachen',)."""
        if self.prefix:
            return (f"{self.prefix}zu{self.infinitive}",)
        return ("zu", self.infinitive)


def _plain_nouns() -> dict[str, Noun]:
    nouns, kind = {}, ""
    for line in noun_lists.NOUNS.strip().splitlines():
        if line.startswith("#"):
            kind = line[1:].strip()
            continue
        english, plural, german, gender, german_plural, *genitive = line.split()
        forms = m.decline(german, gender, german_plural, genitive[0] if genitive else "")
        nouns[english] = Noun((english,), () if plural == "-" else (plural,), gender, forms, kind)
    return nouns


def _compound_nouns(plain: dict[str, Noun]) -> list[Noun]:
    compounds = []
    for line in noun_lists.COMPOUNDS.strip().splitlines():
        english, german, *heads = line.split()
        for name in heads:
            head = plain[name]
            forms = {column: tuple(german + form.lower() for form in cases) for column, cases in head.forms.items()}
            plural = (english, *head.plural) if head.plural else ()
            compounds.append(Noun((english, *head.singular), plural, head.gender, forms, head.kind, compound=True))
    return compounds


def _english_comparative(english: str) -> tuple[str, ...]:
    if english.endswith("y"):
        return (english[:-1] + "ier",)
    if len(english) > 6 or english in ("famous", "quiet", "tired"):
        return ("more", english)
    if english.endswith("e"):
        return (english + "r",)
    doubled = english in ("big", "sad", "hot")
    return (english + (english[-1] if doubled else "") + "er",)


def _adjectives() -> list[Adjective]:
    entries = []
    for line in words.ADJECTIVES.strip().splitlines():
        left, kinds = line.split(" : ")
        english, german, comparative, *stem = left.split()
        base = stem[0] if stem else german.removesuffix("e")
        degree = "" if comparative == "-" else comparative
        more = _english_comparative(english)
        entries.append(Adjective(english, german, base, more, degree, frozenset(kinds.split())))
    return entries


def parse_verb(line: str) -> Verb:
    """One line of the verb list as a `Verb`; see `words.VERBS` for the columns."""
    english, german, *rest = [part.strip() for part in line.split("|")]
    base, _, past = english.partition(" ")
    base, _, particle = base.partition("_")
    lemma, *options = german.split()
    values = dict(option.partition("=")[::2] for option in options)
    prefix = values.get("pre", "")
    infinitive = lemma.removeprefix(prefix)
    third = values.get("er", "").removeprefix(prefix)
    frame, _, classes = rest[1].partition(" ") if len(rest) > 1 else ("", "", "")
    objects, _, themes = classes.partition("+")
    return Verb(
        base=base,
        third=m.english_third(base) if base != "have" else "has",
        past=past or m.english_past(base),
        particle=particle.lstrip("+="),
        movable=particle.startswith("+"),
        infinitive=infinitive,
        prefix=prefix,
        present=_irregular_present(lemma) or m.present(infinitive, third),
        participle=values.get("part") or m.participle(infinitive, prefix),
        preterite=m.preterite(values["pret"]) if "pret" in values else None,
        auxiliary="sein" if "sein" in values else "haben",
        imperative=m.imperative(infinitive, third),
        subjects=tuple(rest[0].split()) if rest else (),
        frame=frame,
        objects=tuple(objects.split()),
        themes=tuple(themes.split()),
    )


_IRREGULAR = {
    "mögen": "mag magst mag mögen mögt mögen",
    "haben": "habe hast hat haben habt haben",
    "wissen": "weiß weißt weiß wissen wisst wissen",
    "sein": "bin bist ist sind seid sind",
    "werden": "werde wirst wird werden werdet werden",
}


def _irregular_present(lemma: str) -> tuple[str, ...] | None:
    return tuple(_IRREGULAR[lemma].split()) if lemma in _IRREGULAR else None


HABEN, SEIN, WERDEN = (tuple(_IRREGULAR[lemma].split()) for lemma in ("haben", "sein", "werden"))
WAR = m.preterite("war")

_PLAIN = _plain_nouns()
NOUN: dict[str, Noun] = {**_PLAIN, **{" ".join(n.singular): n for n in _compound_nouns(_PLAIN)}}
"""English singular ('dog', 'kitchen table') -> noun."""

NOUNS_BY_KIND: dict[str, tuple[Noun, ...]] = {}
COMPOUNDS_BY_KIND: dict[str, tuple[Noun, ...]] = {}
for _noun in NOUN.values():
    _table = COMPOUNDS_BY_KIND if _noun.compound else NOUNS_BY_KIND
    _table[_noun.kind] = (*_table.get(_noun.kind, ()), _noun)

ADJECTIVES: tuple[Adjective, ...] = tuple(_adjectives())
ADJECTIVES_BY_KIND: dict[str, tuple[Adjective, ...]] = {
    kind: tuple(a for a in ADJECTIVES if kind in a.kinds) for kind in NOUNS_BY_KIND
}

VERBS: tuple[Verb, ...] = tuple(parse_verb(line) for line in words.VERBS.strip().splitlines())
MOTION: tuple[Verb, ...] = tuple(parse_verb(line) for line in words.GO.strip().splitlines())
