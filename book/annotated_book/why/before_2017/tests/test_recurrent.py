"""The written-out recurrent layers are PyTorch's, and padding changes nothing."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from annotated_book.why.before_2017.encoder_decoder import RecurrentEncoderDecoder
from annotated_book.why.before_2017.recurrent import GRULayer, LSTMLayer


def twin(layer: GRULayer | LSTMLayer, kind: type[nn.RNNBase], width: int, hidden: int) -> nn.RNNBase:
    """PyTorch's layer with the weights of ours; the order of the gates is PyTorch's own."""
    other = kind(width, hidden, batch_first=True)
    with torch.no_grad():
        for linear in (layer.from_input, layer.from_state):
            linear.bias.uniform_(-1, 1)
        other.weight_ih_l0.copy_(layer.from_input.weight)
        other.weight_hh_l0.copy_(layer.from_state.weight)
        other.bias_ih_l0.copy_(layer.from_input.bias)
        other.bias_hh_l0.copy_(layer.from_state.bias)
    return other


@pytest.mark.parametrize(("ours", "theirs"), [(GRULayer, nn.GRU), (LSTMLayer, nn.LSTM)])
def test_the_layers_are_pytorchs(ours: type, theirs: type) -> None:
    torch.manual_seed(0)
    layer, x = ours(5, 7), torch.randn(3, 6, 5)
    expected, _ = twin(layer, theirs, 5, 7)(x)
    torch.testing.assert_close(layer(x)[0], expected)


@pytest.mark.parametrize("kind", [GRULayer, LSTMLayer])
def test_backward_is_forward_on_the_turned_sequence(kind: type) -> None:
    torch.manual_seed(1)
    layer, x = kind(4, 3), torch.randn(2, 5, 4)
    torch.testing.assert_close(layer(x, backward=True)[0], layer(x.flip(1))[0].flip(1))


@pytest.mark.parametrize("score", [None, "additive", "dot", "general"])
@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_padding_changes_nothing(score, cell) -> None:
    torch.manual_seed(2)
    model = RecurrentEncoderDecoder(12, 6, 8, score=score, cell=cell)
    source, target_in = torch.tensor([[5, 6, 7, 2]]), torch.tensor([[1, 8, 9]])
    padded = torch.tensor([[5, 6, 7, 2, 0, 0]])
    logits, weights = model(source, target_in, return_attention=True)
    logits_padded, weights_padded = model(padded, target_in, return_attention=True)
    torch.testing.assert_close(logits_padded, logits)
    if score is None:
        assert weights is None and weights_padded is None
    else:
        torch.testing.assert_close(weights_padded[:, :, :4], weights)
        assert weights_padded[:, :, 4:].abs().max() == 0
        torch.testing.assert_close(weights.sum(-1), torch.ones(1, 3))


def test_generation_is_teacher_forcing_with_its_own_tokens() -> None:
    torch.manual_seed(3)
    model = RecurrentEncoderDecoder(12, 6, 8)
    source = torch.randint(4, 12, (2, 5))
    tokens, weights = model.generate(source, 4)
    target_in = torch.cat([torch.ones(2, 1, dtype=torch.long), tokens[:, :-1]], dim=1)
    logits, forced = model(source, target_in, return_attention=True)
    assert torch.equal(logits.argmax(-1), tokens)
    torch.testing.assert_close(forced, weights)


def test_without_attention_every_step_is_given_the_same_vector() -> None:
    model = RecurrentEncoderDecoder(12, 6, 8, score=None)
    memory, summary = model.encode(torch.tensor([[5, 6, 2]]))
    context, weights = model.context(torch.randn(1, 8), memory, None, summary, torch.ones(1, 3, dtype=torch.bool))
    assert context is summary and weights is None
    # The summary: the forward reader's state at the end, the backward reader's at the beginning.
    torch.testing.assert_close(summary[0], torch.cat([memory[0, -1, :4], memory[0, 0, 4:]]))


def test_unknown_parts_are_refused() -> None:
    with pytest.raises(ValueError, match="even"):
        RecurrentEncoderDecoder(12, 6, 7)
    with pytest.raises(ValueError, match="score must be"):
        RecurrentEncoderDecoder(12, 6, 8, score="cosine")  # type: ignore[arg-type]
