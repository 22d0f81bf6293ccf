"""Our model and a config-built MarianMTModel with the same weights: the same logits, in both directions."""

import pytest
import torch

import annotated
from annotated.config import ModelConfig
from annotated.interop import from_marian, marian_order, to_marian

transformers = pytest.importorskip("transformers", reason="Marian needs the extra `export`")
transformers.utils.logging.disable_progress_bar()

SOURCE = torch.tensor([[5, 6, 7, 9, 2], [4, 2, 0, 0, 0], [8, 8, 2, 0, 0]])
TARGET = torch.tensor([[1, 5, 0, 0], [1, 7, 6, 9], [1, 0, 0, 0]])
SMALL = ModelConfig(
    vocab_size=20, d_model=32, d_ff=48, num_heads=4, d_k=8, d_v=8, num_encoder_layers=2, num_decoder_layers=3
)


def _random(module, seed=0):
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            if "embed_positions" not in name:
                mean = 1.0 if parameter.dim() == 1 and bool((parameter == 1).all()) else 0.0
                parameter.copy_(mean + torch.randn(parameter.shape, generator=generator) / 6)
    return module.eval()


def _marian_logits(marian, source=SOURCE, target=TARGET, pad=0):
    with torch.no_grad():
        return marian(input_ids=source, attention_mask=(source != pad).long(), decoder_input_ids=target).logits


def _assert_same(a, b, atol=1e-5):
    real = TARGET != 0
    torch.testing.assert_close(a[real], b[real], rtol=0, atol=atol)


def _marian(**changes):
    fields = dict(
        vocab_size=20, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
        decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48, activation_function="relu",
        scale_embedding=True, max_position_embeddings=40, pad_token_id=0, eos_token_id=2, decoder_start_token_id=1,
        forced_eos_token_id=None,
    )  # fmt: skip
    return _random(transformers.MarianMTModel(transformers.MarianConfig(**(fields | changes))), seed=1)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("tied", [True, False])
def test_same_logits_there_and_back(bias, tied):
    config = SMALL.replace(attention_bias=bias, tie_embeddings=tied, feed_forward_dropout=0.2)
    model = _random(annotated.Transformer(config))
    marian = to_marian(model)
    expected = model(SOURCE, TARGET).detach()
    _assert_same(_marian_logits(marian), expected)
    back = from_marian(marian)
    assert back.config == config.replace(attention_bias=True)
    _assert_same(back(SOURCE, TARGET), expected)


@pytest.mark.parametrize("changes", [{}, {"scale_embedding": False}, {"tie_word_embeddings": False}])
def test_a_marian_model_of_its_own(changes):
    """Random Marian weights, its sinusoids and epsilon, also with unscaled embeddings."""
    marian = _marian(**changes)
    model = from_marian(marian)
    assert model.config.norm_epsilon == 1e-5
    assert model.config.tie_embeddings is (not changes)
    _assert_same(model(SOURCE, TARGET), _marian_logits(marian))


def test_greedy_generation_is_the_same():
    """`generate` with its cache against ours, over padded sources, until the longest of them is cut off."""
    model = _random(annotated.Transformer(SMALL), seed=7)
    marian, steps = to_marian(model), 12
    generated = marian.generate(
        SOURCE, attention_mask=(SOURCE != 0).long(), num_beams=1, do_sample=False, max_new_tokens=steps
    )
    hypotheses = annotated.greedy_decode(model, SOURCE, max_new_tokens=steps)
    for row, hypothesis in zip(generated[:, 1:].tolist(), hypotheses, strict=True):
        assert [i for i in row if i not in (0, 2)] == hypothesis.tokens


def test_saved_and_loaded(tmp_path):
    """What Marian's own files keep: everything but the epsilon, which this model shares with Marian."""
    model = _random(annotated.Transformer(SMALL.replace(norm_epsilon=1e-5)))
    to_marian(model).save_pretrained(tmp_path)
    marian = transformers.MarianMTModel.from_pretrained(tmp_path).eval()
    _assert_same(_marian_logits(marian), model(SOURCE, TARGET).detach())
    _assert_same(from_marian(marian)(SOURCE, TARGET), model(SOURCE, TARGET))


def test_other_numbering():
    """eos 0, unk 1 and pad = start = the last id, as in published Marian models."""
    marian = _marian(eos_token_id=0, pad_token_id=19, decoder_start_token_id=19)
    with pytest.raises(ValueError, match=r"pad, decoder start and eos are tokens \(19, 19, 0\)"):
        from_marian(marian)
    order = marian_order(marian.config, unk_id=1)
    assert order[:5] == [19, 19, 0, 1, 2] and len(order) == 21
    model, numbers = from_marian(marian, order), torch.tensor(order)
    expected = _marian_logits(marian, numbers[SOURCE], numbers[TARGET], pad=19)
    _assert_same(model(SOURCE, TARGET), expected[..., numbers])


@pytest.mark.parametrize(
    "change, message",
    [({"norm": "pre"}, "post-norm"), ({"positions": "learned"}, "sinusoids"), ({"d_v": 16}, "d_k 8 and d_v 16")],
)
def test_what_marian_cannot_express_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        to_marian(annotated.Transformer(SMALL.replace(**change)))


def test_what_ours_cannot_express_is_refused():
    with pytest.raises(ValueError, match="activation is ReLU .*'swish'"):
        from_marian(_marian(activation_function="swish"))
    marian = _marian()
    marian.final_logits_bias[0, 5] = 1.0
    with pytest.raises(ValueError, match="final_logits_bias"):
        from_marian(marian)
