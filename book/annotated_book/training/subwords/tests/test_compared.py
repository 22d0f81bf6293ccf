"""The comparison of four vocabularies, on texts small enough to count by hand."""

from __future__ import annotations

from annotated.data import Tokenizer
from annotated_book.training.subwords.compared import (
    alphabet,
    compared,
    end_of_word_bpe,
    plain_words,
    rare_words,
    unigram,
    word_pieces,
)

TEXTS = ["der Hund läuft.", "the dog runs."] * 20


def test_the_alphabet_counts_characters_inside_words_and_at_their_ends() -> None:
    # Inside: a, b; at the end: b, c.
    assert alphabet({"ab": 1, "abc": 2, "c": 1}) == 4


def test_rare_words_are_shares_of_different_words() -> None:
    assert rare_words({"a": 1, "b": 1, "c": 2, "d": 9}) == {"once": 0.5, "once or twice": 0.75}


def test_words_are_cut_at_white_space_and_punctuation() -> None:
    assert plain_words(["Ja, ja! Ja"]) == {"Ja": 2, ",": 1, "ja": 1, "!": 1}


def test_only_bytes_know_every_character() -> None:
    held_out = ["der Hund 漢", "the dog"]
    ours = compared("bytes", Tokenizer.train(TEXTS, 280), held_out)
    assert ours["entries"] == 280 and ours["unknown"] == 0
    for make in (end_of_word_bpe, word_pieces, unigram):
        row = compared(make.__name__, make(TEXTS, 60), held_out)
        assert row["unknown"] == 0.5, "one sentence of two has a character that training has not"
        assert row["entries"] <= 60 and len(row["examples"]) == 4
