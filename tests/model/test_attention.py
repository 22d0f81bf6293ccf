"""Section 3.2: attention against hand-derived values, its masks, and explicit = fused."""

import dataclasses
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from annotated import MultiHeadAttention, scaled_dot_product_attention
from annotated.model import Masked, Recorded, fused_attention
from annotated.model.attention import EVERY_KEY


def test_equation_1_by_hand():
    # d_k = 4, so scores are divided by 2: the query scores ln 3 on the first key and 0 on the second.
    q = torch.tensor([[2 * math.log(3), 0.0, 0.0, 0.0]])
    k = torch.tensor([[1.0, 0, 0, 0], [0.0, 1, 0, 0]])
    v = torch.tensor([[8.0, 0.0], [0.0, 4.0]])
    output, weights = scaled_dot_product_attention(q, k, v)
    assert_close(weights, torch.tensor([[0.75, 0.25]]))
    assert_close(output, torch.tensor([[6.0, 1.0]]))


def test_a_masked_key_gets_exactly_nothing():
    q, k, v = torch.randn(3, 1, 2, 5, 8).unbind()
    mask = torch.tensor([True, True, False, True, False])
    output, weights = scaled_dot_product_attention(q, k, v, mask)
    assert (weights[..., [2, 4]] == 0).all()
    assert_close(output, scaled_dot_product_attention(q, k[..., [0, 1, 3], :], v[..., [0, 1, 3], :])[0])


@pytest.mark.parametrize("attend", [scaled_dot_product_attention, fused_attention])
def test_a_query_without_keys_gives_zeros_and_finite_gradients(attend):
    q, k, v = (torch.randn(2, 2, 3, 8, requires_grad=True) for _ in range(3))
    mask = torch.ones(2, 1, 3, 3, dtype=torch.bool)
    mask[1, :, 1] = False
    result = attend(q, k, v, mask)
    output = result[0] if isinstance(result, tuple) else result
    assert (output[1, :, 1] == 0).all() and output[1, :, 0].abs().sum() > 0
    output.sum().backward()
    assert all(x.grad.isfinite().all() for x in (q, k, v))
    assert (q.grad[1, :, 1] == 0).all()


@given(st.integers(1, 3), st.integers(1, 7), st.integers(1, 7), st.sampled_from([1, 2, 8]), st.integers(0, 10**6))
def test_fused_equals_explicit(batch, queries, keys, d_k, seed):
    torch.manual_seed(seed)
    q, k, v = torch.randn(batch, 2, queries, d_k), torch.randn(batch, 2, keys, d_k), torch.randn(batch, 2, keys, d_k)
    mask = torch.rand(batch, 1, queries, keys) < 0.6
    assert_close(fused_attention(q, k, v, mask), scaled_dot_product_attention(q, k, v, mask)[0], atol=2e-6, rtol=1e-5)
    assert_close(fused_attention(q, k, v), scaled_dot_product_attention(q, k, v)[0], atol=2e-6, rtol=1e-5)


def test_fused_attention_takes_a_mask_or_the_causal_order():
    q, k, v = (torch.randn(1, 2, 4, 8) for _ in range(3))
    order = torch.ones(4, 4, dtype=torch.bool).tril()
    assert_close(fused_attention(q, k, v, causal=True), fused_attention(q, k, v, order), atol=2e-6, rtol=1e-5)
    with pytest.raises(ValueError, match="a mask or causal=True, not both"):
        fused_attention(q, k, v, order, causal=True)


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64])
def test_a_mask_of_numbers_is_refused_before_it_is_added_to_the_scores(dtype):
    x, mask = torch.randn(1, 2, 4, 8), torch.ones(4, 4, dtype=dtype).tril()
    layer = MultiHeadAttention(8, 2)
    calls = [
        lambda: scaled_dot_product_attention(x, x, x, mask),
        lambda: fused_attention(x, x, x, mask),
        lambda: layer(x[0], x[0], x[0], Masked(mask)),
        lambda: layer(x[0], x[0], x[0], Recorded(mask)),
        lambda: layer(x[0], x[0], x[0], mask),
    ]
    for call in calls:
        with pytest.raises(TypeError, match=r"must be Boolean, not torch\.\w+: .*mask\.bool\(\).*True = may attend"):
            call()


def test_a_boolean_mask_alone_stands_for_masked_attention():
    layer, x, mask = MultiHeadAttention(8, 2), torch.randn(1, 4, 8), torch.ones(4, 4).tril().bool()
    assert_close(layer(x, x, x, mask), layer(x, x, x, Masked(mask)), rtol=0, atol=0)
    changed = x.clone()
    changed[:, 3] += 1
    assert_close(layer(changed, changed, changed, mask)[:, :3], layer(x, x, x, mask)[:, :3], rtol=0, atol=0)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ((64, 0), "num_heads must be at least 1, not 0"),
        ((64, -4), "num_heads must be at least 1, not -4"),
        ((0, 4), "d_model must be at least 1, not 0"),
        ((64, 4, 0), "d_k must be at least 1, not 0"),
        ((64, 4, 8, -1), "d_v must be at least 1, not -1"),
    ],
)
def test_sizes_below_one_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        MultiHeadAttention(*arguments)


def test_the_attention_that_layers_share_by_default_cannot_be_changed():
    for attend in (EVERY_KEY, Masked(), Recorded()):
        with pytest.raises(dataclasses.FrozenInstanceError):
            attend.mask = torch.ones(1, 1, 1, 1, dtype=torch.bool)


def test_rows_of_weights_sum_to_one_before_dropout():
    q, k, v = torch.randn(3, 2, 4, 6, 8).unbind()
    output, weights = scaled_dot_product_attention(q, k, v, dropout=0.5)
    assert_close(weights.sum(-1), torch.ones(2, 4, 6))
    assert not torch.allclose(output, weights @ v)


def test_half_precision_masks_without_overflow():
    q, k, v = torch.randn(3, 1, 1, 4, 8).to(torch.bfloat16).unbind()
    mask = torch.ones(4, 4, dtype=torch.bool).tril()
    assert scaled_dot_product_attention(q, k, v, mask)[0].isfinite().all()


@pytest.mark.parametrize(("d_k", "d_v"), [(None, None), (3, 5), (8, 2)])
def test_heads_are_separate_attentions_over_the_papers_matrices(d_k, d_v):
    attention = MultiHeadAttention(12, 2, d_k or 6, d_v or 6)
    query, memory = torch.randn(2, 3, 12), torch.randn(2, 5, 12)
    heads = [
        scaled_dot_product_attention(query @ w_q.T, memory @ w_k.T, memory @ w_v.T)[0]
        for w_q, w_k, w_v in zip(*(w.chunk(2) for w in (attention.w_q, attention.w_k, attention.w_v)), strict=True)
    ]
    expected = torch.cat(heads, dim=-1) @ attention.out_projection.weight.T
    assert_close(attention(query, memory, memory), expected, atol=1e-5, rtol=1e-5)
    # Key and value may also be different sequences of the same length, and all three may be one.
    assert_close(attention(query, memory, memory.clone()), expected, atol=1e-5, rtol=1e-5)
    assert_close(attention(query, query, query), attention(query, query.clone(), query.clone()), atol=1e-5, rtol=1e-5)


def test_width_that_heads_do_not_divide_needs_d_k():
    with pytest.raises(ValueError, match="give d_k and d_v"):
        MultiHeadAttention(10, 4)
    assert MultiHeadAttention(10, 4, 3, 3)(*[torch.randn(1, 2, 10)] * 3).shape == (1, 2, 10)


def test_gradient_of_the_shared_matrix_reaches_all_three_projections():
    attention = MultiHeadAttention(8, 2)
    x, memory = torch.randn(1, 3, 8), torch.randn(1, 4, 8)
    attention(x, memory, memory).square().sum().backward()
    assert all(part.abs().sum() > 0 for part in attention.in_projection.grad.chunk(3))


def test_an_attend_object_decides_what_is_mixed_and_what_is_kept():
    attention, x = MultiHeadAttention(8, 2), torch.randn(2, 4, 8)
    mask = torch.ones(4, 4, dtype=torch.bool).tril()
    recorded = Recorded(mask)
    for _ in range(2):
        assert_close(attention(x, x, x, recorded), attention(x, x, x, Masked(mask)), atol=2e-6, rtol=1e-5)
    assert [weights.shape for weights in recorded.weights] == [(2, 2, 4, 4)] * 2
    assert (recorded.weights[0].triu(1) == 0).all()
    # What holds keys and values already needs the query alone.
    seen = []
    output = attention(x, None, None, lambda q, k, v: seen.append((q.shape, k, v)) or q)
    assert seen == [((2, 4, 2, 4), None, None)] and output.shape == x.shape
    q, k, v = attention.project(None, x, x)
    assert q is None and all(map(torch.equal, (k, v), attention.project(x, x, x)[1:]))
