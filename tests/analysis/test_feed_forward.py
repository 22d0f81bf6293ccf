"""What is kept of hidden units, what a value row promotes, and what silencing does: against sums written out."""

from __future__ import annotations

import pytest
import torch

from annotated import Transformer, load, tiny
from annotated.analysis.feed_forward import activity, conv_twin, pair_loss, silenced, sub_layers, value_logits
from annotated.config import EOS
from annotated.model import PositionwiseFeedForward

PAIRS = [
    ("The cat sleeps.", "Die Katze schläft."),
    ("A man does not hear the children.", "Ein Mann hört die Kinder nicht."),
]


@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_activity_is_what_the_first_matrix_says(stack: str) -> None:
    translator = load("classroom")
    model, tokenizer = translator.model.eval(), translator.tokenizer
    seen = activity(model, tokenizer, PAIRS, stack)  # type: ignore[arg-type]
    assert [len(s) for s in seen.tokens] == [len(s) for s in seen.next_tokens]
    assert seen.scores.shape == (3, len(seen.places), 512)
    assert (seen.hidden == seen.scores.clamp(min=0)).all()

    # The first layer's network reads what a single sentence, alone and without padding, has at that place.
    layer = getattr(model, stack).layers[0]
    caught: list[torch.Tensor] = []
    hook = layer.feed_forward.register_forward_pre_hook(lambda _m, inputs: caught.append(inputs[0]))
    source = torch.tensor([[*tokenizer.encode(PAIRS[0][0]), EOS]])
    target = torch.tensor([[1, *tokenizer.encode(PAIRS[0][1])]])
    with torch.no_grad():
        model(source, target)
        expected = caught[0][0] @ layer.feed_forward.inner.weight.t() + layer.feed_forward.inner.bias
    hook.remove()
    torch.testing.assert_close(seen.scores[0, : len(seen.tokens[0])], expected, atol=1e-4, rtol=1e-4)


def test_next_tokens_are_the_tokens_moved_by_one() -> None:
    translator = load("classroom")
    seen = activity(translator.model, translator.tokenizer, PAIRS, "decoder")
    for read, following in zip(seen.tokens, seen.next_tokens, strict=True):
        assert read[0] == "<s>" and following[-1] == "</s>"
        assert read[1:] == following[:-1]


def test_places_name_sentence_and_position() -> None:
    translator = load("classroom")
    seen = activity(translator.model, translator.tokenizer, PAIRS, "encoder")
    first = len(seen.tokens[0])
    assert seen.places[0] == (0, 0) and seen.places[first] == (1, 0) and seen.places[-1][0] == 1


def test_value_logits_are_dot_products_of_rows() -> None:
    model = Transformer(tiny(vocab_size=20, d_model=8, d_ff=6, d_k=4, d_v=4, num_heads=2))
    rows = value_logits(model, 1)
    outer = model.decoder.layers[1].feed_forward.outer
    assert rows.shape == (6, 20)
    for unit in range(6):
        for token in (0, 7, 19):
            expected = sum(outer.weight[d, unit].item() * model.embedding.weight[token, d].item() for d in range(8))
            assert float(rows[unit, token]) == pytest.approx(expected, abs=1e-5)


def test_silencing_leaves_the_residual_and_ends_with_the_block() -> None:
    model = Transformer(tiny(vocab_size=20, num_encoder_layers=1, num_decoder_layers=1, dropout=0.0)).eval()
    x, layer = torch.randn(1, 5, 128), model.encoder.layers[0]
    with torch.no_grad():
        before = layer(x)
        with silenced(layer.self_attention), silenced(layer.feed_forward):
            alone = layer(x)
        again = layer(x)
        expected = layer.feed_forward_residual.norm(layer.self_attention_residual.norm(x))
    torch.testing.assert_close(alone, expected)
    assert torch.equal(before, again) and not torch.allclose(before, alone)


def test_pair_loss_is_the_mean_over_target_pieces() -> None:
    translator = load("classroom")
    model, tokenizer = translator.model, translator.tokenizer
    total, count = 0.0, 0
    for source, target in PAIRS:
        ids = tokenizer.encode(target)
        with torch.no_grad():
            logits = model(torch.tensor([[*tokenizer.encode(source), EOS]]), torch.tensor([[1, *ids]]))
        for row, gold in zip(logits[0].log_softmax(-1), [*ids, EOS], strict=True):
            total, count = total - float(row[gold]), count + 1
    assert pair_loss(model, tokenizer, PAIRS) == pytest.approx(total / count, rel=1e-4)


def test_every_sub_layer_is_listed_once() -> None:
    model = Transformer(tiny(vocab_size=20, num_encoder_layers=2, num_decoder_layers=1))
    listed = [(stack, number, kind) for stack, number, kind, _ in sub_layers(model)]
    assert listed == [
        ("encoder", 1, "self-attention"),
        ("encoder", 1, "feed-forward"),
        ("encoder", 2, "self-attention"),
        ("encoder", 2, "feed-forward"),
        ("decoder", 1, "self-attention"),
        ("decoder", 1, "cross-attention"),
        ("decoder", 1, "feed-forward"),
    ]


def test_the_convolution_has_the_same_weights_and_output() -> None:
    torch.manual_seed(0)
    network = PositionwiseFeedForward(6, 10)
    torch.nn.init.normal_(network.inner.bias)
    twin, x = conv_twin(network), torch.randn(3, 4, 6)
    assert sum(p.numel() for p in twin.parameters()) == sum(p.numel() for p in network.parameters())
    torch.testing.assert_close(twin(x.transpose(1, 2)).transpose(1, 2), network(x))
