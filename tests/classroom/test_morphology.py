"""German and English forms against tables written by hand."""

from __future__ import annotations

import pytest

from annotated.classroom import morphology as m
from annotated.classroom.lexicon import NOUN, VERBS
from annotated.classroom.phrases import NounPhrase

DECLENSIONS = {
    ("the", "alt", "dog", "m"): "der alte Hund, den alten Hund, dem alten Hund, des alten Hundes",
    ("the", "alt", "dog", "p"): "die alten Hunde, die alten Hunde, den alten Hunden, der alten Hunde",
    ("a", "alt", "dog", "m"): "ein alter Hund, einen alten Hund, einem alten Hund, eines alten Hundes",
    ("no", "alt", "dog", "p"): "keine alten Hunde, keine alten Hunde, keinen alten Hunden, keiner alten Hunde",
    ("", "alt", "dog", "p"): "alte Hunde, alte Hunde, alten Hunden, alter Hunde",
    ("the", "schwarz", "cat", "f"): "die schwarze Katze, die schwarze Katze, der schwarzen Katze, der schwarzen Katze",
    ("my", "schwarz", "cat", "f"): "meine schwarze Katze, meine schwarze Katze, meiner schwarzen Katze, "
    "meiner schwarzen Katze",
    ("the", "neu", "house", "n"): "das neue Haus, das neue Haus, dem neuen Haus, des neuen Hauses",
    ("our", "neu", "house", "n"): "unser neues Haus, unser neues Haus, unserem neuen Haus, unseres neuen Hauses",
    ("plural your", "neu", "house", "n"): "euer neues Haus, euer neues Haus, eurem neuen Haus, eures neuen Hauses",
    ("this", "klein", "boy", "m"): "dieser kleine Junge, diesen kleinen Jungen, diesem kleinen Jungen, "
    "dieses kleinen Jungen",
    ("", "kalt", "milk", "f"): "kalte Milch, kalte Milch, kalter Milch, kalter Milch",
    ("", "kalt", "water", "n"): "kaltes Wasser, kaltes Wasser, kaltem Wasser, kalten Wassers",
    ("", "heiß", "tea", "m"): "heißer Tee, heißen Tee, heißem Tee, heißen Tees",
    ("the", "teur", "kitchen table", "m"): "der teure Küchentisch, den teuren Küchentisch, dem teuren Küchentisch, "
    "des teuren Küchentisches",
}


@pytest.mark.parametrize(("choice", "expected"), DECLENSIONS.items(), ids=str)
def test_declension_of_whole_phrases(choice, expected):
    determiner, adjective, noun, column = choice
    phrase = NounPhrase([], 2, column)
    phrase.noun, phrase.determiner, phrase.adjective = NOUN[noun], determiner, adjective
    cases = [" ".join(word for word, _ in phrase.german(case)) for case in range(4)]
    assert ", ".join(cases) == expected


@pytest.mark.parametrize(
    ("noun", "singular", "dative_plural"),
    [
        ("apple", "Apfels", "Äpfeln"), ("boy", "Jungen", "Jungen"), ("car", "Autos", "Autos"),
        ("doctor", "Arztes", "Ärzten"), ("girl", "Mädchens", "Mädchen"), ("park", "Parks", "Parks"),
        ("school bus", "Schulbusses", "Schulbussen"), ("station", "Bahnhofs", "Bahnhöfen"),
        ("knife", "Messers", "Messern"), ("apple tree", "Apfelbaumes", "Apfelbäumen"),
    ],
)  # fmt: skip
def test_genitive_and_dative_plural(noun, singular, dative_plural):
    entry = NOUN[noun]
    assert entry.forms[entry.gender][m.GENITIVE] == singular
    assert entry.forms["p"][m.DATIVE] == dative_plural


@pytest.mark.parametrize(
    ("infinitive", "third", "forms"),
    [
        ("kaufen", "", "kaufe kaufst kauft kaufen kauft kaufen"),
        ("arbeiten", "", "arbeite arbeitest arbeitet arbeiten arbeitet arbeiten"),
        ("tanzen", "", "tanze tanzt tanzt tanzen tanzt tanzen"),
        ("geben", "gibt", "gebe gibst gibt geben gebt geben"),
        ("lesen", "liest", "lese liest liest lesen lest lesen"),
        ("essen", "isst", "esse isst isst essen esst essen"),
        ("laden", "lädt", "lade lädst lädt laden ladet laden"),
    ],
)
def test_present(infinitive, third, forms):
    assert m.present(infinitive, third) == tuple(forms.split())


def test_participles_imperatives_and_infinitives():
    forms = {(v.base, v.particle, v.infinitive): v for v in VERBS}
    expected = {
        ("open", "", "machen"): ("aufgemacht", "mach", ("aufzumachen",)),
        ("invite", "", "laden"): ("eingeladen", "lade", ("einzuladen",)),
        ("repair", "", "reparieren"): ("repariert", "reparier", ("zu", "reparieren")),
        ("visit", "", "besuchen"): ("besucht", "besuch", ("zu", "besuchen")),
        ("take", "along", "nehmen"): ("mitgenommen", "nimm", ("mitzunehmen",)),
        ("read", "", "lesen"): ("gelesen", "lies", ("zu", "lesen")),
        ("eat", "", "essen"): ("gegessen", "iss", ("zu", "essen")),
        ("answer", "", "antworten"): ("geantwortet", "antworte", ("zu", "antworten")),
    }
    for key, values in expected.items():
        assert (forms[key].participle, forms[key].imperative, forms[key].zu_infinitive) == values


def test_preterite():
    assert m.preterite("konnte") == ("konnte", "konntest", "konnte", "konnten", "konntet", "konnten")
    assert m.preterite("war") == ("war", "warst", "war", "waren", "wart", "waren")


def test_number_words_turn_round():
    assert m.number_words(2) == ("two", "zwei")
    assert m.number_words(16) == ("sixteen", "sechzehn")
    assert m.number_words(21) == ("twenty-one", "einundzwanzig")
    assert m.number_words(37) == ("thirty-seven", "siebenunddreißig")
    assert m.number_words(60) == ("sixty", "sechzig")
    assert m.number_words(99) == ("ninety-nine", "neunundneunzig")
    assert len({m.number_words(n) for n in range(2, 100)}) == 98


def test_english_endings():
    bases = ("buy", "go", "wash", "cry", "cross")
    assert [m.english_third(v) for v in bases] == ["buys", "goes", "washes", "cries", "crosses"]
    assert [m.english_past(v) for v in ("play", "dance", "cry")] == ["played", "danced", "cried"]
