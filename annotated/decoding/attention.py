"""Attention maps of what a search found, by one pass with teacher forcing.

Paper: section 3.2.3, figures 3-5
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from annotated.config import BOS, PAD
from annotated.decoding.hypothesis import Hypothesis
from annotated.decoding.search import decoding_mode
from annotated.model import AttentionMaps


def with_attention(model: Any, source: Tensor, hypotheses: Sequence[Hypothesis]) -> list[Hypothesis]:
    """The same hypotheses, each with the attention maps of its own sentence, cut to its own lengths.

    The maps are those of the search itself: a cached step and the whole sequence at once compute the same.

    Parameters
    ----------
    source
        Token ids `[B, S]`.
    hypotheses
        One for each sentence.

    Paper: section 3.2.3, figures 3-5
    """
    if not hypotheses:
        return []
    read = [[BOS, *h.tokens][: h.steps] for h in hypotheses]
    width = max(map(len, read))
    target_in = torch.tensor([ids + [PAD] * (width - len(ids)) for ids in read], device=source.device)
    with decoding_mode(model):
        _, maps = model(source, target_in, return_attention=True)
    lengths = (source != PAD).sum(dim=1).tolist()
    return [
        dataclasses.replace(hypothesis, attention=_cut(maps, row, lengths[row], hypothesis.steps))
        for row, hypothesis in enumerate(hypotheses)
    ]


def _cut(maps: AttentionMaps, row: int, s: int, t: int) -> AttentionMaps:
    return AttentionMaps(
        [weights[row, :, :s, :s].clone() for weights in maps.encoder],
        [weights[row, :, :t, :t].clone() for weights in maps.decoder],
        [weights[row, :, :t, :s].clone() for weights in maps.cross],
    )
