"""Every invariant holds for healthy models of three makes, and fails for a subject that is broken by hand."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from annotated import AttentionMaps, Transformer, load, tiny
from annotated.interop import to_torch
from annotated.model import causal_mask, padding_mask
from annotated_grader.doctor import Found, OurSubject, Subject, TorchSubject, Update, examine, subject_of
from annotated_grader.doctor.adapters import small_marian
from annotated_grader.doctor.invariants import INVARIANTS

SHAPE: dict[str, Any] = dict(vocab_size=16, d_model=32, d_k=8, d_v=8, d_ff=64)
SHAPE |= dict(num_encoder_layers=2, num_decoder_layers=2)


def model(**changes: Any) -> Transformer:
    torch.manual_seed(0)
    return Transformer(tiny(**(SHAPE | changes)))


# Healthy subjects


@pytest.mark.parametrize(
    "changes",
    [
        {"norm": "pre", "tie_embeddings": False, "attention_bias": True, "attention_dropout": 0.1},
        {"positions": "learned", "max_positions": 40, "d_k": 5, "d_v": 7, "vocab_size": 9, "dropout": 0.0},
    ],
    ids=["pre-norm, untied, biases", "learned positions, odd heads"],
)
def test_our_model_is_cleared(changes: dict[str, Any]) -> None:
    """As printed it is cleared in `test_mutants.py`."""
    report = examine(OurSubject(model(**changes)))
    assert report.healthy, str(report)
    assert not {finding.id for finding in report.of("not applicable")} - {"sinusoids", "tied-tables", "dropout-on"}


def test_the_classroom_model_is_cleared() -> None:
    report = examine(subject_of(load("classroom", "cpu")))
    assert report.healthy, str(report)
    assert {finding.id for finding in report.of("not applicable")} == {"leak-canary", "beam-exhaustive"}, (
        "only its size and its vocabulary stand in the way"
    )


def torch_pre_norm() -> TorchSubject:
    subject = subject_of(nn.Transformer(32, 4, 2, 2, 64, batch_first=True, norm_first=True))
    assert isinstance(subject, TorchSubject)
    return subject


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
@pytest.mark.parametrize("make", [torch_pre_norm, lambda: TorchSubject(to_torch(model()))])
def test_torchs_transformer_is_cleared(make: Callable[[], TorchSubject]) -> None:
    """As torch makes it, `make exercises` examines it."""
    torch.manual_seed(0)
    report = examine(make())
    assert report.healthy, str(report)
    unasked = [finding.id for finding in report.of("not applicable") if not INVARIANTS[finding.id].needs]
    assert unasked == [], "what needs no more than logits was examined"


def test_marian_is_asked_for_its_cache_and_its_search() -> None:
    """That it is cleared, `make exercises` sees."""
    pytest.importorskip("transformers")
    torch.manual_seed(0)
    asked = ["cache-follows-beam", "greedy-follows-model"]
    assert [finding.outcome for finding in examine(small_marian(), asked).findings] == ["passed", "passed"]


# Subjects that are broken by hand: one capability, or what lies under it, is wrong


def per_position(self: OurSubject, source: Tensor, target: Tensor) -> Tensor:
    """Each position is decoded as if it were the first."""
    return torch.cat([self.model(source, target[:, t : t + 1]) for t in range(target.size(1))], dim=1)


def windowed(self: OurSubject, source: Tensor, target: Tensor) -> Tensor:
    """Each position sees eight tokens, its own the last."""
    ends = range(1, target.size(1) + 1)
    return torch.cat([self.model(source, target[:, max(0, end - 8) : end])[:, -1:] for end in ends], dim=1)


def unordered(self: OurSubject, source: Tensor, target: Tensor) -> Tensor:
    """The order of the three tokens after bos does not matter."""
    return self.model(source, torch.cat((target[:, :1], target[:, 1:4].sort().values, target[:, 4:]), dim=1))


def peeking(self: OurSubject, source: Tensor, target: Tensor) -> Tensor:
    """The mean of the whole target leaks into every position."""
    seen = self.model.embedding(target).mean(dim=1, keepdim=True)
    return self.model(source, target) + self.model.project(seen)


def plus(value: Callable[[OurSubject, Tensor, Tensor], Tensor]) -> Callable[..., Tensor]:
    """Logits with something that shifts every token differently, `[B]` or a number."""

    def logits(self: OurSubject, source: Tensor, target: Tensor) -> Tensor:
        return self.model(source, target) + value(self, source, target).view(-1, 1, 1) * torch.arange(self.vocab_size)

    return logits


def no_pad_mask(maps: AttentionMaps) -> AttentionMaps:
    return maps._replace(encoder=[layer.clamp_min(1e-6) for layer in maps.encoder])


def dropped(self: OurSubject, source: Tensor, target: Tensor) -> AttentionMaps:
    maps = OurSubject.attention(self, source, target)
    return maps._replace(cross=[F.dropout(layer, 0.3, self.model.training) for layer in maps.cross])


def maps_with(change: Callable[[AttentionMaps], AttentionMaps]) -> Callable[..., AttentionMaps]:
    return lambda self, source, target: change(OurSubject.attention(self, source, target))


def first_with(change: Callable[[Any], dict[str, Tensor]]) -> Callable[..., Any]:
    def first(self: OurSubject, source: Tensor) -> Any:
        right = OurSubject.first_attention(self, source)
        return right._replace(**change(right))

    return first


def clamped(self: OurSubject, ids: Tensor, side: Any) -> Tensor:
    rows = OurSubject.embed(self, ids[:, :200], side)
    return torch.cat((rows, rows[:, -1:].expand(-1, ids.size(1) - rows.size(1), -1)), dim=1)


def positions_too_large(self: OurSubject, ids: Tensor, side: Any) -> Tensor:
    return OurSubject.embed(self, ids, side) + 3 * self.model.positions(ids.size(1))


def cloned_layers(self: OurSubject) -> OurSubject:
    fresh = OurSubject.fresh(self)
    layers: Any = fresh.model.encoder.layers
    layers[1].load_state_dict(layers[0].state_dict())
    return fresh


class Unsaved(OurSubject):
    """Adds a random vector that no state dict knows."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.extra = torch.randn(self.vocab_size)

    def logits(self, source: Tensor, target_in: Tensor) -> Tensor:
        return self.model(source, target_in) + self.extra


def mean_with_padding(self: OurSubject, logits: Tensor, target: Tensor) -> Tensor:
    return F.cross_entropy(logits.flatten(0, -2), target.flatten())


def mean_of_sentences(self: OurSubject, logits: Tensor, target: Tensor) -> Tensor:
    return torch.stack([OurSubject.loss(self, logits[i], target[i]) for i in range(len(target))]).mean()


def unsmoothed(self: OurSubject, logits: Tensor, target: Tensor) -> Tensor:
    return F.cross_entropy(logits.flatten(0, -2), target.flatten(), ignore_index=0)


def updates_with(change: Callable[[OurSubject, list[Update], int], list[Update]]) -> Callable[..., list[Update]]:
    return lambda self, batches, accumulate: change(self, OurSubject.updates(self, batches, accumulate), accumulate)


def scaled(update: Update, factor: float) -> Update:
    return update._replace(gradient={name: g * factor for name, g in update.gradient.items()})


def never_cleared(self: OurSubject, made: list[Update], accumulate: int) -> list[Update]:
    return [scaled(update, k) for k, update in enumerate(made, 1)]


def in_training(self: OurSubject, source: Tensor, cap: int) -> list[list[int]]:
    """Dropout stays on: what is written depends on chance."""
    found = OurSubject.greedy(self, source, cap)
    return [[*tokens[:-1], 5] for tokens in found] if self.model.training else found


def finds(change: Callable[[list[Found]], list[Found]]) -> Callable[..., list[Found]]:
    return lambda self, *arguments: change(OurSubject.beam(self, *arguments))


def characters(self: OurSubject, hypotheses: Sequence[str], references: Sequence[str]) -> float:
    return OurSubject.bleu(
        self, *([" ".join(text.replace(" ", "")) for text in side] for side in (hypotheses, references))
    )


def mean_bleu(self: OurSubject, hypotheses: Sequence[str], references: Sequence[str]) -> float:
    each = [OurSubject.bleu(self, [h], [r]) for h, r in zip(hypotheses, references, strict=True)]
    return sum(each) / len(each)


BROKEN: dict[str, dict[str, Any]] = {
    "leak-by-change": {"logits": peeking},
    "leak-by-gradient": {"logits": peeking},
    "leak-canary": {"shift": lambda self, targets: (targets, targets)},
    "far-leak": {"logits": lambda self, s, t: (peeking if t.size(1) > 10 else OurSubject.logits)(self, s, t)},
    "far-past": {"logits": windowed},
    "far-source": {"logits": lambda self, s, t: self.model(s[:, :16], t)},
    "source-end-is-read": {"logits": lambda self, s, t: self.model(s.masked_fill(s == 2, 0), t)},
    "target-order": {"logits": unordered},
    "target-past-is-seen": {"logits": per_position},
    "source-is-reached": {"logits": lambda self, s, t: self.model(torch.cat((s[:, :1], s[:, 2:]), 1), t)},
    "encoder-sees-both-sides": {
        "encode": lambda self, s: torch.stack([self.model.encode(s[:, : i + 1])[:, -1] for i in range(s.size(1))], 1)
    },
    "source-padding": {"logits": plus(lambda self, s, t: (s == 0).sum(1))},
    "target-padding": {"logits": plus(lambda self, s, t: (t == 0).sum(1))},
    "batch-mates": {"logits": plus(lambda self, s, t: torch.tensor(len(s)))},
    "hidden-row": {"logits": plus(lambda self, s, t: torch.where((s == 0).all(1), math.nan, 0.0))},
    "pad-vector-unread": {"logits": plus(lambda self, s, t: self.model.embedding.weight[0].sum())},
    "source-order": {"logits": lambda self, s, t: self.model(s.sort(dim=1, descending=True).values, t)},
    "target-positions": {"logits": lambda self, s, t: self.model(s, t[:, :1]).expand(-1, t.size(1), -1)},
    "far-positions": {"embed": clamped},
    "sinusoids": {"embed": positions_too_large},
    "attention-shape": {"attention": maps_with(lambda m: m._replace(cross=[x.mT for x in m.cross]))},
    "attention-rows": {"attention": maps_with(lambda m: m._replace(decoder=[2 * x for x in m.decoder]))},
    "attention-before-dropout": {"attention": dropped},
    "attention-hidden": {"attention": maps_with(no_pad_mask)},
    "attention-scale": {"first_attention": first_with(lambda f: {"weights": (f.q @ f.k.mT / 8).softmax(-1)})},
    "heads-read-whole-input": {"first_attention": first_with(lambda f: {"q": f.x.unflatten(-1, (4, 8)).mT.mT})},
    "heads-are-concatenated": {"first_attention": first_with(lambda f: {"output": f.output / 4})},
    "heads-differ": {"first_attention": first_with(lambda f: {"k": f.q})},
    "residuals": {
        "residuals": lambda self, s, t: [
            x._replace(output=x.output - x.before) for x in OurSubject.residuals(self, s, t)
        ]
    },
    "feed-forward": {"feed_forward": lambda self, x: 2 * x},
    "embedding-scale": {"embed": lambda self, ids, side: OurSubject.embed(self, ids, side) / 32**0.5},
    "tied-tables": {"tables": lambda self: OurSubject.tables(self)._replace(output=self.model.output_weight.clone())},
    "layers-differ": {"fresh": cloned_layers},
    "initial-loss": {"logits": lambda self, s, t: 8 * self.model(s, t)},
    "state-round-trip": {},
    "dropout-off": {"logits": lambda self, s, t: F.dropout(self.model(s, t), 0.1, training=True)},
    "softmax-axis": {"logits": lambda self, s, t: self.model(s, t).log_softmax(dim=0)},
    "dropout-on": {},
    "half-precision": {"logits": lambda self, s, t: self.model(s, t).masked_fill(causal_mask(1)[0], -1e9)},
    "shift": {"shift": lambda self, targets: (targets, targets)},
    "loss-ignores-padding": {"loss": mean_with_padding},
    "loss-per-token": {"loss": mean_of_sentences},
    "loss-target": {"loss": unsmoothed},
    "schedule": {"learning_rate": lambda self, update: OurSubject.learning_rate(self, max(update - 1, 1))},
    "warmup-unit": {
        "updates": updates_with(lambda self, made, n: [u._replace(rate=(k + 1) * n) for k, u in enumerate(made)])
    },
    "accumulation": {"updates": updates_with(lambda self, made, n: [scaled(update, n) for update in made])},
    "gradient-cleared": {"updates": updates_with(never_cleared)},
    "averaging": {"average": lambda self, states: states[-1]},
    "cache-equals-forward": {"step": lambda self, state, tokens: OurSubject.step(self, state, tokens.clamp_max(5))},
    "start-rows": {"start": lambda self, s, beam_size=1: OurSubject.start(self, s.repeat(beam_size, 1))},
    "cache-follows-beam": {"reorder": lambda self, state, parents: state},
    "greedy-follows-model": {"greedy": lambda self, s, cap: [t[:-1] for t in OurSubject.greedy(self, s, cap)]},
    "greedy-without-dropout": {"greedy": in_training},
    "beam-one-is-greedy": {"beam": finds(lambda found: [found[0]._replace(tokens=[5, *found[0].tokens])])},
    "beam-scores": {"beam": finds(lambda found: [f._replace(log_probability=f.log_probability - 1) for f in found])},
    "beam-penalty": {"beam": finds(lambda found: [f._replace(score=f.log_probability) for f in found])},
    "beam-exhaustive": {"beam": finds(lambda found: found[1:])},
    "perplexity": {"perplexity": lambda self, s, t: 1.01 * OurSubject.perplexity(self, s, t)},
    "bleu-words": {"bleu": characters},
    "bleu-corpus": {"bleu": mean_bleu},
    "bleu-of-translations": {"evaluated": lambda self, s, r: [str(len(reference)) for reference in r]},
}


def broken(id: str) -> Subject:
    if id == "state-round-trip":
        return Unsaved(model())
    subject = type("Broken", (OurSubject,), BROKEN[id])(model(dropout=0.0 if id == "dropout-on" else 0.1))
    if id == "dropout-on":
        subject.claims = dataclasses.replace(subject.claims, dropout=0.1)
    return subject


def test_each_invariant_has_a_subject_that_breaks_it() -> None:
    assert list(BROKEN) == sorted(BROKEN, key=list(INVARIANTS).index) or set(BROKEN) == set(INVARIANTS)
    assert set(BROKEN) == set(INVARIANTS)


@pytest.mark.parametrize("id", INVARIANTS)
def test_an_invariant_fails_for_a_subject_that_breaks_it(id: str) -> None:
    (finding,) = examine(broken(id), [id]).findings
    assert finding.outcome == "failed", finding.measured
    assert finding.mistakes, "a failure names what may be behind it"


# A model that is not ours at all, with nothing but logits


class ByHand(Subject):
    """One layer a side and one head, written out; what is wrong with it is chosen by a word."""

    name, vocab_size = "by hand", 12

    def __init__(self, wrong: str = "", d_model: int = 16) -> None:
        torch.manual_seed(1)
        self.wrong = wrong
        self.table, self.order = torch.randn(12, d_model), torch.randn(700, d_model)
        self.matrices = [torch.randn(d_model, d_model) / d_model**0.5 for _ in range(9)]

    def logits(self, source: Tensor, target_in: Tensor) -> Tensor:
        keys, (t, s) = padding_mask(source)[:, 0], (target_in.size(1), source.size(1))
        past = torch.ones(t, t, dtype=torch.bool).tril(-1 if self.wrong == "blind to itself" else 0)
        if self.wrong == "no causal mask":
            past = torch.ones_like(past)
        if self.wrong == "no padding mask":
            keys = torch.ones_like(keys)
        order = 0.0 * self.order if self.wrong == "no positions" else self.order
        x, y = self.table[source] + order[:s], self.table[target_in] + order[:t]
        x = x + self.attend(x, x, keys, self.matrices[:3])
        y = y + self.attend(y, y, past, self.matrices[3:6])
        y = y + self.attend(
            y, y if self.wrong == "no memory" else x, keys if self.wrong != "no memory" else past, self.matrices[6:]
        )
        return y @ self.table.T

    def attend(self, x: Tensor, memory: Tensor, mask: Tensor, matrices: list[Tensor]) -> Tensor:
        q, k, v = x @ matrices[0], memory @ matrices[1], memory @ matrices[2]
        fill = -1e-12 if self.wrong == "tiny fill" else -1e9
        return (q @ k.mT / 4).masked_fill(~mask, fill).softmax(-1) @ v


def test_logits_are_enough_to_be_examined() -> None:
    report = examine(ByHand())
    assert report.healthy, str(report)
    assert {finding.id for finding in report.of("passed")} == {
        "leak-by-change",
        "target-past-is-seen",
        "far-leak",
        "far-past",
        "far-source",
        "source-end-is-read",
        "target-order",
        "source-is-reached",
        "source-padding",
        "target-padding",
        "batch-mates",
        "hidden-row",
        "source-order",
        "target-positions",
        "far-positions",
        "dropout-off",
        "softmax-axis",
    }
    assert "no attention" in report["attention-rows"].measured


@pytest.mark.parametrize(
    ("wrong", "failed"),
    [
        ("no causal mask", {"leak-by-change", "target-padding", "batch-mates"}),
        ("blind to itself", {"leak-by-change", "target-padding"}),
        ("no padding mask", {"source-padding", "batch-mates"}),
        ("no positions", {"source-order"}),
        ("no memory", {"source-is-reached", "source-order"}),
        ("tiny fill", {"leak-by-change", "source-padding", "target-padding", "batch-mates"}),
    ],
)
def test_a_strange_model_is_found_out(wrong: str, failed: set[str]) -> None:
    assert failed <= {finding.id for finding in examine(ByHand(wrong)).of("failed")}


def test_a_weight_too_small_for_a_number_in_one_head_is_no_mask() -> None:
    """exp(-104) is zero in float32; a mask hides a key from every head."""
    sharp = model()
    with torch.no_grad():
        for layer in [*sharp.encoder.layers, *sharp.decoder.layers]:
            layer.self_attention.in_projection[: sharp.config.d_k] *= 3000  # the queries of the first head
    assert examine(subject_of(sharp), ["attention-hidden"]).healthy
