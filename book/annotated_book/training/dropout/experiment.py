"""Dropout rates and sites compared: training and validation loss on few sentences, two seeds each."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch

from annotated.classroom import classroom_pairs
from annotated.config import ModelConfig, TrainingConfig, tiny
from annotated.data import TokenBatches, TokenStore, evaluation_batches
from annotated.loading import load
from annotated.model import Transformer
from annotated.speed.steps import FastStep, packed_loss
from annotated.training.update import fit

CONFIG = tiny(vocab_size=2000, d_model=64, d_ff=256, d_k=16, d_v=16, num_encoder_layers=1, num_decoder_layers=1)
PAIRS, BATCH_TOKENS, UPDATES, BLOCK, RATE, WARMUP = 2000, 1000, 800, 40, 3e-3, 100
RUNS = (
    ("as written", 0.0),
    ("as written", 0.1),
    ("as written", 0.3),
    ("as written", 0.5),
    ("attention only", 0.3),
    ("all sites", 0.3),
)
"""Where dropout is applied, and its rate: sites as in `site_config`."""


def site_config(site: str, p: float, config: ModelConfig = CONFIG) -> ModelConfig:
    """The configuration with dropout of rate p at some sites, and none elsewhere.

    Parameters
    ----------
    site
        'as written' (outputs of sub-layers, sums of embeddings and positions), 'attention only' (weights),
        'ReLU only' (inside the feed-forward network) or 'all sites'.

    Raises
    ------
    ValueError
        If there is no such site.
    """
    fields = {
        "as written": ("dropout",),
        "attention only": ("attention_dropout",),
        "ReLU only": ("feed_forward_dropout",),
        "all sites": ("dropout", "attention_dropout", "feed_forward_dropout"),
    }
    if site not in fields:
        raise ValueError(f"site must be one of {', '.join(fields)}, not {site!r}")
    none = dict.fromkeys(fields["all sites"], 0.0)
    return config.replace(**{**none, **dict.fromkeys(fields[site], p)})


@cache
def sentences(split: str, count: int) -> TokenStore:
    """Classroom pairs, encoded with the shipped tokenizer."""
    encode = load("classroom").tokenizer.encode
    pairs = classroom_pairs(split, count)  # type: ignore[arg-type]
    return TokenStore.from_ids([(encode(p.source), encode(p.target)) for p in pairs], 2000)


@torch.no_grad()
def loss_on(model: Transformer, store: TokenStore) -> float:
    """Loss in nats a token, without dropout; the model is left in training mode."""
    model.eval()
    sums = [packed_loss(model, batch, 0.0) for batch in evaluation_batches(store, 4000)]
    model.train()
    return sum(total.item() for total, _ in sums) / sum(count for _, count in sums)


def curve(site: str, p: float, seed: int = 0, updates: int = UPDATES, block: int = BLOCK) -> dict[str, Any]:
    """One run on `PAIRS` sentence pairs, without label smoothing.

    Returns
    -------
    dict
        The settings, and three curves in nats a token with a number every `block` updates: `noisy`, the mean loss of
        the training batches as it is minimised, dropout included; `train`, the loss on some of the same pairs without
        dropout; `valid`, the same on pairs never trained on.
    """
    # Loaded before the seed is set: loading draws random numbers of its own.
    stores = sentences("train", PAIRS), sentences("train", 200), sentences("valid", 200)
    torch.manual_seed(seed)
    model = Transformer(site_config(site, p))
    batches = TokenBatches(stores[0], BATCH_TOKENS, seed=seed, pool_pairs=PAIRS)
    result: dict[str, Any] = {"site": site, "p": p, "seed": seed, "noisy": [], "train": [], "valid": []}
    losses: list[float] = []

    def look(update: int, loss: float) -> None:
        losses.append(loss)
        if update % block == 0:
            result["noisy"].append(round(sum(losses[-block:]) / block, 4))
            result["train"].append(round(loss_on(model, stores[1]), 4))
            result["valid"].append(round(loss_on(model, stores[2]), 4))

    def rate(update: int) -> float:
        return RATE * min(update / WARMUP, (WARMUP / update) ** 0.5)

    fit(FastStep(model, TrainingConfig(label_smoothing=0.0)), batches, updates, rate, look)
    return result


def run(seeds: int = 2) -> dict[str, Any]:
    """All rates and places."""
    torch.set_num_threads(1)
    return {
        "config": CONFIG.to_dict(),
        "pairs": PAIRS,
        "batch_tokens": BATCH_TOKENS,
        "updates": UPDATES,
        "block": BLOCK,
        "runs": [curve(site, p, seed) for site, p in RUNS for seed in range(seeds)],
    }
