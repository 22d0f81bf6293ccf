"""Attention over parameters: the layer that the paper's first versions tried in place of the feed-forward network."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from annotated.config import ModelConfig
from annotated.model.attention import scaled_dot_product_attention
from annotated.model.transformer import Transformer


class ParameterAttention(nn.Module):
    """Multi-head attention whose keys and values are parameters, not projections of other positions.

    Each head has `rows` keys and values of its own. The query and the output are projected as in section 3.2.2. Keys
    and values are multiplied by sqrt(d_model), so that numbers of a parameter's size become numbers of an
    activation's; the scores are divided by sqrt(d_k) as everywhere else.

    Parameters
    ----------
    d_model
        Width of the vectors, D.
    num_heads, d_k, d_v
        h_p, d_pk and d_pv of the early appendix.
    rows
        n_p: key-value pairs of each head.

    Paper: early appendix
    """

    def __init__(self, d_model: int, num_heads: int, d_k: int, d_v: int, rows: int) -> None:
        super().__init__()
        self.num_heads, self.d_k, self.d_v = num_heads, d_k, d_v
        self.query = nn.Linear(d_model, num_heads * d_k, bias=False)
        self.keys = nn.Parameter(torch.randn(num_heads, rows, d_k) * d_model**-0.5)
        self.values = nn.Parameter(torch.randn(num_heads, rows, d_v) * d_model**-0.5)
        self.output = nn.Linear(num_heads * d_v, d_model, bias=False)
        self.scale = math.sqrt(d_model)
        for linear in (self.query, self.output):
            nn.init.xavier_uniform_(linear.weight)

    def forward(self, x: Tensor) -> Tensor:
        """`[..., D]` to `[..., D]`, each position by itself."""
        positions = x.reshape(-1, x.size(-1))  # [N, D]: attention over parameters knows no sentences
        q = self.query(positions).unflatten(-1, (self.num_heads, self.d_k)).transpose(0, 1)  # [H, N, K]
        heads, _ = scaled_dot_product_attention(q, self.keys * self.scale, self.values * self.scale)
        return self.output(heads.transpose(0, 1).flatten(1)).view_as(x)


def with_parameter_attention(config: ModelConfig, num_heads: int, d_k: int, d_v: int, rows: int) -> Transformer:
    """A Transformer in which every feed-forward network is replaced by attention over parameters."""
    model = Transformer(config)
    for layer in (*model.encoder.layers, *model.decoder.layers):
        layer.feed_forward = ParameterAttention(config.d_model, num_heads, d_k, d_v, rows)
    return model
