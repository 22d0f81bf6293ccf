"""Scores that the tests of sacreBLEU and Joey NMT publish, by `bleu` and by the counter of our own.

Inputs and expected values are theirs; the code is ours. Held here:

- sacreBLEU (`test/test_bleu.py`, `test_sentence_bleu.py`, `test_chrf.py`), statistics, scoring, degenerate statistics,
  zero scores, tokenisers, chrF.
- Joey NMT (`test/unit/test_metric.py`), BLEU and chrF.

Not held, because we do not have them: several references, smoothing 'floor' and 'add-k', `effective_order`, lower case,
other orders of n-grams, chrF with white space or smoothing, token accuracy.

sacreBLEU's rows of 16 systems of WMT17 and of Moses' p-values need that corpus, which is not ours to ship: 16 systems
are made here by chance, and compared with what sacreBLEU says of them. Its program is run in
`tests/evaluation/test_tokenisers.py` and `tests/text/test_languages.py`, its tokeniser `zh` too.
"""

from __future__ import annotations

import random

import numpy as np
import pytest
from sacrebleu.metrics import BLEU

from annotated.evaluation import bleu, bleu_of, bleu_statistics, compare, resample
from annotated.evaluation.ngrams import sentence_statistics

AM, SYMBOL = "am I am a character sequence", "I am a symbol string sequence a a"
SUGAR = "Producția de zahăr primă va fi exprimată în ceea ce privește zahărul alb;"
RAW_SUGAR = "producţia de zahăr brut se exprimă în zahăr alb;"
NOBODY = "Niemand hat die Absicht, eine Mauer zu errichten"


def both(hypotheses: list[str], references: list[str], tokenize: str) -> float:
    """BLEU by sacreBLEU's counts, which must be that of our own."""
    score = bleu(hypotheses, references, tokenize=tokenize).bleu
    own = bleu_of(bleu_statistics(hypotheses, references, tokenize=tokenize).sum(axis=0))
    assert float(own) == pytest.approx(score, abs=1e-9)
    return score


def test_statistics_and_score() -> None:
    assert sentence_statistics(AM.split(), SYMBOL.split()) == [6, 8, 4, 2, 1, 0, 6, 5, 4, 3]
    assert float(bleu_of([11, 11, 9, 7, 5, 3, 10, 8, 6, 4])) == pytest.approx(83.75922397, abs=1e-6)


@pytest.mark.parametrize("matches, counts, own, gold", [
    ([0, 0, 0, 0], [4, 4, 2, 1], 0, 1), ([0, 0, 0, 0], [10, 11, 12, 0], 14, 10), ([0, 0, 0, 0], [0, 0, 0, 0], 0, 0),
    ([0, 0, 0, 0], [0, 0, 0, 0], 1, 5),
])  # fmt: skip
def test_degenerate_statistics(matches: list[int], counts: list[int], own: int, gold: int) -> None:
    assert float(bleu_of([own, gold, *matches, *counts])) == 0.0


@pytest.mark.parametrize("hypotheses, references, tokenize, expected", [
    ([SUGAR], [RAW_SUGAR], "13a", 8.493), ([SUGAR], [RAW_SUGAR], "none", 7.347), ([SUGAR], [RAW_SUGAR], "intl", 8.493),
    ([SUGAR], [RAW_SUGAR], "char", 40.8759), (["this is a cat"], ["okay thanks"], "13a", 0.0),
    (["this is a test", "another test"], ["ref1", "ref2"], "13a", 0.0),
    (["this is a test"], ["this is a test"], "13a", 100.0), (["this is a test."], ["this is a tezt."], "13a", 42.729),
    (["", "", ""], ["The dog bit the man.", "It was not unexpected.", "The man bit him first."], "13a", 0.0),
])  # fmt: skip
def test_bleu(hypotheses: list[str], references: list[str], tokenize: str, expected: float) -> None:
    assert both(hypotheses, references, tokenize) == pytest.approx(expected, abs=1e-3)


def test_bleu_by_mecab() -> None:
    pytest.importorskip("MeCab", reason="Japanese words need sacreBLEU's extra `ja`")
    assert both(["これはテストです。"], ["あれがテストです。"], "ja-mecab") == pytest.approx(39.764, abs=1e-3)


@pytest.mark.parametrize("hypotheses, references, expected", [
    (["a"], ["a"], 100.0), ([""], ["reference"], 0.0), ([""], ["c"], 0.0), (["a b c"], ["a b c"], 100.0),
    (["a b c"], ["abc"], 100.0), (["a", "b"], ["a", "c"], 50.0), (["aa"], ["ab"], 25.0), ([NOBODY], [NOBODY], 100.0),
    (["abcdefg"], ["hijklmnop"], 0.0), (["t est"], ["tez t"], 27.08), (["test"], ["tezt"], 27.08),
])  # fmt: skip
def test_chrf(hypotheses: list[str], references: list[str], expected: float) -> None:
    """Precision and recall are equal in each, so that sacreBLEU's beta of 3 there and ours of 2 give the same."""
    assert bleu(hypotheses, references).chrf == pytest.approx(expected, abs=5e-3)


def systems(words: list[str], joint: str, count: int = 16, lines: int = 40) -> tuple[dict[str, list[str]], list[str]]:
    """References of random words, and systems that leave out, repeat and swap ever more of them."""
    draw = random.Random(17)
    references = [draw.choices(words, k=draw.randint(1, 25)) for _ in range(lines)]
    found = {}
    for number in range(count):
        weights = [40, 1, 1, number / 2]
        found[f"system {number}"] = [
            joint.join(v for w in r for v in draw.choices([[w], [], [w, w], draw.sample(words, 1)], weights)[0])
            for r in references
        ]
    return found, [joint.join(r) for r in references]


@pytest.mark.parametrize("tokenize, words, joint", [
    ("13a", ["The", "man's", "3.5", "1,000", "e-mail", "&quot;", "said:", "(no)", "50%", "U.S."], " "),
    ("none", ["the", "man", "'s", "saw", ".", ",", "dog"], " "),
    ("intl", ["über", "«так»", "£5", "naïve", "don’t", "3.5", "—"], " "), ("char", ["แมว", "นอน", "a"], ""),
    ("zh", ["猫", "在睡觉", "。", "GPU", "狗", "3.5"], ""),
])  # fmt: skip
def test_sixteen_systems_have_sacrebleus_scores(tokenize: str, words: list[str], joint: str) -> None:
    found, references = systems(words, joint)
    metric = BLEU(tokenize=tokenize, references=[references])
    expected = [metric.corpus_score(texts, None).score for texts in found.values()]
    assert [both(texts, references, tokenize) for texts in found.values()] == pytest.approx(expected, abs=1e-9)
    assert len(set(expected)) == 16 and expected[0] > expected[-1] + 10 > 20


def test_p_values_of_sixteen_systems() -> None:
    """Of our own bootstrap, counted as sacreBLEU counts, those that its paired test gives, within chance."""
    found, references = systems(["the", "man", "saw", "a", "dog", "."], " ")
    theirs = compare(found, references, samples=1000, tokenize="none")
    statistics = [bleu_statistics(texts, references, tokenize="none") for texts in found.values()]
    drawn = resample(statistics, 4000, seed=5)
    observed = bleu_of(np.stack([one.sum(axis=0) for one in statistics]))
    assert [one.bleu for one in theirs] == pytest.approx(observed, abs=1e-9)
    differences = np.abs(drawn[:, 1:] - drawn[:, :1])
    beyond = differences - differences.mean(axis=0) > np.abs(observed[1:] - observed[0])
    p_values = [one.p_value for one in theirs[1:]]
    assert p_values == pytest.approx((1 + beyond.sum(axis=0)) / 4001, abs=0.05)
    assert p_values[0] > 0.05 > p_values[-1]
