"""Changes to the library's model that do what the switches of the page do, each written on its own."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import torch

import annotated
from annotated.config import BOS, EOS, PAD
from annotated.model import PositionwiseFeedForward, TokenEmbedding
from annotated.model.layers import SublayerConnection

Model = annotated.Transformer


def _each(model: Model, kind: type) -> list[Any]:
    return [module for module in model.modules() if isinstance(module, kind)]


def no_positions(model: Model) -> None:
    width = model.config.d_model
    model.positions.forward = lambda length: torch.zeros(length, width)


def no_scale(model: Model) -> None:
    for table in _each(model, TokenEmbedding):
        table.scale = 1.0


def no_residual(model: Model) -> None:
    for connection in _each(model, SublayerConnection):
        connection.after = lambda x, y, norm=connection.norm: norm(y)


def no_norm(model: Model) -> None:
    for connection in _each(model, SublayerConnection):
        connection.after = lambda x, y: x + y


def no_feed_forward(model: Model) -> None:
    for network in _each(model, PositionwiseFeedForward):
        network.outer.weight.zero_()
        network.outer.bias.zero_()


def divisor(factor: float) -> Callable[[Model], None]:
    """The library divides by the root of d_k; W_Q takes up the rest."""

    def change(model: Model) -> None:
        for attention in _each(model, annotated.MultiHeadAttention):
            attention.w_q.mul_(factor)

    return change


def without_heads(*places: tuple[str, int, int]) -> Callable[[Model], None]:
    """Zeros where W_O reads these heads: (stack and kind, layer, head), both from 0."""

    def change(model: Model) -> None:
        for kind, layer, head in places:
            stack = model.encoder if kind == "encoder" else model.decoder
            attention: Any = stack.layers[layer]
            attention = attention.cross_attention if kind == "cross" else attention.self_attention
            width = model.config.d_model // model.config.num_heads
            attention.out_projection.weight[:, head * width : (head + 1) * width] = 0

    return change


CHANGES: list[tuple[dict[str, Any], Callable[[Model], None]]] = [
    ({"positions": False}, no_positions),
    ({"embedScale": False}, no_scale),
    ({"causal": False}, lambda model: None),
    ({"residual": False}, no_residual),
    ({"norm": False}, no_norm),
    ({"feedForward": False}, no_feed_forward),
    ({"divisor": "one"}, divisor(math.sqrt(32))),
    ({"divisor": "d_k"}, divisor(1 / math.sqrt(32))),
    ({"off": ["cross.2.0"]}, without_heads(("cross", 2, 0))),
    (
        {"off": ["encoder.0.3", "decoder.1.2", "cross.1.1"]},
        without_heads(("encoder", 0, 3), ("decoder", 1, 2), ("cross", 1, 1)),
    ),
]
"""Switches of the page, and the same for the library's model."""


def changed(model: Model, change: Callable[[Model], None]) -> Model:
    """A copy with the change."""
    model = copy.deepcopy(model)
    with torch.no_grad():
        change(model)
    return model


@torch.no_grad()
def log_probabilities(model: Model, source: list[int], read: list[int], causal: bool) -> torch.Tensor:
    """After each token that is read, `[T, V]`, with nothing kept from earlier steps."""
    if causal:
        return model(torch.tensor([source]), torch.tensor([read]))[0].log_softmax(-1)
    # A token sees all that is written, but what is not written yet is not there to be seen.
    with patch("annotated.model.transformer.target_mask", lambda ids: (ids != PAD)[:, None, None, :]):
        beginnings = [torch.tensor([read[: t + 1]]) for t in range(len(read))]
        return torch.stack([model(torch.tensor([source]), ids)[0, -1].log_softmax(-1) for ids in beginnings])


def written_by(model: Model, source: list[int], most: int, causal: bool) -> tuple[list[int], list[float]]:
    """Greedy search, without a cache: the tokens, and how far each was ahead of the second."""
    written, leads = [BOS], []
    while len(written) <= most and written[-1] != EOS:
        row = log_probabilities(model, source, written, causal)[-1]
        row[[PAD, BOS]] = -math.inf
        first, second = row.topk(2).values.tolist()
        leads.append(first - second)
        written.append(int(row.argmax()))
    return written[1:], leads
