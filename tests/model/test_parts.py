"""Sections 3.1, 3.3, 3.4, 5.4: feed-forward network, embeddings, residual connections, dropout."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F
from torch.testing import assert_close

from annotated import tiny
from annotated.model import Dropout, PositionwiseFeedForward, SublayerConnection, TokenEmbedding


def test_equation_2():
    network = PositionwiseFeedForward(4, 6)
    torch.nn.init.normal_(network.inner.bias)
    torch.nn.init.normal_(network.outer.bias)
    x = torch.randn(2, 3, 4)
    inner = x @ network.inner.weight.T + network.inner.bias
    expected = torch.maximum(torch.zeros(()), inner) @ network.outer.weight.T + network.outer.bias
    assert_close(network(x), expected)
    # Position-wise: permuting positions permutes outputs.
    assert_close(network(x[:, [2, 0, 1]]), network(x)[:, [2, 0, 1]])


def test_embeddings_are_scaled_on_the_way_in_and_plain_on_the_way_out():
    embedding = TokenEmbedding(10, 16)
    assert_close(embedding(torch.tensor([3])), 4 * embedding.weight[[3]])
    assert_close(embedding.project(torch.eye(16)), embedding.weight.T)


def test_embedded_tokens_start_with_unit_variance():
    torch.manual_seed(0)
    embedded = TokenEmbedding(2000, 64)(torch.arange(2000))
    assert embedded.var().item() == pytest.approx(1.0, abs=0.02)  # standard error 0.004


@pytest.mark.parametrize("bad", [10, 999, -1])
def test_ids_outside_the_vocabulary_are_named(bad):
    with pytest.raises(ValueError, match=r"0\.\.9.*tokenizer and model belong together"):
        TokenEmbedding(10, 16)(torch.tensor([3, bad]))


def test_post_norm_as_printed_and_pre_norm_as_released():
    x, y = torch.randn(2, 5, 128), torch.randn(2, 5, 128)
    post, pre = SublayerConnection(tiny(dropout=0.0)), SublayerConnection(tiny(dropout=0.0, norm="pre"))
    normal = lambda z: F.layer_norm(z, (128,), eps=1e-6)  # noqa: E731
    assert post.before(x) is x
    assert_close(post.after(x, y), normal(x + y))
    assert_close(pre.before(x), normal(x))
    assert_close(pre.after(x, y), x + y)


@given(st.sampled_from([0.1, 0.3, 0.5, 0.9]), st.integers(0, 1000))
def test_dropout_keeps_the_expected_share_and_scales_it(p, seed):
    torch.manual_seed(seed)
    n = 40_001  # not a multiple of four: the last random word is used in part
    x = torch.ones(n)
    y = Dropout(p)(x)
    kept = (y != 0).float().mean().item()
    assert abs(kept - (1 - p)) < 5 * math.sqrt(p * (1 - p) / n)
    assert_close(y[y != 0], torch.full_like(y[y != 0], 1 / (1 - p)), rtol=1e-3, atol=0)


def test_neighbouring_elements_are_dropped_independently():
    torch.manual_seed(0)
    dropped = (Dropout(0.5)(torch.ones(2**16)) == 0).float() - 0.5
    for lag in (1, 2, 3, 4, 8):
        correlation = (dropped[lag:] * dropped[:-lag]).mean() / 0.25
        assert abs(correlation) < 5 / 2**8  # five standard errors


def test_add_is_the_residual_plus_dropout_with_the_matching_gradient():
    dropout = Dropout(0.25)
    residual, y = torch.randn(50, 8, requires_grad=True), torch.randn(50, 8, requires_grad=True)
    torch.manual_seed(3)
    total = dropout.add(residual, y)
    total.sum().backward()
    torch.manual_seed(3)
    mask = dropout(torch.ones(50, 8))
    assert_close(total, residual + y * mask)
    assert_close(y.grad, mask)
    assert_close(residual.grad, torch.ones(50, 8))


def test_dropout_does_nothing_when_evaluating():
    x, y = torch.randn(3, 4), torch.randn(3, 4)
    assert_close(Dropout(0.5).eval()(x), x)
    assert_close(Dropout(0.5).eval().add(x, y), x + y)
