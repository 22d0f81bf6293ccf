"""A widget that takes one sentence through multi-head attention: split, attend, concatenate, mix."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anywidget
import torch
import traitlets
from torch import Tensor

from annotated.model.attention import MultiHeadAttention, Recorded
from annotated_book.viz.javascript import esm

_HERE = Path(__file__).parent
STEPS: tuple[dict[str, str], ...] = (
    {
        "kind": "x",
        "layout": "flat",
        "name": "the input",
        "shape": "[B, T, D] = [1, {T}, {D}]",
        "code": "x",
        "text": "Each token is a vector of {D} numbers. No head has any part of it yet.",
    },
    {
        "kind": "q",
        "layout": "flat",
        "name": "project",
        "shape": "[B, T, D] = [1, {T}, {D}]",
        "code": "q = x @ w_q.T",
        "text": "One product makes the queries of all heads: a head's columns come from its own part of W_Q, which "
        "reads all {D} inputs. Keys and values are made the same way.",
    },
    {
        "kind": "q",
        "layout": "groups",
        "name": "split",
        "shape": "[B, T, H, K] = [1, {T}, {H}, {K}]",
        "code": "q = q.unflatten(-1, (H, -1))",
        "text": "The last axis becomes two: H = {H} groups of K = {K}. Not a number moves in memory.",
    },
    {
        "kind": "q",
        "layout": "pages",
        "name": "bring the heads forward",
        "shape": "[B, H, T, K] = [1, {H}, {T}, {K}]",
        "code": "q = q.transpose(1, 2)",
        "text": "The head now counts like one more sentence of the batch: {heads} has a small matrix of {T} tokens "
        "to itself.",
    },
    {
        "kind": "w",
        "layout": "pages",
        "name": "attend",
        "shape": "[B, H, T, T] = [1, {H}, {T}, {T}]",
        "code": "w = softmax(q @ k.mT / sqrt(K))",
        "text": "Equation 1, {H} at a time: {heads} has its own map. Rows are queries, columns keys; the stronger the "
        "colour, the more weight.",
    },
    {
        "kind": "o",
        "layout": "pages",
        "name": "fetch the values",
        "shape": "[B, H, T, K] = [1, {H}, {T}, {K}]",
        "code": "heads = w @ v",
        "text": "Each map mixes the values of its own head. No head has seen what another one fetched.",
    },
    {
        "kind": "o",
        "layout": "groups",
        "name": "bring the tokens back",
        "shape": "[B, T, H, K] = [1, {T}, {H}, {K}]",
        "code": "heads = heads.transpose(1, 2)",
        "text": "The transpose of step 4, undone: all that was fetched for a token stands in its row again.",
    },
    {
        "kind": "o",
        "layout": "flat",
        "name": "concatenate",
        "shape": "[B, T, D] = [1, {T}, {D}]",
        "code": "heads = heads.flatten(2)",
        "text": "Concat(head_1, ..., head_h). Side by side, and still apart: each column belongs to one head.",
    },
    {
        "kind": "y",
        "layout": "flat",
        "name": "mix with W_O",
        "shape": "[B, T, D] = [1, {T}, {D}]",
        "code": "y = heads @ w_o.T",
        "text": "Now the heads meet. The strip under each number shows how much of it came from which head.",
    },
)


class SplitHeads(anywidget.AnyWidget):
    """The widget; `split_heads` makes one. `step` and `heads` (an index into `options`) may be set from Python."""

    _esm = esm(_HERE / "widget.js")
    _css = _HERE / "widget.css"
    tokens = traitlets.List(trait=traitlets.Unicode()).tag(sync=True)
    options = traitlets.List(trait=traitlets.Dict()).tag(sync=True)
    steps = traitlets.List(trait=traitlets.Dict()).tag(sync=True)
    step = traitlets.Int(0).tag(sync=True)
    heads = traitlets.Int(0).tag(sync=True)


def split_heads(
    tokens: Sequence[str] = ("the", "cat", "sat", "down"),
    d_model: int = 8,
    heads: Sequence[int] = (1, 2, 4, 8),
    *,
    start: int = 2,
    seed: int = 0,
) -> SplitHeads:
    """Random vectors for a few tokens, through a random multi-head attention of d_model, for each number of heads.

    Parameters
    ----------
    tokens
        The T tokens.
    d_model
        Width of the vectors, D.
    heads
        Values of H to choose from; each must divide D.
    start
        Which of them to begin with.
    seed
        For the vectors and the matrices; the same for every H.

    Raises
    ------
    ValueError
        If some H does not divide D, there are more than 8 heads, or no such `start`.
    """
    if any(d_model % h or not 0 < h <= 8 for h in heads):
        raise ValueError(f"heads must divide d_model {d_model} and be 8 at most: {list(heads)}")
    if not 0 <= start < len(heads):
        raise ValueError(f"start must be below {len(heads)}, not {start}")
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(1, len(tokens), d_model, generator=generator)
    matrices = torch.randn(4 * d_model, d_model, generator=generator) * (1.4 / d_model**0.5)
    options = [_option(x, matrices, h) for h in heads]
    return SplitHeads(tokens=list(tokens), options=options, steps=list(STEPS), heads=start)


@torch.no_grad()
def _option(x: Tensor, matrices: Tensor, heads: int) -> dict[str, Any]:
    """What the widget shows for one number of heads; `shares` says how much of each output came from which head."""
    d_model = x.size(-1)
    attention = MultiHeadAttention(d_model, heads)
    attention.in_projection.copy_(matrices[: 3 * d_model])
    attention.out_projection.weight.copy_(matrices[3 * d_model :])
    recorded = Recorded()
    mixed, (weights,) = attention(x, x, x, recorded), recorded.weights
    values = (x @ attention.w_v.T).unflatten(-1, (heads, -1)).transpose(1, 2)
    out = (weights @ values).transpose(1, 2).flatten(2)  # Concat(head_1, ..., head_h), [1, T, D]
    columns = attention.out_projection.weight.unflatten(-1, (heads, -1))  # W_O by heads, [D, H, K]
    parts = torch.einsum("thk,dhk->tdh", out[0].unflatten(-1, (heads, -1)), columns).abs()
    shown = {"x": x[0], "q": (x @ attention.w_q.T)[0], "weights": weights[0], "out": out[0], "mixed": mixed[0]}
    shown["shares"] = parts / parts.sum(-1, keepdim=True)
    return {"heads": heads} | {name: _rounded(tensor) for name, tensor in shown.items()}


def _rounded(tensor: Tensor) -> Any:
    return (tensor.double() * 100).round().div(100).tolist()
