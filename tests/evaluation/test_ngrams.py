"""BLEU from its parts, the paper's script, and the bootstrap: by hand, and against sacreBLEU."""

from __future__ import annotations

import os

import numpy as np
import pytest
from sacrebleu.metrics import BLEU

from annotated.classroom import classroom_pairs
from annotated.evaluation import bleu, bleu_of, bleu_statistics, compare, paper_style_bleu, resample, split_compounds
from annotated.evaluation.ngrams import sentence_statistics
from annotated.evaluation.paper_bleu import paper_style, plain_quotes
from annotated.evaluation.significance import SEED_VARIABLE

REFERENCES = [p.target for p in classroom_pairs("test", 40)]
WORSE = [text.replace("der", "die").replace("Der", "Die") for text in REFERENCES]
WORST = [" ".join(text.split()[:-1]) for text in WORSE]


def test_statistics_by_hand() -> None:
    # "the" counts twice: as often as the reference has it.
    found = sentence_statistics("the the the cat".split(), "the cat on the mat".split())
    assert found == [4, 5, 3, 1, 0, 0, 4, 3, 2, 1]
    assert sentence_statistics([], ["a"]) == [0, 1, 0, 0, 0, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("tokenize", [None, "none", "intl", "char"])
def test_a_corpus_scores_as_by_sacrebleu(tokenize: str | None) -> None:
    for texts in (WORSE, WORST):
        statistics = bleu_statistics(texts, REFERENCES, tokenize=tokenize)
        metric = BLEU(tokenize=tokenize)
        assert statistics.tolist() == metric._extract_corpus_statistics(texts, [REFERENCES])
        expected = metric.corpus_score(texts, [REFERENCES]).score
        assert float(bleu_of(statistics.sum(axis=0))) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("hypothesis", "reference"),
    [("a b c d e f", "a b x d e y"), ("a b c", "a b c"), ("a x b y c z", "a b c d e f"), ("x y z u", "a b c d"),
     ("", "a b"), ("a", "a b c d e")],
)  # fmt: skip
def test_single_sentences_with_missing_orders(hypothesis: str, reference: str) -> None:
    expected = BLEU(tokenize="none").corpus_score([hypothesis], [[reference]]).score
    assert float(bleu_of(bleu_statistics([hypothesis], [reference])[0])) == pytest.approx(expected, abs=1e-9)


def test_compounds_and_quotes_by_hand() -> None:
    assert split_compounds("die E-Mail - lang") == "die E ##AT##-##AT## Mail - lang"
    assert split_compounds("ab-cd-ef a-b-c") == "ab ##AT##-##AT## cd ##AT##-##AT## ef a ##AT##-##AT## b-c"
    assert plain_quotes("„Ja“, ‚nein‘") == "\"Ja\", 'nein'"
    assert paper_style("„E-Mail“.") == '" E ##AT##-##AT## Mail " .'
    assert paper_style("„E-Mail“.", quotes=False, compounds=False) == "„E-Mail“ ."


def test_split_compounds_raise_a_score_that_hyphens_deserve() -> None:
    reference, hypothesis = ["eine sehr gute rich-text Datei liegt hier"], ["eine sehr gute rich-text Datei lag dort"]
    plain, split = bleu(hypothesis, reference).bleu, paper_style_bleu(hypothesis, reference)
    assert split.bleu > plain + 3 and "tok:none" in split.signature
    # One word of seven became three of nine: 5/7, 4/6, 3/5, 2/4 against 7/9, 6/8, 5/7, 4/6.
    assert split.bleu == pytest.approx(100 * (7 / 9 * 6 / 8 * 5 / 7 * 4 / 6) ** 0.25, abs=1e-9)


def test_compare_repeats_with_its_seed_and_knows_better_from_equal() -> None:
    systems = {"worse": WORSE, "same": list(WORSE), "worst": WORST}
    before = os.environ.get(SEED_VARIABLE)
    first, same, worst = compare(systems, REFERENCES, samples=200, seed=7)
    assert os.environ.get(SEED_VARIABLE) == before
    assert (first.p_value, same.bleu) == (None, first.bleu) and first.bleu == bleu(WORSE, REFERENCES).bleu
    assert same.p_value == 1 and worst.p_value is not None and worst.p_value < 0.05 and worst.interval > 0
    assert "seed:7" in first.signature and "bs:200" in first.signature
    assert compare(systems, REFERENCES, samples=200, seed=7)[2] == worst
    assert compare(systems, REFERENCES, samples=200, seed=8)[2].mean != worst.mean
    with pytest.raises(ValueError, match="few: 1 translations for 40"):
        compare({"few": ["x"]}, REFERENCES)


def test_resampling_from_numbers_agrees_with_resampling_text() -> None:
    statistics = [bleu_statistics(texts, REFERENCES) for texts in (WORSE, WORST)]
    drawn = resample(statistics, 400, seed=3)
    assert drawn.shape == (400, 2) and np.array_equal(drawn, resample(statistics, 400, seed=3))
    ours, theirs = (np.diff(np.percentile(drawn[:, 0], [2.5, 97.5]))[0] / 2, compare({"a": WORSE}, REFERENCES)[0])
    assert drawn[:, 0].mean() == pytest.approx(theirs.mean, abs=0.5)
    assert ours == pytest.approx(theirs.interval, rel=0.15)
    alone = [s[:1] for s in statistics]  # one sentence, drawn again and again: always the same corpus
    assert np.ptp(resample(alone, 20)[:, 0]) < 1e-9
