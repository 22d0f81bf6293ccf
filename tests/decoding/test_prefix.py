"""Forced beginnings: a search with a prefix against trying everything on tiny models."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotated.config import BOS, EOS, PAD
from annotated.decoding import beam_search, greedy_decode, length_penalty
from tests.decoding.test_invariants import (
    CAP,
    MORE,
    SEEDS,
    VOCAB,
    alone,
    everything,
    log_probability,
    random_model,
    random_source,
    same,
)


@given(seed=SEEDS, prefix=st.lists(st.integers(3, VOCAB - 1), max_size=3), alpha=st.sampled_from([0.0, 0.6]))
@settings(max_examples=12)
def test_a_forced_search_is_a_search_among_the_hypotheses_that_begin_so(seed, prefix, alpha) -> None:
    model, source = random_model(seed), random_source(seed, [4])
    scores = {
        tokens: total / length_penalty(len(tokens) + 1, alpha)
        for tokens, total in everything(model, source).items()
        if list(tokens[: len(prefix)]) == prefix
    }
    found = beam_search(model, source, 5 * 4**3 // 2, alpha, CAP, min(len(scores), 5), prefix=[prefix])[0]
    assert [h.score for h in found] == pytest.approx(sorted(scores.values(), reverse=True)[: len(found)], abs=1e-4)
    assert all(h.tokens[: len(prefix)] == prefix and h.finished for h in found)
    assert [scores[tuple(h.tokens)] for h in found] == pytest.approx([h.score for h in found], abs=1e-4)


@given(seed=SEEDS, cut=st.integers(0, 8))
@settings(max_examples=10)
def test_forcing_what_the_search_finds_anyway_changes_nothing(seed, cut) -> None:
    """Even in a batch of prefixes of all lengths, the empty one and the whole one with its eos among them."""
    model, source = random_model(seed), random_source(seed, [5, 3, 6, 2])
    free = beam_search(model, source, 1, extra_tokens=MORE)
    prefixes = [([*h.tokens, EOS] if h.finished else h.tokens)[: cut + 3 * row] for row, (h,) in enumerate(free)]
    forced = beam_search(model, source, 1, extra_tokens=MORE, prefix=prefixes)
    same([h for (h,) in forced], [h for (h,) in free])
    found = greedy_decode(model, source, extra_tokens=MORE, prefix=prefixes)
    same(found, greedy_decode(model, source, extra_tokens=MORE))
    # A wider beam may lose its way to the same end, but is never worse than the forced path and pays for all of it.
    wide = beam_search(model, source, 3, extra_tokens=MORE, prefix=prefixes)
    for row, (h,) in enumerate(wide):
        assert [*h.tokens, EOS][: len(prefixes[row])] == prefixes[row]
        expected = log_probability(model, alone(source, row), h.tokens, h.finished)
        assert h.log_probability == pytest.approx(expected, rel=1e-4, abs=1e-3)
        one = alone(source, row)
        same([h], beam_search(model, one, 3, extra_tokens=MORE, prefix=[prefixes[row]])[0])


def test_a_prefix_that_ends_and_prefixes_that_are_refused() -> None:
    model, source = random_model(3), random_source(3, [4])
    ended = beam_search(model, source, 3, prefix=[[5, EOS]], num_return=2)[0]
    assert [(h.tokens, h.finished) for h in ended] == [([5], True)]
    for prefix in ([[4], [4]], [[4] * 9], [[EOS, 4]], [[PAD]], [[BOS]], [[VOCAB]], [[-1]]):
        with pytest.raises(ValueError, match="prefix"):
            beam_search(model, source, 2, max_new_tokens=8, prefix=prefix)
        with pytest.raises(ValueError, match="prefix"):
            greedy_decode(model, source, 8, prefix=prefix)
