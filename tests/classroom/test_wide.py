"""The wide corpus: forms and word order against German that a teacher would write, and tables that hold together."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from annotated.classroom import join_words
from annotated.classroom.phrases import Draw
from annotated.classroom.wide import clauses as c
from annotated.classroom.wide import wide_pairs
from annotated.classroom.wide.corpus import KINDS
from annotated.classroom.wide.frames import CHOICE, draw_frame, frames
from annotated.classroom.wide.lexicon import adjectives, adjectives_for, nouns, nouns_of
from annotated.classroom.wide.nominals import Phrase, named, noun_phrase, pronoun
from annotated.classroom.wide.tables import lines
from annotated.classroom.wide.typed import contracted
from annotated.classroom.wide.verb_phrases import parse, patterns
from annotated.classroom.wide.verbs import english_verb, german_verb
from annotated.cli.data import Classroom
from annotated.config import DataConfig


def said(line: str, who: str, tense: str = "present", negated: bool = False, how: str = "main") -> tuple[str, str]:
    """The clause of a line of the table, in both languages."""
    draw = Draw(random.Random(0).random)
    subject: Phrase = named(draw, who, gender="f") if who[0].isupper() and who != "I" else pronoun(draw, who)
    clause = c.make(draw, subject, parse(line), tense, negated)
    english = c.english_question(clause) if how == "question" else c.english_statement(clause)
    build = {"main": c.german_main, "question": c.german_verb_first, "final": c.german_final}[how]
    return join_words(tuple(w for w, _ in english)), join_words(tuple(w for w, _ in build(clause)))


def alternatives(english: str, german: str) -> list[tuple[str, str]]:
    """All that '(a|b)' can become, in both languages."""
    found = CHOICE.search(english)
    if not found:
        return [(english, german)]
    options, other = found[1].split("|"), CHOICE.search(german)
    pairs = []
    for index, option in enumerate(options):
        same = other if other and len(other[1].split("|")) == len(options) else None
        theirs = german[: same.start()] + same[1].split("|")[index] + german[same.end() :] if same else german
        pairs += alternatives(english[: found.start()] + option + english[found.end() :], theirs)
    return pairs


HUNGRY, UP, TEETH = (
    "be hungry = Hunger/m haben",
    "get up = auf|stehen | - | sein",
    "brush one's teeth = sich.d die Zähne putzen",
)
HOME, CALL = "go home = nach Hause gehen", "call {p:'baker' !the} = {p.a} an|rufen"
CAR, HELP = "buy {o:'car' !a} = {o.a} kaufen", "help {p:'baker' !the} = {p.d} helfen"
CINEMA, BUS = "go to the cinema = ins Kino gehen", "wait for {o:'bus' !the} = auf {o.a} warten"


@pytest.mark.parametrize(
    ("line", "who", "tense", "negated", "how", "english", "german"),
    [
        (HUNGRY, "I", "present", False, "main", "I am hungry", "ich habe Hunger"),
        (HUNGRY, "she", "present", True, "main", "she is not hungry", "sie hat keinen Hunger"),
        (HUNGRY, "you", "past", False, "question", "were you hungry", "hattest du Hunger"),
        (UP, "he", "present", False, "main", "he gets up", "er steht auf"),
        (UP, "we", "past", False, "main", "we got up", "wir sind aufgestanden"),
        (UP, "they", "past", True, "final", "they did not get up", "sie nicht aufgestanden sind"),
        (UP, "Anna", "present", False, "final", "Anna gets up", "Anna aufsteht"),
        (UP, "you", "have to", True, "main", "you do not have to get up", "du musst nicht aufstehen"),
        (UP, "I", "must", True, "main", "I must not get up", "ich darf nicht aufstehen"),
        (TEETH, "I", "progressive", False, "main", "I am brushing my teeth", "ich putze mir die Zähne"),
        (TEETH, "she", "perfect", False, "main", "she has brushed her teeth", "sie hat sich die Zähne geputzt"),
        (TEETH, "we", "present", True, "main", "we do not brush our teeth", "wir putzen uns nicht die Zähne"),
        (HOME, "he", "going to", False, "main", "he is going to go home", "er wird nach Hause gehen"),
        (HOME, "I", "would like to", False, "question", "would I like to go home", "möchte ich nach Hause gehen"),
        (HOME, "they", "past", True, "main", "they did not go home", "sie sind nicht nach Hause gegangen"),
        (CAR, "we", "will", True, "main", "we will not buy a car", "wir werden kein Auto kaufen"),
        (CAR, "you", "would have", False, "main", "you would have bought a car", "du hättest ein Auto gekauft"),
        (CAR, "she", "past perfect", False, "final", "she had bought a car", "sie ein Auto gekauft hatte"),
        (CINEMA, "I", "could", True, "main", "I could not go to the cinema", "ich konnte nicht ins Kino gehen"),
        (CINEMA, "you", "could", False, "question", "could you go to the cinema", "könntest du ins Kino gehen"),
        (BUS, "I", "wanted to", True, "main", "I did not want to wait for the bus",
         "ich wollte nicht auf den Bus warten"),
        (BUS, "they", "past progressive", False, "main", "they were waiting for the bus",
         "sie haben auf den Bus gewartet"),
        ("be here = hier sein | - | state", "we", "past", False, "main", "we were here", "wir waren hier"),
        ("be here = hier sein | - | state", "I", "would", False, "main", "I would be here", "ich wäre hier"),
        ("know that = das wissen | - | state", "I", "present", True, "main", "I do not know that",
         "ich weiß das nicht"),
        ("rain = regnen | it", "it", "past", False, "main", "it rained", "es hat geregnet"),
        ("repeat that = das wiederholen", "you", "can", False, "question", "can you repeat that",
         "kannst du das wiederholen"),
    ],
)  # fmt: skip
def test_a_clause_is_what_a_teacher_would_write(
    line: str, who: str, tense: str, negated: bool, how: str, english: str, german: str
) -> None:
    assert said(line, who, tense, negated, how) == (english, german)


def test_cases_and_the_order_of_objects() -> None:
    assert said(CALL, "I")[1] in ("ich rufe den Bäcker an", "ich rufe die Bäckerin an", "ich rufe die Bäcker an")
    assert said(HELP, "I")[1] in ("ich helfe dem Bäcker", "ich helfe der Bäckerin", "ich helfe den Bäckern")
    give = "give {p:'child' !the} {o:'book' !a} = {p.d} {o.a} geben"
    assert said(give, "I", "past")[1] in ("ich habe dem Kind ein Buch gegeben", "ich habe den Kindern ein Buch gegeben")


@pytest.mark.parametrize(
    ("base", "third", "past", "participle", "ing"),
    [
        ("go", "goes", "went", "gone", "going"), ("stop", "stops", "stopped", "stopped", "stopping"),
        ("play", "plays", "played", "played", "playing"), ("try", "tries", "tried", "tried", "trying"),
        ("open", "opens", "opened", "opened", "opening"), ("lie", "lies", "lay", "lain", "lying"),
        ("make", "makes", "made", "made", "making"), ("visit", "visits", "visited", "visited", "visiting"),
        ("watch", "watches", "watched", "watched", "watching"), ("see", "sees", "saw", "seen", "seeing"),
        ("have", "has", "had", "had", "having"), ("rain", "rains", "rained", "rained", "raining"),
    ],
)  # fmt: skip
def test_english_verbs(base: str, third: str, past: str, participle: str, ing: str) -> None:
    forms = english_verb(base)
    assert (forms.third, forms.past, forms.participle, forms.ing) == (third, past, participle, ing)


@pytest.mark.parametrize(
    ("infinitive", "second", "third", "participle", "auxiliary", "imperative"),
    [
        ("kaufen", "kaufst", "kauft", "gekauft", "haben", "kauf"),
        ("arbeiten", "arbeitest", "arbeitet", "gearbeitet", "haben", "arbeite"),
        ("geben", "gibst", "gibt", "gegeben", "haben", "gib"),
        ("fahren", "fährst", "fährt", "gefahren", "sein", "fahr"),
        ("lesen", "liest", "liest", "gelesen", "haben", "lies"),
        ("verkaufen", "verkaufst", "verkauft", "verkauft", "haben", "verkauf"),
        ("studieren", "studierst", "studiert", "studiert", "haben", "studier"),
        ("öffnen", "öffnest", "öffnet", "geöffnet", "haben", "öffne"),
        ("bellen", "bellst", "bellt", "gebellt", "haben", "bell"),
        ("umarmen", "umarmst", "umarmt", "umarmt", "haben", "umarm"),
        ("bügeln", "bügelst", "bügelt", "gebügelt", "haben", "bügel"),
        ("bleiben", "bleibst", "bleibt", "geblieben", "sein", "bleib"),
    ],
)  # fmt: skip
def test_german_verbs(
    infinitive: str, second: str, third: str, participle: str, auxiliary: str, imperative: str
) -> None:
    forms = german_verb(infinitive)
    assert (forms.present[1], forms.present[2], forms.participle) == (second, third, participle)
    assert (forms.auxiliary, forms.imperative) == (auxiliary, imperative)


NO_DIMINUTIVE = ("kuchen", "knochen", "drachen", "rechen", "baguette")
ENDINGS = {"f": ("ung", "heit", "keit", "schaft", "tät", "tion", "ette"), "n": ("chen", "lein"),
           "m": ("ismus", "ling")}  # fmt: skip


def test_the_gender_of_nouns_agrees_with_their_ending() -> None:
    wrong = [
        (form, noun.gender)
        for noun in nouns()
        for form in [noun.forms[noun.gender][0]]
        for gender, endings in ENDINGS.items()
        if form.endswith(endings) and noun.gender not in (gender, "p") and not form.lower().endswith(NO_DIMINUTIVE)
    ]
    assert wrong == []


def test_nouns_have_the_dative_plural_and_weak_ones_their_ending() -> None:
    for noun in nouns():
        assert noun.gender in "mfnp", noun.singular
        plural = noun.forms["p"]
        if not noun.mass and (noun.plural_only or plural is not noun.forms[noun.gender]):
            assert plural[2] == plural[0] or plural[2] == plural[0] + "n", noun.singular
            assert plural[2].endswith(("n", "s")), noun.singular
        genitive = noun.forms[noun.gender][3]
        assert noun.gender in "fp" or genitive.endswith(("s", "n")), noun.singular


def test_no_noun_stands_twice_and_none_in_a_wrong_plural() -> None:
    both = [(noun.singular, noun.forms[noun.gender][0]) for noun in nouns()]
    assert not {each for each in both if both.count(each) > 1}
    for noun in nouns():
        if not noun.mass and not noun.pair and not noun.plural_only:
            irregular = noun.plural == noun.singular or noun.plural[-1] != "s"
            head = noun.plural.split()[-1].split("-")[0]
            assert not irregular or not head.endswith(("ss", "x", "ch")), noun.singular
    women = {n.singular: n.feminine.forms["p"][0] for n in nouns() if n.feminine is not None}
    assert women["nurse"] == "Krankenschwestern" and women["firefighter"] == "Feuerwehrfrauen"
    assert women["teacher"] == "Lehrerinnen"
    assert [many for many in women.values() if not many.endswith(("innen", "schwestern", "frauen", "Cousinen"))] == []


def test_genitives_that_are_not_regular() -> None:
    genitives = {n.singular: n.forms[n.gender][3] for n in nouns()}
    expected = {"bus": "Busses", "cactus": "Kaktus", "house": "Hauses", "boss": "Chefs", "name": "Namens",
                "thought": "Gedankens", "heart": "Herzens", "boy": "Jungen", "hotel": "Hotels"}  # fmt: skip
    assert {word: genitives[word] for word in expected} == expected


def test_trousers_are_plural_in_english_alone() -> None:
    trousers = next(n for n in nouns() if n.singular == "trousers")
    said_of = {}
    for determiner in ("the", "a", "this", "number"):
        phrase = noun_phrase(Draw(random.Random(0).random), (), (determiner,), adjective=0, noun=trousers)
        said_of[determiner] = (" ".join(w for w, _ in phrase.english), " ".join(w for w, _ in phrase.german(1)),
                               phrase.agrees, phrase.person)  # fmt: skip
    assert said_of["the"] == ("the trousers", "die Hose", "p", 2)
    assert said_of["this"] == ("these trousers", "diese Hose", "p", 2)
    assert said_of["a"] == ("a pair of trousers", "eine Hose", "3", 2)
    english, german, agrees, person = said_of["number"]
    assert english.endswith("pairs of trousers") and german.endswith("Hosen") and (agrees, person) == ("p", 5)


def test_vegetables_are_gemüse() -> None:
    vegetables = next(n for n in nouns() if n.singular == "vegetables")
    for determiner, english, german in (("a", "vegetables", "Gemüse"), ("the", "the vegetables", "dem Gemüse")):
        phrase = noun_phrase(Draw(random.Random(0).random), (), (determiner,), adjective=0, noun=vegetables)
        assert " ".join(w for w, _ in phrase.english) == english and phrase.agrees == "p"
        assert " ".join(w for w, _ in phrase.german(2 if determiner == "the" else 1)) == german


def test_an_article_goes_by_the_sound() -> None:
    said_with = {"apple": "an", "hour": "an", "uniform": "a", "European": "a", "Ukrainian": "a", "USB stick": "a",
                 "American": "an", "UFO": "a", "one-way street": "a", "update": "an"}  # fmt: skip
    for singular, article in said_with.items():
        noun = next(n for n in nouns() if n.singular == singular)
        phrase = noun_phrase(Draw(random.Random(0).random), (), ("a",), adjective=0, noun=noun)
        assert phrase.english[0][0] == article, singular


def test_a_set_phrase_has_one_german() -> None:
    """Ends apart; what a slot or '[word]' leaves open is not compared."""
    known: dict[str, str] = {}
    differ = []
    for frame in frames("set_phrases"):
        if "[" in frame.english:
            continue
        for english, german in alternatives(frame.english, frame.german):
            english, german = contracted(english).rstrip(".!?").lower(), german.rstrip(".!?")
            if known.setdefault(english, german) != german:
                differ.append((english, known[english], german))
    assert differ == []


def test_no_class_is_named_that_nothing_belongs_to() -> None:
    for pattern in patterns():
        for name, spec in pattern.specs.items():
            if not (spec.split() and spec.split()[0].isupper()):
                classes = spec.partition("!")[0].split()
                assert classes, (pattern.verb.base, name)
                assert all(nouns_of(each) for each in classes)
        assert all(each == "it" or nouns_of(each) for each in pattern.subjects)


def test_nothing_is_said_of_a_people_as_a_whole() -> None:
    assert [n.singular for n in nouns_of("folk") if adjectives_for(n)] == []


def test_every_adjective_fits_something() -> None:
    classes = {each for noun in nouns() for each in noun.classes} | {"mood"} | {noun.singular for noun in nouns()}
    assert [a.english for a in adjectives() if not a.classes & classes] == []


@pytest.mark.parametrize("table", ["frames", "set_phrases"])
def test_every_frame_can_be_said(table: str) -> None:
    for frame in sorted(set(frames(table)), key=lambda f: f.english):
        for seed in range(4):
            both = draw_frame(Draw(random.Random(seed).random), frame)
            for side in both:
                text = join_words(tuple(word for word, _ in side))
                assert text and not set("{}[]()|=") & set(text), (frame.english, text)


def test_a_line_stands_at_most_three_times_which_is_its_weight() -> None:
    for table in ("verb_phrases", "frames", "set_phrases"):
        english = [line.split(" = ")[0] + "|" + "|".join(line.split(" | ")[1:]) for _, line in lines(table)]
        twice = {line for line in english if english.count(line) > 3}
        assert not twice, twice


def test_the_same_seed_gives_the_same_pairs_and_splits_share_no_sentence() -> None:
    pairs = {split: list(wide_pairs(split, 1500, seed=1, typed=False)) for split in ("train", "valid", "test")}
    assert list(wide_pairs("train", 50, seed=1, typed=False)) == pairs["train"][:50]
    assert {p.kind for p in pairs["valid"]} == {p.kind for p in pairs["test"]} == set(KINDS) - {"set-phrase"}
    texts = {split: {p.source for p in some if p.kind != "set-phrase"} for split, some in pairs.items()}
    assert not texts["train"] & texts["valid"] and not texts["train"] & texts["test"]
    for pair in pairs["train"][:300]:
        assert all(i < len(pair.written) and j < len(pair.german) for i, j in pair.alignment)
        assert pair.alignment
    with pytest.raises(ValueError, match="train, valid, test"):
        next(wide_pairs("dev", 1))  # type: ignore[arg-type]


def test_contractions() -> None:
    assert contracted("I am not sure that she will not come.") == "I'm not sure that she won't come."
    assert contracted("Do not do that!") == "Don't do that!"
    assert contracted("Yes, I am.") == "Yes, I am."
    assert contracted("They have not seen it.") == "They've not seen it."


def test_names_that_nobody_knows_are_copied() -> None:
    copied = 0
    for pair in wide_pairs("train", 3000, seed=2, typed=False):
        for i, j in pair.alignment:
            word, wort = pair.written[i], pair.german[j]
            copied += word == wort and word[0].isupper() and i > 0
    assert copied > 300


def test_the_command_writes_files_that_a_training_reads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert Classroom(tmp_path / "everyday", wide=True, data=DataConfig(classroom_pairs=60)).run() == 0
    names = sorted(path.name for path in (tmp_path / "everyday").iterdir())
    assert names == ["test.tsv", "train.tsv", "valid.tsv"]
    train = [line.split("\t") for line in (tmp_path / "everyday" / "train.tsv").read_text("utf-8").splitlines()]
    assert len(train) == 60 and train == [[p.source, p.target] for p in wide_pairs("train", 60)]
    assert "60 pairs" in capsys.readouterr().out
