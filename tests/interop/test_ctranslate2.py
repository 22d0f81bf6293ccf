"""The exported model, run by CTranslate2, gives the model's own scores and greedy translations."""

import numpy as np
import pytest
import tokenizers
import torch

import annotated
from annotated.config import ModelConfig
from annotated.data.tokenizer import Tokenizer
from annotated.interop import export_ctranslate2

engine = pytest.importorskip("ctranslate2", reason="CTranslate2 needs the extra `export`")

TEXTS = ["the cat sleeps on the mat", "die Katze schläft auf der Matte", "a ▁ sign, and <0xC3> too"]
SHAPE = ModelConfig(
    vocab_size=270, d_model=32, d_ff=48, num_heads=2, d_k=16, d_v=16, num_encoder_layers=2, num_decoder_layers=2
)
CONFIGS = {
    "as printed": SHAPE,
    "pre-norm": SHAPE.replace(norm="pre"),
    "narrow heads": SHAPE.replace(d_k=8, d_v=8),
    "every other choice": SHAPE.replace(
        positions="learned", tie_embeddings=False, attention_bias=True, norm_epsilon=1e-3, num_decoder_layers=1
    ),
}


class Exported:
    def __init__(self, config, folder, quantization=None):
        torch.manual_seed(0)
        generator = torch.Generator().manual_seed(3)
        self.tokenizer = Tokenizer.train(TEXTS * 3, 270)
        self.model = annotated.Transformer(config.replace(vocab_size=self.tokenizer.vocab_size)).eval()
        with torch.no_grad():
            for parameter in self.model.parameters():
                parameter.add_(torch.randn(parameter.shape, generator=generator) / 5)
        self.folder = export_ctranslate2(self.model, self.tokenizer, folder, quantization, max_positions=64)
        self.pieces = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.translator = engine.Translator(str(folder), intra_threads=1, inter_threads=1)

    def rows(self, texts):
        return [one.tokens for one in self.pieces.encode_batch(texts)]

    def score(self, sources, targets):
        results = self.translator.score_batch(self.rows(sources), self.rows(targets))
        return [np.array(result.log_probs) for result in results]

    def log_probabilities(self, sources, targets):
        """Our own, of each target token and eos."""
        for source, target in zip(sources, targets, strict=True):
            ids, out = self.tokenizer.encode(source) + [2], self.tokenizer.encode(target) + [2]
            logits = self.model(torch.tensor([ids]), torch.tensor([[1, *out[:-1]]]))
            yield logits.detach().log_softmax(-1)[0, range(len(out)), out].numpy()


@pytest.fixture(scope="module", params=CONFIGS)
def exported(request, tmp_path_factory):
    return Exported(CONFIGS[request.param], tmp_path_factory.mktemp("ctranslate2"))


def test_scores_of_given_translations(exported):
    """Sentences of different lengths in one batch: every token's log-probability, eos included."""
    targets = ["der Matte", "die Katze schläft und schläft", "Ä"]
    expected = list(exported.log_probabilities(TEXTS, targets))
    for got, want in zip(exported.score(TEXTS, targets), expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-4)


def test_greedy_translations(exported):
    results = exported.translator.translate_batch(
        exported.rows(TEXTS), beam_size=1, max_decoding_length=9, suppress_sequences=[["<pad>"], ["<s>"]],
        min_decoding_length=0,
    )  # fmt: skip
    ids = [exported.tokenizer.encode(text) + [2] for text in TEXTS]
    source = torch.zeros(len(ids), max(map(len, ids)), dtype=torch.long)
    for row, values in zip(source, ids, strict=True):
        row[: len(values)] = torch.tensor(values)
    expected = [h.tokens for h in annotated.greedy_decode(exported.model, source, max_new_tokens=9)]
    assert [[exported.pieces.token_to_id(t) for t in r.hypotheses[0]] for r in results] == expected


def test_int8_weights_are_smaller_and_near(tmp_path):
    """Eight-bit weights: smaller on disk, near in log-probability, and the model itself is left as it was.

    The engine computes with them in float32 here. Its 8-bit products saturate on processors without VNNI, and with the
    large weights of this model far enough to matter, so of those only what holds on every processor is asserted.
    """
    exported = Exported(SHAPE, tmp_path / "int8", quantization="int8")
    plain = Exported(SHAPE, tmp_path / "float32")
    sizes = [(e.folder / "model.bin").stat().st_size for e in (plain, exported)]
    assert sizes[1] < 0.6 * sizes[0]
    expected = list(exported.log_probabilities(TEXTS, TEXTS))
    for got, want in zip(plain.score(TEXTS, TEXTS), expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-4)

    in_eight_bits = exported.score(TEXTS, TEXTS)
    assert [len(scores) for scores in in_eight_bits] == [len(want) for want in expected]
    assert all(np.isfinite(scores).all() and (scores <= 0).all() for scores in in_eight_bits)

    exported.translator = engine.Translator(str(exported.folder), compute_type="float32", intra_threads=1)
    for got, want in zip(exported.score(TEXTS, TEXTS), expected, strict=True):
        assert 0 < np.abs(got - want).mean() < 0.1


def test_what_does_not_belong_together_is_refused(tmp_path):
    tokenizer = Tokenizer.train(TEXTS, 270)
    wrong = annotated.Transformer(SHAPE.replace(vocab_size=300))
    with pytest.raises(ValueError, match="entries and the model 300"):
        export_ctranslate2(wrong, tokenizer, tmp_path)
    uneven = annotated.Transformer(SHAPE.replace(vocab_size=tokenizer.vocab_size, d_v=8))
    with pytest.raises(ValueError, match="d_k 16 and d_v 8"):
        export_ctranslate2(uneven, tokenizer, tmp_path)
