"""Right models of less usual kinds are cleared, and what is said of a wrong one is what was measured."""

from __future__ import annotations

import dataclasses

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from annotated_grader.doctor import Claims, FirstAttention, Found, Subject, examine
from annotated_grader.doctor.invariants.decoding import _require_best_first, _step_mistakes
from annotated_grader.doctor.invariants.evaluation import ENDS_OUT, _other_mean
from annotated_grader.doctor.invariants.registry import InvariantViolated
from annotated_grader.doctor.probe import CLOSE, Probe, of_size, without_dropout
from tests.grader.doctor.functional import Functional
from tests.grader.doctor.modular import Kind


class Small(Subject):
    """Embeddings and a head; `wrong` shares two matrices that no table of tokens is."""

    name, vocab_size = "small", 12

    def __init__(self, tied: bool = True, wrong: bool = False) -> None:
        torch.manual_seed(0)
        self.words = nn.Embedding(12, 8)
        self.head = nn.Linear(8, 12, bias=False)
        self.layers = nn.ModuleList([nn.Linear(8, 8), nn.Linear(8, 8)])
        if tied:
            self.head.weight = self.words.weight
        if wrong:
            self.layers[1].weight = self.layers[0].weight

    def logits(self, source: Tensor, target_in: Tensor) -> Tensor:
        vectors = self.words(target_in) + self.words(source).mean(dim=1, keepdim=True)
        for layer in self.layers:
            vectors = layer(vectors)
        return self.head(vectors)

    def modules(self) -> list[nn.Module]:
        return [self.words, self.head, self.layers]


@pytest.mark.parametrize("claims", [Claims(), Claims(tied_embeddings=True)])
def test_a_tied_head_is_no_copied_layer(claims: Claims) -> None:
    subject = Small()
    subject.claims = claims
    assert examine(subject, ["layers-differ"]).healthy
    assert not examine(Small(wrong=True), ["layers-differ"]).healthy


class Grouped(Small):
    """An attention of four heads that share these many heads of keys and values."""

    def __init__(self, groups: int, queries: int = 4) -> None:
        super().__init__()
        self.groups, self.queries = groups, queries

    def first_attention(self, source: Tensor) -> FirstAttention:
        draw = torch.Generator().manual_seed(0)
        size = (1, 4, source.size(1), 2)
        q, k, v = (torch.randn(size, generator=draw) for _ in range(3))
        q = q[:, : self.queries].repeat_interleave(4 // self.queries, dim=1)
        k, v = (x[:, : self.groups].repeat_interleave(4 // self.groups, dim=1) for x in (k, v))
        x, w_o = torch.randn(1, source.size(1), 8, generator=draw), torch.randn(8, 8, generator=draw)
        weights = (q @ k.mT / 2**0.5).softmax(dim=-1)
        return FirstAttention(x, q, k, v, weights, (weights @ v).transpose(1, 2).flatten(2) @ w_o.T, w_o)


@pytest.mark.parametrize(("groups", "queries", "healthy"), [(4, 4, True), (2, 4, True), (1, 4, True), (1, 1, False)])
def test_heads_may_share_keys_and_values_but_no_queries(groups: int, queries: int, healthy: bool) -> None:
    assert examine(Grouped(groups, queries), ["heads-differ"]).healthy == healthy


def test_dropout_with_a_literal_probability_is_off_too() -> None:
    ones = torch.ones(1, 1, 64, 4)
    with without_dropout([]):
        assert torch.equal(F.dropout(ones, 0.5, True), ones) and torch.equal(nn.Dropout(0.5)(ones), ones)
        attended = F.scaled_dot_product_attention(ones, ones, ones, dropout_p=0.5)
    assert torch.allclose(attended, ones)
    assert not torch.equal(F.dropout(ones, 0.5, True), ones)


def test_tolerances_follow_the_rounding_of_the_parameters() -> None:
    subject = Small()
    assert Probe(subject).close == CLOSE
    for module in subject.modules():
        module.bfloat16()
    assert Probe(subject).close == 4 * 2**-7  # bfloat16 has eight bits


def test_a_model_that_may_still_be_training_is_told_to_call_eval() -> None:
    report = examine(Functional(Kind("rotary", wrong="dropout_stays")), ["dropout-off"])
    assert "offers no modules" in report["dropout-off"].measured
    assert "call its eval()" in report["dropout-off"].mistakes[0].says
    assert report.similar_mutants == []


def test_hypotheses_that_were_cut_may_be_ranked_with_the_others() -> None:
    ended, cut = Found([3], -2.0, -2.0), Found([4, 5], -1.0, -1.0, finished=False)
    _require_best_first([cut, ended])
    _require_best_first([ended, cut])
    with pytest.raises(InvariantViolated, match="neither by score"):
        _require_best_first([ended, Found([6], -1.5, -1.5), cut])


class Windowed(Small):
    """An encoder that averages the tokens less than 16 places away."""

    def __init__(self, window: int) -> None:
        super().__init__()
        self.window = window

    def encode(self, source: Tensor) -> Tensor:
        places = torch.arange(source.size(1))
        near = ((places[:, None] - places).abs() < self.window).float()
        return near / near.sum(dim=1, keepdim=True) @ self.words(source)


def test_far_tokens_reach_the_memory_unless_attention_is_local_on_purpose() -> None:
    assert examine(Windowed(1000), ["encoder-sees-both-sides"]).healthy
    local = Windowed(16)
    (finding,) = examine(local, ["encoder-sees-both-sides"]).findings
    assert finding.measured == "In a source of 100 tokens, memory position 16 does not see token 0."
    local.claims = dataclasses.replace(local.claims, local_attention=True)
    assert examine(local, ["encoder-sees-both-sides"]).healthy


def test_what_is_said_fits_what_was_measured() -> None:
    assert [mistake.claim for mistake in _step_mistakes(0, True)][0] == "C12"
    assert not any("position of the first" in mistake.says for mistake in _step_mistakes(0, False))
    # exp of the mean of 1 and 2, without the ends, which cost 5 each.
    assert _other_mean([[1.0, 5.0], [2.0, 5.0]], 4.4816890703) == [ENDS_OUT]


def test_a_percentage_has_no_exponent() -> None:
    assert of_size(1.2) == "120% of their size"
    assert [of_size(share, "its") for share in (0.54, 0.999)] == ["54% of its size", "100% of its size"]
