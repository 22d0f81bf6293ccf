"""A mask of what may come next: a search under it against trying everything on tiny models."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from annotated.config import EOS
from annotated.decoding import beam_search, greedy_decode, length_penalty
from annotated.decoding.search import forbidden_ids, top_tokens
from tests.decoding.test_invariants import CAP, MORE, SEEDS, VOCAB, everything, random_model, random_source, same


def everywhere(written: Tensor, sentences: Sequence[int]) -> Tensor:
    assert len(written) == len(sentences)
    return torch.ones(len(written), VOCAB, dtype=torch.bool)


def rising(written: Tensor, sentences: Sequence[int]) -> Tensor:
    """No token is smaller than the one before; the sentence ends only after two tokens."""
    last = written[:, -1:] if written.size(1) else torch.zeros(len(written), 1, dtype=torch.long)
    mask = torch.arange(VOCAB) >= last
    mask[:, EOS] = written.size(1) >= 2
    return mask


def rises(tokens: Sequence[int]) -> bool:
    return len(tokens) >= 2 and list(tokens) == sorted(tokens)


@given(seed=SEEDS, beam_size=st.sampled_from([1, 3]))
@settings(max_examples=10)
def test_allowing_everything_changes_nothing(seed: int, beam_size: int) -> None:
    model, source = random_model(seed), random_source(seed, [5, 2, 7])
    options = {"num_return": beam_size, "extra_tokens": MORE}
    free = beam_search(model, source, beam_size, **options)
    bound = beam_search(model, source, beam_size, **options, allowed=everywhere)
    for found, expected in zip(bound, free, strict=True):
        same(found, expected)
    found = greedy_decode(model, source, extra_tokens=MORE, allowed=everywhere)
    same(found, greedy_decode(model, source, extra_tokens=MORE))


@given(seed=SEEDS, alpha=st.sampled_from([0.0, 0.6]))
@settings(max_examples=10)
def test_a_wide_beam_finds_the_best_of_all_that_is_allowed(seed: int, alpha: float) -> None:
    model, source = random_model(seed), random_source(seed, [4])
    scores = {
        tokens: total / length_penalty(len(tokens) + 1, alpha)
        for tokens, total in everything(model, source).items()
        if rises(tokens)
    }
    found = beam_search(model, source, 5 * 4**3 // 2, alpha, CAP, 8, allowed=rising)[0]
    finished = [h for h in found if h.finished]
    assert [h.score for h in finished] == pytest.approx(sorted(scores.values(), reverse=True)[:8], abs=1e-4)
    assert [scores[tuple(h.tokens)] for h in finished] == pytest.approx([h.score for h in finished], abs=1e-4)


@given(seed=SEEDS)
@settings(max_examples=8)
def test_greedy_is_a_beam_of_one_and_asks_for_each_sentence_by_its_own_number(seed: int) -> None:
    """Sentence s must begin with the token 4 + s % 3, also after finished sentences have left the batch."""
    model, source = random_model(seed), random_source(seed, [6, 2, 5, 3])

    def first(written: Tensor, sentences: Sequence[int]) -> Tensor:
        mask = torch.ones(len(written), VOCAB, dtype=torch.bool)
        for row, sentence in enumerate(sentences):
            begins = int(written[row, 0]) if written.size(1) else 4 + sentence % 3
            assert begins == 4 + sentence % 3 or written.size(1)
            if not written.size(1):
                mask[row] = torch.arange(VOCAB) == begins
        return mask

    found = greedy_decode(model, source, extra_tokens=MORE, allowed=first)
    assert [h.tokens[0] for h in found] == [4, 5, 6, 4]
    same([h for (h,) in beam_search(model, source, 1, extra_tokens=MORE, allowed=first)], found)
    wide = beam_search(model, source, 4, extra_tokens=MORE, allowed=first)
    assert all(h.tokens[0] == 4 + s % 3 for s, (h,) in enumerate(wide))


def test_a_prefix_is_forced_whatever_is_allowed() -> None:
    model, source = random_model(5), random_source(5, [4])
    found = beam_search(model, source, 3, max_new_tokens=6, prefix=[[6, 4]], allowed=rising)[0][0]
    assert found.tokens[:2] == [6, 4] and found.tokens[2:] == sorted(found.tokens[2:])


def test_where_nothing_is_allowed_a_beam_finds_nothing() -> None:
    model, source = random_model(1), random_source(1, [4])

    def nothing(written: Tensor, _: Sequence[int]) -> Tensor:
        return torch.zeros(len(written), VOCAB, dtype=torch.bool)

    assert beam_search(model, source, 3, allowed=nothing) == [[]]
    assert greedy_decode(model, source, 3, allowed=nothing)[0].log_probability == -torch.inf


def test_what_is_not_allowed_keeps_its_share_of_the_probability() -> None:
    logits = torch.tensor([[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]])
    mask = torch.tensor([[True, True, True, False, True, False]])
    values, tokens = top_tokens(logits.clone(), 3, forbidden_ids([], logits.device), mask)
    assert tokens[0, :2].tolist() == [4, 2] and values[0, 2] == -torch.inf
    torch.testing.assert_close(values[0, :2], logits.log_softmax(dim=1)[0, [4, 2]])
