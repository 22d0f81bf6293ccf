"""A model so small that every short sentence can be listed."""

from __future__ import annotations

import math

import pytest
import torch

from annotated.config import BOS, EOS, tiny
from annotated.model import Transformer

REAL = [3, 4, 5]
SOURCE = [3, 5, EOS]


@pytest.fixture(scope="module")
def model() -> Transformer:
    """Six ids, of which three are real; greedy search loses on it."""
    torch.manual_seed(30)
    model = Transformer(tiny(vocab_size=6, d_model=16, d_ff=32, num_heads=2, d_k=8, d_v=8, dropout=0.0)).eval()
    with torch.no_grad():
        model.output_weight.mul_(2)
    return model


def log_probability(model: Transformer, tokens: tuple[int, ...]) -> float:
    written = [*tokens, EOS]
    with torch.no_grad():
        logs = model(torch.tensor([SOURCE]), torch.tensor([[BOS, *written[:-1]]]))[0].log_softmax(-1)
    return math.fsum(float(row[token]) for row, token in zip(logs, written, strict=True))
