"""Heads compared on four offsets at once: concatenated, averaged and single heads, with and without W_O.

Every position of a random sequence has to name the tokens one, two, three and four places before it. The network is
one attention layer between an embedding and a read-out that works on each position alone, so that nothing but the heads
can fetch. The read-out is a single matrix, or has the hidden layer of the paper's feed-forward network before that
matrix; a control has the two matrices without the ReLU between them. W_O is left out before read-outs that are trained
and before one that stays as it was drawn. Two sweeps follow Table 3: the number of heads at constant cost (rows A), and
the width of the keys (rows B).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
MANY = 64  # kinds of tokens of a harder task

READ_OUTS: tuple[str, ...] = ("linear", "hidden")


class Arm(NamedTuple):
    """A way to attend: how many heads, how wide their keys and values, and how their outputs are joined.

    `w_o` False leaves the output projection out. `read_out` is what names the tokens: one matrix, one with a hidden
    layer before it, the same two matrices without the ReLU between them, or one matrix that stays as it was drawn.
    `tokens` is how many kinds of tokens a sequence is drawn from.
    """

    heads: int
    d_k: int
    d_v: int
    join: Literal["concat", "mean"] = "concat"
    d_model: int = 64
    w_o: bool = True
    read_out: str = "linear"
    tokens: int = TOKENS


ARMS = {
    "concatenated": Arm(4, 16, 16),
    "averaged, narrow": Arm(4, 16, 16, "mean"),
    "averaged, full width": Arm(4, 64, 64, "mean"),
    "one head": Arm(1, 64, 64),
}
TRAINED_OR_NOT: tuple[str, ...] = (*READ_OUTS, "fixed")
PROJECTION = {
    read: {"with W_O": Arm(4, 16, 16, read_out=read), "without W_O": Arm(4, 16, 16, w_o=False, read_out=read)}
    for read in TRAINED_OR_NOT
}
SMALL = 32  # d_model of the sweeps: small enough for narrow heads to get too narrow
HEADS = (1, 2, 4, 8, 16, 32)
KEY_WIDTHS, KEY_HEADS = (1, 2, 4, 8), 8


def read_out(arm: Arm) -> nn.Module:
    """What turns the vector of a position into the logits of its four tokens."""
    kind, d_model, logits = arm.read_out, arm.d_model, len(OFFSETS) * arm.tokens
    if kind in ("hidden", "two matrices"):
        between = nn.ReLU() if kind == "hidden" else nn.Identity()
        return nn.Sequential(nn.Linear(d_model, 4 * d_model), between, nn.Linear(4 * d_model, logits))
    last = nn.Linear(d_model, logits)
    if kind == "fixed":
        nn.init.normal_(last.weight, std=d_model**-0.5)
        last.requires_grad_(False)
    return last


class Retriever(nn.Module):
    """Embedding plus sinusoids, one attention layer, and a read-out that sees each position alone."""

    def __init__(self, arm: Arm) -> None:
        super().__init__()
        self.arm, d_model = arm, arm.d_model
        self.embedding = nn.Embedding(arm.tokens, d_model)
        self.register_buffer("positions", sinusoidal_encoding(LENGTH, d_model))
        self.w_q = nn.Linear(d_model, arm.heads * arm.d_k, bias=False)
        self.w_k = nn.Linear(d_model, arm.heads * arm.d_k, bias=False)
        self.w_v = nn.Linear(d_model, arm.heads * arm.d_v, bias=False)
        joined = arm.heads * arm.d_v if arm.join == "concat" else arm.d_v
        self.w_o = nn.Linear(joined, d_model, bias=False) if arm.w_o else nn.Identity()
        self.read_out = read_out(arm)

    def attend(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Outputs `[B, H, T, d_v]` and weights `[B, H, T, T]` of all heads."""
        q, k, v = (
            w(x).unflatten(-1, (self.arm.heads, -1)).transpose(1, 2)  # [B, H, T, K]
            for w in (self.w_q, self.w_k, self.w_v)
        )
        return scaled_dot_product_attention(q, k, v)

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits `[B, T, 4, tokens]` of the tokens at the four offsets, from token ids `[B, T]`."""
        heads, _ = self.attend(self.embedding(tokens) + self.positions)
        joined = heads.transpose(1, 2).flatten(2) if self.arm.join == "concat" else heads.mean(1)
        return self.read_out(self.w_o(joined)).unflatten(-1, (len(OFFSETS), self.arm.tokens))


def draw(batch: int, generator: torch.Generator, kinds: int = TOKENS) -> tuple[Tensor, Tensor]:
    """Random sequences `[B, 16]`, and for each position from the fifth on the tokens before it, `[B, 12, 4]`."""
    tokens = torch.randint(kinds, (batch, LENGTH), generator=generator)
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
        tokens, wanted = draw(batch, generator, arm.tokens)
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
        tokens, wanted = draw(1000, generator, arm.tokens)
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
        tokens, _ = draw(200, generator, arm.tokens)
        _, weights = model.attend(model.embedding(tokens) + model.positions)
    late = weights[:, 0, REACH - 1 :]  # queries that have all these distances
    found = [torch.stack([late[:, t, REACH - 1 + t - back] for t in range(late.size(1))]) for back in range(REACH)]
    return [round(float(w.mean()), 4) for w in found]


def of_both(arm: Arm, seeds: Sequence[int] = SEEDS, steps: int = STEPS) -> dict[str, dict[str, Any]]:
    """An arm before each of the two read-outs."""
    return {read: trials(arm._replace(read_out=read), seeds, steps) for read in READ_OUTS}


def by_read_out(arms: Mapping[str, Arm], seeds: Sequence[int] = SEEDS) -> dict[str, dict[str, Any]]:
    """Several arms, first by read-out and then by name."""
    found = {name: of_both(arm, seeds) for name, arm in arms.items()}
    return {read: {name: both[read] for name, both in found.items()} for read in READ_OUTS}


def run() -> dict[str, Any]:
    """The arms, W_O left out, and the two sweeps: h with d_k = d_v = d_model / h, and d_k at eight heads."""
    torch.set_num_threads(1)
    one = ARMS["one head"]
    return {
        "settings": {"tokens": TOKENS, "many": MANY, "length": LENGTH, "steps": STEPS, "long": LONG},
        "arms": by_read_out(ARMS),
        "two_matrices": trials(one._replace(read_out="two matrices")),
        "many": {name: of_both(ARMS[name]._replace(tokens=MANY), FEW_SEEDS) for name in ("concatenated", "one head")},
        "long": of_both(ARMS["averaged, narrow"], FEW_SEEDS, LONG),
        "one_head": {
            read: [weights_by_distance(one._replace(read_out=read), seed) for seed in SEEDS] for read in READ_OUTS
        },
        "projection": {read: {name: trials(arm) for name, arm in both.items()} for read, both in PROJECTION.items()},
        "projection_long": trials(PROJECTION["fixed"]["without W_O"], FEW_SEEDS, LONG),
        "heads": by_read_out({str(h): Arm(h, SMALL // h, SMALL // h, d_model=SMALL) for h in HEADS}, FEW_SEEDS),
        "d_k": by_read_out(
            {str(k): Arm(KEY_HEADS, k, SMALL // KEY_HEADS, d_model=SMALL) for k in KEY_WIDTHS}, FEW_SEEDS
        ),
    }
