"""Our model and torch.nn.Transformer with the same weights: the same logits, in both directions."""

import pytest
import torch
from torch import nn

import annotated
from annotated.config import ModelConfig
from annotated.interop import from_torch, to_torch

# torch says that its fast path for padding does not do pre-norm; no result depends on it.
pytestmark = [pytest.mark.oldest_torch, pytest.mark.filterwarnings("ignore:enable_nested_tensor")]

SOURCE = torch.tensor([[5, 6, 7, 9, 2], [4, 2, 0, 0, 0], [8, 8, 2, 0, 0]])
TARGET = torch.tensor([[1, 5, 0, 0], [1, 7, 6, 9], [1, 0, 0, 0]])
SMALL = ModelConfig(
    vocab_size=20, d_model=32, d_ff=48, num_heads=4, d_k=8, d_v=8, num_encoder_layers=2, num_decoder_layers=3
)


def _random(module, seed=0):
    """Weights far from any initial value, gains and biases included."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            mean = 1.0 if parameter.dim() == 1 and bool((parameter == 1).all()) else 0.0
            parameter.copy_(mean + torch.randn(parameter.shape, generator=generator) / 6)
    return module.eval()


def _assert_same(a, b):
    real = TARGET != 0
    torch.testing.assert_close(a[real], b[real], rtol=0, atol=1e-5)


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("tied", [True, False])
def test_same_logits_there_and_back(norm, bias, tied):
    """With padding on both sides; and the model that comes back has the configuration that left."""
    config = SMALL.replace(norm=norm, attention_bias=bias, tie_embeddings=tied, attention_dropout=0.3)
    model = _random(annotated.Transformer(config))
    theirs = to_torch(model)
    assert isinstance(theirs.core, nn.Transformer)
    expected = model(SOURCE, TARGET)
    _assert_same(theirs(SOURCE, TARGET), expected)
    back = from_torch(theirs)
    assert back.config == config.replace(attention_bias=True)
    assert not back.training
    _assert_same(back(SOURCE, TARGET), expected)


def test_learned_positions_there_and_back():
    model = _random(annotated.Transformer(SMALL.replace(positions="learned", max_positions=9)))
    theirs = to_torch(model)
    _assert_same(theirs(SOURCE, TARGET), model(SOURCE, TARGET))
    assert torch.equal(from_torch(theirs).positions.table, model.positions.table)


@pytest.mark.parametrize("norm_first", [True, False])
@pytest.mark.parametrize("bias", [True, False])
def test_from_a_plain_nn_transformer(bias, norm_first):
    """A model that torch built, with its embedding: what the usual wrapper computes, ours computes."""
    options = dict(dropout=0.1, batch_first=True, norm_first=norm_first, bias=bias)
    core = _random(nn.Transformer(32, 4, 2, 2, 48, **options), seed=3)
    embedding = torch.randn(20, 32, generator=torch.Generator().manual_seed(4)) / 4
    model = from_torch(core, embedding)
    assert model.config.attention_bias is bias
    assert (model.config.dropout, model.config.norm_epsilon) == (0.1, 1e-5)

    def embed(ids):
        return embedding[ids] * 32**0.5 + annotated.sinusoidal_encoding(ids.size(1), 32)

    hidden = core(
        embed(SOURCE), embed(TARGET), tgt_mask=torch.ones(4, 4, dtype=torch.bool).triu(1),
        src_key_padding_mask=SOURCE == 0, memory_key_padding_mask=SOURCE == 0,
    )  # fmt: skip
    _assert_same(model(SOURCE, TARGET), hidden @ embedding.T)
    assert model.config.final_norm is not norm_first  # torch's post-norm stacks have a LayerNorm on top
    _assert_same(to_torch(model)(SOURCE, TARGET), hidden @ embedding.T)


def test_trains_alike():
    """Without dropout one gradient step's gradients agree too: the weights sit where they should."""
    model = _random(annotated.Transformer(SMALL.replace(dropout=0.0))).train()
    theirs = to_torch(model)
    assert theirs.training
    real = TARGET != 0
    for module in (model, theirs):
        module(SOURCE, TARGET)[real].square().mean().backward()
    torch.testing.assert_close(theirs.embedding.weight.grad, model.embedding.weight.grad, rtol=1e-4, atol=1e-5)
    ours, other = model.encoder.layers[0].self_attention, theirs.core.encoder.layers[0].self_attn
    torch.testing.assert_close(other.in_proj_weight.grad, ours.in_projection.grad, rtol=1e-3, atol=1e-5)


def test_dropout_goes_where_it_was():
    config = SMALL.replace(dropout=0.11, attention_dropout=0.22, feed_forward_dropout=0.33)
    layer = to_torch(annotated.Transformer(config)).core.decoder.layers[1]
    assert (layer.dropout1.p, layer.dropout2.p, layer.dropout3.p, layer.dropout.p) == (0.11, 0.11, 0.11, 0.33)
    assert (layer.self_attn.dropout, layer.multihead_attn.dropout) == (0.22, 0.22)


def test_heads_of_other_widths_are_refused():
    with pytest.raises(ValueError, match=r"32 / 4 only; this model has d_k 16 and d_v 8"):
        to_torch(annotated.Transformer(SMALL.replace(d_k=16)))


@pytest.mark.parametrize(
    "options, message",
    [
        ({"activation": "gelu", "norm_first": True}, "activation is ReLU"),
    ],
)
def test_what_ours_cannot_compute_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        from_torch(nn.Transformer(32, 4, 1, 1, 48, batch_first=True, **options), torch.zeros(20, 32))


def test_layers_that_differ_and_missing_embeddings_are_refused():
    core = nn.Transformer(32, 4, 2, 2, 48, norm_first=True, batch_first=True)
    with pytest.raises(ValueError, match="give from_torch the embedding matrix"):
        from_torch(core)
    norm, core.encoder.norm = core.encoder.norm, None
    with pytest.raises(ValueError, match="one stack has a LayerNorm on top"):
        from_torch(core, torch.zeros(20, 32))
    core.encoder.norm, core.decoder.layers[1].dropout1.p = norm, 0.5
    with pytest.raises(ValueError, match="layers differ"):
        from_torch(core, torch.zeros(20, 32))
