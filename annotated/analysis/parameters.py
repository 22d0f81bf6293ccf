"""Parameter counts of a Transformer, by formula and by counting; and what Table 3's counts say of the vocabulary."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import nn

from annotated.config import ModelConfig, table_3
from annotated.model import MultiHeadAttention, PositionwiseFeedForward, TokenEmbedding, Transformer
from annotated.paper import TABLE_3

RESHAPED = tuple(row for row, printed in TABLE_3.items() if printed.parameters is not None and row != "big")
"""The rows of Table 3 with a parameter count of their own, other than 'big': all had the same data and vocabulary."""


def count_parameters(config: ModelConfig) -> int:
    """Trained numbers of the model, counted on the model itself; no memory is used for them."""
    with torch.device("meta"):
        return Transformer(config).num_parameters()


def parameter_parts(config: ModelConfig) -> dict[str, int]:
    """The same number by formula, box by box of figure 1; each box counts all N layers.

    Returns
    -------
    dict
        'embedding' is one V x D matrix when tied and three when not; 'positions' is 0 for sinusoids; 'norms' has a
        gain and a bias of width D for each sub-layer.
    """
    d, keys, values = config.d_model, config.num_heads * config.d_k, config.num_heads * config.d_v
    attention = d * (2 * keys + values) + values * d
    if config.attention_bias:
        attention += 2 * keys + values + d
    feed_forward = 2 * d * config.d_ff + config.d_ff + d
    encoder, decoder = config.num_encoder_layers, config.num_decoder_layers
    on_top = 2 if config.norm == "pre" or config.final_norm else 0
    return {
        "embedding": config.vocab_size * d * (1 if config.tie_embeddings else 3),
        "positions": config.max_positions * d if config.positions == "learned" else 0,
        "encoder self-attention": encoder * attention,
        "encoder feed-forward": encoder * feed_forward,
        "decoder self-attention": decoder * attention,
        "decoder cross-attention": decoder * attention,
        "decoder feed-forward": decoder * feed_forward,
        "norms": (2 * encoder + 3 * decoder + on_top) * 2 * d,
    }


def counted_parts(model: Transformer) -> dict[str, int]:
    """The boxes of `parameter_parts`, counted on a model: which module holds each of its parameters."""
    parts = dict.fromkeys(parameter_parts(model.config), 0)
    for name, module in model.named_modules():
        numbers = sum(p.numel() for p in module.parameters())
        stack = name.split(".")[0]
        if isinstance(module, TokenEmbedding):
            parts["embedding"] += numbers
        elif name == "positions":
            parts["positions"] += numbers
        elif isinstance(module, MultiHeadAttention):
            parts[f"{stack} {'cross' if 'cross' in name else 'self'}-attention"] += numbers
        elif isinstance(module, PositionwiseFeedForward):
            parts[f"{stack} feed-forward"] += numbers
        elif isinstance(module, nn.LayerNorm):
            parts["norms"] += numbers
    return parts


class AuditRow(NamedTuple):
    """A row of Table 3: what it prints, what we count without any embedding, and which vocabularies fit."""

    row: str
    printed: float
    """In millions."""
    d_model: int
    body: int
    """Parameters outside the embedding matrix."""
    low: int
    """Smallest vocabulary whose count rounds to `printed`."""
    high: int
    """Largest such vocabulary."""

    def millions(self, vocab_size: int) -> float:
        """The count for a vocabulary, in millions."""
        return (self.body + vocab_size * self.d_model) / 1e6


def audit_table_3(*, attention_bias: bool = False) -> list[AuditRow]:
    """Every row of Table 3 that prints a parameter count, in the paper's order.

    A printed 65 stands for anything from 64.5 to 65.5 million; one shared embedding of V rows adds V x d_model.

    Parameters
    ----------
    attention_bias
        Count biases in the attention's projections, as the released code has them; the paper's formulas have none.

    Paper: Table 3, last column
    """
    rows = []
    for row, printed in TABLE_3.items():
        if printed.parameters is None:
            continue
        config = table_3(row).replace(attention_bias=attention_bias)
        body = count_parameters(config) - config.vocab_size * config.d_model
        ends = [(printed.parameters + half) * 1e6 - body for half in (-0.5, 0.5)]
        low, high = math.ceil(ends[0] / config.d_model), math.floor(ends[1] / config.d_model)
        rows.append(AuditRow(row, printed.parameters, config.d_model, body, low, high))
    return rows


def forward_flops(config: ModelConfig, source_length: int, target_length: int) -> dict[str, int]:
    """Floating-point operations to read one sentence pair, two for each multiplication with addition.

    Norms, softmaxes, residual sums and the look-up of embeddings are left out; a causal mask saves nothing here.
    """
    parts, s, t = parameter_parts(config.replace(tie_embeddings=True)), source_length, target_length
    width = config.num_heads * (config.d_k + config.d_v)
    encoder, decoder = config.num_encoder_layers, config.num_decoder_layers
    cross = config.d_model * config.num_heads * (config.d_k + config.d_v)  # W_K and W_V read the source
    return {
        "encoder self-attention": 2 * s * parts["encoder self-attention"],
        "encoder feed-forward": 2 * s * encoder * 2 * config.d_model * config.d_ff,
        "decoder self-attention": 2 * t * parts["decoder self-attention"],
        "decoder cross-attention": 2 * (s * decoder * cross + t * (parts["decoder cross-attention"] - decoder * cross)),
        "decoder feed-forward": 2 * t * decoder * 2 * config.d_model * config.d_ff,
        "attention between positions": 2 * width * (encoder * s * s + decoder * (t * t + t * s)),
        "projection to the vocabulary": 2 * t * config.vocab_size * config.d_model,
    }
