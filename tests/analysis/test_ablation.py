"""Silencing a head removes what it adds and nothing else, and puts it back."""

from __future__ import annotations

import pytest
import torch

import annotated
from annotated.analysis import ablation as a
from annotated.analysis.heads import HeadCorpus
from annotated.classroom import classroom_pairs
from annotated.model import Recorded


@pytest.fixture(scope="module")
def translator() -> annotated.Translator:
    return annotated.load("classroom")


@pytest.fixture(scope="module")
def corpus(translator: annotated.Translator) -> HeadCorpus:
    return HeadCorpus.of(classroom_pairs("test", 8), translator.tokenizer)


def test_a_silent_head_adds_nothing(translator: annotated.Translator) -> None:
    """Against the sum over heads, written out: all but the second one."""
    model = translator.model
    attention = a.attention_of(model, "encoder", 1)
    torch.manual_seed(0)
    x = torch.randn(2, 5, 128)
    with torch.no_grad():
        attention(x, x, x, recorded := Recorded())
        (weights,) = recorded.weights
        values = (x @ attention.w_v.T).unflatten(-1, (4, 32)).transpose(1, 2)
        blocks = attention.out_projection.weight.T.unflatten(0, (4, 32)).clone()
        parts = [(weights @ values)[:, i] @ blocks[i] for i in range(4)]
        with a.silenced(model, ("encoder", 1, 1)):
            torch.testing.assert_close(attention(x, x, x), parts[0] + parts[2] + parts[3])
        torch.testing.assert_close(attention(x, x, x), sum(parts))


def test_the_model_is_put_back_even_after_an_error(translator: annotated.Translator) -> None:
    model = translator.model
    before = {name: value.clone() for name, value in model.state_dict().items()}
    heads = [("cross", 2, 0), ("cross", 2, 1), ("cross", 2, 0)]  # the same head twice: the order of undoing matters
    with pytest.raises(RuntimeError, match="stop"), a.silenced(model, *heads):
        assert a.columns_of(model, "cross", 2, 0).abs().max() == 0
        raise RuntimeError("stop")
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())


def test_there_are_36_heads(translator: annotated.Translator) -> None:
    heads = a.all_heads(translator.model)
    assert len(heads) == len(set(heads)) == 36 and heads[0] == ("encoder", 0, 0) and heads[-1] == ("cross", 2, 3)


def test_wrong_names_are_refused(translator: annotated.Translator) -> None:
    with pytest.raises(ValueError, match="there is no attention 'self'"):
        a.attention_of(translator.model, "self", 0)
    with pytest.raises(ValueError, match="there is no head 4"), a.silenced(translator.model, ("cross", 0, 4)):
        pass


def test_losing_everything_costs_everything(translator: annotated.Translator, corpus: HeadCorpus) -> None:
    model = translator.model
    whole, without = a.ablation(model, corpus, [[], a.all_heads(model)])
    assert whole["exact"] == 1.0 > without["exact"] == 0.0
    assert without["loss"] > 10 * whole["loss"]
    assert whole["loss"] == a.next_token_loss(model, corpus)


def test_an_averaged_head_adds_its_mean_at_every_position(translator: annotated.Translator, corpus: HeadCorpus) -> None:
    model = translator.model
    head = ("cross", 2, 0)
    attention, seen = a.attention_of(model, "cross", 2), []
    hook = attention.register_forward_pre_hook(lambda _, given: seen.append(given[:3]))
    with torch.no_grad():
        model(corpus.source, corpus.target_in)
        hook.remove()
        inputs = seen[0]
        with a.silenced(model, head):
            without = attention(*inputs)
        with a.averaged(model, corpus, head):
            one = attention(*inputs) - without
        torch.testing.assert_close(one, one[:1, :1].expand_as(one), atol=1e-5, rtol=0)
        assert one[0, 0].abs().max() > 0.01
    real = torch.tensor([a.next_token_loss(model, corpus)])
    with a.averaged(model, corpus, head):
        assert a.next_token_loss(model, corpus) > real
    assert a.next_token_loss(model, corpus) == real, "put back"
    assert not attention.out_projection._forward_hooks


def test_the_mean_of_all_heads_is_the_mean_of_the_layer(translator: annotated.Translator, corpus: HeadCorpus) -> None:
    model = translator.model
    attention, out = a.attention_of(model, "encoder", 1), []
    hook = attention.out_projection.register_forward_hook(lambda _, __, output: out.append(output))
    with torch.no_grad():
        model(corpus.source, corpus.target_in)
        hook.remove()
        mean = out[0][corpus.source != 0].mean(0)
        with a.averaged(model, corpus, *[("encoder", 1, h) for h in range(4)]):
            x = torch.randn(1, 3, 128)
            torch.testing.assert_close(attention(x, x, x)[0, 0], mean, atol=1e-4, rtol=0)
