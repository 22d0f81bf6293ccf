"""Settings of BLEU: numbers survive packing, teacher forcing reads the reference, and the slips are the slips."""

from __future__ import annotations

import numpy as np
import pytest

import annotated
from annotated.classroom import classroom_pairs
from annotated.config import BOS, EOS
from annotated.evaluation import bleu, bleu_of, bleu_statistics
from annotated_book import recorded
from annotated_book.decoding.bleu.experiment import by_setting, ladder, letters_bleu, pack, teacher_forced, unpack


def test_statistics_survive_packing() -> None:
    statistics = bleu_statistics(["a b c", "d", ""], ["a b d", "d e", "f"])
    assert np.array_equal(unpack(pack(statistics)), statistics)
    with pytest.raises(ValueError, match="above 255"):
        pack(statistics + 255)


def test_teacher_forcing_gives_the_best_token_after_the_references_own_words() -> None:
    import torch

    translator = annotated.load("classroom")
    model, tokenizer = translator.model, translator.tokenizer
    pairs = [(p.source, p.target) for p in classroom_pairs("test", 3)]
    pairs[1] = (pairs[1][0], pairs[0][1])  # a reference that does not belong to its source
    found = teacher_forced(model, tokenizer, pairs)
    for (source, target), text in zip(pairs, found, strict=True):
        ids = tokenizer.encode(target)
        with torch.no_grad():
            logits = model(torch.tensor([[*tokenizer.encode(source), EOS]]), torch.tensor([[BOS, *ids]]))
        best = [token for token in logits[0, : len(ids)].argmax(-1).tolist() if token > 3]
        assert text == tokenizer.decode(best)


def test_letters_by_hand() -> None:
    # walking, walked: 4 of 7 letters, 3 of 6, 2 of 5 and 1 of 4; 'd' for 'i', 'n', 'g' and one letter too many.
    assert letters_bleu("walking", "walked") == pytest.approx(100 * (4 / 7 * 3 / 6 * 2 / 5 * 1 / 4) ** 0.25)
    assert letters_bleu("abcd efgh", "abcd") == pytest.approx(
        100
    )  # zip stops at the shorter: the rest is not looked at
    assert letters_bleu("abcd", "abce") == 0 == letters_bleu("", "a")


def test_ladder_and_settings_are_made_of_the_librarys_numbers() -> None:
    decoded, forced, gold = ["a b c d e f", "g h i j k"], ["a b c d e x", "g h i j l"], ["a b c d e f", "g h i j x"]
    steps = ladder(decoded, forced, gold)
    assert steps["decoded"] == round(bleu(decoded, gold).bleu, 2)
    single = [float(bleu_of(row)) for row in bleu_statistics(forced, gold)]
    assert steps["and averaged over sentences"] == round(sum(single) / 2, 2)
    found = by_setting(decoded, gold)
    assert found["13a"]["bleu"] == round(bleu(decoded, gold).bleu, 3) and "tok:none" in found["both"]["signature"]


def test_the_record_is_whole_and_holds_numbers_only_of_real_text() -> None:
    results = recorded("bleu").results
    real = results["real"]
    assert real["sentences"] == 2000
    for name, packed in real["statistics"].items():
        statistics = unpack(packed)
        assert statistics.shape == (2000, 10)
        assert float(bleu_of(statistics.sum(axis=0))) == pytest.approx(real["settings"][name]["13a"]["bleu"], abs=1e-3)
    room = results["classroom"]
    known = {p.source: p.target for p in classroom_pairs("test", 4 * len(room["source"]))}
    assert all(known[s] == r for s, r in zip(room["source"], room["reference"], strict=True))
