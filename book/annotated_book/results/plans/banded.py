"""Banded attention: each query meets the keys within a radius, block by block, so that the work grows as the length.

`RestrictedSelfAttention` of chapter 4 copies a window of keys for every query. Here a block of queries shares one block
of keys, and the products stay products of matrices.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd
import torch
from torch import Tensor
from torch.nn import functional as F

from annotated.config import tiny
from annotated.model import Encoder


def band_mask(length: int, radius: int) -> Tensor:
    """Keys at most `radius` places from the query: boolean `[1, 1, S, S]`, True = may attend."""
    places = torch.arange(length)
    return ((places[:, None] - places).abs() <= radius)[None, None]


def block_mask(length: int, radius: int) -> Tensor:
    """The band as blocks see it: boolean `[blocks, radius, 3 * radius]`.

    Block b holds the queries b * radius and on, and its keys begin one block earlier. True where the key lies in the
    sequence and in the query's neighbourhood.
    """
    blocks = math.ceil(length / radius)
    first = torch.arange(blocks)[:, None, None] * radius
    queries = first + torch.arange(radius)[:, None]
    keys = first - radius + torch.arange(3 * radius)
    return (keys >= 0) & (keys < length) & ((queries - keys).abs() <= radius)


def banded_attention(q: Tensor, k: Tensor, v: Tensor, radius: int) -> Tensor:
    """What equation 1 gives under `band_mask`, with 3 * radius scores for each query instead of S.

    Parameters
    ----------
    q, k
        `[B, H, S, K]`
    v
        `[B, H, S, d_v]`
    radius
        Places that a query sees to each side, at least 1; the paper's r is 2 * radius + 1.

    Returns
    -------
    Tensor
        `[B, H, S, d_v]`

    Paper: section 7
    """
    length = q.size(2)
    rest = -length % radius
    q = F.pad(q, (0, 0, 0, rest)).unflatten(2, (-1, radius))  # [B, H, blocks, radius, K]
    k, v = (_three_blocks(x, radius, rest) for x in (k, v))  # [B, H, blocks, 3 * radius, K]
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    mask = block_mask(length, radius).to(q.device)
    mask = mask | ~mask.any(dim=-1, keepdim=True)  # queries beyond the end see something, and are cut off below
    weights = scores.masked_fill(~mask, -math.inf).softmax(dim=-1)
    return (weights @ v).flatten(2, 3)[:, :, :length]


def _three_blocks(x: Tensor, radius: int, rest: int) -> Tensor:
    """For each block the places of the block before, its own and the next: `[B, H, blocks, 3 * radius, K]`."""
    padded = F.pad(x, (0, 0, radius, radius + rest))
    return padded.unfold(2, 3 * radius, radius).transpose(-2, -1)


@dataclass(frozen=True)
class Banded:
    """`banded_attention` as an `attend` object: `encoder(x, Banded(16))` runs the library's encoder with it.

    Paper: section 7
    """

    radius: int
    """Places that a query sees to each side."""

    def __call__(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """`[B, S, H, K]`, `[B, S, H, K]`, `[B, S, H, d_v]` to `[B, S, H, d_v]`."""
        q, k, v = (x.transpose(1, 2) for x in (q, k, v))
        return banded_attention(q, k, v, self.radius).transpose(1, 2)


def reach(encoder: Encoder, attend: Callable[..., Tensor], length: int, d_model: int) -> Tensor:
    """How much each place of the output answers to the first place of the input.

    Parameters
    ----------
    encoder
        A stack of layers.
    attend
        How every layer mixes.
    length, d_model
        S and D.

    Returns
    -------
    Tensor
        `[S]`: the norm of the derivative of a place's output, in the direction of one random change of the first
        input. It is exactly zero where no path leads.
    """
    generator = torch.Generator().manual_seed(0)
    x, change = torch.randn(1, length, d_model, generator=generator), torch.zeros(1, length, d_model)
    change[0, 0] = torch.randn(d_model, generator=generator)
    moved: Tensor = torch.func.jvp(lambda y: encoder(y, attend), (x,), (change,))[1]
    return moved[0].norm(dim=-1).detach()


def layers_needed(length: int, radius: int) -> int:
    """Layers until the last of `length` places can answer to the first: the paper's O(n / r), with its constant."""
    return math.ceil((length - 1) / radius)


def reach_table(radius: int, length: int, layers: int, d_model: int = 32) -> pd.DataFrame:
    """`reach` in random encoders of 1 to `layers` layers: columns `layer`, `place` and `effect`."""
    config = tiny(vocab_size=8, d_model=d_model, d_ff=2 * d_model, num_heads=4, d_k=d_model // 4, d_v=d_model // 4)
    rows = []
    for depth in range(1, layers + 1):
        torch.manual_seed(0)  # so a deeper encoder begins with the layers of the one before
        encoder = Encoder(config.replace(num_encoder_layers=depth, dropout=0.0)).eval()
        effects = reach(encoder, Banded(radius), length, d_model).tolist()
        rows += [{"layer": depth, "place": place, "effect": effect} for place, effect in enumerate(effects)]
    return pd.DataFrame(rows)
