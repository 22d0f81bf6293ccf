"""Forms of verbs: English ones for each tense, German ones for each person; irregular verbs come from the tables."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from annotated.classroom import morphology as m
from annotated.classroom.wide.tables import rows

VOWELS = "aeiou"


@dataclass(frozen=True, slots=True)
class EnglishVerb:
    """'go', 'goes', 'went', 'gone', 'going'."""

    base: str
    third: str
    past: str
    participle: str
    ing: str


@dataclass(frozen=True, slots=True)
class GermanVerb:
    """Forms without a separable prefix: six persons in the present and in the preterite."""

    infinitive: str
    present: tuple[str, ...]
    preterite: tuple[str, ...]
    participle: str
    auxiliary: str
    imperative: str
    plain_past: bool
    """Whether the past is told with the preterite: war, hatte, konnte."""


def _doubles(base: str) -> bool:
    """'stop', 'plan' and 'swim' double their last letter; 'open', 'visit' and 'listen' do not."""
    groups = sum(c in VOWELS and (i == 0 or base[i - 1] not in VOWELS) for i, c in enumerate(base))
    short = len(base) > 2 and base[-1] not in VOWELS + "wxy" and base[-2] in VOWELS and base[-3] not in VOWELS
    return (short and groups == 1) or base in _DOUBLING


_DOUBLING = frozenset("prefer forget begin admit travel cancel permit control refer forbid babysit regret quit".split())


@cache
def _irregular_english() -> dict[str, list[str]]:
    return {row[0].split()[0]: row[0].split() for row in rows("english_verbs")}


@cache
def english_verb(base: str) -> EnglishVerb:
    """All forms of a verb, from its base."""
    if base == "be":
        return EnglishVerb("be", "is", "was", "been", "being")
    stem = base + base[-1] if _doubles(base) else base
    if base.endswith("ie"):
        ing = base[:-2] + "ying"
    elif base.endswith("e") and not base.endswith(("ee", "oe", "ye")):
        ing = base[:-1] + "ing"
    else:
        ing = stem + "ing"
    third = "has" if base == "have" else m.english_third(base)
    if base in _irregular_english():
        _, past, *participle = _irregular_english()[base]
        return EnglishVerb(base, third, past, participle[0] if participle else past, ing)
    past = stem + "ed" if stem != base else m.english_past(base)
    return EnglishVerb(base, third, past, past, ing)


_SPECIAL = {
    "sein": ("bin bist ist sind seid sind", "war", "gewesen", "sein"),
    "haben": ("habe hast hat haben habt haben", "hatte", "gehabt", "haben"),
    "werden": ("werde wirst wird werden werdet werden", "wurde", "geworden", "sein"),
    "wissen": ("weiß weißt weiß wissen wisst wissen", "wusste", "gewusst", "haben"),
    "mögen": ("mag magst mag mögen mögt mögen", "mochte", "gemocht", "haben"),
    "wollen": ("will willst will wollen wollt wollen", "wollte", "gewollt", "haben"),
    "knien": ("knie kniest kniet knien kniet knien", "kniete", "gekniet", "haben"),
    "tun": ("tue tust tut tun tut tun", "tat", "getan", "haben"),
}
_IMPERATIVES = {"sein": "sei", "haben": "hab", "werden": "werde", "tun": "tu", "knien": "knie", "wissen": "wisse"}
PLAIN_PAST = frozenset("sein haben wissen mögen wollen".split())


@cache
def _irregular_german() -> dict[str, list[str]]:
    return {row[0].split()[0]: row[0].split() for row in rows("german_verbs")}


@cache
def german_verb(infinitive: str, weak: bool = False) -> GermanVerb:
    """All forms of a verb without separable prefix; the table names third person, preterite, participle, auxiliary.

    A verb that is not in the table is weak: kaufen, kaufte, gekauft. `weak` asks for the weak one of two verbs:
    hängte, gehängt, and not hing, gehangen.
    """
    if infinitive in _SPECIAL:
        special, past, participle, auxiliary = _SPECIAL[infinitive]
        forms, imperative = tuple(special.split()), _IMPERATIVES.get(infinitive, infinitive[:-2])
        return GermanVerb(infinitive, forms, m.preterite(past), participle, auxiliary, imperative,
                          infinitive in PLAIN_PAST)  # fmt: skip
    third, past, participle, auxiliary = "", "", "", "haben"
    if infinitive in _irregular_german() and not weak:
        _, *values = _irregular_german()[infinitive]
        third, past, participle = (value if value != "-" else "" for value in (values + ["-"] * 3)[:3])
        auxiliary = "sein" if "sein" in values[3:] or values[-1:] == ["sein"] else "haben"
        participle = "" if participle == "sein" else participle
    regular = _stem(infinitive)
    link = "e" if regular.endswith(_LINKED) else ""
    past = past or regular + link + "te"
    present = m.present(infinitive, third)
    if infinitive.endswith(("eln", "ern")):
        first_person = infinitive[:-3] + ("le" if infinitive.endswith("eln") else "ere")
        present = (first_person, regular + "st", regular + "t", infinitive, regular + "t", infinitive)
    elif link and not third:
        present = (regular + "e", regular + "est", regular + "et", infinitive, regular + "et", infinitive)
    elif third and link:  # du hältst, ihr haltet, ihr trocknet; du lädst
        second = third + "st" if third.endswith("t") and regular.endswith("t") else present[1]
        present = (present[0], second, third, infinitive, regular + "et", infinitive)
    return GermanVerb(infinitive, present, m.preterite(past), participle or _participle(infinitive, regular, link),
                      auxiliary, _imperative(infinitive, third, regular, link), False)  # fmt: skip


_LINKED = ("t", "d", "ffn", "chn", "ckn", "gn", "dm", "tm")


def _imperative(infinitive: str, third: str, stem: str, link: str) -> str:
    """'mach', 'warte', 'nimm', 'tritt', 'halte', 'ändere', 'sammle', 'entschuldige'."""
    if third and "i" in third and "i" not in infinitive:
        return third if stem.endswith("t") else third[:-1]
    if infinitive.endswith("eln"):
        return infinitive[:-3] + "le"
    return stem + (
        "e" if link or (stem.endswith("ig") and not stem.endswith("eig")) or infinitive.endswith("ern") else ""
    )


def _stem(infinitive: str) -> str:
    return infinitive[:-2] if infinitive.endswith("en") else infinitive[:-1]


def _participle(infinitive: str, stem: str, link: str) -> str:
    inseparable = infinitive.startswith(("be", "ver", "er", "ent", "emp", "zer", "miss", "über", "wieder", "unter"))
    ge = "" if (inseparable and infinitive not in _GE) or infinitive.endswith("ieren") or infinitive in _NO_GE else "ge"
    return ge + stem + link + "t"


_GE = frozenset("beten erben enden ernten".split())
_NO_GE = frozenset(
    "gebrauchen genehmigen gehören gewöhnen gefährden gelangen genügen gestalten prophezeien vermieten".split()
)

MODALS = {
    "can": ("kann kannst kann können könnt können", "konnte"),
    "must": ("muss musst muss müssen müsst müssen", "musste"),
    "may": ("darf darfst darf dürfen dürft dürfen", "durfte"),
    "want": ("will willst will wollen wollt wollen", "wollte"),
    "should": ("sollte solltest sollte sollten solltet sollten", "sollte"),
    "would like": ("möchte möchtest möchte möchten möchtet möchten", "wollte"),
    "could": ("könnte könntest könnte könnten könntet könnten", "konnte"),
    "would": ("würde würdest würde würden würdet würden", "würde"),
    "will": ("werde wirst wird werden werdet werden", "wurde"),
    "shall": ("soll sollst soll sollen sollt sollen", "sollte"),
}
HAETTE = tuple("hätte hättest hätte hätten hättet hätten".split())
WAERE = tuple("wäre wärst wäre wären wärt wären".split())


def modal(name: str, person: int, past: bool = False) -> str:
    """A form of a German modal verb."""
    present, preterite = MODALS[name]
    return m.preterite(preterite)[person] if past else present.split()[person]
