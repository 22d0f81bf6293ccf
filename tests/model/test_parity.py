"""The same weights in PyTorch's own attention and Transformer layers give the same numbers."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

from annotated import ModelConfig, MultiHeadAttention
from annotated.model.attention import Masked, Recorded
from annotated.model.layers import DecoderLayer, EncoderLayer

TOLERANCE = {"rtol": 0, "atol": 1e-5}


def _random_biases_and_gains(module, generator):
    """Move every vector off its initial zero or one, so that a forgotten one shows."""
    with torch.no_grad():
        for parameter in module.parameters():
            if parameter.dim() == 1:
                parameter.add_(torch.randn(parameter.shape, generator=generator) / 2)


def _right_padded(lengths, width):
    return torch.arange(width) < torch.tensor(lengths)[:, None]  # True = real


@given(
    heads=st.sampled_from([1, 2, 4]),
    width=st.sampled_from([1, 3, 8]),
    lengths=st.lists(st.integers(1, 7), min_size=1, max_size=3),
    queries=st.integers(1, 6),
    bias=st.booleans(),
    masked=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_attention_equals_torch(heads, width, lengths, queries, bias, masked, seed):
    """Outputs and per-head weights of F.multi_head_attention_forward, with padding and an arbitrary mask."""
    generator = torch.Generator().manual_seed(seed)
    torch.manual_seed(seed)
    d_model, keys = heads * width, max(lengths)
    attention = MultiHeadAttention(d_model, heads, bias=bias)
    _random_biases_and_gains(attention, generator)
    q = torch.randn(len(lengths), queries, d_model, generator=generator)
    memory = torch.randn(len(lengths), keys, d_model, generator=generator)
    real = _right_padded(lengths, keys)
    allowed = torch.rand(queries, keys, generator=generator) < 0.6 if masked else torch.ones(queries, keys).bool()
    allowed[:, 0] = True  # torch gives NaN for a query without any key; ours gives zeros
    expected, expected_weights = F.multi_head_attention_forward(
        q.transpose(0, 1), memory.transpose(0, 1), memory.transpose(0, 1), d_model, heads,
        attention.in_projection, attention.in_bias, None, None, False, 0.0,
        attention.out_projection.weight, attention.out_projection.bias, training=False,
        key_padding_mask=~real, attn_mask=~allowed, average_attn_weights=False,
    )  # fmt: skip
    mask = real[:, None, None, :] & allowed
    recorded = Recorded(mask)
    output, (weights,) = attention(q, memory, memory, recorded), recorded.weights
    torch.testing.assert_close(output, expected.transpose(0, 1), **TOLERANCE)
    torch.testing.assert_close(weights, expected_weights, **TOLERANCE)
    torch.testing.assert_close(attention(q, memory, memory, Masked(mask)), expected.transpose(0, 1), **TOLERANCE)


def _shape(norm):
    return ModelConfig(
        vocab_size=11, d_model=24, d_ff=40, num_heads=3, d_k=8, d_v=8, norm=norm, attention_bias=True, norm_epsilon=1e-5
    )


def _torch_layer(kind, norm):
    layer = kind(24, 3, 40, dropout=0.0, batch_first=True, norm_first=norm == "pre", layer_norm_eps=1e-5).eval()
    _random_biases_and_gains(layer, torch.Generator().manual_seed(5))
    return layer


@torch.no_grad()
def _load(ours, attentions, linears, norms):
    """Copy torch's layer into ours by hand: this test must not rest on the converter."""
    pairs = list(zip((ours.feed_forward.inner, ours.feed_forward.outer), linears, strict=True))
    names = ["self_attention", "cross_attention"][: len(attentions)]
    pairs += [
        (getattr(ours, f"{name}_residual").norm, norm)
        for name, norm in zip([*names, "feed_forward"], norms, strict=True)
    ]
    for name, theirs in zip(names, attentions, strict=True):
        getattr(ours, name).in_projection.copy_(theirs.in_proj_weight)
        getattr(ours, name).in_bias.copy_(theirs.in_proj_bias)
        pairs.append((getattr(ours, name).out_projection, theirs.out_proj))
    for mine, theirs in pairs:
        mine.weight.copy_(theirs.weight)
        mine.bias.copy_(theirs.bias)


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_encoder_layer_equals_torch(norm):
    """At real positions of padded sentences, values and the gradient of the input."""
    theirs = _torch_layer(nn.TransformerEncoderLayer, norm)
    ours = EncoderLayer(_shape(norm)).eval()
    _load(ours, [theirs.self_attn], [theirs.linear1, theirs.linear2], [theirs.norm1, theirs.norm2])
    real = _right_padded([6, 2, 5], 6)
    x = torch.randn(3, 6, 24, generator=torch.Generator().manual_seed(1), requires_grad=True)
    output = ours(x, Masked(real[:, None, None, :]))
    expected = theirs(x, src_key_padding_mask=~real)
    torch.testing.assert_close(output[real], expected[real], **TOLERANCE)
    (gradient,) = torch.autograd.grad(output[real].square().sum(), x)
    (expected_gradient,) = torch.autograd.grad(expected[real].square().sum(), x)
    torch.testing.assert_close(gradient, expected_gradient, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_decoder_layer_equals_torch(norm):
    """Causal self-attention and attention to a padded memory."""
    theirs = _torch_layer(nn.TransformerDecoderLayer, norm)
    ours = DecoderLayer(_shape(norm)).eval()
    attentions, linears = [theirs.self_attn, theirs.multihead_attn], [theirs.linear1, theirs.linear2]
    _load(ours, attentions, linears, [theirs.norm1, theirs.norm2, theirs.norm3])
    generator = torch.Generator().manual_seed(2)
    x, memory = torch.randn(3, 5, 24, generator=generator), torch.randn(3, 6, 24, generator=generator)
    real, target = _right_padded([6, 2, 5], 6), _right_padded([3, 5, 4], 5)
    later = torch.ones(5, 5, dtype=torch.bool).triu(1)
    output = ours(x, memory, Masked(~later & target[:, None, None, :]), Masked(real[:, None, None, :]))
    expected = theirs(x, memory, tgt_mask=later, tgt_key_padding_mask=~target, memory_key_padding_mask=~real)
    torch.testing.assert_close(output[target], expected[target], **TOLERANCE)
