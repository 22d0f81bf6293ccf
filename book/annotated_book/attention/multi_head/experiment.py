"""Heads compared on four offsets at once: concatenated, averaged and single heads, with and without W_O.

Every position of a random sequence has to name the tokens one, two, three and four places before it. The network is
one attention layer between an embedding and a linear read-out, so that nothing but the heads can fetch. W_O is left out
twice: once before a read-out that is trained, and once before one that stays as it was drawn. Two sweeps follow Table
3: the number of heads at constant cost (rows A), and the width of the keys (rows B).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from annotated.model.attention import scaled_dot_product_attention
from annotated.model.positional_encoding import sinusoidal_encoding

OFFSETS = (1, 2, 3, 4)
TOKENS = 16  # kinds of tokens: a blind guess is right once in 16
LENGTH = 16
STEPS = 1000
LONG = 3000  # steps of the second look at arms that stay behind
REACH = 8  # distances over which the weights of the single head are recorded
SEEDS = range(5)
FEW_SEEDS = range(3)  # for the sweeps


class Arm(NamedTuple):
    """A way to attend: how many heads, how wide their keys and values, and how their outputs are joined.

    `w_o` False leaves the output projection out; `fixed` keeps the read-out as it was drawn.
    """

    heads: int
    d_k: int
    d_v: int
    join: Literal["concat", "mean"] = "concat"
    d_model: int = 64
    w_o: bool = True
    fixed: bool = False


ARMS = {
    "concatenated": Arm(4, 16, 16),
    "averaged, narrow": Arm(4, 16, 16, "mean"),
    "averaged, full width": Arm(4, 64, 64, "mean"),
    "one head": Arm(1, 64, 64),
}
PROJECTION = {
    "read-out trained": {"with W_O": Arm(4, 16, 16), "without W_O": Arm(4, 16, 16, w_o=False)},
    "read-out fixed": {
        "with W_O": Arm(4, 16, 16, fixed=True),
        "without W_O": Arm(4, 16, 16, w_o=False, fixed=True),
    },
}
SMALL = 32  # d_model of the sweeps: small enough for narrow heads to get too narrow
HEADS = (1, 2, 4, 8, 16, 32)
KEY_WIDTHS, KEY_HEADS = (1, 2, 4, 8), 8


class Retriever(nn.Module):
    """Embedding plus sinusoids, one attention layer, and a linear read-out for each offset."""

    def __init__(self, arm: Arm) -> None:
        super().__init__()
        self.arm, d_model = arm, arm.d_model
        self.embedding = nn.Embedding(TOKENS, d_model)
        self.register_buffer("positions", sinusoidal_encoding(LENGTH, d_model))
        self.w_q = nn.Linear(d_model, arm.heads * arm.d_k, bias=False)
        self.w_k = nn.Linear(d_model, arm.heads * arm.d_k, bias=False)
        self.w_v = nn.Linear(d_model, arm.heads * arm.d_v, bias=False)
        joined = arm.heads * arm.d_v if arm.join == "concat" else arm.d_v
        self.w_o = nn.Linear(joined, d_model, bias=False) if arm.w_o else nn.Identity()
        self.read_out = nn.Linear(d_model, len(OFFSETS) * TOKENS)
        if arm.fixed:
            nn.init.normal_(self.read_out.weight, std=d_model**-0.5)
            self.read_out.requires_grad_(False)

    def attend(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Outputs `[B, H, T, d_v]` and weights `[B, H, T, T]` of all heads."""
        q, k, v = (
            w(x).unflatten(-1, (self.arm.heads, -1)).transpose(1, 2)  # [B, H, T, K]
            for w in (self.w_q, self.w_k, self.w_v)
        )
        return scaled_dot_product_attention(q, k, v)

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits `[B, T, 4, 16]` of the tokens at the four offsets, from token ids `[B, T]`."""
        heads, _ = self.attend(self.embedding(tokens) + self.positions)
        joined = heads.transpose(1, 2).flatten(2) if self.arm.join == "concat" else heads.mean(1)
        return self.read_out(self.w_o(joined)).unflatten(-1, (len(OFFSETS), TOKENS))


def draw(batch: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Random sequences `[B, 16]`, and for each position from the fifth on the tokens before it, `[B, 12, 4]`."""
    tokens = torch.randint(TOKENS, (batch, LENGTH), generator=generator)
    first = max(OFFSETS)
    return tokens, torch.stack([tokens[:, first - o : LENGTH - o] for o in OFFSETS], dim=-1)


def train(arm: Arm, seed: int = 0, steps: int = STEPS, batch: int = 32) -> tuple[Retriever, torch.Generator]:
    """Train an arm; returns the model, and the generator from which new sequences are drawn."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Retriever(arm)
    generator = torch.Generator().manual_seed(1000 + seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.02, total_steps=steps)
    for _ in range(steps):
        tokens, wanted = draw(batch, generator)
        logits = model(tokens)[:, max(OFFSETS) :]
        loss = F.cross_entropy(logits.flatten(0, 2), wanted.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return model, generator


def accuracy(arm: Arm, seed: int = 0, steps: int = STEPS) -> list[float]:
    """Train an arm and return, for each of the four offsets, its share of right answers on new sequences."""
    model, generator = train(arm, seed, steps)
    with torch.no_grad():
        tokens, wanted = draw(1000, generator)
        right = model(tokens)[:, max(OFFSETS) :].argmax(-1) == wanted
    return right.float().mean((0, 1)).tolist()


def trials(arm: Arm, seeds: Sequence[int] = SEEDS, steps: int = STEPS) -> dict[str, Any]:
    """An arm with several seeds: mean accuracy of each seed, and of each offset over all seeds."""
    found = torch.tensor([accuracy(arm, seed, steps) for seed in seeds], dtype=torch.float64)
    return {
        **arm._asdict(),
        "accuracy": [round(a, 4) for a in found.mean(1).tolist()],
        "by_offset": [round(a, 4) for a in found.mean(0).tolist()],
    }


def weights_by_distance(arm: Arm, seed: int) -> list[float]:
    """The mean weight that a trained arm's first head puts on the token 0, 1, ... REACH - 1 places back."""
    model, generator = train(arm, seed)
    with torch.no_grad():
        tokens, _ = draw(200, generator)
        _, weights = model.attend(model.embedding(tokens) + model.positions)
    late = weights[:, 0, REACH - 1 :]  # queries that have all these distances
    found = [torch.stack([late[:, t, REACH - 1 + t - back] for t in range(late.size(1))]) for back in range(REACH)]
    return [round(float(w.mean()), 4) for w in found]


def run() -> dict[str, Any]:
    """The arms, W_O left out, and the two sweeps: h with d_k = d_v = d_model / h, and d_k at eight heads."""
    torch.set_num_threads(1)
    by_heads = {str(h): trials(Arm(h, SMALL // h, SMALL // h, d_model=SMALL), FEW_SEEDS) for h in HEADS}
    by_width = {str(k): trials(Arm(KEY_HEADS, k, SMALL // KEY_HEADS, d_model=SMALL), FEW_SEEDS) for k in KEY_WIDTHS}
    return {
        "settings": {"tokens": TOKENS, "length": LENGTH, "steps": STEPS, "long": LONG},
        "arms": {name: trials(arm) for name, arm in ARMS.items()},
        "long": trials(ARMS["averaged, narrow"], FEW_SEEDS, LONG),
        "one_head": [weights_by_distance(ARMS["one head"], seed) for seed in SEEDS],
        "projection": {read: {name: trials(arm) for name, arm in both.items()} for read, both in PROJECTION.items()},
        "projection_long": trials(PROJECTION["read-out fixed"]["without W_O"], FEW_SEEDS, LONG),
        "heads": by_heads,
        "d_k": by_width,
    }
