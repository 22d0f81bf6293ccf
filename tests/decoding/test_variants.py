"""Forced beginnings, diverse groups and exact search: each against trying everything on tiny models."""

from __future__ import annotations

import itertools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from annotated.chapters.beam_search import record_search
from annotated.chapters.beam_search.diverse import diverse_beam_search
from annotated.chapters.greedy.exact import exact_search
from annotated.config import BOS, EOS, PAD
from annotated.decoding import beam_search, greedy_decode, length_penalty
from tests.decoding.test_invariants import VOCAB, alone, log_probability, random_model, random_source, same

SEEDS = st.integers(0, 10_000)
CAP = 4


def everything(model, source: torch.Tensor) -> dict[tuple[int, ...], float]:
    """Log-probability of every finished hypothesis of at most CAP symbols."""
    beginnings = [list(s) for n in range(CAP) for s in itertools.product(range(3, VOCAB), repeat=n)]
    targets = torch.zeros(len(beginnings), CAP, dtype=torch.long)
    for row, tokens in enumerate(beginnings):
        targets[row, : len(tokens) + 1] = torch.tensor([BOS, *tokens])
    with torch.no_grad():
        every = model(source.expand(len(beginnings), -1), targets).log_softmax(dim=-1)
    return {
        tuple(tokens): sum(float(every[row, t, token]) for t, token in enumerate([*tokens, EOS]))
        for row, tokens in enumerate(beginnings)
    }


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
    free = beam_search(model, source, 1)
    prefixes = [([*h.tokens, EOS] if h.finished else h.tokens)[: cut + 3 * row] for row, (h,) in enumerate(free)]
    same([h for (h,) in beam_search(model, source, 1, prefix=prefixes)], [h for (h,) in free])
    same(greedy_decode(model, source, prefix=prefixes), greedy_decode(model, source))
    # A wider beam may lose its way to the same end, but is never worse than the forced path and pays for all of it.
    wide = beam_search(model, source, 3, prefix=prefixes)
    for row, (h,) in enumerate(wide):
        assert [*h.tokens, EOS][: len(prefixes[row])] == prefixes[row]
        expected = log_probability(model, alone(source, row), h.tokens, h.finished)
        assert h.log_probability == pytest.approx(expected, rel=1e-4, abs=1e-3)
        same([h], beam_search(model, alone(source, row), 3, prefix=[prefixes[row]])[0])


def test_a_forced_search_on_record_and_what_is_refused() -> None:
    model, source = random_model(3), random_source(3, [4])
    tree = record_search(model, source, 3, prefix=[5, 4])
    first, second = (([n for n in tree.nodes if n.step == step]) for step in (1, 2))
    assert [n.token for n in first] == [5] and [n.token for n in second] == [4]
    assert tree.hypotheses[0].tokens[:2] == [5, 4]
    ended = beam_search(model, source, 3, prefix=[[5, EOS]], num_return=2)[0]
    assert [(h.tokens, h.finished) for h in ended] == [([5], True)]
    for prefix in ([[4], [4]], [[4] * 9], [[EOS, 4]], [[PAD]], [[BOS]], [[VOCAB]], [[-1]]):
        with pytest.raises(ValueError, match="prefix"):
            beam_search(model, source, 2, max_new_tokens=8, prefix=prefix)
        with pytest.raises(ValueError, match="prefix"):
            greedy_decode(model, source, 8, prefix=prefix)


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
