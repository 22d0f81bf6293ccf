"""The copy task, learned by models with known mistakes: what a toy task tells of them, and what the doctor tells.

Paper: none; the toy task is that of The Annotated Transformer
"""

from __future__ import annotations

import contextlib
from typing import Any

import torch
from torch import Tensor

from annotated.config import BOS, EOS, TrainingConfig, tiny
from annotated.decoding import greedy_decode
from annotated.doctor import doctor
from annotated.doctor.mutants import find, switched_on
from annotated.model import Transformer
from annotated.training.loss import label_smoothed_cross_entropy
from annotated.training.optimizer import make_optimizer
from annotated.training.schedule import learning_rate, set_learning_rate

SYMBOLS, LENGTH, FIRST = 10, 10, 4
"""Rows of LENGTH symbols, which are the ids FIRST .. FIRST + SYMBOLS - 1: all rows are equally long, as in the toy."""
UPDATES, ROWS, WARMUP = 400, 32, 100
BUGS = (
    "positions_multiplied",
    "padding_seen_by_encoder",
    "encoder_is_causal",
    "layers_are_one",
    "scale_by_root_d_model",
    "dropout_missing_in_layers",
)
SEEDS = (0, 1)


def rows(count: int, generator: torch.Generator) -> Tensor:
    """Random rows to copy, `[count, LENGTH]`."""
    return torch.randint(FIRST, FIRST + SYMBOLS, (count, LENGTH), generator=generator)


def toy_model(bug: str | None = None, *, seed: int = 0, updates: int = UPDATES) -> tuple[Transformer, list[float]]:
    """Train a small model to copy rows of symbols, with a mistake of the doctor's bank if one is named.

    Parameters
    ----------
    bug
        Id of a mutant (`annotated.doctor.mutants`); whoever uses the model must switch it on, too.

    Returns
    -------
    model, losses
        In evaluation mode; and the loss of each update, in nats a token.

    Paper: none
    """
    with switched_on(bug) if bug else contextlib.nullcontext():
        torch.manual_seed(seed)
        generator = torch.Generator().manual_seed(100 + seed)
        shape = {"d_model": 32, "d_ff": 64, "num_heads": 2, "d_k": 16, "d_v": 16}
        layers = {"num_encoder_layers": 2, "num_decoder_layers": 2}
        model = Transformer(tiny(vocab_size=FIRST + SYMBOLS, dropout=0.1, **shape, **layers))
        optimizer, losses = make_optimizer(model, TrainingConfig()), []
        for update in range(1, updates + 1):
            set_learning_rate(optimizer, learning_rate(update, 32, WARMUP))
            loss = row_loss(model, rows(ROWS, generator))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(float(loss.detach()))
    return model.eval(), losses


def row_loss(model: Transformer, row: Tensor) -> Tensor:
    """Nats a token of copying `[B, LENGTH]`, eos included."""
    ends = torch.full((len(row), 1), EOS)
    reads = torch.cat([torch.full((len(row), 1), BOS), row], dim=1)
    target = torch.cat([row, ends], dim=1)
    total, count = label_smoothed_cross_entropy(model(target, reads), target, 0.0)
    return total / count


def toy_scores(model: Transformer, *, seed: int = 0, count: int = 200) -> dict[str, float]:
    """On new rows: the loss, and the share of rows that greedy decoding copies without a fault."""
    row = rows(count, torch.Generator().manual_seed(10_000 + seed))
    with torch.no_grad():
        loss = float(row_loss(model, row))
    copies = greedy_decode(model, torch.cat([row, torch.full((count, 1), EOS)], dim=1))
    right = sum(h.tokens == wanted for h, wanted in zip(copies, row.tolist(), strict=True))
    return {"loss": round(loss, 5), "copied": right / count}


def run() -> dict[str, Any]:
    """The right model and each mistake: scores on the toy task for each seed, and what the doctor finds."""
    results: dict[str, Any] = {}
    for bug in (None, *BUGS):
        scores, findings = [], {}
        for seed in SEEDS:
            model, _ = toy_model(bug, seed=seed)
            with switched_on(bug) if bug else contextlib.nullcontext():
                scores.append(toy_scores(model, seed=seed))
                if seed == SEEDS[0]:
                    report = doctor(model)
                    findings = {f.id: f.measured for f in report.findings if f.outcome in ("failed", "error")}
        sentence = find(bug).sentence if bug else "No mistake."
        results[bug or "right"] = {"sentence": sentence, "scores": scores, "findings": findings}
    return {"symbols": SYMBOLS, "length": LENGTH, "updates": UPDATES, "models": results}
