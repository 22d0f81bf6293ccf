"""The baseline's record: its rows add up and are made again with the same numbers; its sentences are held out."""

from __future__ import annotations

from typing import Any

import pytest

from annotated.parsing import bracket_score, parse, read_grammar
from annotated_book import recorded
from annotated_book.results.parsing import baseline
from annotated_book.results.parsing.data import HELD_OUT, SIZES, held_out_trees, training_trees

SCORES = {"f1", "precision", "recall", "exact", "malformed"}


@pytest.fixture(scope="module")
def small() -> dict[str, Any]:
    return baseline.run(sizes=(60, 120), held_out=12)


def test_a_smaller_run_has_the_rows_of_the_record(small: dict[str, Any]) -> None:
    whole = recorded("parsing/baseline").results
    assert small.keys() == whole.keys()
    for key in whole.keys() - {"held_out"}:
        assert small[key][0].keys() == whole[key][0].keys(), key
    for results, sizes in ((small, (60, 120)), (whole, SIZES)):
        expected = {(b.name, n, s) for b in baseline.BASELINES for n in sizes for s in results["held_out"]}
        assert {(row["parser"], row["sentences"], row["set"]) for row in results["sizes"]} == expected
        assert all(0 <= row[key] <= 100 for row in results["sizes"] for key in SCORES)


def test_labels_and_lengths_add_up_to_the_whole(small: dict[str, Any]) -> None:
    for results in (small, recorded("parsing/baseline").results):
        for row in (row for row in results["sizes"] if row["set"] == "sentences"):
            labels, lengths = (
                [r for r in results[key] if (r["parser"], r["sentences"]) == (row["parser"], row["sentences"])]
                for key in ("by_label", "by_length")
            )
            assert sum(r["cases"] for r in lengths) == results["held_out"]["sentences"]
            for rows in (labels, lengths):
                matched, both = sum(r["matched"] for r in rows), sum(r["in_gold"] + r["in_predicted"] for r in rows)
                assert row["f1"] == pytest.approx(200 * matched / both, abs=0.006)


@pytest.mark.slow
def test_the_record_is_made_again_with_the_same_numbers() -> None:
    grammar = read_grammar(training_trees(SIZES[0]))
    gold = held_out_trees()["attachments"]
    score = bracket_score(gold, [parse(grammar, tree.words()) for tree in gold])
    rows = recorded("parsing/baseline").results["sizes"]
    (row,) = (r for r in rows if (r["parser"], r["sentences"], r["set"]) == ("CKY", SIZES[0], "attachments"))
    assert score.sentences == HELD_OUT
    assert (row["f1"], row["exact"]) == pytest.approx((score.f1, score.exact_match), abs=0.006)


def test_no_held_out_sentence_is_trained_on() -> None:
    trained = {tree.words() for tree in training_trees(5_000)}
    for trees in held_out_trees(300).values():
        assert len({tree.words() for tree in trees} - trained) == len(trees) == 300
