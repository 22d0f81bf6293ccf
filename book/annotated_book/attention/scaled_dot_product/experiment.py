"""Divisors compared in training: one attention head learns to look two places back, its scores divided in three ways.

The projections start so that queries and keys have entries of mean 0 and variance 1, as the footnote of section 3.2.1
assumes. So the dot products start with variance d_k.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from annotated.model.positional_encoding import sinusoidal_encoding

TOKENS, LENGTH, OFFSET = 16, 16, 2
D_MODEL = 64
WIDTHS = (16, 64, 256)  # d_k
DIVISORS = {"1": 0.0, "√d_k": 0.5, "d_k": 1.0}  # as powers of d_k
STEPS, EVERY = 300, 10
SEEDS = range(3)


class LookBack(nn.Module):
    """Embedding plus sinusoids, one attention head of width d_k, and a linear read-out."""

    def __init__(self, d_k: int, power: float) -> None:
        super().__init__()
        self.divisor = d_k**power
        self.embedding = nn.Embedding(TOKENS, D_MODEL)
        self.register_buffer("positions", sinusoidal_encoding(LENGTH, D_MODEL))
        self.norm = nn.LayerNorm(D_MODEL)
        self.w_q, self.w_k = nn.Linear(D_MODEL, d_k, bias=False), nn.Linear(D_MODEL, d_k, bias=False)
        for projection in (self.w_q, self.w_k):
            nn.init.normal_(projection.weight, std=D_MODEL**-0.5)
        self.read_out = nn.Linear(D_MODEL, TOKENS)

    def scores(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Divided scores `[B, T, T]`, and the vectors `[B, T, D]` that they were made from."""
        x = self.norm(self.embedding(tokens) + self.positions)
        return self.w_q(x) @ self.w_k(x).mT / self.divisor, x

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits `[B, T, 16]` of the token two places back, from token ids `[B, T]`."""
        scores, x = self.scores(tokens)
        return self.read_out(scores.softmax(-1) @ x)


def losses(d_k: int, power: float, seed: int, steps: int = STEPS) -> list[float]:
    """Train, and return the loss in nats per token, averaged over every ten updates."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = LookBack(d_k, power)
    generator = torch.Generator().manual_seed(1000 + seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    found = []
    for _ in range(steps):
        tokens = torch.randint(TOKENS, (32, LENGTH), generator=generator)
        logits = model(tokens)[:, OFFSET:]
        loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, :-OFFSET].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        found.append(loss.detach())
    return [round(float(part.mean()), 4) for part in torch.stack(found).split(EVERY)]


def run() -> dict[str, Any]:
    """For each width and divisor the curves of three seeds."""
    torch.set_num_threads(1)
    curves = {
        str(d_k): {name: [losses(d_k, power, seed) for seed in SEEDS] for name, power in DIVISORS.items()}
        for d_k in WIDTHS
    }
    return {"settings": {"steps": STEPS, "every": EVERY, "tokens": TOKENS}, "curves": curves}
