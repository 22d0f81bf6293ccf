"""An ensemble averages predictions: checked by hand, against its members, and through every search."""

from __future__ import annotations

import math

import pytest
import torch

import annotated
from annotated import Transformer, tiny
from annotated.classroom import classroom_pairs
from annotated.config import BOS, EOS
from annotated.decoding import Ensemble, beam_search, greedy_decode
from annotated.evaluation import evaluate

VOCAB = 9
SOURCE = torch.tensor([[4, 5, 6, EOS, 0], [7, 8, 4, 5, EOS], [6, EOS, 0, 0, 0]])


def member(seed: int, **changes) -> Transformer:
    """A small model with pronounced opinions."""
    torch.manual_seed(seed)
    shape = {"d_model": 16, "d_ff": 24, "num_heads": 2, "d_k": 8, "d_v": 8}
    model = Transformer(tiny(**{"vocab_size": VOCAB, **shape, **changes})).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(1.6)
    return model


class Fixed(torch.nn.Module):
    """Not a Transformer: it predicts what it is told to."""

    def __init__(self, probabilities: list[float], shift: float) -> None:
        super().__init__()
        self.config = tiny(vocab_size=len(probabilities))
        self.logits = torch.tensor(probabilities).log() + shift

    def forward(self, source, target_in, return_attention=False):
        return self.logits.expand(*target_in.shape, -1)


def test_the_mean_by_hand_and_why_it_is_not_one_of_logits() -> None:
    one, other = Fixed([0.1, 0.2, 0.7, 0.0], 5.0), Fixed([0.5, 0.2, 0.1, 0.2], -3.0)
    found = Ensemble([one, other])(SOURCE, SOURCE[:, :1]).exp()[0, 0]
    assert found.tolist() == pytest.approx([0.3, 0.2, 0.4, 0.1])
    geometric = Ensemble([one, other], mean="geometric")(SOURCE, SOURCE[:, :1]).exp()[0, 0]
    roots = [math.sqrt(0.05), 0.2, math.sqrt(0.07), 0.0]  # a probability of zero is a veto
    assert geometric.tolist() == pytest.approx([root / sum(roots) for root in roots])
    of_logits = ((one.logits + other.logits) / 2).softmax(-1)
    assert geometric.tolist() == pytest.approx(of_logits.tolist())


def test_alone_or_with_its_like_it_is_the_model() -> None:
    model = member(0)
    plain = beam_search(model, SOURCE, 3, num_return=3)
    for models in ([model], [model, model], [model, member(0)]):
        found = beam_search(Ensemble(models), SOURCE, 3, num_return=3)
        assert [[h.tokens for h in row] for row in found] == [[h.tokens for h in row] for row in plain]
        assert found[0][0].score == pytest.approx(plain[0][0].score, abs=1e-5)
    assert Ensemble([model, model]).num_parameters() == model.num_parameters()


@pytest.mark.parametrize("mean", ["arithmetic", "geometric"])
def test_step_by_step_it_predicts_what_it_predicts_at_once(mean: str) -> None:
    # Members of different shapes; a search that reorders and drops rows in all of them.
    ensemble = Ensemble([member(1), member(2, num_decoder_layers=1), member(3, num_heads=4, d_k=4, d_v=4)], mean=mean)
    for search in (lambda s: beam_search(ensemble, s, 4), lambda s: [[h] for h in greedy_decode(ensemble, s)]):
        for row, (best, *_) in enumerate(search(SOURCE)):
            read = torch.tensor([[BOS, *best.tokens][: best.steps]])
            written = torch.tensor([*best.tokens, EOS][: best.steps])
            alone = SOURCE[row : row + 1, : int((SOURCE[row] != 0).sum())]
            with torch.no_grad():
                log_p = ensemble(alone, read)[0].gather(1, written[:, None]).sum()
            assert best.log_probability == pytest.approx(float(log_p), abs=1e-4)


def test_what_cannot_be_averaged_is_refused_and_the_first_limit_holds() -> None:
    with pytest.raises(ValueError, match=r"vocabularies of \[9, 10\]"):
        Ensemble([member(0), member(0, vocab_size=10)])
    with pytest.raises(ValueError, match="at least one"):
        Ensemble([])
    with pytest.raises(ValueError, match="mean must be"):
        Ensemble([member(0)], mean="of logits")  # type: ignore[arg-type]
    short = Ensemble([member(0), member(1, positions="learned", max_positions=6)])
    assert all(h.steps <= 6 for h in greedy_decode(short, SOURCE, max_new_tokens=20))


def test_a_translator_takes_it_for_a_model() -> None:
    plain = annotated.load("classroom")
    both = annotated.Translator(Ensemble([plain.model] * 2, tokenizers=[plain.tokenizer] * 2), plain.tokenizer)  # type: ignore[arg-type]
    texts = [p.source for p in classroom_pairs("test", 3)]
    assert both.translate(texts) == plain.translate(texts)
    expected = plain.score(texts[0], "Der Hund schläft.").log_probability
    assert both.score(texts[0], "Der Hund schläft.").log_probability == pytest.approx(expected, abs=1e-3)
    pairs = [(p.source, p.target) for p in classroom_pairs("test", 3)]
    assert evaluate(both, pairs).perplexity.loss == pytest.approx(evaluate(plain, pairs).perplexity.loss, abs=1e-4)
    maps = both.attention(texts[0]).maps
    assert len(maps.cross) == 2 * len(plain.attention(texts[0]).maps.cross)
    assert torch.allclose(maps.cross[0], maps.cross[3])
