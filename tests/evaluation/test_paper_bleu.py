"""The paper's setting: what the authors' script replaces, cuts and takes apart, by hand."""

from __future__ import annotations

import math

import pytest

from annotated.evaluation import bleu, has_moses, paper_bleu, paper_style_bleu
from annotated.evaluation.paper_bleu import MOSES, MosesMissing, paper_style, replace_punctuation, tokenizer

with_moses = pytest.mark.skipif(not has_moses(), reason="sacremoses is not installed: pip install sacremoses")


def test_punctuation_is_replaced_as_moses_script_lists_it() -> None:
    """Its lines, read off `replace-unicode-punctuation.perl`; what it does not name stays, „ and the dash – too."""
    assert replace_punctuation("Warte… “so”, ’s ist “") == 'Warte... "so", \'s ist "'
    assert replace_punctuation("，、；：∶！？（）《》「」〈〉【】％～━") == ',,;::!?()""""<>[]%~-'
    assert replace_punctuation("一。  二．三") == "一. 二. 三"
    assert replace_punctuation("０２３４５６７８９") == "023456789" and replace_punctuation("１") == '"'
    assert replace_punctuation("„ ‚ ‘ – — « »") == "„ ‚ ‘ – — « »"


def test_only_the_translation_has_its_punctuation_replaced() -> None:
    """The script does so to the model's output; its reference is taken as it was given out: plain quotes, no more."""
    dots, plain = ["Er wartet und wartet und geht …"], ["Er wartet und wartet und geht ..."]
    assert paper_style(dots[0], translated=True) == paper_style(plain[0]) == "Er wartet und wartet und geht . . ."
    assert paper_style(dots[0]) == "Er wartet und wartet und geht …"
    assert paper_style_bleu(dots, plain).bleu == pytest.approx(100)
    # The other way round nine tokens stand beside seven. The six words are right: six of nine tokens, five of eight
    # pairs, four of seven triples, three of six groups of four.
    expected = 100 * (6 / 9 * 5 / 8 * 4 / 7 * 3 / 6) ** 0.25
    assert paper_style_bleu(plain, dots).bleu == pytest.approx(expected)
    assert bleu(dots, plain).bleu == pytest.approx(100 * math.exp(1 - 9 / 7) * (6 / 7 * 5 / 6 * 4 / 5 * 3 / 4) ** 0.25)
    # Without the quotes' step nothing is replaced: each step is measured by itself.
    assert paper_style_bleu(dots, plain, quotes=False).bleu == pytest.approx(bleu(dots, plain).bleu)


CUT = [
    # text, by 13a, by Moses for German
    ("Ja...", "Ja . . .", "Ja ..."),
    ("2014-2015", "2014 - 2015", "2014-2015"),
    ("Wie geht's?", "Wie geht's ?", "Wie geht &apos; s ?"),
    ("Obst, z.B. Birnen.", "Obst , z . B . Birnen .", "Obst , z.B. Birnen ."),
    ("1.000 und 3,5 %", "1.000 und 3,5 %", "1.000 und 3,5 %"),
    ("Der 4. Mai.", "Der 4 . Mai .", "Der 4. Mai ."),
    ("Note K.", "Note K .", "Note K."),  # Moses of 2017; since November 2018 "K ."
]


@pytest.mark.parametrize(("text", "by_13a", "by_moses"), CUT)
def test_13a_differs_from_moses_where_the_module_says_so(text: str, by_13a: str, by_moses: str) -> None:
    assert paper_style(text, compounds=False) == by_13a
    if has_moses():
        assert paper_style(text, MOSES, compounds=False) == by_moses


@with_moses
def test_by_moses_a_year_is_a_compound_and_by_13a_three_tokens_without_the_mark() -> None:
    text = "Die E-Mail von 2014-2015 „kam“ …"
    by_moses = "Die E ##AT##-##AT## Mail von 2014 ##AT##-##AT## 2015 &quot; kam &quot; ..."
    assert paper_style(text, MOSES, translated=True) == by_moses
    assert paper_style(text, translated=True) == 'Die E ##AT##-##AT## Mail von 2014 - 2015 " kam " . . .'


@with_moses
def test_a_score_by_moses_by_hand() -> None:
    """Eight tokens, of which the fifth is wrong: without it 7 of 8, 5 of 7 pairs, 3 of 6 triples, 1 of 5 fours."""
    said, target = ["Wie geht's dir heute so ?"], ["Wie geht's uns heute so ?"]
    assert paper_style(said[0], MOSES).split() == ["Wie", "geht", "&apos;", "s", "dir", "heute", "so", "?"]
    assert paper_style_bleu(said, target, MOSES).bleu == pytest.approx(100 * (7 / 8 * 5 / 7 * 3 / 6 * 1 / 5) ** 0.25)
    signature = paper_style_bleu(said, target).signature
    assert "tok:none" in signature and "moses" not in signature
    assert paper_style_bleu(said, target, MOSES, language="DE").signature == f"{signature}|moses:de"


@with_moses
def test_moses_knows_the_abbreviations_of_the_language_it_is_told() -> None:
    text = "bzw. Meier am 4. Mai"
    assert tokenizer(MOSES, "de")(text) == text
    assert tokenizer(MOSES, "en")(text) == "bzw . Meier am 4 . Mai"
    assert tokenizer(MOSES, "DE")(text) == text


@with_moses
@pytest.mark.parametrize("language", ["", "d", "deu", "de-DE", "d1", "ß?"])
def test_a_language_is_two_letters(language: str) -> None:
    with pytest.raises(ValueError, match=f"two letters, such as de or fr, and not '{language}'".replace("?", r"\?")):
        tokenizer(MOSES, language)


def test_moses_that_is_not_there_is_said_and_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paper_bleu.importlib.util, "find_spec", lambda name: None)
    tokenizer.cache_clear()
    assert not has_moses()
    with pytest.raises(MosesMissing, match="sacremoses, which is not installed: pip install sacremoses"):
        paper_style_bleu(["a"], ["a"], MOSES)
    assert paper_style("a-b") == "a ##AT##-##AT## b"
