"""Greedy and beam search on probabilities written by hand: every expected score is a logarithm of them."""

from __future__ import annotations

from math import log

import pytest
import torch

from annotated.config import BOS, EOS, PAD
from annotated.decoding import beam_search, greedy_decode, length_penalty, search
from tests.decoding.table_model import A, B, C, Table, TableModel, source_of


def endless(token: int, stay: float, steps: int = 80) -> dict[tuple[int, ...], dict[int, float]]:
    """Write one token again and again with probability `stay`, or end."""
    return {(token,) * n: {token: stay, EOS: 1 - stay} for n in range(steps)}


GARDEN_PATH: Table = {
    (): {A: 0.6, B: 0.4},
    (A,): {A: 0.5, B: 0.5 - 0.01, EOS: 0.01},
    (B,): {EOS: 0.9, A: 0.1},
}


def test_greedy_follows_the_garden_path_and_beam_search_does_not() -> None:
    model = TableModel(GARDEN_PATH)
    (greedy,) = greedy_decode(model, source_of(0))
    assert greedy.tokens == [A, A] and greedy.finished
    assert greedy.log_probability == pytest.approx(log(0.6) + log(0.5))
    assert greedy.score == pytest.approx((log(0.6) + log(0.5)) / (8 / 6) ** 0.6)
    ((best,),) = beam_search(model, source_of(0), 2, alpha=0.0)
    assert best.tokens == [B]
    assert best.log_probability == best.score == pytest.approx(log(0.4) + log(0.9))


def test_a_beam_of_one_is_greedy_even_where_a_later_end_scores_better() -> None:
    # A second candidate would let the search write A, whose end scores higher under a strong penalty.
    table = {(): {EOS: 0.51, A: 0.49}, (A,): {EOS: 1.0}}
    model = TableModel(table)
    (greedy,), ((beam,),) = greedy_decode(model, source_of(0), alpha=3.0), beam_search(model, source_of(0), 1, 3.0)
    assert greedy == beam
    assert greedy.tokens == [] and greedy.log_probability == pytest.approx(log(0.51))
    ((wide,),) = beam_search(model, source_of(0), 2, 3.0)
    assert wide.tokens == [A] and wide.score == pytest.approx(log(0.49) / (7 / 6) ** 3)


def test_the_first_of_equals_wins() -> None:
    model = TableModel({(): {A: 0.25, B: 0.25, C: 0.25, EOS: 0.25}})
    (greedy,), ((beam,),) = greedy_decode(model, source_of(0)), beam_search(model, source_of(0), 1)
    assert greedy.tokens == beam.tokens == []  # eos has the smallest id of the four


@pytest.mark.parametrize(("alpha", "expected"), [(0.0, []), (1.0, [A, A, A])])
def test_the_length_penalty_decides_between_short_and_long(alpha: float, expected: list[int]) -> None:
    table = {(): {EOS: 0.5, A: 0.5 * 0.9}, (A,): {A: 1.0}, (A, A): {A: 1.0}, (A, A, A): {EOS: 1.0}}
    table[()] = {EOS: 0.5, A: 0.45, B: 0.05}
    ((best,),) = beam_search(TableModel(table), source_of(0), 3, alpha)
    assert best.tokens == expected
    assert best.score == pytest.approx(log(0.45) / ((5 + 4) / 6) if expected else log(0.5))


def test_length_counts_the_end() -> None:
    assert length_penalty(1, 0.6) == 1.0
    assert length_penalty(7, 0.6) == pytest.approx(2**0.6)


def test_a_good_end_survives_while_others_grow() -> None:
    """A search without a pool of its own for finished hypotheses loses [A] to the many that are alive."""
    table = {
        (): {A: 0.5, B: 0.3, C: 0.2},
        (A,): {EOS: 0.8, A: 0.2},
        (B,): {A: 0.55, B: 0.45},
        (C,): {A: 0.5, B: 0.5},
    }
    table |= {(x, y): {C: 0.9, EOS: 0.1} for x in (B, C) for y in (A, B)}
    model = TableModel(table)
    ((best,),) = beam_search(model, source_of(0), 2, alpha=0.0)
    assert best.tokens == [A] and best.log_probability == pytest.approx(log(0.5 * 0.8))


def steps_of(model: TableModel) -> int:
    return len(model.rows_of_steps)


def test_the_search_stops_when_nothing_better_can_come_and_not_before() -> None:
    # Cap 3 + 50 = 53. After one step: finished log p, alive log(1 - p) / ((5 + 53) / 6).
    for p in (0.6, 0.7, 0.8, 0.9):
        model = TableModel({(): {EOS: p, A: 1 - p}, (A,): {EOS: 0.5, B: 0.5}})
        ((best,),) = beam_search(model, source_of(0), 2, alpha=1.0)
        assert best.tokens == [] and best.score == pytest.approx(log(p))
        can_be_beaten = log(1 - p) / ((5 + 53) / 6) > log(p)
        assert (steps_of(model) == 1) == (not can_be_beaten)


def test_with_alpha_zero_one_step_is_enough_once_the_best_is_finished() -> None:
    model = TableModel({(): {EOS: 0.51, A: 0.49}, **{(A,) * n: {A: 1.0} for n in range(1, 80)}})
    beam_search(model, source_of(0), 4, alpha=0.0)
    assert steps_of(model) == 1


def test_at_the_cap_the_unfinished_come_after_the_finished() -> None:
    table = endless(A, stay=0.9)
    found = beam_search(TableModel(table), source_of(0), 2, alpha=0.6, max_new_tokens=1, num_return=2)[0]
    assert [(h.tokens, h.finished) for h in found] == [([], True), ([A], False)]
    assert [h.log_probability for h in found] == pytest.approx([log(0.1), log(0.9)])
    assert found[1].score > found[0].score  # rank is by finished first
    certain = {(A,) * n: {A: 1.0} for n in range(80)}
    ((only,),) = beam_search(TableModel(certain), source_of(0), 2)
    (greedy,) = greedy_decode(TableModel(certain), source_of(0))
    assert only == greedy
    assert only.tokens == [A] * 53 and not only.finished and only.log_probability == 0.0


def test_caps_follow_each_source_and_not_the_batch() -> None:
    table = {(A,) * n: {A: 1.0} for n in range(80)}
    source = torch.tensor([[4, A, A, A, EOS], [4, EOS, PAD, PAD, PAD]])
    for found in (greedy_decode(TableModel(table), source), [h[0] for h in beam_search(TableModel(table), source, 3)]):
        assert [len(h.tokens) for h in found] == [55, 52]


def test_pad_and_bos_are_never_written_and_keep_their_probability() -> None:
    table = {(): {PAD: 0.5, BOS: 0.3, A: 0.2}}
    for (best,) in (greedy_decode(TableModel(table), source_of(0)), beam_search(TableModel(table), source_of(0))[0]):
        assert best.tokens == [A] and best.log_probability == pytest.approx(log(0.2))


def test_what_the_caller_forbids_is_not_written() -> None:
    table = {(A,) * n: {EOS: 0.7, A: 0.1, B: 0.2} for n in range(9)}
    (greedy,) = greedy_decode(TableModel(table), source_of(0), 3, forbidden=[EOS, B])
    ((beam,),) = beam_search(TableModel(table), source_of(0), 2, max_new_tokens=3, forbidden=[EOS, B])
    assert greedy.tokens == beam.tokens == [A, A, A] and not greedy.finished
    assert beam.log_probability == pytest.approx(3 * log(0.1))


def test_n_best_are_distinct_sorted_and_no_more_than_exist() -> None:
    table = {(): {A: 0.5, B: 0.3, EOS: 0.2}}
    found = beam_search(TableModel(table), source_of(0), 4, alpha=0.0, num_return=4)[0]
    assert [h.tokens for h in found] == [[A], [B], []]
    assert [h.score for h in found] == pytest.approx([log(0.5), log(0.3), log(0.2)])


SEVERAL = (
    GARDEN_PATH,
    {(): {EOS: 0.99, A: 0.01}},
    endless(B, 0.8),
    {(): {C: 0.7, EOS: 0.3}, (C,): {EOS: 0.4, A: 0.35, B: 0.25}, (C, A): {EOS: 0.5, C: 0.5}},
)


@pytest.mark.parametrize("beam_size", [1, 2, 4])
@pytest.mark.parametrize("compact_at", [0.01, 0.25, 2.0])
@pytest.mark.parametrize("lazy", [False, True])
def test_a_batch_gives_what_its_sentences_give_alone(
    beam_size: int, compact_at: float, lazy: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However early finished sentences are dropped, and however seldom (as on a GPU) it is asked who is done."""
    options = {"beam_size": beam_size, "num_return": min(2, beam_size)}
    alone = [beam_search(TableModel(*SEVERAL), source_of(s), **options)[0] for s in range(4)]
    monkeypatch.setattr(search, "COMPACT_AT", compact_at)
    if lazy:
        look = search.ActiveBatch.must_look
        monkeypatch.setattr(
            search.ActiveBatch, "must_look", lambda self, n, device: look(self, n, torch.device("cuda"))
        )
    order = [2, 0, 3, 1, 2, 1]
    model = TableModel(*SEVERAL)
    assert beam_search(model, source_of(*order), **options) == [alone[s] for s in order]
    dropped = model.rows_of_steps[-1] < model.rows_of_steps[0]
    assert dropped == (compact_at < 1)
    greedy_alone = [greedy_decode(TableModel(*SEVERAL), source_of(s))[0] for s in range(4)]
    assert greedy_decode(TableModel(*SEVERAL), source_of(*order)) == [greedy_alone[s] for s in order]


def test_an_empty_batch_and_an_empty_sentence() -> None:
    nothing = torch.zeros(0, 3, dtype=torch.long)
    assert greedy_decode(TableModel(), nothing) == beam_search(TableModel(), nothing) == []
    empty = torch.tensor([[4, EOS], [PAD, PAD]])
    for decode in (greedy_decode, beam_search):
        with pytest.raises(ValueError, match="sentence 1 is empty"):
            decode(TableModel(GARDEN_PATH), empty)
        with pytest.raises(ValueError, match=r"\[batch, length\]"):
            decode(TableModel(GARDEN_PATH), torch.tensor([4, EOS]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"beam_size": 0}, "beam_size"),
        ({"alpha": -1.0}, "alpha"),
        ({"max_new_tokens": 0}, "max_new_tokens"),
        ({"beam_size": 2, "num_return": 3}, "num_return"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        beam_search(TableModel(GARDEN_PATH), source_of(0), **options)
