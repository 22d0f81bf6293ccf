"""The adapter of our own model, with every capability.

Each capability is one call of the library through the module that holds the function, so that code that replaces the
function (a mutant, a student) is examined with it.
"""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors.torch import save_file
from torch import Tensor

from annotated.config import BOS, EOS, PAD, ModelConfig, TrainingConfig
from annotated.data import batch as batch_module
from annotated.decoding import beam as beam_module
from annotated.decoding import greedy as greedy_module
from annotated.evaluation import corpus as corpus_module
from annotated.model import AttentionMaps, Recorded, Transformer
from annotated.speed.steps import FastStep
from annotated.training import averaging as averaging_module
from annotated.training import loss as loss_module
from annotated.training import optimizer as optimizer_module
from annotated.training import schedule as schedule_module
from annotated.training import update as update_module
from annotated_grader.doctor.adapters.hooks import Place, Recorder, residual_steps
from annotated_grader.doctor.subject import Claims, FirstAttention, Found, ResidualStep, Side, Subject, Tables, Update

# Their packages export functions of the same names, which hide the modules from a plain import.
bleu_module = importlib.import_module("annotated.evaluation.bleu")
perplexity_module = importlib.import_module("annotated.evaluation.perplexity")

STEPS = 32
SUBLAYERS = ("self_attention", "cross_attention", "feed_forward")


class OurSubject(Subject):
    """`annotated.Transformer` with this library's training, decoding and evaluation.

    Parameters
    ----------
    model
        Its weights may be trained or new.
    name
        For the report.
    training
        Label smoothing, warm-up and layout are taken from here; None for the paper's.
    """

    pad, bos, eos = PAD, BOS, EOS

    def __init__(self, model: Transformer, name: str = "annotated.Transformer", training: TrainingConfig | None = None):
        self.model, self.name = model, name
        # The padded layout is the one that `logits` takes: what is trained is what is examined.
        self.training = training or TrainingConfig(layout="padded")
        self.vocab_size = model.config.vocab_size
        self.claims = claims(model.config, self.training)

    # The model itself

    def logits(self, source: Tensor, target_in: Tensor) -> Tensor:
        return self.model(source, target_in)

    def modules(self) -> list[torch.nn.Module]:
        return [self.model]

    def fresh(self) -> OurSubject:
        return type(self)(Transformer(self.model.config), self.name, self.training)

    def encode(self, source: Tensor) -> Tensor:
        return self.model.encode(source)

    def attention(self, source: Tensor, target_in: Tensor) -> AttentionMaps:
        return self.model(source, target_in, return_attention=True)[1]

    def first_attention(self, source: Tensor) -> FirstAttention:
        layer: Any = self.model.encoder.layers[0]
        module = layer.self_attention
        with Recorder(module) as recorded:
            self.model.encode(source)
        x, _, _, attend = recorded.inputs(module)[:4]
        q, k, v = (part.transpose(1, 2) for part in module.project(x, x, x))
        kept = Recorded(attend.mask)
        output, projection = module(x, x, x, kept), module.out_projection
        return FirstAttention(x, q, k, v, kept.weights[0], output, projection.weight, projection.bias)

    def residuals(self, source: Tensor, target_in: Tensor) -> list[ResidualStep]:
        model, stacks = self.model, []
        for side, stack in (("encoder", model.encoder), ("decoder", model.decoder)):
            places = []
            layers: Any = stack.layers
            for number, layer in enumerate(layers, 1):
                for name in SUBLAYERS if side == "decoder" else SUBLAYERS[::2]:
                    module, norm = getattr(layer, name), getattr(layer, f"{name}_residual").norm
                    places.append(Place(f"{side} layer {number}, {name.replace('_', '-')}", module, module, norm))
            stacks.append((places, stack.final_norm))
        return residual_steps(stacks, lambda: self.logits(source, target_in), model.config.norm == "pre")

    def feed_forward(self, x: Tensor) -> Tensor:
        layer: Any = self.model.encoder.layers[0]
        return layer.feed_forward(x)

    def embed(self, ids: Tensor, side: Side) -> Tensor:
        return self.model.embed(ids, target=side == "target")

    def tables(self) -> Tables:
        model = self.model
        return Tables(model._table(False).weight, model._table(True).weight, model.output_weight)

    # Training

    def shift(self, targets: Tensor) -> tuple[Tensor, Tensor]:
        batch = batch_module.collate_ids([([], self._sentence(row)) for row in targets])
        return batch.target_in, batch.target_out

    def loss(self, logits: Tensor, target_out: Tensor) -> Tensor:
        total, count = loss_module.label_smoothed_cross_entropy(logits, target_out, self.training.label_smoothing)
        return total / count

    def learning_rate(self, update: int) -> float:
        return schedule_module.learning_rate(update, self.model.config.d_model, self.training.warmup)

    def updates(self, micro_batches: Sequence[tuple[Tensor, Tensor]], accumulate: int) -> list[Update]:
        made: list[Update] = []
        model, training = self.model.train(), self.training
        step = FastStep(model, training, optimizer=optimizer_module.make_optimizer(model, training))

        def note(*_: object) -> None:
            gradient = {name: p.grad.detach().clone() for name, p in model.named_parameters() if p.grad is not None}
            made.append(Update(step.optimizer.param_groups[0]["lr"], gradient))

        step.optimizer.register_step_pre_hook(note)
        batches = list(self._batches(micro_batches))
        for number in range(1, len(batches) // accumulate + 1):
            group = batches[(number - 1) * accumulate : number * accumulate]
            tokens, rate = sum(batch.target_tokens for batch in group), self._rate(number)
            update_module.update(step, group, tokens, rate)
        return made

    def _rate(self, update: int) -> float:
        training = self.training
        d_model, scale = self.model.config.d_model, training.learning_rate_scale
        return schedule_module.learning_rate(update, d_model, training.warmup, scale)

    def average(self, states: Sequence[dict[str, Tensor]]) -> dict[str, Tensor]:
        with tempfile.TemporaryDirectory() as folder:
            paths = [Path(folder) / str(number) for number in range(len(states))]
            for path, state in zip(paths, states, strict=True):
                path.mkdir()
                save_file(
                    {name: tensor.clone().contiguous() for name, tensor in state.items()}, path / "model.safetensors"
                )
            return averaging_module.average_checkpoints(paths)

    # Decoding

    def start(self, source: Tensor, beam_size: int = 1) -> Any:
        return self.model.start_state(source, beam_size, max_new_tokens=STEPS)

    def step(self, state: Any, tokens: Tensor) -> tuple[Tensor, Any]:
        return self.model.decode_step(tokens, state)

    def reorder(self, state: Any, parents: Tensor) -> Any:
        state.reorder(parents)
        return state

    def greedy(self, source: Tensor, max_new_tokens: int) -> list[list[int]]:
        return [found.tokens for found in greedy_module.greedy_decode(self.model, source, max_new_tokens)]

    def beam(self, source: Tensor, beam_size: int, alpha: float, max_new_tokens: int) -> list[Found]:
        (found,) = beam_module.beam_search(self.model, source, beam_size, alpha, max_new_tokens, beam_size)
        return [Found(h.tokens, h.log_probability, h.score, h.finished) for h in found]

    # Evaluation

    def perplexity(self, sources: Sequence[list[int]], targets: Sequence[list[int]]) -> float:
        pairs = [(_text(s), _text(t)) for s, t in zip(sources, targets, strict=True)]
        tokenizer: Any = _Numbers()
        return perplexity_module.perplexity(self.model, tokenizer, pairs, layout=self.training.layout).per_token

    def bleu(self, hypotheses: Sequence[str], references: Sequence[str]) -> float:
        return bleu_module.bleu(hypotheses, references).bleu

    def evaluated(self, sources: Sequence[list[int]], references: Sequence[list[int]]) -> list[str]:
        pairs = [(_text(s), _text(r)) for s, r in zip(sources, references, strict=True)]
        return corpus_module.evaluate(_Translates(self), pairs).translations

    def _sentence(self, row: Tensor) -> list[int]:
        """The tokens of a padded row, without eos."""
        return [token for token in row.tolist() if token not in (PAD, EOS)]

    def _batches(self, micro_batches: Sequence[tuple[Tensor, Tensor]]) -> Iterator[batch_module.Batch]:
        for source, targets in micro_batches:
            pairs = [(self._sentence(s), self._sentence(t)) for s, t in zip(source, targets, strict=True)]
            yield batch_module.collate_ids(pairs)


class _Numbers:
    """A tokenizer of texts like "5 17 9"."""

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        return [[int(word) for word in text.split()] for text in texts]

    def encode(self, text: str) -> list[int]:
        return self.encode_batch([text])[0]

    def decode(self, ids: Sequence[int]) -> str:
        return _text(ids)


class _Translates:
    """What `annotated.evaluation.evaluate` asks of a translator, by greedy search."""

    def __init__(self, subject: OurSubject) -> None:
        self.model = subject.model
        self.tokenizer: Any = _Numbers()

    def translate(
        self, texts: Sequence[str], *, overlong: Literal["error", "truncate"] = "error", **options: Any
    ) -> list[str]:
        sources = self.tokenizer.encode_batch(texts)
        batch = batch_module.collate_ids([(ids, []) for ids in sources])
        return [_text(h.tokens) for h in greedy_module.greedy_decode(self.model, batch.source, STEPS)]


def _text(ids: Sequence[int]) -> str:
    return " ".join(map(str, ids))


def claims(config: ModelConfig, training: TrainingConfig | None = None) -> Claims:
    """What a model of this library claims by its configuration; without `training`, nothing about training."""
    return Claims(
        d_model=config.d_model,
        tied_embeddings=config.tie_embeddings,
        scaled_embeddings=True,
        positions=config.positions,
        longest=config.max_positions if config.positions == "learned" else None,
        norm=config.norm,
        dropout=config.dropout,
        smoothing=training.label_smoothing if training else None,
        warmup=training.warmup if training else None,
        length_penalty="wu" if training else None,
    )
