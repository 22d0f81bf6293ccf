"""Checkpoints averaged, lines between them, and ensembles: small classroom runs, and the run on real text."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Literal

import torch
from torch import Tensor, nn

from annotated.analysis.real_text import real_pairs, run_folder
from annotated.classroom import classroom_pairs
from annotated.config import ModelConfig, TrainingConfig, tiny
from annotated.data import TokenBatches, TokenStore
from annotated.decoding.ensemble import Ensemble
from annotated.evaluation import bleu, perplexity
from annotated.loading import load
from annotated.model import Transformer
from annotated.runs import list_checkpoints
from annotated.saving import load_model
from annotated.speed.steps import FastStep
from annotated.training import learning_rate
from annotated.training.update import fit
from annotated.translator import Translator

CONFIG = tiny(vocab_size=2000, d_model=64, d_ff=256, num_heads=4, d_k=16, d_v=16, num_encoder_layers=2,
              num_decoder_layers=2, dropout=0.1)  # fmt: skip
UPDATES, EVERY, KEPT, BATCH_TOKENS, PAIRS, LONGEST = 1600, 40, 10, 500, 12_000, 8
SCHEDULES = ("paper", "constant", "falling")
SEEDS = (0, 1, 2)
LINE = tuple(round(-0.5 + 0.1 * step, 1) for step in range(21))
SENTENCES = 200
"""Sentences of the validation set (loss) and of the test set (BLEU); all are of `LONGEST` words at most."""

StateDict = Mapping[str, Tensor]


@cache
def training_set() -> TokenStore:
    """Short classroom pairs, encoded with the shipped tokenizer."""
    encode = load("classroom").tokenizer.encode
    return TokenStore.from_ids([(encode(a), encode(b)) for a, b in classroom("train", PAIRS)], CONFIG.vocab_size)


def rate(update: int, schedule: str, updates: int = UPDATES) -> float:
    """The learning rate: the paper's formula with a warm-up of 200, held constant from there, or falling to zero."""
    warmup, scale = 200, 0.5
    if schedule == "paper" or update <= warmup:
        return learning_rate(update, CONFIG.d_model, warmup, scale)
    left = (updates - update) / (updates - warmup) if schedule == "falling" else 1.0
    return learning_rate(warmup, CONFIG.d_model, warmup, scale) * left


def train(
    seed: int = 0, schedule: str = "paper", updates: int = UPDATES, *, config: ModelConfig = CONFIG
) -> list[dict[str, Tensor]]:
    """Train a small classroom model; the last `KEPT` checkpoints, `EVERY` updates apart, oldest first.

    The seed decides the first weights, the dropout and the order of the data, which are the same data for all.
    """
    torch.manual_seed(seed)
    model = Transformer(config)
    batches = TokenBatches(training_set(), BATCH_TOKENS, seed=seed, pool_pairs=PAIRS)
    checkpoints: list[dict[str, Tensor]] = []

    def keep(update: int, loss: float) -> None:
        if (updates - update) % EVERY == 0 and updates - update < KEPT * EVERY:
            checkpoints.append({name: tensor.clone() for name, tensor in model.state_dict().items()})

    fit(FastStep(model, TrainingConfig()), batches, updates, lambda update: rate(update, schedule, updates), keep)
    return checkpoints


def mean_of(states: Sequence[StateDict]) -> dict[str, Tensor]:
    """The mean of weights, summed in float64 as `average_checkpoints` does."""
    return {name: (sum(s[name].double() for s in states) / len(states)).float() for name in states[0]}  # type: ignore[union-attr]


def between(start: StateDict, end: StateDict, t: float) -> dict[str, Tensor]:
    """The weights (1 - t) start + t end: a straight line, that goes on beyond its two ends."""
    return {name: (1 - t) * start[name] + t * end[name] for name in start}


def with_weights(state: StateDict, config: ModelConfig = CONFIG) -> Transformer:
    """A model with these weights, in evaluation mode."""
    model = Transformer(config)
    model.load_state_dict(dict(state))
    return model.eval()


def loss_of(model: nn.Module, pairs: Sequence[tuple[str, str]], tokenizer: Any) -> float:
    """Nats a token on unseen sentences, without smoothing; for a model or an ensemble."""
    layout: Literal["padded", "packed"] = "packed" if isinstance(model, Transformer) else "padded"
    return round(perplexity(model, tokenizer, pairs, layout=layout).loss, 4)  # type: ignore[arg-type]


@cache
def classroom(split: Literal["train", "valid", "test"], count: int = SENTENCES) -> list[tuple[str, str]]:
    """Pairs of short texts of the classroom corpus."""
    drawn = classroom_pairs(split, 4 * count)
    return [(p.source, p.target) for p in drawn if len(p.source_words) <= LONGEST][:count]


def scores(model: Any) -> dict[str, float]:
    """Loss on the validation set, BLEU of greedy translations of the test set, and milliseconds per sentence."""
    tokenizer, test = load("classroom").tokenizer, classroom("test")
    translator = Translator(model, tokenizer)
    start = time.process_time()
    texts = translator.translate([source for source, _ in test], beam_size=1)
    spent = time.process_time() - start
    return {
        "loss": loss_of(model, classroom("valid"), tokenizer),
        "bleu": round(bleu(texts, [reference for _, reference in test]).bleu, 2),
        "milliseconds": round(1000 * spent / len(test), 1),
    }


def line(start: StateDict, end: StateDict, loss: Callable[[StateDict], float], stride: int = 1) -> list[float]:
    """The loss at the places `LINE` (every `stride`-th) of the line from `start` (0) to `end` (1)."""
    return [loss(between(start, end, t)) for t in LINE[::stride]]


def _classroom_results() -> dict[str, Any]:
    tokenizer, valid = load("classroom").tokenizer, classroom("valid")
    runs = {f"paper {seed}": train(seed) for seed in SEEDS}
    runs |= {f"{schedule} 0": train(0, schedule) for schedule in SCHEDULES[1:]}
    papers = [runs[f"paper {seed}"] for seed in SEEDS]

    def loss(state: StateDict) -> float:
        return loss_of(with_weights(state), valid, tokenizer)

    last_k, each = {}, {}
    for name, states in runs.items():
        each[name] = [loss(state) for state in states]
        last_k[name] = [scores(with_weights(mean_of(states[-k:]))) for k in range(1, KEPT + 1)]
    averages = [mean_of(states[-5:]) for states in papers]
    members = [with_weights(state) for state in averages]
    groups = ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2))
    together = [{"seeds": group, **scores(Ensemble([members[s] for s in group]))} for group in groups]
    geometric = {"seeds": (0, 1, 2), **scores(Ensemble(members, mean="geometric"))}
    garbage = [{"seeds": group, **scores(with_weights(mean_of([averages[s] for s in group])))} for group in groups[3:]]
    five = scores(Ensemble([with_weights(state) for state in papers[0][-5:]]))
    return {
        "signature": bleu(["a"], ["a"]).signature,
        "each": each,
        "last_k": last_k,
        "within": {str(s): line(papers[s][0], papers[s][-1], loss) for s in SEEDS},
        "between": {f"{a} {b}": line(averages[a], averages[b], loss) for a, b in ((0, 1), (0, 2), (1, 2))},
        "single_ensembles": together,
        "geometric": geometric,
        "weights_of_seeds_averaged": garbage,
        "ensemble_of_last_five": five,
    }


def _real_results(sentences: int = 200) -> dict[str, Any]:
    folder = run_folder()
    paths, valid = list_checkpoints(folder), real_pairs("valid", sentences)
    loaded = [load_model(path) for path in paths]
    tokenizer, config = loaded[0][1], loaded[0][0].config
    states = [model.state_dict() for model, _ in loaded]

    def loss(state: StateDict) -> float:
        return loss_of(with_weights(state, config), valid, tokenizer)

    return {
        "updates": [int(path.name.split("-")[1]) for path in paths],
        "sentences": sentences,
        "each": [loss(state) for state in states],
        "last_k": [loss(mean_of(states[-k:])) for k in range(1, len(states) + 1)],
        "within": line(states[0], states[-1], loss, stride=2),
        "ensemble": loss_of(Ensemble([model for model, _ in loaded]), valid, tokenizer),
    }


def run() -> dict[str, Any]:
    """Three schedules and three seeds on the classroom corpus; the five checkpoints of the run on real text."""
    torch.set_num_threads(1)
    settings = {"updates": UPDATES, "every": EVERY, "batch_tokens": BATCH_TOKENS, "pairs": PAIRS}
    rates = {s: [rate(u, s) for u in (200, UPDATES - EVERY * (KEPT - 1), UPDATES)] for s in SCHEDULES}
    return {
        "config": CONFIG.to_dict(),
        "parameters": Transformer(CONFIG).num_parameters(),
        "settings": {**settings, "sentences": SENTENCES, "rates": rates},
        "line": LINE,
        "real": _real_results(),
        "classroom": _classroom_results(),
    }
