"""Roles, links and error rates, against small cases worked out by hand."""

from __future__ import annotations

import math

import pytest
import torch

import annotated
from annotated.analysis import heads as h
from annotated.classroom import classroom_pairs
from annotated.model import AttentionMaps


@pytest.fixture(scope="module")
def translator() -> annotated.Translator:
    return annotated.load("classroom")


@pytest.fixture(scope="module")
def corpus(translator: annotated.Translator) -> h.HeadCorpus:
    return h.HeadCorpus.of(classroom_pairs("test", 6), translator.tokenizer)


def constant_maps(corpus: h.HeadCorpus, even: bool) -> AttentionMaps:
    """One layer of one head that spreads evenly, or looks at the first key alone."""
    made = []
    for kind in h.KINDS:
        q = (corpus.source if kind == "encoder" else corpus.target_in).size(1)
        keys = corpus.target_in if kind == "decoder" else corpus.source
        allowed = (keys != 0)[:, None, :].expand(-1, q, -1).float()
        if kind == "decoder":
            allowed = allowed.tril()
        if not even:
            allowed = torch.zeros_like(allowed).index_fill_(-1, torch.tensor([0]), 1.0)
        made.append([(allowed / allowed.sum(-1, keepdim=True)).nan_to_num()[:, None]])
    return AttentionMaps(*made)


def test_pieces_go_back_to_their_words(translator: annotated.Translator, corpus: h.HeadCorpus) -> None:
    for one in corpus.items:
        pieces = translator.tokenizer.tokens(one.target)
        for j, word in enumerate(one.pair.target_words):
            joined = "".join(p for p, w in zip(pieces, one.target_word, strict=True) if w == j)
            assert joined.lstrip("▁Ġ ") == word or word in joined
        assert one.target_word == sorted(one.target_word)


def test_gold_cells_are_the_alignment_in_pieces(corpus: h.HeadCorpus) -> None:
    one = corpus.items[0]
    cells = h.gold_cells(one)
    assert {(one.source_word[s], one.target_word[t]) for t, s in cells} == set(one.pair.alignment)
    assert max(s for _, s in cells) < len(one.source) - 1, "no word is aligned with eos"


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("The baker has 21 brown goats .", {0: 1}),
        ("The king sees her green school bag .", {0: 1, 3: 6}),
        ("Listen to her !", {}),
        ("Every famous woman travels to Dresden .", {0: 2}),
    ],
)
def test_determiners_find_their_nouns(sentence: str, expected: dict[int, int]) -> None:
    assert h.noun_of_determiner(sentence.split()) == expected


def test_an_even_spread_scores_chance(corpus: h.HeadCorpus) -> None:
    for row in h.role_scores(constant_maps(corpus, even=True), corpus):
        assert row["score"] == pytest.approx(row["chance"], abs=1e-5), row


def test_a_head_on_the_first_token_scores_it_and_nothing_else(corpus: h.HeadCorpus) -> None:
    table = h.score_table(h.role_scores(constant_maps(corpus, even=False), corpus))
    for kind in h.KINDS:
        assert table[kind, 0, 0, "first token"][0] == pytest.approx(1)
    assert table["encoder", 0, 0, "end </s>"][0] == table["cross", 0, 0, "end </s>"][0] == 0
    # Of the n rows of a sentence only the first looks at itself, and only the second at the one before it.
    rows = sum(len(one.source) for one in corpus.items)
    assert table["encoder", 0, 0, "itself"][0] == pytest.approx(6 / rows)
    assert table["encoder", 0, 0, "token before"][0] == pytest.approx(6 / (rows - 6))


def test_entropy_is_one_when_even_and_zero_when_sharp(corpus: h.HeadCorpus) -> None:
    assert all(e == pytest.approx(1) for e in h.mean_entropy(constant_maps(corpus, even=True), corpus).values())
    assert all(e == 0 for e in h.mean_entropy(constant_maps(corpus, even=False), corpus).values())


def test_varied_prefers_what_is_new() -> None:
    pairs = list(classroom_pairs("test", 200))
    chosen = h.varied(pairs, 40, lambda pair: len(pair.source) < 50)
    assert len(chosen) == 40 and max(len(pair.source) for pair in chosen) < 50
    plain = [pair for pair in pairs if len(pair.source) < 50][:40]
    assert len(set().union(*(p.features for p in chosen))) > len(set().union(*(p.features for p in plain)))


def test_the_uniform_baseline_of_the_decoder_counts_allowed_keys(corpus: h.HeadCorpus) -> None:
    row = next(
        r
        for r in h.role_scores(constant_maps(corpus, even=True), corpus)
        if (r["kind"], r["role"]) == ("decoder", "itself")
    )
    lengths = [len(one.target) + 1 for one in corpus.items]
    expected = sum(1 / t for n in lengths for t in range(1, n + 1)) / sum(lengths)
    assert math.isclose(row["chance"], expected, rel_tol=1e-5)
