"""The copy task, learned by models with known mistakes: what a toy task tells of them, and what the doctor tells."""

from __future__ import annotations

import contextlib
from typing import Any

import torch
from torch import Tensor

from annotated.config import TrainingConfig, tiny
from annotated.data import Batch, collate_ids
from annotated.decoding import greedy_decode
from annotated.model import Transformer
from annotated.speed.steps import FastStep
from annotated.training.loss import batch_loss
from annotated.training.schedule import learning_rate
from annotated.training.update import fit
from annotated_grader.doctor import doctor
from annotated_grader.doctor.mutants import find, switched_on

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
        Id of a mutant (`annotated_grader.doctor.mutants`); to use the model, switch it on, too.

    Returns
    -------
    model, losses
        In evaluation mode; and the loss of each update, in nats a token.
    """
    with switched_on(bug) if bug else contextlib.nullcontext():
        torch.manual_seed(seed)
        generator = torch.Generator().manual_seed(100 + seed)
        shape = {"d_model": 32, "d_ff": 64, "num_heads": 2, "d_k": 16, "d_v": 16}
        layers = {"num_encoder_layers": 2, "num_decoder_layers": 2}
        model = Transformer(tiny(vocab_size=FIRST + SYMBOLS, dropout=0.1, **shape, **layers))
        batches = (copies(rows(ROWS, generator)) for _ in range(updates))
        training = TrainingConfig(label_smoothing=0.0, layout="padded")
        losses = fit(FastStep(model, training), batches, updates, lambda update: learning_rate(update, 32, WARMUP))
    return model.eval(), losses


def copies(row: Tensor) -> Batch:
    """Rows `[B, LENGTH]` as sentence pairs whose source and target are the same."""
    return collate_ids([(ids, ids) for ids in row.tolist()])


def toy_scores(model: Transformer, *, seed: int = 0, count: int = 200) -> dict[str, float]:
    """On new rows: the loss, and the share of rows that greedy decoding copies without a fault."""
    row = rows(count, torch.Generator().manual_seed(10_000 + seed))
    with torch.no_grad():
        total, tokens = batch_loss(model, copies(row), 0.0)
    written = greedy_decode(model, copies(row).source)
    right = sum(h.tokens == wanted for h, wanted in zip(written, row.tolist(), strict=True))
    return {"loss": round(float(total / tokens), 5), "copied": right / count}


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
