"""Measurements on vocabularies: smaller ones are beginnings of larger ones, and counts are those of the tokenizer."""

from __future__ import annotations

from collections import Counter

import pytest

from annotated.data import Tokenizer
from annotated.data.tokenizer import TokenizerError
from annotated_book.pages import page_folder
from annotated_book.training.subwords.merges import (
    bare,
    first_entries,
    is_word,
    merges,
    pieces,
    token_counts,
    word_counts,
)
from annotated_book.training.subwords.widget import merge_replay
from book.tests.javascript import evaluate

TEXTS = ["der Hund und die Hunde", "das Hündchen, das bellt", "the dogs and the dog", "Hunde bellen, dogs bark"] * 3


@pytest.fixture(scope="module")
def large() -> Tokenizer:
    return Tokenizer.train(TEXTS, 300)


@pytest.mark.parametrize("size", [260, 265, 280, 300])
def test_a_smaller_vocabulary_is_what_the_same_text_gives_at_that_size(large: Tokenizer, size: int) -> None:
    assert first_entries(large, size).fingerprint == Tokenizer.train(TEXTS, size).fingerprint


def test_sizes_that_it_cannot_have_are_refused(large: Tokenizer) -> None:
    for size in (259, large.vocab_size + 1):
        with pytest.raises(TokenizerError, match="between 260"):
            first_entries(large, size)


def test_merges_are_in_order_and_make_the_entries(large: Tokenizer) -> None:
    pairs = merges(large)
    assert len(pairs) == large.vocab_size - 260
    assert large.tokens([260])[0] == "".join(pairs[0]).replace("Ġ", "▁")


def test_words_keep_their_space_and_bare_words_do_not() -> None:
    counts = word_counts(["the dog, the 2 dogs", "dog"])
    assert counts == Counter({"Ġthe": 1, "the": 1, "Ġdog": 1, "dog": 1, "Ġdogs": 1, ",": 1, "Ġ2": 1})
    assert bare(counts) == Counter({"the": 2, "dog": 2, "dogs": 1})
    assert is_word("ĠÃ¼ber") and not is_word("Ġ2") and not is_word("Ġ")


def test_counts_from_words_are_the_counts_of_whole_sentences(large: Tokenizer) -> None:
    direct = Counter(index for text in TEXTS for index in large.encode(text))
    assert token_counts(large, word_counts(TEXTS)) == direct
    assert pieces(large, ["Ġthe", "Ã¼"]) == [large.encode(" the"), large.encode("ü")]


def test_the_replay_refuses_what_it_cannot_show(large: Tokenizer) -> None:
    widget = merge_replay(large, "Hunde")
    assert widget.merged == len(merges(large)) == len(widget.merges.split("\n"))
    for arguments in (("x" * 401,), ("x", -1), ("x", widget.merged + 1)):
        with pytest.raises(ValueError):
            merge_replay(large, *arguments)


NASTY = ["", " ", "  der  Hund\t", "Hündchen 🦊 12,5!\n", "don't", "日本語", "\u00a0\ufeff\u0085x"]


def test_the_page_cuts_as_the_library_does_after_each_number_of_merges(large: Tokenizer) -> None:
    code = """({ learned, piecesOf, replay }, { merges, first, texts, counts }) => texts.map(text => {
      const known = learned(merges, first), read = replay(text, known);
      const cut = done => piecesOf(read.words, known, done).flat();
      return { ...read, ids: counts.map(done => cut(done).map(piece => known.idOf.get(piece))) };
    })"""
    widget, texts, total = merge_replay(large, ""), [*NASTY, *TEXTS[:4]], len(merges(large))
    counts = [1, 7, total // 2, total]
    given = {"merges": widget.merges, "first": widget.first, "texts": texts, "counts": counts}
    for text, own in zip(texts, evaluate(page_folder("subwords") / "replay.js", code, given), strict=True):
        for done, ids in zip(counts, own["ids"], strict=True):
            assert ids == first_entries(large, 260 + done).encode(text), (text, done)
        assert own["bytes"] == len(text.encode())
        for done, pieces_left in own["lengths"][1:]:
            assert pieces_left == len(first_entries(large, 260 + done).encode(text))
        assert [at + 1 for at in own["steps"]] == [done for done, _ in own["lengths"][1:]]


def test_a_piece_that_is_part_of_a_letter_is_shown_as_its_byte() -> None:
    code = "({ readable }, pieces) => pieces.map(readable)"
    shown = evaluate(page_folder("subwords") / "replay.js", code, ["Ġthe", "Ã", "Ã¼"])
    assert shown == ["▁the", "<0xC3>", "ü"]
