"""Attention scores before the mask and the softmax, with the queries and keys of every call in a model."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor

from annotated.model import MultiHeadAttention, Transformer
from annotated.model.transformer import AttentionMaps


class Call(NamedTuple):
    """One call of multi-head attention: where it stands, and the tensors that it was given, not copied."""

    name: str
    module: MultiHeadAttention
    query: Tensor
    key: Tensor
    value: Tensor
    mask: Tensor | None


def attention_calls(model: Transformer, source: Tensor, target_in: Tensor) -> list[Call]:
    """Every call of attention in one forward pass, in order, as a hook on each module sees it.

    Parameters
    ----------
    source, target_in
        Token ids `[B, S]` and `[B, T]`.

    Returns
    -------
    list of Call
        Named like the modules: 'encoder.layers.0.self_attention', 'decoder.layers.2.cross_attention'.
    """
    calls: list[Call] = []

    def noting(name: str) -> Any:
        def note(module: MultiHeadAttention, inputs: tuple[Any, ...]) -> None:
            query, key, value, attend = inputs
            calls.append(Call(name, module, query, key, value, attend.mask))

        return note

    handles = [
        module.register_forward_pre_hook(noting(name))
        for name, module in model.named_modules()
        if isinstance(module, MultiHeadAttention)
    ]
    try:
        with torch.no_grad():
            model(source, target_in)
    finally:
        for handle in handles:
            handle.remove()
    return calls


def call_scores(call: Call) -> Tensor:
    """The scaled scores `[B, H, T, S]` of one call, before the mask: Q K^T / sqrt(d_k) for every head."""
    module = call.module
    with torch.no_grad():
        q = (call.query @ module.w_q.T).unflatten(-1, (module.num_heads, -1)).transpose(1, 2)
        k = (call.key @ module.w_k.T).unflatten(-1, (module.num_heads, -1)).transpose(1, 2)
        if module.in_bias is not None:
            raise ValueError("attention with biases is not the paper's: its scores are not computed here")
        return q @ k.transpose(-2, -1) / math.sqrt(module.d_k)


def attention_scores(model: Transformer, source: Tensor, target_in: Tensor) -> AttentionMaps:
    """The scaled scores of all layers and heads, before any mask, arranged like the model's attention maps.

    Parameters
    ----------
    source, target_in
        Token ids `[B, S]` and `[B, T]`.

    Returns
    -------
    AttentionMaps
        Lists over layers of `[B, H, S, S]`, `[B, H, T, T]` and `[B, H, T, S]`.
    """
    kinds: dict[str, list[Tensor]] = {"encoder": [], "decoder": [], "cross": []}
    for call in attention_calls(model, source, target_in):
        kind = "cross" if call.name.endswith("cross_attention") else call.name.split(".")[0]
        kinds[kind].append(call_scores(call))
    return AttentionMaps(kinds["encoder"], kinds["decoder"], kinds["cross"])
