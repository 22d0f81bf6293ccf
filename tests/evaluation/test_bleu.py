"""BLEU, chrF and exact match."""

from __future__ import annotations

import math

import pytest

from annotated.evaluation import bleu


def test_bleu_of_one_sentence_by_hand() -> None:
    """Precisions 5/6, 4/5, 3/4, 2/3 and no brevity penalty: not the mean over characters or sentences."""
    score = bleu(["a b c d e x"], ["a b c d e f"])
    assert score.bleu == pytest.approx(100 * (5 / 6 * 4 / 5 * 3 / 4 * 2 / 3) ** 0.25)
    assert score.exact_match == 0.0 and score.sentences == 1


def test_bleu_is_of_the_corpus_and_short_output_is_penalised() -> None:
    score = bleu(["a b c d", "e f g h"], ["a b c d", "e f g h i j k l"])
    assert score.bleu == pytest.approx(100 * math.exp(1 - 12 / 8))
    assert score.exact_match == 50.0


def test_perfect_translations_and_signatures() -> None:
    score = bleu(["Das ist gut.", "Ja."], ["Das ist gut.", "Ja."])
    assert (score.bleu, score.chrf, score.exact_match) == pytest.approx((100, 100, 100))
    assert "tok:13a" in score.signature and "version:" in score.signature and "nc:6" in score.chrf_signature
    assert "tok:char" in bleu(["a"], ["a"], tokenize="char").signature


def test_unequal_and_empty_corpora_are_refused() -> None:
    with pytest.raises(ValueError, match="2 translations for 1 references"):
        bleu(["a", "b"], ["a"])
    with pytest.raises(ValueError, match="no sentences"):
        bleu([], [])
