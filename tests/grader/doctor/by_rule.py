"""Mutants of our own model by rule: one expression of the library's source changed, and the doctor asked.

The bank has the mistakes that people make. These are all small mistakes that can be made in the files that compute
what a model answers: none may be cleared that changes an answer to a real sentence, but those that `CHOICES` declares.
`make nightly` examines them all, which takes an hour.
"""

from __future__ import annotations

import ast
import copy
import importlib
import inspect
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from annotated.classroom import classroom_pairs
from annotated.config import PAD, ModelConfig
from annotated.data.batch import Batch, collate_ids
from annotated.model import Transformer
from annotated_grader.doctor.adapters.ours import OurSubject
from annotated_grader.doctor.examine import examine
from annotated_grader.doctor.finding import Finding
from annotated_grader.doctor.mutants import SEED, SMALL
from annotated_grader.doctor.mutants.patching import Patches
from annotated_grader.doctor.probe import relative_difference
from tests.grader.doctor.source_changes import Change, changes, with_fields

FILES = (
    "model.attention",
    "model.embeddings",
    "model.feed_forward",
    "model.layers",
    "model.masks",
    "model.positional_encoding",
    "model.transformer",
    "speed.kernels.fused",
    "speed.layouts.cache",
    "decoding.search",
    "decoding.greedy",
    "decoding.beam",
    "decoding.pools",
    "training.loss",
    "training.schedule",
    "data.batch",
)
"""Modules whose code is changed."""

OTHER = SMALL.replace(
    norm="pre", positions="learned", max_positions=40, tie_embeddings=False, attention_bias=True, d_v=6
)
"""What the model of the bank has not."""

CHOICES: dict[str, tuple[str, ...]] = {
    "Sines before cosines, or in turn with them: it is the order of the dimensions.": (
        "model.positional_encoding.sinusoidal_encoding: "
        "return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1).float()  ->  "
        "return torch.stack((angles.sin(), angles.cos()), dim=-2).flatten(1).float()",
    ),
    "Projections need no biases; the paper has none.": (
        "model.attention.MultiHeadAttention.project: q, k, v = linear(query, self.in_projection, "
        "self.in_bias).split(self.widths, dim=-1)  ->  q, k, v = linear(query, "
        "self.in_projection).split(self.widths, dim=-1)",
        "model.attention.MultiHeadAttention.project: "
        "k, v = linear(key, w_kv, b_kv).split(self.widths[1:], dim=-1)  ->  "
        "k, v = linear(key, w_kv).split(self.widths[1:], dim=-1)",
    ),
    "Positions that are subtracted are positions of the other sign.": (
        "model.transformer.Transformer.embed: return self.dropout(self._table(target)(ids) + positions)  ->  "
        "return self.dropout(self._table(target)(ids) - positions)",
    ),
    "Where not all tables are one, two of them may be.": (
        "model.transformer.Transformer._table: return self.target_embedding if target and "
        "(not self.config.tie_embeddings) else self.embedding  ->  return self.embedding",
        "model.transformer.Transformer._table: return self.target_embedding if target and "
        "(not self.config.tie_embeddings) else self.embedding  ->  "
        "return self.target_embedding if not self.config.tie_embeddings else self.embedding",
    ),
    "What the decoder reads behind the end of a sentence is read by nothing that counts.": (
        "data.batch.collate: real = np.arange(1, target_out.shape[1]) < target_lengths[:, None]  ->  real = "
        "np.arange(1, target_out.shape[1]) <= target_lengths[:, None]",
    ),
    "How many continuations a search ranks at a step, from the width of its beam on, is its own choice.": (
        "decoding.beam.BeamSearch.__init__: self.num_candidates = 2 * beam_size if beam_size > 1 else 1  ->  "
        "self.num_candidates = beam_size if beam_size > 1 else 1",
        "decoding.beam.BeamSearch.__init__: self.num_candidates = 2 * beam_size if beam_size > 1 else 1  ->  "
        "self.num_candidates = 3 * beam_size if beam_size > 1 else 1",
        "decoding.beam.BeamSearch.__init__: self.num_candidates = 2 * beam_size if beam_size > 1 else 1  ->  "
        "self.num_candidates = 1 * beam_size if beam_size > 1 else 1",
        "decoding.beam.BeamSearch.grow: best, place = total.flatten(1).topk(min(self.num_candidates, beam_size * "
        "each), dim=1)  ->  best, place = total.flatten(1).topk(max(self.num_candidates, beam_size * each), "
        "dim=1)",
        "decoding.beam.BeamSearch.grow: best, place = total.flatten(1).topk(min(self.num_candidates, beam_size * "
        "each), dim=1)  ->  best, place = total.flatten(1).topk(min(self.num_candidates, beam_size), dim=1)",
    ),
    "A search may keep its best finished hypothesis alone, and stop when nothing can be better.": (
        "decoding.pools.Finished.add: slots = self.scores.size(1)  ->  slots = 1",
        "decoding.pools.Finished.add: slots = self.scores.size(1)  ->  slots = self.scores.size(0)",
        "decoding.beam.BeamSearch.is_done: proven = (self.finished.scores[:, -1] >= bound).tolist()  ->  proven "
        "= (self.finished.scores[:, 0] >= bound).tolist()",
        "decoding.beam.BeamSearch.is_done: proven = (self.finished.scores[:, -1] >= bound).tolist()  ->  proven "
        "= (self.finished.scores[:, -0] >= bound).tolist()",
    ),
    "How many hypotheses that were cut come behind the finished ones is nobody's promise.": (
        "decoding.beam.BeamSearch.results: found += rest[:pool.scores.size(1) - len(found)]  ->  found += rest[:]",
        "decoding.beam.BeamSearch.results: found += rest[:pool.scores.size(1) - len(found)]  ->  found += "
        "rest[:pool.scores.size(1)]",
        "decoding.beam.BeamSearch.results: found += rest[:pool.scores.size(1) - len(found)]  ->  found += "
        "rest[:pool.scores.size(1) + len(found)]",
        "decoding.beam.BeamSearch.results: found += rest[:pool.scores.size(1) - len(found)]  ->  found += "
        "rest[:1 - len(found)]",
        "decoding.beam.BeamSearch.results: found += rest[:pool.scores.size(1) - len(found)]  ->  found += "
        "rest[:pool.scores.size(0) - len(found)]",
    ),
    "Tokens may be a tensor as well as a list.": (
        "decoding.beam.BeamSearch.results: for tokens, length, log_probability, score in zip(*(c.tolist() for c "
        "in columns), strict=True):  ->  for tokens, length, log_probability, score in zip(*(c for c in "
        "columns), strict=True):",
    ),
}
"""Changes that make another model or search, as right, each with its reason: the doctor must not blame them."""

# Switched on


@contextmanager
def switched_on(change: Change) -> Iterator[None]:
    """Inside, the library has the changed function.

    Raises
    ------
    Exception
        Whatever the changed code raises while it is defined.
    """
    module = importlib.import_module(f"annotated.{change.module}")
    holder, _, name = change.function.rpartition(".")
    new = _compiled(module, change.code, holder)
    with Patches() as patches:
        if holder:
            owner = getattr(module, holder)
            kept = inspect.getattr_static(owner, name)
            is_wrapped = isinstance(kept, property | staticmethod | classmethod)
            patches.attribute(owner, name, type(kept)(new) if is_wrapped else new)
        else:
            patches.function(getattr(module, name), lambda _: new)
        yield


def _compiled(module: ModuleType, code: ast.FunctionDef, holder: str) -> Callable[..., Any]:
    """The function, made as if in its module; `super()` needs the class's name outside of it."""
    code = with_fields(copy.deepcopy(code), decorator_list=[])
    for node in ast.walk(code):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super":
            node.args = [ast.Name(holder, ast.Load()), ast.Name("self", ast.Load())]
    text = f"from __future__ import annotations\n{ast.unparse(ast.fix_missing_locations(code))}"
    made: dict[str, Any] = {}
    exec(compile(text, f"<changed {code.name}>", "exec"), vars(module), made)
    made.pop("annotations", None)
    return made[code.name]


# What the model answers


class Answers:
    """What the library computes for real sentences, to be compared with what it computes with a change."""

    def __init__(self) -> None:
        numbers: dict[str, int] = {}  # every word is a token

        def ids(text: str) -> list[int]:
            return [numbers.setdefault(word, 4 + len(numbers)) for word in text.split()]

        self.pairs = [(ids(pair.source), ids(pair.target)) for pair in classroom_pairs("test", 6)]
        self.states = {}
        for config in (SMALL, OTHER):
            torch.manual_seed(SEED)
            state = Transformer(config).state_dict()  # and no bias is zero, no gain one, as after training
            self.states[config] = {name: tensor + 0.1 * torch.randn(tensor.shape) for name, tensor in state.items()}
        self.expected = {config: self.of(config) for config in self.states}

    def model(self, config: ModelConfig) -> Transformer:
        """A small model, built anew."""
        model = Transformer(config).eval()
        model.load_state_dict(self.states[config])
        return model

    def of(self, config: ModelConfig) -> list[Any]:
        """Logits, maps, gradients, steps, searches and rates; of padding, nothing."""
        subject, batch = OurSubject(self.model(config)), self.batch(config)
        source, target = batch.source != PAD, batch.target_in != PAD
        logits = subject.logits(batch.source, batch.target_in)
        maps = subject.attention(batch.source, batch.target_in)
        found: list[Any] = [logits[target]]
        for layers, real in zip(maps, (source, target, target), strict=True):
            found += [layer.transpose(1, 2)[real] for layer in layers]
        loss = subject.loss(logits, batch.target_out)
        loss.backward()
        found += [loss, *(p.grad for p in subject.model.parameters() if p.grad is not None)]
        with torch.no_grad():
            state = subject.start(batch.source)
            for token, real in zip(batch.target_in.unbind(1), target.unbind(1), strict=True):
                logits, state = subject.step(state, token)
                found.append(logits[real])
            found.append(subject.greedy(batch.source, 12))
            beams = [subject.beam(row[row != PAD][None], 3, 0.6, 8) for row in batch.source[:2]]
        found += [[one.tokens for beam in beams for one in beam], [one.score for beam in beams for one in beam]]
        found.append(torch.tensor([subject.learning_rate(update) for update in (1, 2, 100, 4000, 9000)]))
        return [part.detach().clone() if isinstance(part, Tensor) else part for part in found]

    def batch(self, config: ModelConfig) -> Batch:
        """Sentences of different lengths, their ids brought into the vocabulary."""

        def fitted(ids: list[int]) -> list[int]:
            return [token if token < config.vocab_size else 4 + token % (config.vocab_size - 4) for token in ids]

        return collate_ids([(fitted(source), fitted(target)) for source, target in self.pairs])

    def difference(self, config: ModelConfig) -> float:
        """The largest relative difference from what the library answers; infinity if an answer has another shape."""
        now, worst = self.of(config), 0.0
        if len(now) != len(self.expected[config]):
            return float("inf")
        for one, other in zip(now, self.expected[config], strict=True):
            if isinstance(one, list):
                one, other = (torch.tensor(x) if x and isinstance(x[0], float) else x for x in (one, other))
            if isinstance(one, Tensor) and isinstance(other, Tensor):
                worst = max(worst, relative_difference(one, other) if one.shape == other.shape else float("inf"))
            elif one != other:
                worst = float("inf")
        return worst


class _Found(Exception):
    """The doctor found something."""


@dataclass(frozen=True)
class Outcome:
    """What became of one change."""

    change: Change
    effect: float
    """The largest relative difference of an answer; NaN if none came."""
    found: str
    """The first finding that failed, or the error; empty if the doctor cleared it, or was not asked."""

    @property
    def kind(self) -> str:
        """'breaks', 'no effect', 'found' or 'cleared'."""
        if self.effect != self.effect:
            return "breaks"
        if self.effect <= SEEN:
            return "no effect"
        return "found" if self.found else "cleared"


SEEN = 1e-4
"""Differences below are rounding, as in `annotated_grader.doctor.probe.CLOSE`."""


def outcome(change: Change, answers: Answers) -> Outcome:
    """Ask whether a change matters, and, if it does, whether the doctor finds it."""
    try:
        with switched_on(change), _time_limit(120):
            for config in answers.states:
                if (difference := answers.difference(config)) > SEEN:
                    return Outcome(change, difference, _first_finding(answers, config))
    except Exception as error:  # the changed code cannot be run: everybody notices
        return Outcome(change, float("nan"), type(error).__name__)
    return Outcome(change, 0.0, "")


def _first_finding(answers: Answers, config: ModelConfig) -> str:
    failed: list[Finding] = []

    def stop(finding: Finding) -> None:
        if finding.outcome in ("failed", "error"):
            failed.append(finding)
            raise _Found

    try:
        examine(OurSubject(answers.model(config)), progress=stop)
    except _Found:
        return failed[0].id
    return ""


@contextmanager
def _time_limit(seconds: int) -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def cleared(name: str, answers: Answers) -> list[str]:
    """The changes of one module that matter, that the doctor clears, and that are no declared choice."""
    declared = {change for choice in CHOICES.values() for change in choice}
    return [str(c) for c in changes(name) if str(c) not in declared and outcome(c, answers).kind == "cleared"]
