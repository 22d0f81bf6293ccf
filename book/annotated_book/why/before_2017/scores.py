"""Attention scores before 2017: additive, dot product and general, for a state and a place of the source."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class AdditiveScore(nn.Module):
    """v . tanh(W s + U h): a network with one hidden layer (Bahdanau, Cho and Bengio, 2014).

    Parameters
    ----------
    query_width, key_width
        Of the decoder's state s and of the encoder's states h.
    width
        Of the hidden layer.

    Paper: section 3.2.1
    """

    def __init__(self, query_width: int, key_width: int, width: int) -> None:
        super().__init__()
        self.w = nn.Linear(query_width, width, bias=False)
        self.u = nn.Linear(key_width, width, bias=False)
        self.v = nn.Parameter(torch.randn(width) / width**0.5)

    def prepare(self, memory: Tensor) -> Tensor:
        """U h of every source position, `[B, S, width]`: once a sentence, not once a step."""
        return self.u(memory)

    def forward(self, query: Tensor, prepared: Tensor) -> Tensor:
        """Scores `[B, S]` of one query `[B, query_width]` and what `prepare` returned."""
        return torch.tanh(self.w(query)[:, None] + prepared) @ self.v


class DotScore(nn.Module):
    """s . h: no weights at all, so both must have one width (Luong, Pham and Manning, 2015).

    Paper: section 3.2.1
    """

    def __init__(self, query_width: int, key_width: int, width: int) -> None:
        super().__init__()
        if query_width != key_width:
            raise ValueError(f"a dot product needs equal widths, not {query_width} and {key_width}")

    def prepare(self, memory: Tensor) -> Tensor:
        """The memory itself."""
        return memory

    def forward(self, query: Tensor, prepared: Tensor) -> Tensor:
        """Scores `[B, S]`; see `AdditiveScore.forward`."""
        return (prepared @ query[:, :, None]).squeeze(-1)


class GeneralScore(nn.Module):
    """s . W h: a dot product after a learned matrix (Luong, Pham and Manning, 2015).

    With W = W_Q^T W_K this is the Transformer's score without its division.
    """

    def __init__(self, query_width: int, key_width: int, width: int) -> None:
        super().__init__()
        self.w = nn.Linear(key_width, query_width, bias=False)

    def prepare(self, memory: Tensor) -> Tensor:
        """W h of every source position, `[B, S, query_width]`."""
        return self.w(memory)

    def forward(self, query: Tensor, prepared: Tensor) -> Tensor:
        """Scores `[B, S]`; see `AdditiveScore.forward`."""
        return (prepared @ query[:, :, None]).squeeze(-1)


AnyScore = AdditiveScore | DotScore | GeneralScore
SCORES: dict[str, type[AnyScore]] = {"additive": AdditiveScore, "dot": DotScore, "general": GeneralScore}
