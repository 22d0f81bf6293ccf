"""What must hold of decoding for every model: proved on random small Transformers."""

from __future__ import annotations

import itertools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from annotated import Transformer, tiny
from annotated.config import BOS, EOS
from annotated.decoding import BeamSearch, Hypothesis, beam_search, greedy_decode, length_penalty
from annotated.decoding.search import decoding_mode, max_lengths

VOCAB = 7
SEEDS = st.integers(0, 10_000)
CAP = 4
MORE = 32
"""Tokens beyond a sentence's own length: a random model seldom ends. A cache grows at 32, so each search gets there."""


def random_model(seed: int, **changes) -> Transformer:
    """Weights large enough for pronounced opinions, so that no two hypotheses tie."""
    torch.manual_seed(seed)
    shape = {"d_model": 16, "d_ff": 24, "num_heads": 2, "d_k": 8, "d_v": 8}
    layers = {"num_encoder_layers": 2, "num_decoder_layers": 2}
    model = Transformer(tiny(**{"vocab_size": VOCAB, **shape, **layers, **changes})).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(1.6)
    return model


def random_source(seed: int, lengths: list[int], padding: int = 0) -> Tensor:
    """Random sentences that end in eos, padded on the right."""
    generator = torch.Generator().manual_seed(seed)
    source = torch.zeros(len(lengths), max(lengths) + padding, dtype=torch.long)
    for row, length in enumerate(lengths):
        source[row, : length - 1] = torch.randint(4, VOCAB, (length - 1,), generator=generator)
        source[row, length - 1] = EOS
    return source


def alone(source: Tensor, row: int) -> Tensor:
    """One sentence without its padding."""
    return source[row : row + 1, : int((source[row] != 0).sum())]


def log_probability(model: Transformer, source: Tensor, tokens: list[int], finished: bool) -> float:
    """By the uncached model, the whole target at once."""
    written = [*tokens, EOS] if finished else tokens
    with torch.no_grad():
        logits = model(source, torch.tensor([[BOS, *tokens][: len(written)]]))
    return float(logits[0].log_softmax(dim=-1).gather(1, torch.tensor(written)[:, None]).sum())


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


def same(found: list[Hypothesis], expected: list[Hypothesis]) -> None:
    assert [h.tokens for h in found] == [h.tokens for h in expected]
    assert [h.finished for h in found] == [h.finished for h in expected]
    assert [h.score for h in found] == pytest.approx([h.score for h in expected], rel=1e-4, abs=1e-4)


@given(seed=SEEDS)
@settings(max_examples=10)
def test_a_beam_of_one_is_greedy_search(seed: int) -> None:
    model, source = random_model(seed), random_source(seed, [5, 2, 4, 7])
    found = beam_search(model, source, 1, extra_tokens=MORE)
    same([h[0] for h in found], greedy_decode(model, source, extra_tokens=MORE))


@given(seed=SEEDS, alpha=st.sampled_from([0.0, 0.6, 2.0]))
@settings(max_examples=12)
def test_a_wide_beam_finds_what_trying_everything_finds(seed: int, alpha: float) -> None:
    model, source = random_model(seed), random_source(seed, [4])
    totals = everything(model, source)
    scores = {tokens: total / length_penalty(len(tokens) + 1, alpha) for tokens, total in totals.items()}
    # 4 ** 3 hypotheses are alive before the last step, with 5 continuations each: all fit into 2k candidates.
    found = beam_search(model, source, 5 * 4**3 // 2, alpha, max_new_tokens=CAP, num_return=10)[0]
    # By scores, not by tokens: two hypotheses can be equally good to the last bit but one.
    assert [h.score for h in found] == pytest.approx(sorted(scores.values(), reverse=True)[:10], abs=1e-4)
    assert [scores[tuple(h.tokens)] for h in found] == pytest.approx([h.score for h in found], abs=1e-4)
    assert len({tuple(h.tokens) for h in found}) == 10 and all(h.finished for h in found)


@given(seed=SEEDS, norm=st.sampled_from(["post", "pre"]), beam_size=st.sampled_from([1, 4]))
@settings(max_examples=10)
def test_cached_is_uncached(seed: int, norm: str, beam_size: int) -> None:
    """Every hypothesis is worth what the whole model, without a cache, says of it."""
    model, source = random_model(seed, norm=norm), random_source(seed, [6, 3, 4])
    for row, found in enumerate(beam_search(model, source, beam_size, num_return=beam_size)):
        for h in found:
            expected = log_probability(model, alone(source, row), h.tokens, h.finished)
            assert h.log_probability == pytest.approx(expected, rel=1e-4, abs=1e-3)
            assert h.score == pytest.approx(h.log_probability / length_penalty(h.steps, 0.6))


@given(seed=SEEDS, beam_size=st.sampled_from([1, 3]), padding=st.integers(0, 3))
@settings(max_examples=8)
def test_neither_batch_nor_padding_changes_a_translation(seed: int, beam_size: int, padding: int) -> None:
    model, source = random_model(seed), random_source(seed, [3, 7, 2, 5], padding)
    options = {"num_return": beam_size, "extra_tokens": MORE}
    together = beam_search(model, source, beam_size, **options)
    greedy = greedy_decode(model, source, extra_tokens=MORE)
    for row in range(len(source)):
        same(together[row], beam_search(model, alone(source, row), beam_size, **options)[0])
        same([greedy[row]], greedy_decode(model, alone(source, row), extra_tokens=MORE))


@given(seed=SEEDS, alpha=st.sampled_from([0.0, 0.6, 1.5]), num_return=st.integers(1, 3))
def test_stopping_early_loses_nothing(seed: int, alpha: float, num_return: int) -> None:
    model, source = random_model(seed), random_source(seed, [3, 5])
    with decoding_mode(model):
        limits = max_lengths(model, source, None, 20)
        results = [BeamSearch(model, source, limits, 3, alpha, num_return, stop_early=s).run() for s in (True, False)]
    for early, late in zip(*results, strict=True):
        same(early, late)


@given(seed=SEEDS)
def test_n_best_are_sorted_and_distinct(seed: int) -> None:
    for found in beam_search(random_model(seed), random_source(seed, [5, 3]), 4, num_return=4, extra_tokens=MORE):
        assert [(h.finished, h.score) for h in found] == sorted(((h.finished, h.score) for h in found), reverse=True)
        assert len({(tuple(h.tokens), h.finished) for h in found}) == len(found)


def test_decoding_ignores_dropout_and_puts_training_back() -> None:
    model, source = random_model(1, dropout=0.5), random_source(1, [5, 4])
    expected = beam_search(model, source), greedy_decode(model, source)
    model.train()
    assert (beam_search(model, source), greedy_decode(model, source)) == expected
    assert all(module.training for module in model.modules())


def test_a_model_can_be_trained_after_it_decoded_beyond_its_table_of_sinusoids() -> None:
    """What decoding computes in inference mode must not end up in the graph of a training step."""
    model, source = random_model(2), random_source(2, [4])
    greedy_decode(model, source, 520, forbidden=[EOS])
    model.train()
    model(source, torch.full((1, 516), BOS)).sum().backward()
    assert all(p.grad is not None for p in model.parameters())


def test_learned_positions_set_a_cap_of_their_own() -> None:
    model, source = random_model(3, positions="learned", max_positions=9), random_source(3, [4])
    assert len(greedy_decode(model, source, forbidden=[EOS])[0].tokens) == 9
    assert len(beam_search(model, source, 2, max_new_tokens=40, forbidden=[EOS])[0][0].tokens) == 9


@pytest.mark.parametrize("beam_size", [1, 3])
def test_attention_is_that_of_the_sentence_alone(beam_size: int) -> None:
    model, source = random_model(4), random_source(4, [6, 3])
    results = beam_search(model, source, beam_size, num_return=beam_size, max_new_tokens=5, return_attention=True)
    for row, found in enumerate(results):
        for h in found:
            assert h.attention is not None
            own = alone(source, row)
            target_in = torch.tensor([[BOS, *h.tokens][: h.steps]])
            with torch.no_grad():
                _, maps = model(own, target_in, return_attention=True)
            for given_maps, expected in zip(h.attention, maps, strict=True):
                for layer, weights in zip(given_maps, expected, strict=True):
                    torch.testing.assert_close(layer, weights[0], rtol=1e-4, atol=1e-5)
    greedy = greedy_decode(model, source, 5, return_attention=True)[1]
    assert greedy.attention is not None and greedy.attention.cross[0].shape == (2, greedy.steps, 3)


def test_ids_outside_the_vocabulary_are_refused() -> None:
    with pytest.raises(ValueError, match="vocabulary of 7"):
        greedy_decode(random_model(5), torch.tensor([[4, 99, EOS]]))
    with pytest.raises(ValueError, match="padding stands before"):
        beam_search(random_model(5), torch.tensor([[4, 0, EOS]]))
