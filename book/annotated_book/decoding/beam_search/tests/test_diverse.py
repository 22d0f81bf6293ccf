"""Diverse beam search: without a price it is beam search, and at a high one its groups differ."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotated.decoding import beam_search
from annotated_book.decoding.beam_search.diverse import diverse_beam_search
from tests.decoding.test_invariants import SEEDS, alone, log_probability, random_model, random_source, same


@given(seed=SEEDS, alpha=st.sampled_from([0.0, 0.6]))
@settings(max_examples=8)
def test_one_group_is_beam_search_and_groups_without_a_price_agree(seed, alpha) -> None:
    model, source = random_model(seed), random_source(seed, [5, 2, 4])
    one = diverse_beam_search(model, source, 4, 1, 1.0, alpha, extra_tokens=6)
    plain = beam_search(model, source, 4, alpha, num_return=4, extra_tokens=6)
    free = diverse_beam_search(model, source, 4, 2, 0.0, alpha, extra_tokens=6)
    half = beam_search(model, source, 2, alpha, num_return=2, extra_tokens=6)
    for row in range(len(source)):
        same(one[row], plain[row])
        same(free[row], half[row])


def test_a_high_price_makes_the_groups_begin_differently() -> None:
    model, source = random_model(5), random_source(5, [5, 3])
    for row, found in enumerate(diverse_beam_search(model, source, 4, 4, 50.0, extra_tokens=4)):
        # No token may come twice at one place, so far as both hypotheses reach.
        for a, b in itertools.combinations([h.tokens for h in found], 2):
            assert all(x != y for x, y in zip(a, b, strict=False))
        for h in found:
            expected = log_probability(model, alone(source, row), h.tokens, h.finished)
            assert h.log_probability == pytest.approx(expected, rel=1e-4, abs=1e-3)
    for options, message in (({"num_groups": 3}, "divide"), ({"strength": -1.0}, "strength")):
        with pytest.raises(ValueError, match=message):
            diverse_beam_search(model, source, 4, **options)
