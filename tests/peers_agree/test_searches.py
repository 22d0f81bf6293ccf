"""Searches of tensor2tensor, OpenNMT-py and CTranslate2, by their published inputs and values, on ours.

Where each of their cases is held:

- tensor2tensor (`utils/beam_search_test.py`), greedy, corner case, beam of two, alpha 3.5, batch of two, choice of the
  best: here. That states follow their hypotheses: `tests/decoding/test_invariants.py` (cached is uncached).
- OpenNMT-py (`test_beam_search.py`, `test_greedy_search.py`), minimum length, repeated 3-grams, scores and order: here,
  through `allowed`, for we have no option for either.
- CTranslate2 (`python/tests/test_translator.py`), minimum, suppressed tokens, 3-grams, prefixes, alternatives,
  attention: here. Caps, number, order, empty batch, settings that make no sense: `tests/decoding/test_beam.py`,
  `test_prefix.py` and `tests/interop/test_ctranslate2_engine.py`.
- transformers (`generation/test_utils.py`), batch = single, padding, beam of one = greedy, cache = full pass:
  `tests/decoding/test_invariants.py`. Its own `generate`: `tests/interop/test_marian.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log

import pytest
import torch
from torch import Tensor

from annotated.config import EOS
from annotated.decoding import beam_search, greedy_decode
from annotated.decoding.pools import Alive, Finished
from annotated.decoding.search import Allowed
from tests.decoding.table_model import A, B, Table, TableModel, TableState, source_of
from tests.decoding.test_invariants import VOCAB, random_model, random_source

# tensor2tensor's end is 1; its other two symbols are A and B here.
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


def test_tensor2tensor_choice_of_the_best() -> None:
    """Four ended hypotheses compete for three places, and their tokens move with them."""
    tokens = torch.tensor([[[2, 3], [4, 5], [6, 7], [19, 20]], [[8, 9], [10, 11], [12, 13], [80, 17]]])
    scores = torch.tensor([[-0.1, -2.5, 0.0, -1.5], [-100.0, -5.0, -0.00789, -1.34]])
    alive = Alive(tokens, scores, TableState([], [], 4), steps=2)
    pool = Finished.start(2, 3, 2, scores.device)
    pool.add(alive, torch.arange(4).expand(2, -1), scores, scores)
    assert pool.tokens.tolist() == [[[6, 7], [2, 3], [19, 20]], [[12, 13], [80, 17], [10, 11]]]
    torch.testing.assert_close(pool.scores, torch.tensor([[0.0, -0.1, -1.5], [-0.00789, -1.34, -5.0]]))


NON_EOS = (47, 51, 13, 88, 99)
FALLING = torch.tensor([6.0, 5.0, 4.0, 3.0, 2.0, 1.0]).log_softmax(0)
"""OpenNMT-py's distribution: eos comes first, then the five."""


class Filled(dict[tuple[int, ...], dict[int, float]]):
    """A table that says what follows every other beginning too."""

    def __init__(self, rest: dict[int, float], table: Table | None = None) -> None:
        super().__init__({written: dict(following) for written, following in (table or {}).items()})
        self.rest = rest

    def get(self, written: tuple[int, ...], other: object = None) -> dict[int, float]:  # type: ignore[override]
        return super().get(written, self.rest)


AS_IN_THE_FIRST_STEP = dict(zip((EOS, *NON_EOS), FALLING.exp().tolist(), strict=True))


def not_before(minimum: int, vocab: int = 100) -> Allowed:
    """No eos among the first `minimum` symbols."""

    def allowed(written: Tensor, sentences: Sequence[int]) -> Tensor:
        mask = torch.ones(len(written), vocab, dtype=torch.bool)
        mask[:, EOS] = written.size(1) >= minimum
        return mask

    return allowed


def once(size: int, vocab: int = 100, exempt: Sequence[int] = ()) -> Allowed:
    """No n-gram twice, those of a token that is exempt apart."""

    def allowed(written: Tensor, sentences: Sequence[int]) -> Tensor:
        mask = torch.ones(len(written), vocab, dtype=torch.bool)
        for row, tokens in enumerate(written.tolist()):
            last = tokens[len(tokens) - size + 1 :]
            for start in range(len(tokens) - size + 1):
                if tokens[start : start + size - 1] == last and not set(exempt) & set(last):
                    mask[row, tokens[start + size - 1]] = False
        return mask

    return allowed


@pytest.mark.parametrize("batch", [1, 3])
def test_opennmt_no_end_before_the_minimum(batch: int) -> None:
    """Each step the best token but eos is taken with its own probability; then the best hypothesis ends."""
    model, source = TableModel(Filled(AS_IN_THE_FIRST_STEP), vocab=100), source_of(*[0] * batch)
    expected = 5 * float(FALLING[1]) + float(FALLING[0])
    for found in greedy_decode(model, source, 9, allowed=not_before(5)):
        assert found.tokens == [47] * 5 and found.log_probability == pytest.approx(expected, abs=1e-5)
    for wide in beam_search(model, source, 5, 0.0, 9, 5, allowed=not_before(5)):
        assert wide[0].tokens == [47] * 5 and all(len(one.tokens) >= 5 and one.finished for one in wide)
        # In its own first step the beam holds the five, in falling order, and so must ours where nothing else differs.
        assert wide[0].score == pytest.approx(expected, abs=1e-5)
    firsts = beam_search(model, source, 5, 0.0, 1, 5, allowed=not_before(5))
    for found in firsts:
        assert [one.tokens for one in found] == [[token] for token in NON_EOS]
        assert [one.score for one in found] == pytest.approx(FALLING[1:].tolist(), abs=1e-5)


@pytest.mark.parametrize("batch", [1, 13])
def test_opennmt_greedy_scores(batch: int) -> None:
    """Sentence 0 ends at once, sentence 8 after a step, the others after two."""
    two = torch.tensor([6.0, 1.0]).softmax(0).tolist()
    at_once = {(): AS_IN_THE_FIRST_STEP}
    late = {(): {47: 1.0}, (47,): {47: two[0], 51: two[1]}}
    soon = {(): {47: 1.0}, (47,): {EOS: two[0], 51: two[1]}}
    tables = [at_once, *[soon if n == 8 else late for n in range(1, batch)]]
    found = greedy_decode(TableModel(*tables, vocab=100), source_of(*range(batch)), 30)
    lengths = [len(one.tokens) for one in found]
    assert lengths == [0, *[1 if n == 8 else 2 for n in range(1, batch)]]
    expected = [float(FALLING[0]), *[log(two[0])] * (batch - 1)]
    assert [one.log_probability for one in found] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("batch", [1, 3])
def test_opennmt_repeats_are_blocked(batch: int) -> None:
    """The hypothesis that says 47 again and again stops after its first 3-gram; another, and one exempt, go on."""
    repeat, other, exempt = 47, 48, 7
    table: dict[tuple[int, ...], dict[int, float]] = {(): {repeat: 0.9, other: 0.1}}
    for n in range(1, 9):
        table[(repeat,) * n] = {repeat: 1.0}
        table[tuple(range(other, other + n))] = {other + n: 1.0}
    source = source_of(*[0] * batch)
    only = {(): {repeat: 1.0}} | {(repeat,) * n: {repeat: 1.0} for n in range(9)}
    assert beam_search(TableModel(only, vocab=100), source, 5, 0.0, 7, allowed=once(3)) == [[]] * batch
    for found in beam_search(TableModel(table, vocab=100), source, 5, 0.0, 7, 5, allowed=once(3)):
        (one,) = found
        assert one.tokens == [*range(other, other + 7)] and one.score == pytest.approx(log(0.1), abs=1e-5)
    table[()] = {repeat: 0.85, other: 0.1, exempt: 0.05}
    table |= {(exempt,) * n: {exempt: 1.0} for n in range(1, 9)}
    for found in beam_search(TableModel(table, vocab=100), source, 5, 0.0, 7, 5, allowed=once(3, exempt=[exempt])):
        assert [one.tokens[0] for one in found] == [other, exempt]
        assert [one.score for one in found] == pytest.approx([log(0.1), log(0.05)], abs=1e-5)


@pytest.mark.parametrize("batch", [1, 3])
def test_opennmt_reference_case(batch: int) -> None:
    """Four steps with a beam of five: the three that end there are found, with its scores.

    An end takes no place among the five here, so two more ends are found, for which ties left no place there. Its 0 and
    1 are words; here they are 8 and 9.
    """

    def row(*logits: float) -> dict[int, float]:
        probabilities = torch.tensor(logits, dtype=torch.float).softmax(0).tolist()
        return dict(zip((8, 9, 2, 3, 4, 5, 6, 7), probabilities, strict=True))

    flat, rest = row(*[0.0] * 8), row(0, 0, 0, 0.2, 0.2, 0.2, 0.2, 0.2)
    table = {
        (): row(0, 0, 0, 4, 5, 3, 2, 1),
        (4,): row(0, 0, 0, 0.3, 0, 0.51, 0.2, 0), (3,): row(0, 0, 1.5, 0, 0, 0, 0, 0),
        (5,): row(0, 0, 0, 0, 0.49, 0.48, 0, 0), (6,): rest, (7,): rest,
        (4, 5): row(0, 0, 0, 0.3, 0, 0.51, 0.2, 0), (4, 6): row(0, 0, 50, 0.2, 0.2, 0.2, 0.2, 0.2),
        (4, 7): rest, (4, 5, 3): row(0, 0, 0, 0, 0, 5000, 0, 0), (4, 5, 6): rest,
        (4, 5, 8): row(0, 0, 50, 0, 0.2, 0.2, 0.2, 0.2),
    }  # fmt: skip
    for found in beam_search(TableModel(Filled(flat, table), vocab=10), source_of(*[0] * batch), 5, 0.0, 4, 5):
        scores = {tuple(one.tokens): one.score for one in found if one.finished}
        theirs = {(3,): -2.4055, (4, 6): -2.4879, (4, 5, 8): -4.4010}
        assert scores == pytest.approx(theirs | {(4,): -2.6879, (4, 5): -4.4010}, abs=1e-4)


@pytest.mark.parametrize("beam_size", [1, 2])
def test_ctranslate2_options(beam_size: int) -> None:
    model, source = random_model(9), random_source(9, [6, 4])
    assert min(len(one.tokens) for (one,) in beam_search(model, source, beam_size)) < 8
    assert all(len(one.tokens) >= 8 for (one,) in beam_search(model, source, beam_size, allowed=not_before(8, VOCAB)))
    endless = {"max_new_tokens": 12, "forbidden": [EOS]}
    free = [one.tokens for (one,) in beam_search(model, source, beam_size, **endless)]
    for (one,) in beam_search(model, source, beam_size, **endless, allowed=once(3, VOCAB)):
        found = [tuple(one.tokens[n : n + 3]) for n in range(10)]
        assert one.tokens not in free and len(found) == len(set(found))
    for (one,) in beam_search(model, source, beam_size, max_new_tokens=12, forbidden=[EOS, free[0][0]]):
        assert free[0][0] not in one.tokens
    (one,), (other,) = beam_search(model, source, beam_size, **endless, prefix=[[5, 6, 4], []])
    assert one.tokens[:3] == [5, 6, 4] and other.tokens == free[1]


def test_ctranslate2_results() -> None:
    """Ten alternatives after a prefix, falling; attention of each step to each word of the source."""
    model, source = random_model(8), random_source(8, [6])
    (found,) = beam_search(model, source, 10, num_return=10, prefix=[[5, 6]], return_attention=True)
    assert len({tuple(one.tokens) for one in found}) == 10 and all(one.tokens[:2] == [5, 6] for one in found)
    ended = [one.score for one in found if one.finished]
    assert ended == sorted(ended, reverse=True)
    for one in found:
        assert one.attention is not None and one.attention.cross[0].shape[1:] == (one.steps, 6)
        assert one.log_probability < 0
