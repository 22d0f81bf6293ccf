"""Copying random symbols: a recurrent encoder-decoder with and without attention, and a Transformer, over length.

Every model gets the same updates, the same symbols in the same order, and about 200,000 parameters. Random symbols
cannot be guessed from their neighbours, so what is written right was carried from the source.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from annotated.config import BOS, EOS, ModelConfig, TrainingConfig
from annotated.model import Transformer
from annotated_book.why.before_2017.encoder_decoder import RecurrentEncoderDecoder

Kind = Literal["plain", "attention", "transformer"]
Task = Literal["copy", "reverse"]

FIRST, SYMBOLS = 4, 16
VOCAB = FIRST + SYMBOLS
SEEDS, UPDATES, LONGEST, SYMBOLS_A_BATCH = 3, 1000, 20, 640
LENGTHS = (2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 25, 30, 40)
HIGHEST_RATE = 3e-3
"""Learning rate of all models after the first 100 updates; then it falls."""


def build(kind: Kind, *, score: Any = "additive", hidden: int | None = None) -> nn.Module:
    """A new model of about 200,000 parameters, unless `hidden` makes a recurrent one wider."""
    if kind == "transformer":
        config = ModelConfig(vocab_size=VOCAB, d_model=64, d_ff=192, num_heads=4, d_k=16, d_v=16, dropout=0.0)
        return Transformer(config.replace(num_encoder_layers=2, num_decoder_layers=2, norm="pre"))
    if kind == "plain":
        return RecurrentEncoderDecoder(VOCAB, 32, hidden or 140, score=None)
    return RecurrentEncoderDecoder(VOCAB, 32, hidden or 128, score=score)


def draw(count: int, length: int, task: Task, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Sources `[B, length + 1]`, which end in eos, and what is to be written, `[B, length]`."""
    symbols = torch.randint(FIRST, VOCAB, (count, length), generator=generator)
    source = torch.cat([symbols, symbols.new_full((count, 1), EOS)], dim=1)
    return source, symbols if task == "copy" else symbols.flip(1)


def train(
    kind: Kind,
    *,
    task: Task = "copy",
    updates: int = UPDATES,
    longest: int = LONGEST,
    seed: int = 0,
    score: Any = "additive",
    hidden: int | None = None,
    prepare: Callable[[nn.Module], nn.Module] = lambda model: model,
) -> tuple[nn.Module, list[float]]:
    """Train one model on lengths from 2 to `longest`, each batch of one length and of 640 symbols.

    `prepare` is given the new model and returns what is trained: the same, or the same in a faster class.

    Returns
    -------
    model, losses
        The trained model, and the loss of every update in nats a symbol.
    """
    torch.manual_seed(seed)
    model = prepare(build(kind, score=score, hidden=hidden))
    optimizer = torch.optim.Adam(model.parameters(), lr=HIGHEST_RATE, betas=TrainingConfig.adam_betas)
    generator, losses = torch.Generator().manual_seed(seed), []
    for update in range(updates):
        for group in optimizer.param_groups:  # up over 100 updates, then down in a straight line
            group["lr"] = HIGHEST_RATE * min(1.0, (update + 1) / 100) * max(0.05, 1 - update / updates)
        length = int(torch.randint(2, longest + 1, (), generator=generator))
        source, target = draw(SYMBOLS_A_BATCH // length, length, task, generator)
        target_in = torch.cat([target.new_full((len(target), 1), BOS), target[:, :-1]], dim=1)
        loss = F.cross_entropy(model(source, target_in).flatten(0, 1), target.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return model.eval(), losses


@torch.no_grad()
def write(model: nn.Module, source: Tensor, length: int) -> Tensor:
    """What the model writes on its own, each step reading its own last symbol: `[B, length]`."""
    if isinstance(model, RecurrentEncoderDecoder):
        return model.generate(source, length)[0]
    assert isinstance(model, Transformer)
    memory, written = model.encode(source), source.new_full((len(source), 1), BOS)
    for _ in range(length):
        newest = model.decode(written, memory, source)[:, -1:]
        written = torch.cat([written, newest.argmax(dim=-1)], dim=1)
    return written[:, 1:]


def accuracy(model: nn.Module, length: int, *, task: Task = "copy", count: int = 200) -> tuple[float, float]:
    """Share of symbols written right, and of sequences without a mistake, on symbols never seen in training."""
    source, target = draw(count, length, task, torch.Generator().manual_seed(1000 + length))
    right = write(model, source, length) == target
    return float(right.float().mean()), float(right.all(dim=1).float().mean())


@torch.no_grad()
def probe(model: RecurrentEncoderDecoder, length: int, place: Literal["summary", "own"], count: int = 3000) -> list:
    """How well a linear map reads each source symbol from the encoder; a share of right answers for each position.

    Parameters
    ----------
    model
        Trained.
    length
        Of the sources.
    place
        'summary' reads every symbol from the one vector that a plain decoder is given, 'own' reads symbol j from the
        state at position j, which attention can fetch.
    count
        Sources; the map is fitted by least squares on two thirds of them and tested on the rest.
    """
    source, symbols = draw(count, length, "copy", torch.Generator().manual_seed(2000 + length))
    memory, summary = model.encode(source)
    places = [summary if place == "summary" else memory[:, j] for j in range(length)]
    return [round(least_squares(x, symbols[:, j] - FIRST), 3) for j, x in enumerate(places)]


def least_squares(x: Tensor, labels: Tensor) -> float:
    """Share of the labels `[N]` that a linear map of x `[N, width]` gets right: fitted on 2/3, tested on the rest."""
    cut = 2 * len(x) // 3
    x = torch.cat([x, x.new_ones(len(x), 1)], dim=1).double()
    y = F.one_hot(labels, SYMBOLS).double()
    ridge = x[:cut].T @ x[:cut] + 1e-2 * torch.eye(x.size(1), dtype=torch.double)
    guess = (x[cut:] @ torch.linalg.solve(ridge, x[:cut].T @ y[:cut])).argmax(dim=1)
    return float((guess == labels[cut:]).double().mean())


def alignments(model: RecurrentEncoderDecoder, lengths: tuple[int, ...], task: Task = "copy") -> list[dict]:
    """What the model reads, writes and attends to, for one source of each length; weights in thousandths."""
    rows = []
    for length in lengths:
        source, _ = draw(1, length, task, torch.Generator().manual_seed(3000 + length))
        tokens, weights = model.generate(source, length)
        assert weights is not None
        names = [symbol_name(i) for i in source[0].tolist()], [symbol_name(i) for i in tokens[0].tolist()]
        whole = (weights[0].double() * 1000).round().int().flatten().tolist()
        rows.append({"length": length, "source": names[0], "written": names[1], "weights": whole})
    return rows


def symbol_name(token: int) -> str:
    """A letter for each symbol, and a full stop for eos."""
    return "." if token == EOS else chr(ord("A") + token - FIRST)


def run() -> dict[str, Any]:
    """All models and seeds, the controls, the probes, and the three scoring functions: about six CPU minutes."""
    torch.set_num_threads(1)
    runs: list[dict[str, Any]] = []
    examples: dict[str, Any] = {}

    def add(label: str, kind: Kind, seed: int, updates: int = UPDATES, hidden: int | None = None) -> None:
        model, losses = train(kind, seed=seed, updates=updates, hidden=hidden)
        scores = [accuracy(model, n) for n in LENGTHS]
        parameters = sum(p.numel() for p in model.parameters())
        row = {"model": label, "seed": seed, "updates": updates, "parameters": parameters}
        curves = {"symbols": [round(s, 4) for s, _ in scores], "whole": [round(w, 4) for _, w in scores]}
        runs.append(row | curves | {"last_loss": round(sum(losses[-50:]) / 50, 4)})
        if seed == 0 and label in ("plain", "attention"):
            assert isinstance(model, RecurrentEncoderDecoder)
            place: Any = {"plain": "summary", "attention": "own"}[label]
            examples[f"probe_{label}"] = {str(n): probe(model, n, place) for n in (5, 10, 15, 20)}
            if label == "attention":
                examples["alignments"] = alignments(model, (4, 8, 12, 16, 20, 24, 28))

    kinds: tuple[Kind, ...] = ("plain", "attention", "transformer")
    for kind in kinds:
        for seed in range(SEEDS):
            add(kind, kind, seed)
    add("plain, 3 times the updates", "plain", 0, updates=3 * UPDATES)
    add("plain, twice as wide", "plain", 0, hidden=280)
    curves = {}
    for score in ("additive", "dot", "general"):
        losses = [train("attention", score=score, seed=seed, updates=400)[1] for seed in range(SEEDS)]
        curves[score] = [[round(sum(one[i : i + 20]) / 20, 4) for i in range(0, 400, 20)] for one in losses]
    facts = {"lengths": LENGTHS, "longest": LONGEST, "symbols": SYMBOLS, "chance": 1 / SYMBOLS}
    return facts | {"runs": runs, "scores": curves} | examples
