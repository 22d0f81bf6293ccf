"""Layers for the hop counter: each maps `[1, n, D]` to `[1, n, D]`, and position t reads a window of positions."""

import math

import torch
from torch import Tensor, nn


def _offsets(size: int, dilation: int, look: str) -> list[int]:
    """Which positions a window reads, relative to its own."""
    first = {"back": 1 - size, "around": -(size // 2), "ahead": 0}[look]
    return [dilation * (first + j) for j in range(size)]


class Mixture(nn.Module):
    """A convolution: one matrix for each position of the window; its output may be tiny, or add up to zero,
    and it may read a single feature."""

    def __init__(self, d: int, offsets: list[int], seed: int, gain: float, cancel: bool, blind: bool) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        self.offsets, self.gain, self.cancel = offsets, gain, cancel
        self.weight = torch.randn(len(offsets), d, d, generator=generator) / math.sqrt(d)
        if blind:
            self.weight[:, torch.arange(d) != seed % d] = 0

    def forward(self, x: Tensor) -> Tensor:
        n = x.size(1)
        places = torch.arange(n)
        y = torch.zeros_like(x)
        for offset, matrix in zip(self.offsets, self.weight, strict=True):
            seen = (places + offset >= 0) & (places + offset < n)
            read = x[:, (places + offset).clamp(0, n - 1)] * seen[:, None]
            y = y + read @ matrix
        half = y[..., : y.size(-1) // 2]
        return self.gain * (torch.cat([half, -half], dim=-1) if self.cancel else y)


class Attention(nn.Module):
    """Self-attention restricted to the positions of the window."""

    def __init__(self, d: int, offsets: list[int], seed: int) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        self.offsets = offsets
        self.query, self.value = torch.randn(2, d, d, generator=generator) / math.sqrt(d)

    def forward(self, x: Tensor) -> Tensor:
        places = torch.arange(x.size(1))
        distance = places - places[:, None]
        allowed = torch.isin(distance, torch.tensor(self.offsets))
        scores = torch.tanh(x @ self.query @ x.transpose(1, 2))  # bounded: no weight inside the window vanishes
        return scores.masked_fill(~allowed, -math.inf).softmax(dim=-1) @ (x @ self.value)


def layer(
    kind: str,
    d: int,
    size: int,
    dilation: int,
    look: str,
    seed: int,
    gain: float = 1.0,
    cancel: bool = False,
    blind: bool = False,
) -> nn.Module:
    """One layer: `kind` convolution or attention; `look` back, around or ahead."""
    offsets = _offsets(size, dilation, look)
    return Attention(d, offsets, seed) if kind == "attention" else Mixture(d, offsets, seed, gain, cancel, blind)
