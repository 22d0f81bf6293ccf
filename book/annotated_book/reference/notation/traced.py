"""Shapes of the tensors of `steps`, recorded from the library's model at work, without memory for their numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from annotated.config import ModelConfig
from annotated.model.attention import Recorded
from annotated.model.embeddings import TokenEmbedding
from annotated.model.layers import SublayerConnection
from annotated.model.masks import padding_mask, target_mask
from annotated.model.transformer import Transformer

Shapes = dict[str, list[int]]


@dataclass(frozen=True)
class _Watched(Recorded):
    """`Recorded`, which also notes the shapes on its way, under the name of the attention."""

    at: str = ""
    shapes: Shapes = field(default_factory=dict)

    def _note(self, **tensors: Tensor) -> None:
        for name, tensor in tensors.items():
            self.shapes.setdefault(f"{self.at}.{name}", list(tensor.shape))

    def __call__(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        self._note(split=q, split_keys=k)
        output = super().__call__(q, k, v)
        self._note(back=output)
        return output

    def mix(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        self._note(front=q, front_keys=k)
        output = super().mix(q, k, v)
        self._note(scores=q @ k.transpose(-2, -1), weights=self.weights[-1], mixed=output)
        return output


class _Watching(Transformer):
    """The library's model, whose three uses of attention are watched; figure 1's order tells which one asks."""

    shapes: Shapes

    def _attend(self, mask: Tensor, weights: list[Tensor] | None) -> Any:
        at = next(name for name in ("self", "masked", "cross") if f"{name}.asked" not in self.shapes)
        self.shapes[f"{at}.asked"] = []
        return _Watched(mask, 0.0, [], at, self.shapes)


def traced(config: ModelConfig, batch: int, source_length: int, target_length: int) -> Shapes:
    """The shape of every tensor of `steps`, by its key, from the first layer of each stack.

    Parameters
    ----------
    config
        Of a model as published: sinusoids, tied embeddings.
    batch, source_length, target_length
        B, S and T.
    """
    shapes: Shapes = {}
    with torch.device("meta"):
        model = _Watching(config).eval().to("meta")  # the sinusoids are made on the CPU
        model.shapes = shapes
        source = torch.zeros(batch, source_length, dtype=torch.int64)
        target = torch.zeros(batch, target_length, dtype=torch.int64)
        _hook(model, shapes)
        logits = model(source, target)
        shapes["encoder.mask"], shapes["decoder.mask"] = (
            list(padding_mask(source).shape),
            list(target_mask(target).shape),
        )
    shapes["logits"] = list(logits.shape)
    return {key: shape for key, shape in shapes.items() if not key.endswith(".asked")}


def _hook(model: Transformer, shapes: Shapes) -> None:
    encoder: Any = model.encoder.layers[0]
    decoder: Any = model.decoder.layers[0]
    sides = iter(("encoder", "decoder"))

    def embedded(_: nn.Module, inputs: Any, output: Tensor) -> None:
        side = next(sides)
        shapes[f"{side}.ids"], shapes[f"{side}.vectors"] = list(inputs[0].shape), list(output.shape)

    assert isinstance(model.embedding, TokenEmbedding)
    model.embedding.register_forward_hook(embedded)
    places = iter(("encoder", "decoder"))
    model.positions.register_forward_hook(
        lambda _, __, output: shapes.__setitem__(f"{next(places)}.positions", list(output.shape))
    )
    for name, stack in (("encoder", model.encoder), ("decoder", model.decoder)):
        _first_input(stack, shapes, f"{name}.sum")
    for name, attention in (
        ("self", encoder.self_attention),
        ("masked", decoder.self_attention),
        ("cross", decoder.cross_attention),
    ):
        _first_input(attention.out_projection, shapes, f"{name}.joined")
        _output(attention, shapes, f"{name}.output")
        _projections(attention, shapes, name)
    for name, layer in (("encoder_network", encoder), ("decoder_network", decoder)):
        _first_input(layer.feed_forward.outer, shapes, f"{name}.inner")
        _output(layer.feed_forward, shapes, f"{name}.outer")
    for name, residual in (
        ("self", encoder.self_attention_residual),
        ("masked", decoder.self_attention_residual),
        ("cross", decoder.cross_attention_residual),
        ("encoder_network", encoder.feed_forward_residual),
        ("decoder_network", decoder.feed_forward_residual),
    ):
        assert isinstance(residual, SublayerConnection)
        _output(residual.norm, shapes, f"{name}.normed")


def _first_input(module: nn.Module, shapes: Shapes, key: str) -> None:
    module.register_forward_pre_hook(lambda _, inputs: shapes.__setitem__(key, list(inputs[0].shape)))


def _output(module: nn.Module, shapes: Shapes, key: str) -> None:
    module.register_forward_hook(lambda _, __, output: shapes.__setitem__(key, list(output.shape)))


def _projections(attention: Any, shapes: Shapes, name: str) -> None:
    """Note what `_split_heads` is given: the queries first, then keys and values."""
    split, seen = attention._split_heads, []

    def noted(x: Tensor) -> Tensor:
        seen.append(list(x.shape))
        shapes[f"{name}.projected"] = shapes[f"{name}.queries"] = seen[0]
        shapes[f"{name}.keys"] = seen[-1]
        return split(x)

    attention._split_heads = noted
