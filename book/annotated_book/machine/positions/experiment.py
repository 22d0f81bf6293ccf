"""Position encodings compared, eight of them, on tasks where order matters; and counting without any.

A small encoder gets a row of random symbols and must write another row. What is added to its embeddings is all that
tells it where a symbol stands.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from annotated.config import tiny
from annotated.model import Encoder, Masked, TokenEmbedding, causal_mask, sinusoidal_encoding

SYMBOLS, LENGTH, WIDTH = 16, 16, 64
STEPS, BATCH, SEEDS = 500, 64, (0, 1, 2)
KINDS = ("nothing", "one constant", "raw integer", "integer / length", "random", "waves", "learned", "learned, small")
Task = Callable[[Tensor], Tensor]


class Tagger(nn.Module):
    """Embeddings, a table of positions `[length, D]`, a 2-layer encoder, and logits for every position.

    Parameters
    ----------
    positions
        What is added; an `nn.Parameter` is trained, a tensor is not.
    causal
        Whether a position sees only itself and what came before.
    width
        D, a multiple of 4.
    """

    def __init__(self, positions: Tensor, causal: bool = False, symbols: int = SYMBOLS, width: int = WIDTH) -> None:
        super().__init__()
        sizes = dict(d_model=width, d_ff=2 * width, num_heads=4, d_k=width // 4, d_v=width // 4)
        self.embedding = TokenEmbedding(symbols, width)
        self.positions = positions
        self.encoder = Encoder(tiny(vocab_size=symbols, num_encoder_layers=2, dropout=0.0, **sizes))
        self.out = nn.Linear(width, max(symbols, len(positions)))
        self.causal = causal

    def forward(self, ids: Tensor, start: int = 0) -> Tensor:
        """Logits `[B, T, V]` of ids `[B, T]` that stand at positions start, start + 1, ..."""
        length = ids.size(1)
        x = self.embedding(ids) + self.positions[start : start + length]
        return self.out(self.encoder(x, Masked(causal_mask(length) if self.causal else None)))


def position_table(kind: str, length: int = LENGTH, width: int = WIDTH) -> Tensor:
    """`[length, width]`: one of `KINDS`.

    Random and learned vectors start with the waves' norm, sqrt(width / 2); small ones with norm 1.
    """
    if kind not in KINDS:
        raise ValueError(f"no kind of positions {kind!r}; there are {', '.join(KINDS)}")
    number = torch.arange(length, dtype=torch.float32)[:, None]
    return {
        "nothing": lambda: torch.zeros(length, width),
        "one constant": lambda: torch.ones(length, width),
        "raw integer": lambda: number.expand(length, width).clone(),
        "integer / length": lambda: (number / length).expand(length, width).clone(),
        "random": lambda: torch.randn(length, width) * 0.5**0.5,
        "waves": lambda: sinusoidal_encoding(length, width),
        "learned": lambda: nn.Parameter(torch.randn(length, width) * 0.5**0.5),
        "learned, small": lambda: nn.Parameter(torch.randn(length, width) * width**-0.5),
    }[kind]()


def reverse(ids: Tensor) -> Tensor:
    """The symbols from last to first."""
    return ids.flip(1)


def sort(ids: Tensor) -> Tensor:
    """The symbols in order, smallest first."""
    return ids.sort(1).values


def own_index(ids: Tensor) -> Tensor:
    """At each position its number: a task without any use for the symbols."""
    return torch.arange(ids.size(1)).expand_as(ids)


def symbols(rows: int, length: int, count: int = SYMBOLS) -> Tensor:
    """Random symbols `[rows, length]`."""
    return torch.randint(count, (rows, length))


def with_start(rows: int, length: int) -> Tensor:
    """Random symbols after a first one, 0, that stands nowhere else: the bos of a sentence."""
    ids = torch.randint(1, SYMBOLS, (rows, length))
    ids[:, 0] = 0
    return ids


def train_tagger(
    model: Tagger,
    task: Task,
    steps: int = STEPS,
    *,
    draw: Callable[[int], Tensor] = lambda rows: symbols(rows, LENGTH),
    start: Callable[[], int] = lambda: 0,
    batch: int = BATCH,
) -> Tagger:
    """Adam with a short warm-up and a linear fall; fresh symbols at every step."""
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda k: min((k + 1) / 50, 1 - k / steps))
    for _ in range(steps):
        ids = draw(batch)
        loss = F.cross_entropy(model(ids, start()).flatten(0, 1), task(ids).flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return model


@torch.no_grad()
def accuracy(model: Tagger, task: Task, ids: Tensor) -> float:
    """Share of positions at which the largest logit is right."""
    return float((model(ids).argmax(-1) == task(ids)).float().mean())


def compare(kind: str, task: Task, seed: int, steps: int = STEPS) -> float:
    """Accuracy on fresh rows of a model trained with one kind of positions."""
    torch.manual_seed(seed)
    model = train_tagger(Tagger(position_table(kind)), task, steps)
    return accuracy(model, task, symbols(500, LENGTH))


def count_without_positions(causal: bool, seed: int, steps: int = STEPS) -> float:
    """Accuracy of naming a token's own index with no positions added, after a first symbol that marks the start."""
    torch.manual_seed(seed)
    model = Tagger(position_table("nothing"), causal)
    train_tagger(model, own_index, steps, draw=lambda rows: with_start(rows, LENGTH))
    return accuracy(model, own_index, with_start(500, LENGTH))


def run() -> dict[str, Any]:
    """Every kind on both tasks, and counting with and without a causal mask, with three seeds each."""
    tasks = {"reverse": reverse, "sort": sort}
    scores = {
        name: {kind: [round(compare(kind, task, seed), 4) for seed in SEEDS] for kind in KINDS}
        for name, task in tasks.items()
    }
    counting = {
        name: [round(count_without_positions(causal, seed), 4) for seed in SEEDS]
        for name, causal in (("causal", True), ("bidirectional", False))
    }
    patience = [round(compare("learned, small", reverse, seed, 2 * STEPS), 4) for seed in SEEDS]
    setting = {"symbols": SYMBOLS, "length": LENGTH, "width": WIDTH, "layers": 2, "steps": STEPS, "seeds": len(SEEDS)}
    return {"setting": setting, "accuracy": scores, "twice the steps": patience, "counting": counting}
