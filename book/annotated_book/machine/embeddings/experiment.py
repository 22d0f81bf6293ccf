"""One small model trained with and without the factor √d_model, its three matrices shared or separate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch.optim import Adam

from annotated.config import ModelConfig, TrainingConfig
from annotated.data import Batch, TokenBatches, Tokenizer, TokenStore, evaluation_batches
from annotated.model import TokenEmbedding, Transformer
from annotated.speed.steps import packed_loss
from annotated.training.optimizer import make_optimizer
from annotated.training.schedule import learning_rate
from annotated_book.training.first_run.experiment import LEAKY_PAIRS, LEAKY_WORDS, short_pairs, small_model
from annotated_book.training.first_run.memorisation import plain_loss

RECIPE = TrainingConfig(updates=400, batch_tokens=1000, warmup=200, device="cpu")
"""That of the loop of chapter 22, half as long."""
SEEDS = (1, 2, 3)
EVERY, HELD_OUT, VOCABULARY = 50, 300, 800
LONG = 1600
"""Updates of two runs more, which show whether time repairs what the factor is for."""


@dataclass(frozen=True)
class Way:
    """How tokens enter a model: the paper's way is `Way(tied=True, factor=True)`."""

    tied: bool
    factor: bool
    rows: bool = False
    """The rows of the matrices of the way in start √d_model times as long."""
    positions: bool = False
    """The encodings of positions are divided by √d_model."""
    rate: bool = False
    """The matrices of the way in have a learning rate √d_model times as high."""


WAYS = {
    "tied, with": Way(tied=True, factor=True),
    "tied, without": Way(tied=True, factor=False),
    "tied, without, positions divided": Way(tied=True, factor=False, positions=True),
    "separate, with": Way(tied=False, factor=True),
    "separate, without, longer rows": Way(tied=False, factor=False, rows=True),
    "separate, without, longer rows, higher rate": Way(tied=False, factor=False, rows=True, rate=True),
}


def built(config: ModelConfig, way: Way, seed: int) -> Transformer:
    """A model whose tokens enter in this way; for one seed all ways start from the same random numbers."""
    torch.manual_seed(seed)
    model = Transformer(config)
    if not way.tied:
        state = dict(model.state_dict())
        for name in ("target_embedding.weight", "output_embedding.weight"):
            state[name] = state["embedding.weight"].clone()
        model = Transformer(config.replace(tie_embeddings=False))
        model.load_state_dict(state)
    root = config.d_model**0.5
    for table in entering(model):
        if not way.factor:
            table.scale = 1.0
        if way.rows:
            table.weight.data.mul_(root)
    if way.positions:
        model.positions.table.div_(root)
    return model


def entering(model: Transformer) -> list[TokenEmbedding]:
    """The matrices that tokens enter by: one if it is shared, else that of the source and that of the target."""
    return [model.embedding] if model.config.tie_embeddings else [model.embedding, model.target_embedding]


def optimizer_of(model: Transformer, way: Way) -> tuple[Adam, list[float]]:
    """Adam, and by how much the rate of each of its groups of parameters is multiplied."""
    optimizer = make_optimizer(model, RECIPE)
    if not way.rate:
        return optimizer, [1.0]
    inward = [table.weight for table in entering(model)]
    group, names = optimizer.param_groups[0], {id(weight) for weight in inward}
    group["params"] = [parameter for parameter in group["params"] if id(parameter) not in names]
    optimizer.add_param_group({"params": inward})
    return optimizer, [1.0, model.config.d_model**0.5]


def trained(
    model: Transformer, way: Way, data: TokenStore, held_out: list[Batch], *, seed: int, updates: int = RECIPE.updates
) -> list[list[float]]:
    """Train by the loop of chapter 22; [update, validation loss in nats per token] every `EVERY` updates."""
    optimizer, factors = optimizer_of(model, way)
    batches = TokenBatches(data, RECIPE.batch_tokens, seed=seed, pool_pairs=262_144)
    found = []
    for update in range(1, updates + 1):
        rate = learning_rate(update, model.config.d_model, RECIPE.warmup)
        for group, factor in zip(optimizer.param_groups, factors, strict=True):
            group["lr"] = rate * factor
        loss, tokens = packed_loss(model, next(batches), RECIPE.label_smoothing)
        (loss / tokens).backward()
        optimizer.step()
        optimizer.zero_grad()
        if update % EVERY == 0:
            found.append([update, round(plain_loss(model, held_out), 4)])
    return found


def run() -> dict[str, Any]:
    """Every way with every seed; and the paper's way with and without the factor, four times as long."""
    torch.set_num_threads(1)
    pairs, unseen = short_pairs("train", LEAKY_PAIRS, LEAKY_WORDS), short_pairs("valid", HELD_OUT, LEAKY_WORDS)
    tokenizer = Tokenizer.train([text for pair in pairs for text in pair], VOCABULARY)

    def encoded(some: list[tuple[str, str]]) -> TokenStore:
        return TokenStore.from_ids([(tokenizer.encode(source), tokenizer.encode(target)) for source, target in some])

    config = small_model().replace(vocab_size=tokenizer.vocab_size)
    data, held_out = encoded(pairs), list(evaluation_batches(encoded(unseen), RECIPE.batch_tokens, "packed"))

    def losses(way: Way, seed: int, updates: int = RECIPE.updates) -> list[list[float]]:
        return trained(built(config, way, seed), way, data, held_out, seed=seed, updates=updates)

    ways = {name: {str(seed): losses(way, seed) for seed in SEEDS} for name, way in WAYS.items()}
    long = {name: losses(WAYS[name], SEEDS[0], LONG) for name in ("tied, with", "tied, without")}
    return {"d_model": config.d_model, "updates": RECIPE.updates, "pairs": len(pairs), "ways": ways, "long": long}
