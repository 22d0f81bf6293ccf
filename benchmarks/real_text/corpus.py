"""Text, tokenizer and validation: the same for both sides."""

from __future__ import annotations

import io
import itertools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy
import torch
from torch import Tensor

from annotated.config import BOS, EOS, PAD
from annotated.data.tokenizer import Tokenizer
from benchmarks.real_text.settings import Settings

Ids = list[int]
LogProbabilities = Callable[[Tensor, Tensor], Tensor]
"""Source ids [B, S] and target_in [B, T] (ours, padded with 0) to log-probabilities [B, T, V]."""


def pairs(path: Path) -> Iterator[tuple[str, str]]:
    """The columns of a .tsv or .tsv.zst, streamed."""
    if path.suffix == ".zst":
        import zstandard

        with open(path, "rb") as raw, zstandard.ZstdDecompressor().stream_reader(raw) as stream:
            yield from columns(io.TextIOWrapper(stream, encoding="utf-8", newline="\n"))
    else:
        with open(path, encoding="utf-8", newline="\n") as lines:
            yield from columns(lines)


def columns(lines: io.TextIOBase) -> Iterator[tuple[str, str]]:
    for line in lines:
        source, target = line.rstrip("\n").split("\t")
        yield source, target


def tokenizer_path(settings: Settings) -> Path:
    """Where the shared vocabulary lies."""
    return Path(settings.work) / "tokenizer.json"


def prepare(settings: Settings) -> None:
    """Train the tokenizer on both sides of the training text, and encode it for the side that cannot itself."""
    train = Path(settings.data) / "train.tsv.zst"
    tokenizer = Tokenizer.train(itertools.chain.from_iterable(pairs(train)), settings.vocab_size)
    tokenizer.save(tokenizer_path(settings))
    ids: list[numpy.ndarray] = []
    lengths: list[int] = []
    stream = itertools.chain.from_iterable(pairs(train))
    while texts := list(itertools.islice(stream, 20_000)):
        rows = tokenizer.encode_batch(texts)
        lengths += map(len, rows)
        ids.append(numpy.fromiter(itertools.chain.from_iterable(rows), dtype=numpy.uint16))
    numpy.savez(Path(settings.work) / "train.npz", ids=numpy.concatenate(ids), lengths=numpy.array(lengths))
    words = {"pairs": len(lengths) // 2, "tokens": sum(lengths), "vocabulary": tokenizer.vocab_size}
    print(f"prepared {words} in {settings.work}", file=sys.stderr)


def encoded_training_pairs(settings: Settings) -> list[tuple[numpy.ndarray, numpy.ndarray]]:
    """Token ids of all training pairs, without special tokens."""
    stored = numpy.load(Path(settings.work) / "train.npz")
    rows = numpy.split(stored["ids"], numpy.cumsum(stored["lengths"])[:-1])
    return list(zip(rows[::2], rows[1::2], strict=True))


class Validation:
    """Unsmoothed negative log-likelihood a token, eos included, computed alike from anybody's log-probabilities.

    Every other pair of valid.tsv whose sides have at most `settings.longest` tokens.
    """

    def __init__(self, settings: Settings) -> None:
        tokenizer = Tokenizer.load(tokenizer_path(settings))
        texts = list(itertools.islice(pairs(Path(settings.data) / "valid.tsv"), 0, None, 2))
        rows = list(zip(*(tokenizer.encode_batch(list(side)) for side in zip(*texts, strict=True)), strict=True))
        fits = [max(map(len, pair)) <= settings.longest for pair in rows]
        self.texts = list(itertools.compress(texts, fits))
        """The pairs as text."""
        kept = list(itertools.compress(rows, fits))
        kept.sort(key=lambda pair: max(map(len, pair)))
        self.batches = [self.batch(kept[i : i + 50]) for i in range(0, len(kept), 50)]
        self.tokens = sum(int((target_out != PAD).sum()) for _, _, target_out in self.batches)

    @staticmethod
    def batch(rows: list[tuple[Ids, Ids]]) -> tuple[Tensor, Tensor, Tensor]:
        """source [B, S], target_in [B, T], target_out [B, T]."""

        def padded(ids: list[Ids]) -> Tensor:
            width = max(map(len, ids))
            return torch.tensor([row + [PAD] * (width - len(row)) for row in ids])

        source = padded([[*source, EOS] for source, _ in rows])
        return source, padded([[BOS, *target] for _, target in rows]), padded([[*target, EOS] for _, target in rows])

    @torch.no_grad()
    def loss(self, log_probabilities: LogProbabilities) -> float:
        """Nats a target token; the model must be in evaluation mode.

        Raises
        ------
        ValueError
            If what was returned are not log-probabilities: their exponentials must sum to 1.
        """
        total = 0.0
        for source, target_in, target_out in self.batches:
            rows = log_probabilities(source, target_in)
            off = float(rows[0].logsumexp(dim=-1).abs().max())
            if off > 1e-3:
                raise ValueError(f"the probabilities of the next token do not sum to 1 (off by e^{off:.2g})")
            gold = rows.gather(-1, target_out.unsqueeze(-1)).squeeze(-1)
            total -= float(gold.masked_fill(target_out == PAD, 0.0).sum())
        return total / self.tokens
