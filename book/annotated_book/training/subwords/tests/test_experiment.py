"""The measurements behind the record of vocabulary sizes, on texts small enough to count by hand."""

from __future__ import annotations

from annotated.data import Tokenizer
from annotated_book.training.subwords.experiment import by_frequency, languages, leak, measure
from annotated_book.training.subwords.merges import word_counts

PAIRS = [("a bb", "ccc")]


def test_bytes_alone_are_counted_by_hand() -> None:
    tokenizer = Tokenizer.train(["a bb ccc"], 260)
    row = measure(tokenizer, PAIRS, word_counts(["a bb", "ccc"]))
    assert (row["english"], row["german"]) == (4, 3)
    assert row["tokens_whole"] == round(1 / 7, 4), "of seven bytes only a is a word"
    assert row["words_whole"] == round(1 / 3, 4)
    assert row["entries_whole"] == round(1 / 260, 4) and row["entries_rare"] == 1


def test_a_list_that_has_seen_the_test_hides_unknown_words() -> None:
    # Training has a, b, c once each; the test has b, d, d, e. A word must stand twice to be on the list.
    found = leak([("a b", "c")], [("b d d", "e")])
    assert found == {"train": 1.0, "train and test": 0.25, "known but untrained": 0.5}


def test_entries_belong_to_the_language_that_uses_them() -> None:
    tokenizer = Tokenizer.train(["x", "y"], 260)
    found = languages(tokenizer, [("xxx.", "yy.")])
    # English: three x of four tokens; German: two y of three; both: the full stop.
    assert found["entries"] == {"neither": 257, "English": 1, "German": 1, "both": 1}
    assert found["uses"]["English"] == round(3 / 7, 4) and found["uses"]["both"] == round(2 / 7, 4)


def test_words_are_grouped_by_how_often_training_has_them() -> None:
    tokenizer = Tokenizer.train(["ab"], 260)
    seen = {"ab": 1, "c": 10, "d": 100, "e": 1000}
    rows = by_frequency(tokenizer, [("ab.new", "c"), ("d", "e")], seen)
    assert [(row["words"], row["pieces"]) for row in rows] == [(1, 3), (1, 2), (1, 1), (1, 1), (1, 1)]
