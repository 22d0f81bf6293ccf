"""Noise test for leaks: on random targets the loss of a decoder stays at ln V, and is below it only if it cheats."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from annotated.analysis.leaks import masked_by
from annotated.config import EOS, TrainingConfig, tiny
from annotated.model import Transformer

VOCABULARY, LENGTH, FIRST = 16, 10, 4
"""The tokens of the noise are the ids FIRST .. FIRST + VOCABULARY - 1; LENGTH of them are predicted at once."""
FILLS: dict[str, float | None] = {"-inf": -math.inf, "-1e4": -1e4, "-1e-12": -1e-12, "no mask": None}
SEEDS = (0, 1, 2)


def stream(rows: int, kind: str, generator: torch.Generator) -> Tensor:
    """Random tokens `[rows, LENGTH + 2]`: 'independent', or a 'chain': each is the last plus one or plus two."""
    if kind == "independent":
        steps = torch.randint(VOCABULARY, (rows, LENGTH + 2), generator=generator)
        return steps + FIRST
    steps = torch.randint(1, 3, (rows, LENGTH + 2), generator=generator)
    steps[:, 0] = torch.randint(VOCABULARY, (rows,), generator=generator)
    return steps.cumsum(1) % VOCABULARY + FIRST


def windows(tokens: Tensor, shift: int) -> tuple[Tensor, Tensor]:
    """What the decoder reads and what it has to write, `[rows, LENGTH]` each: the same stream, `shift` apart."""
    return tokens[:, 2 - shift : 2 - shift + LENGTH], tokens[:, 2:]


def train_on_noise(
    fill: float | None = -math.inf, shift: int = 1, kind: str = "independent", *, updates: int = 400, seed: int = 0
) -> dict[str, Any]:
    """Train a small decoder on noise, and score it on noise that it has not seen.

    Parameters
    ----------
    fill
        What hides the future (`masked_by`).
    shift
        How many places the decoder's input lags behind its output; the paper's is 1.
    kind
        As in `stream`.

    Returns
    -------
    dict
        'loss' in nats a token, 'accuracy', and 'by_position', the loss at each of the LENGTH positions.
    """
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(1000 + seed)
    shape = {"d_model": 64, "d_k": 16, "d_v": 16, "d_ff": 128, "num_encoder_layers": 1, "num_decoder_layers": 2}
    model = Transformer(tiny(vocab_size=FIRST + VOCABULARY, dropout=0.0, norm="pre", **shape))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3, betas=TrainingConfig.adam_betas)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, total_steps=updates)

    def losses(rows: int) -> tuple[Tensor, Tensor]:
        read, write = windows(stream(rows, kind, generator), shift)
        source = torch.full((rows, 1), EOS)  # the source says nothing
        logits = model(source, read)
        loss = torch.nn.functional.cross_entropy(logits.transpose(1, 2), write, reduction="none")
        return loss, logits.argmax(-1) == write

    with masked_by(fill):
        for _ in range(updates):
            loss, _ = losses(64)
            optimizer.zero_grad()
            loss.mean().backward()
            optimizer.step()
            schedule.step()
        with torch.no_grad():
            loss, right = losses(1000)
    by_position = [round(x, 4) for x in loss.mean(0).tolist()]
    return {"loss": float(loss.mean()), "accuracy": float(right.float().mean()), "by_position": by_position}


def run() -> dict[str, Any]:
    """Fills; mask and shift each with and without; and shifts of 0, 1 and 2 on a chain: three seeds each."""
    fills = {name: [train_on_noise(fill, seed=seed) for seed in SEEDS] for name, fill in FILLS.items()}
    square = {
        f"{mask}, shift {shift}": [train_on_noise(FILLS[mask], shift, seed=seed) for seed in SEEDS]
        for mask in ("-inf", "no mask")
        for shift in (0,)
    }
    for mask in ("-inf", "no mask"):  # with the shift: the runs above
        square[f"{mask}, shift 1"] = fills[mask]
    chain = {
        str(shift): [train_on_noise(-math.inf, shift, "chain", seed=seed) for seed in SEEDS] for shift in (0, 1, 2)
    }
    return {"vocabulary": VOCABULARY, "length": LENGTH, "fills": fills, "square": square, "chain": chain}
