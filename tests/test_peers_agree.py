"""Values that the test suites of other projects publish, for the functions that we have in common.

Inputs and expected values are theirs, and named by where they stand; the code is ours. Where a convention differs, the
test says so. (Parity with torch.nn is in `tests/model/test_parity.py`, with Marian and CTranslate2 in `tests/interop`.)
"""

from __future__ import annotations

from math import log

import pytest
import torch

from annotated.config import EOS
from annotated.decoding import beam_search, greedy_decode
from annotated.evaluation.bleu import bleu
from annotated.evaluation.ngrams import bleu_of, sentence_statistics
from annotated.training.loss import label_smoothed_cross_entropy
from tests.decoding.table_model import A, B, Table, TableModel, source_of

# tensor2tensor, utils/beam_search_test.py. Its end is 1; its other two symbols are A and B here.
GREEDY: Table = {(): {A: 0.7, EOS: 0.3}, (A,): {A: 0.4, EOS: 0.6}, (A, A): {A: 0.5, EOS: 0.5}}
CORNER: Table = {(): {A: 0.2, EOS: 0.1, B: 0.7}} | {(one,): {A: 0.4, EOS: 0.1, B: 0.5} for one in (A, B)}


def two_beams(end: float, longer: float) -> Table:
    """After B the sentence ends with one probability, and goes on with A with another."""
    late = {(one, two): {A: 0.4, EOS: 0.4, B: 0.2} for one in (A, B) for two in (A, B)}
    return {
        (): {A: 0.1, EOS: 0.1, B: 0.8},
        (A,): {A: 0.2, EOS: 0.4, B: 0.4},
        (B,): {A: longer, EOS: end, B: 0.1},
        **late,
        (B, A): {A: 0.05, EOS: 0.9, B: 0.05},
    }


def test_tensor2tensor_greedy() -> None:
    (found,) = greedy_decode(TableModel(GREEDY), source_of(0), 3)
    assert found.tokens == [A] and found.log_probability == pytest.approx(log(0.7 * 0.6), abs=1e-6)
    ((found,),) = beam_search(TableModel(CORNER), source_of(0), 1, 0.0, 2, 1)
    assert found.tokens == [B, B] and found.log_probability == pytest.approx(log(0.7 * 0.5), abs=1e-6)


def test_tensor2tensor_a_beam_of_two() -> None:
    (found,) = beam_search(TableModel(two_beams(0.5, 0.4)), source_of(0), 2, 0.0, 3, 2)
    assert [one.tokens for one in found] == [[B], [B, A]]
    assert [one.score for one in found] == pytest.approx([log(0.8 * 0.5), log(0.8 * 0.4 * 0.9)], abs=1e-6)


def test_tensor2tensor_length_penalty_in_a_batch() -> None:
    """With alpha 3.5 the longer of the first sentence wins, and the shorter of the second."""
    model = TableModel(two_beams(0.5, 0.4), two_beams(0.6, 0.3))
    first, second = beam_search(model, source_of(0, 1), 2, 3.5, 3, 2)
    short, long = (7 / 6) ** 3.5, (8 / 6) ** 3.5
    assert [one.tokens for one in first] == [[B, A], [B]] and [one.tokens for one in second] == [[B], [B, A]]
    expected = [log(0.8 * 0.4 * 0.9) / long, log(0.8 * 0.5) / short]
    assert [one.score for one in first] == pytest.approx(expected, abs=1e-6)
    expected = [log(0.8 * 0.6) / short, log(0.8 * 0.3 * 0.9) / long]
    assert [one.score for one in second] == pytest.approx(expected, abs=1e-6)


def test_sacrebleu_statistics_and_score() -> None:
    """sacreBLEU, test/test_bleu.py."""
    found = sentence_statistics("am I am a character sequence".split(), "I am a symbol string sequence a a".split())
    assert found == [6, 8, 4, 2, 1, 0, 6, 5, 4, 3]
    assert float(bleu_of([11, 11, 9, 7, 5, 3, 10, 8, 6, 4])) == pytest.approx(83.75922397, abs=1e-6)


@pytest.mark.parametrize("matches, counts, own, gold", [
    ([0, 0, 0, 0], [4, 4, 2, 1], 0, 1), ([0, 0, 0, 0], [10, 11, 12, 0], 14, 10), ([0, 0, 0, 0], [0, 0, 0, 0], 0, 0),
    ([0, 0, 0, 0], [0, 0, 0, 0], 1, 5),
])  # fmt: skip
def test_sacrebleu_degenerate_statistics(matches: list[int], counts: list[int], own: int, gold: int) -> None:
    assert float(bleu_of([own, gold, *matches, *counts])) == 0.0


def test_sacrebleu_equal_and_empty_texts() -> None:
    assert bleu(["this is a test"], ["this is a test"]).bleu == pytest.approx(100)
    assert bleu(["", "", ""], ["The dog bit the man.", "It was not unexpected.", "The man bit him first."]).bleu == 0.0


SYMBOLS = torch.tensor([0.1, 0.1, 0.6, 0.1, 0.1]).log().expand(3, 2, 5)
TARGETS = torch.tensor([[2, 1], [2, 0], [1, 0]])


def test_joeynmt_cross_entropy() -> None:
    """Joey NMT, test/unit/test_loss.py: four real tokens."""
    loss, tokens = label_smoothed_cross_entropy(SYMBOLS, TARGETS, 0.0)
    assert float(loss) == pytest.approx(5.6268, abs=1e-4) and tokens == 4


def test_joeynmt_label_smoothing_but_for_its_convention() -> None:
    """Its rest goes to the V - 2 tokens that are neither right nor padding, ours to V - 1, as the paper's code has it.

    Its value is a divergence: the entropy of the smoothed target is taken off.
    """

    def divergence(others: int) -> float:
        share = 0.4 / others
        entropy = -(0.6 * log(0.6) + 0.4 * log(share))
        wrong = [(others - 1) * share * log(0.1) + share * log(0.6), others * share * log(0.1)]
        return 2 * (-0.6 * log(0.1) - wrong[0]) + 2 * (-0.6 * log(0.6) - wrong[1]) - 4 * entropy

    assert divergence(3) == pytest.approx(2.1326, abs=1e-4)
    loss, tokens = label_smoothed_cross_entropy(SYMBOLS, TARGETS, 0.4)
    entropy = -(0.6 * log(0.6) + 0.4 * log(0.1))
    assert float(loss) - tokens * entropy == pytest.approx(divergence(4), abs=1e-5)
