"""Exact search finds what listing every sentence finds, from any start, and gives up where it is told to."""

from __future__ import annotations

import itertools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from annotated.decoding import Hypothesis, beam_search, greedy_decode
from annotated.model import Transformer
from annotated_book.decoding.greedy.exact import exact_search
from annotated_book.decoding.greedy.tests.conftest import REAL, SOURCE, log_probability
from tests.decoding.test_invariants import CAP, SEEDS, everything, random_model, random_source


@given(seed=SEEDS, width=st.sampled_from([1, 3, 32]))
@settings(max_examples=10)
def test_exact_search_finds_the_most_probable_of_all(seed, width) -> None:
    model, source = random_model(seed), random_source(seed, [4])
    best = max((total, tokens) for tokens, total in everything(model, source).items())
    found = exact_search(model, source, CAP, width=width)
    assert found.proven and found.hypothesis.finished
    assert found.hypothesis.log_probability == pytest.approx(best[0], abs=1e-4)
    assert found.hypothesis.score == found.hypothesis.log_probability
    assert found.hypothesis.log_probability >= beam_search(model, source, 4, 0.0, CAP)[0][0].log_probability - 1e-4


def test_exact_search_gives_up_when_told_and_takes_one_sentence() -> None:
    model, source = random_model(1), random_source(1, [4])
    assert not exact_search(model, source, 12, width=1, max_prefixes=2).proven
    with pytest.raises(ValueError, match="one sentence"):
        exact_search(model, source.expand(2, -1))


@pytest.mark.parametrize("width", [1, 1000])
def test_the_most_probable_translation_is_that_of_a_list_of_all(model: Transformer, width: int) -> None:
    every = {w: log_probability(model, w) for n in range(5) for w in itertools.product(REAL, repeat=n)}
    worst = min(every, key=every.__getitem__)  # a bad one to begin with
    start = Hypothesis(list(worst), every[worst], 0.0)
    found, prefixes, proven = exact_search(model, torch.tensor([SOURCE]), width=width, start=start)
    assert proven and found.log_probability >= max(every.values()) - 1e-4
    assert abs(log_probability(model, tuple(found.tokens)) - found.log_probability) < 1e-4
    assert (
        tuple(found.tokens)
        == max(every, key=every.__getitem__)
        != tuple(greedy_decode(model, torch.tensor([SOURCE]))[0].tokens)
    )
    # Nothing better to be found: what was handed in comes back.
    again = exact_search(model, torch.tensor([SOURCE]), width=width, start=found)
    assert again.hypothesis.tokens == found.tokens and again.proven and again.prefixes <= prefixes


def test_it_gives_up_where_there_are_too_many(model: Transformer) -> None:
    start = Hypothesis([3], -50.0, 0.0)
    assert not exact_search(model, torch.tensor([SOURCE]), max_open=2, start=start).proven
    assert exact_search(model, torch.tensor([SOURCE]), max_open=1000).proven
