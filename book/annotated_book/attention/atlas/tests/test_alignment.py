"""Links and error rates, against small cases worked out by hand."""

from __future__ import annotations

import pytest
import torch

import annotated
from annotated.analysis.heads import HeadCorpus, gold_cells
from annotated.classroom import classroom_pairs
from annotated_book.attention.atlas import alignment as a


@pytest.fixture(scope="module")
def corpus() -> HeadCorpus:
    return HeadCorpus.of(classroom_pairs("test", 6), annotated.load("classroom").tokenizer)


def test_alignment_error_rate_by_hand() -> None:
    gold = [{(0, 0), (1, 1), (2, 1)}, {(0, 0)}]
    assert a.alignment_error_rate(gold, gold) == 0
    assert a.alignment_error_rate([{(5, 5)}, set()], gold) == 1
    # Two of three found links are right, of four: 1 - 2 * 2 / (3 + 4).
    assert a.alignment_error_rate([{(0, 0), (1, 1)}, {(1, 0)}], gold) == pytest.approx(1 - 4 / 7)


def test_word_links_follow_the_gold_and_skip_the_end_mark(corpus: HeadCorpus) -> None:
    one = corpus.items[0]
    weights = torch.zeros(len(one.target) + 1, len(one.source))
    cells = gold_cells(one)
    for t in range(len(one.target)):
        columns = [s for r, s in cells if r == t] or [len(one.source) - 1]
        weights[t, columns] = 1 / len(columns)
    found = a.word_links(weights, one)
    assert found <= set(one.pair.alignment)
    assert {j for _, j in found} == {j for _, j in one.pair.alignment}


def test_hit_rate_counts_rows_with_gold() -> None:
    gold = [{(0, 1), (0, 2), (3, 0)}, {(1, 1)}]
    assert a.hit_rate(lambda n, t: 1, gold) == pytest.approx(2 / 3)
    assert a.hit_rate(lambda n, t: 7, gold) == 0
