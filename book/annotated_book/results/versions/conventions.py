"""Conventions of a checkpoint: the same weights in a model of another convention, and weights carried over to it."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

import pandas as pd
import torch
from torch import Tensor, nn

from annotated.data import Tokenizer, pad
from annotated.decoding import greedy_decode
from annotated.evaluation import perplexity
from annotated.model import Transformer


class SinesFirst(nn.Module):
    """Sinusoids with all sines before all cosines.

    Parameters
    ----------
    d_model
        D, even.
    frequencies
        'written': those of the paper, exponents 2i / D. 'released': those of its code, i / (D / 2 - 1), so that the
        slowest wave has a length of exactly 10,000 * 2 pi.
    start
        Place of the first token; fairseq counts from 2.

    Paper: section 3.5 (conventions of its code)
    """

    def __init__(self, d_model: int, frequencies: Literal["written", "released"] = "written", start: int = 0) -> None:
        super().__init__()
        pairs = torch.arange(d_model // 2, dtype=torch.float64)
        self.exponents = pairs / (d_model // 2 - 1) if frequencies == "released" else 2 * pairs / d_model
        self.start = start

    def forward(self, length: int) -> Tensor:
        """`[length, D]`"""
        places = self.start + torch.arange(length, dtype=torch.float64)
        angles = places[:, None] / 10000**self.exponents
        return torch.cat([angles.sin(), angles.cos()], dim=1).float()


class _SideBySide(SinesFirst):
    def forward(self, length: int) -> Tensor:
        return super().forward(length).unflatten(1, (2, -1)).transpose(1, 2).flatten(1)


def sines_first_order(d_model: int) -> Tensor:
    """For each feature of the new order its place in the old: 0, 2, 4, ... and then 1, 3, 5, ...; `[D]`."""
    return torch.arange(d_model).view(-1, 2).T.flatten()


_READS = ("in_projection", "inner.weight", "embedding.weight")
_WRITES = ("out_projection.weight", "out_projection.bias", "outer.weight", "outer.bias")


def carried(weights: dict[str, Tensor], order: Tensor) -> dict[str, Tensor]:
    """The weights of a `Transformer` whose residual stream has its features in another order.

    A matrix that reads the stream has its columns in the new order, one that writes to it its rows, and a LayerNorm
    its gains and biases. What lies between two matrices, heads and hidden units, stays as it is.

    Parameters
    ----------
    order
        For each new feature its place in the old order, `[D]`.
    """
    moved = {}
    for name, tensor in weights.items():
        writes = name.endswith(_WRITES) or "norm" in name
        moved[name] = tensor[order] if writes else tensor[:, order] if name.endswith(_READS) else tensor
    return {name: tensor.clone() for name, tensor in moved.items()}


Change = Callable[[Transformer], None]


def _positions(kind: type[SinesFirst], **options: object) -> Change:
    def change(model: Transformer) -> None:
        model.positions = kind(model.config.d_model, **options)  # type: ignore[arg-type, assignment]

    return change


def _carried_to_sines_first(model: Transformer) -> None:
    width = model.config.d_model
    model.load_state_dict(carried(model.state_dict(), sines_first_order(width)))
    model.positions = SinesFirst(width)  # type: ignore[assignment]


def _without_the_factor(model: Transformer) -> None:
    model.embedding.scale = 1.0


def _last_norm(stack: nn.Module) -> Any:
    """The LayerNorm at the end of the last layer of an encoder or a decoder."""
    layers: Any = stack.layers
    return layers[-1].feed_forward_residual.norm


def _carried_to_no_factor(model: Transformer) -> None:
    root = math.sqrt(model.config.d_model)
    _without_the_factor(model)
    last = _last_norm(model.decoder)
    with torch.no_grad():
        model.embedding.weight.mul_(root)  # which the output reads too
        last.weight /= root
        last.bias /= root


def _carried_to_one_norm_more(model: Transformer) -> None:
    for stack in (model.encoder, model.decoder):
        last = _last_norm(stack)
        stack.final_norm.load_state_dict(last.state_dict())
        nn.init.ones_(last.weight)
        nn.init.zeros_(last.bias)


MISMATCHES: dict[str, tuple[dict[str, object], Change | None]] = {
    "as trained": ({}, None),
    "epsilon 1e-5 (fairseq, PyTorch)": ({"norm_epsilon": 1e-5}, None),
    "released frequencies": ({}, _positions(_SideBySide, frequencies="released")),
    "places counted from 2 (fairseq)": ({}, _positions(_SideBySide, start=2)),
    "one LayerNorm more (PyTorch)": ({"final_norm": True}, None),
    "one LayerNorm more, carried over": ({"final_norm": True}, _carried_to_one_norm_more),
    "sines first": ({}, _positions(SinesFirst)),
    "sines first, carried over": ({}, _carried_to_sines_first),
    "embeddings without their factor": ({}, _without_the_factor),
    "embeddings without it, carried over": ({}, _carried_to_no_factor),
    "pre-norm": ({"norm": "pre"}, None),
}
"""Conventions in which a checkpoint is read: changes of the configuration, and of the finished model."""


def in_convention(model: Transformer, name: str) -> Transformer:
    """A copy of a model with the same weights in a convention of `MISMATCHES`.

    A LayerNorm that the model did not have has gain one and bias zero, as before any training.
    """
    settings, change = MISMATCHES[name]
    other = Transformer(model.config.replace(**settings))
    other.load_state_dict(model.state_dict(), strict="norm" not in settings and "final_norm" not in settings)
    if change is not None:
        other = copy.deepcopy(other)
        change(other)
    return other.eval()


def mismatch_table(
    model: Transformer, tokenizer: Tokenizer, pairs: Sequence[tuple[str, str]], translated: int = 60
) -> pd.DataFrame:
    """What each convention of `MISMATCHES` does to a trained model.

    Parameters
    ----------
    pairs
        Sentence pairs on which the loss is measured.
    translated
        The first so many are translated greedily.

    Returns
    -------
    DataFrame
        Indexed by 'convention': 'loss' in nats per token, and the share of translations that are the trained model's,
        'unchanged'.
    """
    source = pad([tokenizer.encode(text) for text, _ in pairs[:translated]])
    rows, first = [], None
    for name in MISMATCHES:
        other = in_convention(model, name)
        written = [one.tokens for one in greedy_decode(other, source, 40)]
        first = first or written
        same = sum(a == b for a, b in zip(written, first, strict=True)) / len(written)
        rows.append({"convention": name, "loss": perplexity(other, tokenizer, pairs).loss, "unchanged": same})
    return pd.DataFrame(rows).set_index("convention")
