"""Shifts, decoding and wrong words of the six decoders; and three ways to the same logits."""

from __future__ import annotations

import pytest
import torch

from annotated.config import BOS, EOS, PAD, tiny
from annotated.data import TokenStore, collate_ids
from annotated.model import Transformer
from annotated_book import recorded
from annotated_book.training.teacher_forcing.experiment import (
    CELLS,
    after_a_wrong_word,
    decoder_input,
    judge,
    logits_of,
    train_decoder,
    write,
)
from annotated_book.training.teacher_forcing.step_by_step import WAYS, measure, with_a_cache, with_a_growing_prefix


def test_the_input_lags_by_the_shift() -> None:
    out = torch.tensor([[7, 8, 9, EOS], [5, EOS, PAD, PAD]])
    assert decoder_input(out, 0).equal(out)
    assert decoder_input(out, 1).tolist() == [[BOS, 7, 8, 9], [BOS, 5, PAD, PAD]]
    assert decoder_input(out, 2).tolist() == [[BOS, BOS, 7, 8], [BOS, BOS, PAD, PAD]]
    batch = collate_ids([([4], [7, 8, 9]), ([4], [5])])
    assert decoder_input(batch.target_out, 1).equal(batch.target_in)


def test_without_the_mask_a_later_token_counts() -> None:
    torch.manual_seed(0)
    model = Transformer(tiny(vocab_size=20)).eval()
    source, a, b = torch.tensor([[5, EOS]]), torch.tensor([[BOS, 6, 7]]), torch.tensor([[BOS, 6, 8]])
    with torch.no_grad():
        for masked in (True, False):
            assert logits_of(model, source, a, masked)[:, 0].equal(logits_of(model, source, b, masked)[:, 0]) == masked
        assert torch.allclose(with_a_cache(model, source, a), model(source, a), atol=1e-5)
        assert torch.allclose(with_a_growing_prefix(model, source, a), model(source, a), atol=1e-5)


def test_a_copier_has_all_slots_right_and_no_sentence() -> None:
    model, losses = train_decoder(True, 0, updates=25, count=300)
    scores = judge(model, True, 0, count=20)
    assert losses[-1] < losses[0] / 2 and scores["all_right"] > 0.5 and scores["sentences"] == 0
    source = torch.tensor([[9, 30, EOS]])
    assert len(write(model, source, True, 0, cap=5)[0]) <= 5


def test_a_wrong_word_is_felt_and_an_unknown_kind_refused() -> None:
    torch.manual_seed(0)
    model = Transformer(tiny(vocab_size=20)).eval()
    data = TokenStore.from_ids([([5, 6], [7, 8, 9, 10, 11, 12])] * 3, 20)
    right = after_a_wrong_word(model, "right words", data, distances=2)
    assert len(right) == 2 and right != after_a_wrong_word(model, "a random token", data, distances=2)
    with pytest.raises(ValueError, match="not 'a typo'"):
        after_a_wrong_word(model, "a typo")


def test_passes_and_positions_are_counted() -> None:
    rows = {row["way"]: row for row in measure(lengths=(4,), repeats=1)}
    assert set(rows) == set(WAYS) and all(row["milliseconds"] > 0 for row in rows.values())
    counts = {way: (row["passes"], row["positions"]) for way, row in rows.items()}
    assert list(counts.values()) == [(1, 4), (1, 4), (4, 4), (4, 10)]


def test_the_records_have_what_the_chapter_reads() -> None:
    results = recorded("teacher_forcing").results
    names = {f"{'mask' if masked else 'no mask'}, shift {shift}" for masked, shift in CELLS}
    assert set(results["cells"]) == names == set(results["shown"][0]["cells"])
    assert {row["way"] for row in recorded("teacher_forcing/step_by_step").results["rows"]} == set(WAYS)
