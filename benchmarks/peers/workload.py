"""The work that every peer is given: shapes, synthetic data, and the operations that the work needs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from annotated.config import BOS, EOS, PAD

NEW_TOKENS = 32
"""Every decoder is made to write exactly this many tokens."""

Pair = tuple[list[int], list[int]]


@dataclass(frozen=True)
class Shape:
    """One model shape; the last id of the vocabulary is never used by the data (Marian keeps it for padding)."""

    d_model: int = 512
    layers: int = 6
    heads: int = 8
    d_ff: int = 2048
    vocab: int = 8000
    dropout: float = 0.1
    max_len: int = 256


SHAPES = {
    "base": Shape(),
    "small": Shape(d_model=256, layers=3, heads=4, d_ff=1024),
    "tiny": Shape(d_model=64, layers=2, heads=2, d_ff=128, vocab=500),
}


@dataclass
class WorkBatch:
    """Token ids, right-padded: `source` [B, S] ends in eos; `target` [B, T + 1] is bos, y1 .. yT-1, eos."""

    source: torch.Tensor
    target: torch.Tensor
    source_lengths: list[int]
    target_lengths: list[int]
    """T of each sentence: the rows of logits that count."""

    @property
    def tokens(self) -> int:
        """Real source plus target tokens."""
        return sum(self.source_lengths) + sum(self.target_lengths)

    @property
    def padded(self) -> int:
        """The same with padding."""
        return self.source.numel() + self.target[:, 1:].numel()

    def to(self, device: str) -> WorkBatch:
        """The same batch on another device."""
        return WorkBatch(self.source.to(device), self.target.to(device), self.source_lengths, self.target_lengths)


def ragged_pairs(count: int = 2000, vocab: int = 8000, seed: int = 1) -> list[Pair]:
    """Log-normal lengths, median 20, sigma 0.6, clipped to 3..100; source and target correlate by 0.9."""
    generator = torch.Generator().manual_seed(seed)
    first, second = torch.randn(count, generator=generator), torch.randn(count, generator=generator)

    def lengths(z: torch.Tensor) -> list[int]:
        return (math.log(20) + 0.6 * z).exp().round().clamp(3, 100).long().tolist()

    def words(length: int) -> list[int]:
        return [*torch.randint(4, vocab - 1, (length - 1,), generator=generator).tolist(), EOS]

    both = zip(lengths(first), lengths(0.9 * first + math.sqrt(0.19) * second), strict=True)
    return [(words(source), words(target)) for source, target in both]


def rectangle(rows: Sequence[list[int]], width: int | None = None) -> torch.Tensor:
    """Right-pad rows of ids to one width (default: the longest)."""
    width = width or max(map(len, rows))
    return torch.tensor([row + [PAD] * (width - len(row)) for row in rows])


def collate(pairs: Sequence[Pair], pad_to: int | None = None) -> WorkBatch:
    """One batch of pairs; `pad_to` pads both sides to that width."""
    source, target = [s for s, _ in pairs], [[BOS, *t] for _, t in pairs]
    lengths = [len(s) for s in source], [len(t) - 1 for t in target]
    return WorkBatch(rectangle(source, pad_to), rectangle(target, pad_to), *lengths)


def dense_batch(shape: Shape, rows: int = 16, length: int = 32) -> WorkBatch:
    """A batch without padding."""
    generator = torch.Generator().manual_seed(7)

    def words() -> list[int]:
        return [*torch.randint(4, shape.vocab - 1, (length - 1,), generator=generator).tolist(), EOS]

    return collate([(words(), words()) for _ in range(rows)])


def arrival_order(pairs: Sequence[Pair], rows: int = 32, pad_to: int | None = None) -> list[WorkBatch]:
    """A fixed number of sentences a batch, in the order in which they come."""
    return [collate(pairs[i : i + rows], pad_to) for i in range(0, len(pairs), rows)]


def token_buckets(pairs: Sequence[Pair], max_tokens: int = 2048, seed: int = 2) -> list[WorkBatch]:
    """Sort by the longer side, cut where a padded side would exceed `max_tokens`, shuffle the batches."""
    batches: list[WorkBatch] = []
    rows: list[Pair] = []
    longest = 0
    for pair in sorted(pairs, key=lambda p: (max(map(len, p)), len(p[0]))):
        own = max(map(len, pair))
        if rows and max(longest, own) * (len(rows) + 1) > max_tokens:
            batches.append(collate(rows))
            rows, longest = [], 0
        rows.append(pair)
        longest = max(longest, own)
    batches.append(collate(rows))
    order = torch.randperm(len(batches), generator=torch.Generator().manual_seed(seed)).tolist()
    return [batches[i] for i in order]


def sample(batches: Sequence[WorkBatch], count: int) -> list[WorkBatch]:
    """Batches at even quantiles of padded size: a small sample that stands for the whole epoch."""
    ordered = sorted(batches, key=lambda b: (b.padded, b.tokens))
    return [ordered[int((i + 0.5) * len(ordered) / count)] for i in range(count)]


def sources(count: int = 64) -> list[list[int]]:
    """Source sentences for decoding, in arrival order."""
    return [source for source, _ in ragged_pairs(seed=3)[:count]]


def encode_flops(shape: Shape, source_lengths: Sequence[int]) -> float:
    """Operations of the encoder: multiply-adds counted as 2, matrix products only, real tokens only."""
    tokens, pairs = sum(source_lengths), sum(n * n for n in source_lengths)
    per_token = 8 * shape.d_model**2 + 4 * shape.d_model * shape.d_ff
    return shape.layers * (tokens * per_token + 4 * shape.d_model * pairs)


def decode_flops(
    shape: Shape, source_lengths: Sequence[int], target_lengths: Sequence[int], beam_size: int = 1
) -> float:
    """Operations of the decoder with a cache, and of the output projection, counted in the same way."""
    d = shape.d_model
    memory, tokens = sum(source_lengths), beam_size * sum(target_lengths)
    causal = beam_size * sum(t * (t + 1) / 2 for t in target_lengths)
    cross = beam_size * sum(s * t for s, t in zip(source_lengths, target_lengths, strict=True))
    layer = memory * 4 * d * d + tokens * (12 * d * d + 4 * d * shape.d_ff) + 4 * d * (causal + cross)
    return shape.layers * layer + tokens * 2 * d * shape.vocab


def train_flops(shape: Shape, source_lengths: Sequence[int], target_lengths: Sequence[int]) -> float:
    """Operations of one training step: the backward pass costs two forward passes."""
    return 3 * (encode_flops(shape, source_lengths) + decode_flops(shape, source_lengths, target_lengths))
